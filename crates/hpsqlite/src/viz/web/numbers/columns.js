/**
 * The columns of the table of b-trees: what each is, how it is explained and written, and its value
 * as it stands in the CSV file.
 */
import { bytes, count, number, percent, seconds } from "viz/dom.js";

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
const each = (of) => (n) => (n.entries > 0 ? of(n) / n.entries : null);
const digits = (places) => (x) => x.toFixed(places);

/**
 * `value(n, context)` is what is sorted by and what the CSV file has; null: there is none. `show` writes
 * it. `sets` are the sets of columns that it is in, besides "all".
 */
export const COLUMNS = [
  { id: "name", title: "b-tree", value: (n) => n.name, text: true, sets: [] },
  {
    id: "role",
    title: "What",
    value: (n) => n.role,
    text: true,
    sets: ["main", "content", "pages", "order"],
    why:
      "A table, an index, a table whose rows are in an index by their primary key (without rowid), or the schema, " +
      "which lists the others.",
  },
  {
    id: "table",
    title: "Table",
    value: (n) => n.table,
    text: true,
    sets: ["content"],
    why: "The table that an index belongs to.",
  },
  {
    id: "entries",
    title: "Entries",
    value: (n) => n.entries,
    show: count,
    sum: true,
    sets: ["main", "content"],
    why: "Rows of a table, entries of an index.",
  },
  {
    id: "pages",
    title: "Pages",
    value: (n) => n.pages,
    show: count,
    sum: true,
    sets: ["main", "pages", "order"],
    why: "All pages of the b-tree, overflow pages included.",
  },
  {
    id: "bytes",
    title: "Size",
    value: (n) => n.bytes,
    show: bytes,
    sum: true,
    sets: ["main", "content", "pages"],
    why: "All its pages in bytes.",
  },
  {
    id: "share",
    title: "Of the file",
    value: (n, { whole }) => n.bytes / Math.max(1, whole.bytes),
    show: percent,
    sum: true,
    sets: ["content", "pages"],
    why: "Its share of all pages of the file.",
  },
  {
    id: "payload",
    title: "Payload",
    value: (n) => n.payload,
    show: bytes,
    sum: true,
    sets: ["content"],
    why: "The bytes of the rows and entries themselves.",
  },
  {
    id: "payload_per_entry",
    title: "Payload per entry",
    value: each((n) => n.payload),
    show: number,
    sets: ["content"],
    why: "Payload in bytes of an entry, on average.",
  },
  {
    id: "largest_record",
    title: "Largest",
    value: (n) => n.largest_record,
    show: bytes,
    sets: ["content"],
    why: "Payload of the largest row or entry.",
  },
  {
    id: "unused",
    title: "Unused",
    value: (n) => n.unused,
    show: bytes,
    sum: true,
    sets: ["content"],
    why: "Bytes of its pages that hold nothing.",
  },
  {
    id: "unused_per_entry",
    title: "Unused per entry",
    value: each((n) => n.unused),
    show: number,
    sets: ["content"],
    why: "Unused bytes for each entry, on average.",
  },
  {
    id: "metadata",
    title: "Structure",
    value: structure,
    show: bytes,
    sum: true,
    sets: ["content"],
    why:
      "Bytes that are neither payload nor unused: page headers, cell pointers, lengths, keys of interior pages. " +
      "sqlite3_analyzer calls it metadata.",
  },
  {
    id: "metadata_per_entry",
    title: "Structure per entry",
    value: each(structure),
    show: number,
    sets: [],
    why: "Structure in bytes for each entry, on average.",
  },
  {
    id: "fill",
    title: "Fill",
    value: (n) => n.leaf_fill,
    show: percent,
    sets: ["main", "content"],
    why: "How much of its leaves is in use.",
  },
  {
    id: "depth",
    title: "Depth",
    value: (n) => n.depth,
    show: count,
    sets: ["main", "pages"],
    why: "Levels of the b-tree: so many pages are read on the way to a row.",
  },
  {
    id: "fan_out",
    title: "Fan-out",
    value: (n) => n.average_fan_out || null,
    show: number,
    sets: ["main", "pages"],
    why: "Pages that an interior page leads to, on average. The more, the flatter the b-tree.",
  },
  {
    id: "leaf_pages",
    title: "Primary pages",
    value: (n) => n.leaf_pages,
    show: count,
    sum: true,
    sets: ["pages"],
    why: "Leaves: the pages with the rows or entries.",
  },
  {
    id: "interior_pages",
    title: "Interior pages",
    value: (n) => n.interior_pages,
    show: count,
    sum: true,
    sets: ["pages"],
    why: "Pages that say which page below holds which keys. sqlite3_analyzer calls them index pages.",
  },
  {
    id: "overflow_pages",
    title: "Overflow pages",
    value: (n) => n.overflow_pages,
    show: count,
    sum: true,
    sets: ["main", "pages"],
    why: "Pages with what is left of rows that are too large for their leaf.",
  },
  {
    id: "overflow_entries",
    title: "Entries with overflow",
    value: (n) => n.overflow.chains,
    show: count,
    sum: true,
    sets: ["pages"],
    why: "Rows or entries that are too large for their page.",
  },
  {
    id: "longest_chain",
    title: "Longest chain",
    value: (n) => n.overflow.longest,
    show: count,
    sets: ["pages"],
    why: "Overflow pages of the largest row, one after the other.",
  },
  {
    id: "reserved_pages",
    title: "Reserved pages",
    value: (n) => n.reserved_pages,
    show: count,
    sum: true,
    sets: ["pages"],
    why: "Free pages that High Performance SQLite keeps for it, so that it stays together when it grows.",
  },
  {
    id: "unused_leaf",
    title: "Unused, primary",
    value: leaf,
    show: bytes,
    sum: true,
    sets: [],
    why: "Unused bytes of its leaves.",
  },
  {
    id: "unused_interior",
    title: "Unused, interior",
    value: interior,
    show: bytes,
    sum: true,
    sets: [],
    why: "Unused bytes of its interior pages.",
  },
  {
    id: "unused_overflow",
    title: "Unused, overflow",
    value: (n) => n.overflow.unused,
    show: bytes,
    sum: true,
    sets: [],
    why: "Unused bytes of its overflow pages.",
  },
  {
    id: "scatter",
    title: "Scatter",
    value: (n) => (n.steps > 0 ? n.scatter : null),
    show: digits(3),
    sets: ["main", "order"],
    why:
      "The share of steps from one leaf to the next, in the order of keys, that jump elsewhere in the file: 0 is a " +
      "b-tree in one piece, at 1 every step jumps. A step over overflow or interior pages of the same b-tree is no " +
      "jump, since a scan reads these as well.",
  },
  {
    id: "runs",
    title: "Runs",
    value: (n) => n.runs,
    show: count,
    sum: true,
    sets: ["order"],
    why: "Pieces of leaves that follow each other in the file.",
  },
  {
    id: "median_run",
    title: "Median run",
    value: (n) => n.median_run,
    show: count,
    sets: ["main", "order"],
    why: "Half of the runs have at least so many leaves.",
  },
  {
    id: "longest_run",
    title: "Longest run",
    value: (n) => n.longest_run,
    show: count,
    sets: ["order"],
    why: "Leaves of the longest run.",
  },
  {
    id: "non_sequential",
    title: "Non-sequential",
    value: (n) => n.non_sequential,
    show: count,
    sum: true,
    sets: ["order"],
    why:
      "Leaves that do not follow another page of the b-tree in the file, as sqlite3_analyzer counts them: in the " +
      "order of the file, not of keys.",
  },
  {
    id: "fragmentation",
    title: "Fragmentation",
    value: (n) => n.fragmentation,
    show: percent,
    sets: ["order"],
    why:
      "Non-sequential leaves as a share of its pages. A b-tree whose pages lie together in any order has 0; " +
      "scatter tells whether they are in the order of keys.",
  },
  {
    id: "cold_scan",
    title: "Cold scan",
    value: (n, { device }) => coldScan(n.scan, device),
    show: seconds,
    sum: true,
    sets: ["main", "order"],
    why:
      "Estimated seconds to read all rows in the order of keys when nothing is cached: bytes at the device's rate, " +
      "and each jump at its latency, one request at a time.",
  },
];

/** What a button says that shows the next `step` of `left` lines. */
export function showMore(left, step) {
  return left > step ? `Show ${count(step)} more of ${count(left)}` : `Show the other ${count(left)}`;
}

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
