/**
 * What two files have in common and what not: their b-trees in pairs, every number of both, the
 * schema. Nothing here draws.
 */
import { bytes, capital, count, number, percent, seconds } from "viz/dom.js";
import { COLUMNS } from "viz/numbers/columns.js";

/** B-trees in pairs by their names: `[{name, left, right}]`, each `{t, tree}` or null. */
export function pairs(left, right) {
  const byName = new Map();
  const add = (summary, side) =>
    summary.trees.forEach((tree, t) => {
      const key = tree.name.toLowerCase();
      if (!byName.has(key)) byName.set(key, { name: tree.name, left: null, right: null });
      byName.get(key)[side] = { t, tree };
    });
  add(left, "left");
  add(right, "right");
  return [...byName.values()];
}

const digits = (places) => (x) => x.toFixed(places);
const points = (x) => `${number(x * 100)} points`;

/** Numbers that are shares: a difference of them is told in points of a hundred. */
const SHARES = new Set(["fill", "share", "fragmentation"]);

/**
 * The numbers of a b-tree: `{id, title, why, value(n, context), show, difference}`; the last writes a
 * difference, without its sign.
 */
export const OF_TREES = COLUMNS.filter((c) => !c.text).map((c) => ({
  ...c,
  difference: SHARES.has(c.id) ? points : c.show,
}));

const whole = (id, title, show, why) => ({
  id,
  title,
  show,
  difference: show,
  why,
  value: ({ whole: w }) => w?.[id] ?? null,
});

/** The numbers of a file, of its summary. */
export const OF_FILES = [
  {
    id: "bytes",
    title: "Size",
    show: bytes,
    difference: bytes,
    value: ({ pages, page_size }) => pages * page_size,
    why: "All pages of the database.",
  },
  { id: "pages", title: "Pages", show: count, difference: count, value: (s) => s.pages },
  { id: "page_size", title: "Page size", show: bytes, difference: bytes, value: (s) => s.page_size },
  {
    id: "usable",
    title: "Usable bytes of a page",
    show: count,
    difference: count,
    value: (s) => s.usable,
    why: "The rest of each page is reserved for extensions of SQLite.",
  },
  { id: "trees", title: "Tables and indexes", show: count, difference: count, value: (s) => s.trees.length - 1 },
  {
    id: "entries",
    title: "Rows and entries",
    show: count,
    difference: count,
    value: (s) => sum(s, (n) => n.entries),
    why: "Rows of tables and entries of indexes together.",
  },
  whole("payload", "Payload", bytes, "The bytes of rows and entries themselves."),
  whole("unused", "Unused within pages", bytes, "Bytes of pages of b-trees that hold nothing."),
  whole("free_pages", "Free pages", count, "Pages that hold nothing, the reserved ones among them."),
  whole(
    "reserved_pages",
    "Reserved pages",
    count,
    "Free pages that High Performance SQLite keeps for tables and indexes that grow.",
  ),
  whole("orphan_pages", "Pages that nothing leads to", count),
  whole("vacuum_gives_back", "VACUUM would give back", bytes, "About so much smaller VACUUM would make the file."),
  whole(
    "scatter",
    "Scatter",
    digits(3),
    "Of all b-trees together: the share of steps from leaf to leaf, in the order of keys, that jump elsewhere in " +
      "the file.",
  ),
  whole("steps", "Steps from leaf to leaf", count),
  whole("forward_jumps", "Jumps forward", count),
  whole("backward_jumps", "Jumps backward", count),
  whole("runs", "Runs", count, "Pieces of leaves that follow each other in the file."),
  whole("median_run", "Median run", count, "Half of the runs have at least so many leaves."),
  whole("longest_run", "Longest run", count),
  {
    id: "cold_scan",
    title: "Cold scan of everything",
    show: seconds,
    difference: seconds,
    value: (s) => sum(s, (n) => n.cold_scan),
    why: "Estimated time to read all tables and indexes in the order of their keys when nothing is cached.",
  },
  {
    id: "problems",
    title: "Problems",
    show: count,
    difference: count,
    value: (s) => (s.scanned ? s.problem_count : null),
  },
];

