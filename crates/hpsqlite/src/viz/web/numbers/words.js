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
