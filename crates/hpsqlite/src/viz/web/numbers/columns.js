/**
 * The columns of the table of b-trees: what each is, how it is written, and its value as it stands in
 * the CSV file.
 */
import { bytes, count, number, percent, seconds } from "viz/dom.js";
import { MEANING } from "viz/numbers/words.js";

/** Seconds that a reading `{bytes, requests}` takes on a device. */
export function coldScan(reading, { throughput, latency }) {
  return reading.bytes / throughput + reading.requests * latency;
}

/** Bytes of a b-tree that are neither payload nor unused. */
export function structure(n) {
  return Math.max(0, n.bytes - n.payload - n.unused);
}

const interior = (n) => n.levels.slice(0, -1).reduce((sum, level) => sum + level.unused, 0);
const leaf = (n) => n.levels.at(-1)?.unused ?? 0;
const payload = (n) => n.payload;
const unused = (n) => n.unused;
const each = (of) => (n) => (n.entries > 0 ? of(n) / n.entries : null);
const digits = (places) => (x) => x.toFixed(places);

/** A column: what it is, the sets it is in besides "all", and its value; null: there is none. */
const words = (id, title, sets, value) => ({ id, title, value, text: true, sets: sets.split(" "), why: MEANING[id] });

/** The same of a number, which `show` writes. */
const figure = (id, title, sets, show, value) => ({ id, title, value, show, sets: sets.split(" "), why: MEANING[id] });

/** The same of a number that can be added up. */
const sum = (...column) => ({ ...figure(...column), sum: true });

/**
 * `value(n, context)` is what is sorted by and what the CSV file has, `show` writes it. What the columns
 * mean stands in numbers/words.js.
 */
export const COLUMNS = [
  words("name", "b-tree", "", (n) => n.name),
  words("role", "What", "main content pages order", (n) => n.role),
  words("table", "Table", "content", (n) => n.table),
  sum("entries", "Entries", "main content", count, (n) => n.entries),
  sum("pages", "Pages", "main pages order", count, (n) => n.pages),
  sum("bytes", "Size", "main content pages", bytes, (n) => n.bytes),
  sum("share", "Of the file", "content pages", percent, (n, { whole }) => n.bytes / Math.max(1, whole.bytes)),
  sum("payload", "Payload", "content", bytes, payload),
  figure("payload_per_entry", "Payload per entry", "content", number, each(payload)),
  figure("largest_record", "Largest", "content", bytes, (n) => n.largest_record),
  sum("unused", "Unused", "content", bytes, unused),
  figure("unused_per_entry", "Unused per entry", "content", number, each(unused)),
  sum("metadata", "Structure", "content", bytes, structure),
  figure("metadata_per_entry", "Structure per entry", "", number, each(structure)),
  figure("fill", "Fill", "main content", percent, (n) => n.leaf_fill),
  figure("depth", "Depth", "main pages", count, (n) => n.depth),
  figure("fan_out", "Fan-out", "main pages", number, (n) => n.average_fan_out || null),
  sum("leaf_pages", "Primary pages", "pages", count, (n) => n.leaf_pages),
  sum("interior_pages", "Interior pages", "pages", count, (n) => n.interior_pages),
  sum("overflow_pages", "Overflow pages", "main pages", count, (n) => n.overflow_pages),
  sum("overflow_entries", "Entries with overflow", "pages", count, (n) => n.overflow.chains),
  figure("longest_chain", "Longest chain", "pages", count, (n) => n.overflow.longest),
  sum("reserved_pages", "Reserved pages", "pages", count, (n) => n.reserved_pages),
  sum("unused_leaf", "Unused, primary", "", bytes, leaf),
  sum("unused_interior", "Unused, interior", "", bytes, interior),
  sum("unused_overflow", "Unused, overflow", "", bytes, (n) => n.overflow.unused),
  figure("scatter", "Scatter", "main order", digits(3), (n) => (n.steps > 0 ? n.scatter : null)),
  sum("runs", "Runs", "order", count, (n) => n.runs),
  figure("median_run", "Median run", "main order", count, (n) => n.median_run),
  figure("longest_run", "Longest run", "order", count, (n) => n.longest_run),
  sum("non_sequential", "Non-sequential", "order", count, (n) => n.non_sequential),
  figure("fragmentation", "Fragmentation", "order", percent, (n) => n.fragmentation),
  sum("cold_scan", "Cold scan", "main order", seconds, (n, { device }) => coldScan(n.scan, device)),
];

/** Sets of columns to choose from. */
export const SETS = [
  { id: "main", title: "Most asked for" },
  { id: "content", title: "Content" },
  { id: "pages", title: "Pages" },
  { id: "order", title: "Order in the file" },
  { id: "all", title: "All columns" },
];

/** The columns of a set; the name comes first in each. */
export function columnsOf(set) {
  return COLUMNS.filter((c) => c.id === "name" || set === "all" || c.sets.includes(set));
}

/** All b-trees as a CSV file: every column, plain numbers, lines end as RFC 4180 has it. */
export function csv(rows, context) {
  const line = (cells) => `${cells.map(quoted).join(",")}\r\n`;
  return line(COLUMNS.map((c) => c.id)) + rows.map((n) => line(COLUMNS.map((c) => c.value(n, context)))).join("");
}

/** A field of a CSV file. A text that a spreadsheet would take for a formula gets an apostrophe. */
function quoted(value) {
  if (value === null || typeof value === "number") return value ?? "";
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