/** The sum of a number over all b-trees; null as long as they are not counted. */
export function sum({ trees }, of) {
  if (!trees.every((tree) => tree.numbers)) return null;
  return trees.reduce((all, tree) => all + of(tree.numbers), 0);
}

/** Pages by what they are, as numbers of a file. */
export function kindNumbers(left, right) {
  const of = (summary) => new Map(summary.whole?.kinds ?? []);
  const names = new Set([...of(left).keys(), ...of(right).keys()]);
  return [...names].map((name) => ({
    id: `kind-${name}`,
    title: `Pages: ${name.replaceAll("-", " ")}`,
    show: count,
    difference: count,
    value: (s) => (s.whole ? (of(s).get(name) ?? 0) : null),
  }));
}

/** What the files' headers say that is no number of the above: `[{title, left, right}]`. */
export function headerFacts(left, right) {
  const known = new Set(["page_size", "pages", "free_pages"]);
  const names = Object.keys({ ...left.header, ...right.header }).filter((name) => !known.has(name));
  return names.map((name) => ({
    title: capital(name.replaceAll("_", " ")),
    left: String(left.header[name] ?? ""),
    right: String(right.header[name] ?? ""),
  }));
}

/** B-trees whose statements differ, or that only one file has. */
export function schemaDifferences(all) {
  return all.filter(
    ({ left, right }) => !left || !right || left.tree.sql !== right.tree.sql || left.tree.role !== right.tree.role,
  );
}

/**
 * `a` and `b` cut into words, each with whether the other text has it at its place; and whether they
 * were compared, or are too long.
 */
export function wordDifferences(a, b) {
  const cut = (text) => text.match(/\s+|\w+|[^\s\w]/gu) ?? [];
  const [x, y] = [cut(a), cut(b)];
  const MOST = 1500;
  if (x.length > MOST || y.length > MOST)
    return [x, y].map((words) => words.map((word) => ({ word, same: true }))).concat(false);
  // The longest common subsequence, from the end on.
  const width = y.length + 1;
  const length = new Uint16Array((x.length + 1) * width);
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      const at = i * width + j;
      length[at] = x[i] === y[j] ? length[at + width + 1] + 1 : Math.max(length[at + width], length[at + 1]);
    }
  }
  const [left, right] = [[], []];
  let [i, j] = [0, 0];
  while (i < x.length || j < y.length) {
    const at = i * width + j;
    if (i < x.length && j < y.length && x[i] === y[j]) {
      left.push({ word: x[i++], same: true });
      right.push({ word: y[j++], same: true });
    } else if (j >= y.length || (i < x.length && length[at + width] >= length[at + 1])) {
      left.push({ word: x[i++], same: false });
    } else {
      right.push({ word: y[j++], same: false });
    }
  }
  return [left, right, true];
}

/** A ratio as "1.25×"; none where there is nothing to divide by. */
export function ratio(left, right) {
  if (left === null || right === null || left === 0) return "–";
  if (right === 0) return "0×";
  const r = right / left;
  return r < 0.01 ? "< 0.01×" : `${r < 10 ? r.toFixed(2) : number(r)}×`;
}

/** A difference with its sign and an arrow, so that it is told without colour. */
export function signed(left, right, write) {
  if (left === null || right === null) return { text: "–", way: "none" };
  const difference = right - left;
  if (difference === 0) return { text: "=", way: "same" };
  const shown = write(Math.abs(difference));
  return difference > 0 ? { text: `▲ +${shown}`, way: "more" } : { text: `▼ −${shown}`, way: "less" };
}

/** How much smaller or larger, in words: "12 % smaller". */
export function bySize(left, right) {
  if (left === right) return "as large as before";
  const share = Math.abs(right - left) / Math.max(1, left);
  const how = right < left ? "smaller" : "larger";
  return right >= 2 * left ? `${number(right / left)} times as large` : `${percent(share)} ${how}`;
}
