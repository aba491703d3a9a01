/** What the numbers say in sentences. */
import { bytes, count, percent, plural, seconds } from "viz/dom.js";

/** Sentences, by what they are about. */
export const WORDS = {
  entries: (n, each) =>
    `${plural(n.entries, n.role === "index" ? "entry" : "row", n.role === "index" ? "entries" : "rows")} with ` +
    `${bytes(n.payload)} of payload${each}; the largest has ${bytes(n.largest_record)}.`,
  size: (n, structure) =>
    `${bytes(n.bytes)} in ${plural(n.pages, "page")}: ${percent(n.payload / n.bytes)} payload, ` +
    `${percent(structure / n.bytes)} structure, ${percent(n.unused / n.bytes)} unused. Its leaves are ` +
    `${percent(n.leaf_fill)} full.`,
  scatter:
    "Scatter is the share of steps from one leaf to the next, in the order of keys, that jump elsewhere in the " +
    "file. Each jump is one more request to the device, near or far.",
  jumps: (jumps, n) =>
    `${count(jumps)} of ${plural(n.steps, "step")} jump: ${count(n.forward_jumps)} forward, ` +
    `${count(n.backward_jumps)} back. ${plural(n.runs, "run")} of leaves, the median ${count(n.median_run)} ` +
    `long, the longest ${count(n.longest_run)}.`,
  withoutOverflow: (time) => `Without the overflow pages, for columns that are in the leaves: ${seconds(time)}.`,
  allRows: (scan, gain) =>
    `All rows in the order of keys, when nothing is cached: ${bytes(scan.bytes)} in ` +
    `${plural(scan.requests, "piece")}, one request at a time.${gain}`,
  device:
    "This is the device's part; what the processor takes comes on top. Readers that ask for pages ahead, as High " +
    "Performance SQLite does where leaves are scattered, take less.",
  chains: (chains, entries, pages, unused) =>
    `${plural(chains, "row")} of ${count(entries)} ${chains === 1 ? "does" : "do"} not fit into a leaf and ` +
    `${chains === 1 ? "goes" : "go"} on in ${plural(pages, "overflow page")}, ${bytes(unused)} of which are ` +
    "unused.",
  longest: (longest) => `The longest chain has ${plural(longest, "page")} and begins at a row on page `,
  chainJumps: (jumps, steps, away) =>
    `${count(jumps)} of ${plural(steps, "step")} within chains jump, and ${plural(away, "chain")} ` +
    `${away === 1 ? "begins" : "begin"} away from the row.`,
  run: "A run is a piece of leaves that follow each other in the file. Few long ones are good.",
  depth: (depth) => `${plural(depth, "page")} ${depth === 1 ? "is" : "are"} read on the way from the root to a row.`,
  beingRead:
    "Entries, payload and the order of pages are counted while every page is read. They appear here when that is " +
    "done.",
  measure:
    "Reads parts of the database file for less than a second, past the cache: pages at random, then pieces in a " +
    "row. Nothing is written.",
  coldScan:
    "A cold scan reads all rows in the order of keys when nothing is cached, one request at a time. What the " +
    "processor takes comes on top.",
  measured: (found, how) =>
    `Measured in ${seconds(found.seconds)}: ${plural(found.at_random, "read")} at random and ` +
    `${bytes(found.in_a_row)} in a row, ${how}.`,
  reserved: "Free pages that High Performance SQLite keeps for one table or index, so that its pages stay together.",
  structure: "Everything else: page headers, cell pointers, lengths, keys of interior pages.",
  scatterOfAll:
    "Of all steps from one leaf to the next, in the order of keys, the share that jumps elsewhere in the file. " +
    "0: every table and index is in one piece. 1: every step jumps.",
  journal: "How SQLite makes commits safe: in a write-ahead log, or by keeping the old pages in a journal.",
  autoVacuum: "Whether free pages at the end of the file are given back by themselves.",
  userVersion: "A number that applications use for themselves, often the version of their schema.",
};

/** What the columns of the table of b-trees mean. */
export const MEANING = {
  role:
    "A table, an index, a table whose rows are in an index by their primary key (without rowid), or the schema, " +
    "which lists the others.",
  table: "The table that an index belongs to.",
  entries: "Rows of a table, entries of an index.",
  pages: "All pages of the b-tree, overflow pages included.",
  bytes: "All its pages in bytes.",
  share: "Its share of all pages of the file.",
  payload: "The bytes of the rows and entries themselves.",
  payload_per_entry: "Payload in bytes of an entry, on average.",
  largest_record: "Payload of the largest row or entry.",
  unused: "Bytes of its pages that hold nothing.",
  unused_per_entry: "Unused bytes for each entry, on average.",
  metadata:
    "Bytes that are neither payload nor unused: page headers, cell pointers, lengths, keys of interior pages. " +
    "sqlite3_analyzer calls it metadata.",
  metadata_per_entry: "Structure in bytes for each entry, on average.",
  fill: "How much of its leaves is in use.",
  depth: "Levels of the b-tree: so many pages are read on the way to a row.",
  fan_out: "Pages that an interior page leads to, on average. The more, the flatter the b-tree.",
  leaf_pages: "Leaves: the pages with the rows or entries.",
  interior_pages: "Pages that say which page below holds which keys. sqlite3_analyzer calls them index pages.",
  overflow_pages: "Pages with what is left of rows that are too large for their leaf.",
  overflow_entries: "Rows or entries that are too large for their page.",
  longest_chain: "Overflow pages of the largest row, one after the other.",
  reserved_pages: "Free pages that High Performance SQLite keeps for it, so that it stays together when it grows.",
  unused_leaf: "Unused bytes of its leaves.",
  unused_interior: "Unused bytes of its interior pages.",
  unused_overflow: "Unused bytes of its overflow pages.",
  scatter:
    "The share of steps from one leaf to the next, in the order of keys, that jump elsewhere in the file: 0 is a " +
    "b-tree in one piece, at 1 every step jumps. A step over overflow or interior pages of the same b-tree is no " +
    "jump, since a scan reads these as well.",
  runs: "Pieces of leaves that follow each other in the file.",
  median_run: "Half of the runs have at least so many leaves.",
  longest_run: "Leaves of the longest run.",
  non_sequential:
    "Leaves that do not follow another page of the b-tree in the file, as sqlite3_analyzer counts them: in the " +
    "order of the file, not of keys.",
  fragmentation:
    "Non-sequential leaves as a share of its pages. A b-tree whose pages lie together in any order has 0; " +
    "scatter tells whether they are in the order of keys.",
  cold_scan:
    "Estimated seconds to read all rows in the order of keys when nothing is cached: bytes at the device's rate, " +
    "and each jump at its latency, one request at a time.",
};
