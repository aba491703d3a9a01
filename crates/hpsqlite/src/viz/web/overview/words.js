/** What the overview says in sentences. */
import { bytes, count, percent, plural } from "viz/dom.js";

/** Steps from leaf to leaf below which it does not matter where they lead. */
const FEW = 64;

/** Sentences, by what they are about. */
export const WORDS = {
  reading: "Every page of the file is being read. What follows from that appears here when it is done.",
  inOrder: "✓ Nothing is wrong with the pages of this file.",
  soFar: "No problem so far.",
  wrong: (n) => `⚠ ${plural(n, "problem")} ${n === 1 ? "was" : "were"} found.`,
  nothing: "Nothing is worth doing: the pages are full and in order, and the indexes are those that are needed.",
  noKeys: (n) => `There are no foreign keys, and ${n === 0 ? "no index" : "one index"}: nothing to look for.`,
  more: (n) => `${plural(n, "more sentence")} of advice`,
  scatter: ({ scatter: share, steps }) =>
    steps < FEW
      ? "of no account in so small a file"
      : share < 0.05
        ? `in order: ${percent(share)} of the steps from leaf to leaf jump`
        : share < 0.2
          ? `a little scattered: ${percent(share)} of the steps from leaf to leaf jump`
          : `scattered: ${percent(share)} of the steps from leaf to leaf jump`,
  free: (pages, size, share) =>
    pages === 0 ? "none" : `${bytes(size)} in ${plural(pages, "free page")}, ${percent(share)} of the file`,
  givesBack: (size) => (size === 0 ? "nothing" : `about ${bytes(size)}`),
  log: (frames) =>
    frames === 0 ? "empty" : `${plural(frames, "frame")} ${frames === 1 ? "waits" : "wait"} for a checkpoint`,
  noSchema: "SQLite cannot read the schema of this file, so nothing is known of its indexes.",
  noneMissing: "Every foreign key has an index.",
  noneRedundant: "No index repeats another.",
  rows: (n) => `${plural(n, "row")}`,
  statistics: {
    "not-needed": "ANALYZE has nothing to do: no table with an index has 1,000 rows.",
    never: "ANALYZE has never run: SQLite guesses how many rows an index finds.",
    fresh: "✓ ANALYZE counted about as many rows as there are.",
    stale: "ANALYZE counted other numbers of rows than there are now:",
  },
  slow: {
    what: "It can only read, and is stopped after 60 seconds.",
    nothing: "There is no statement.",
    running: (library, s) => `It runs with ${library}${s > 0 ? `, for ${plural(s, "second")} so far` : ""} …`,
    stopped: "It was stopped. What is here was known before.",
    faster: (factor, ours, theirs) =>
      `HP SQLite answers it ${factor} times as fast as SQLite: ${ours} in place of ${theirs}.`,
    slower: (factor, ours, theirs) => `SQLite is ${factor} times as fast here: ${theirs}, and HP SQLite ${ours}.`,
    same: (time) => `Both libraries take the same time: ${time}.`,
    first: "The first run of a new connection, whose cache is empty. The file may be in the system's cache.",
    again: "The fastest of the runs after the first: up to four, on the same connection.",
    noTimes: "It did not run to its end.",
    differ:
      "The numbers of rows differ: the statement gives another answer each time, or somebody wrote to the file " +
      "between the runs.",
    unknown: "What became of it is not known.",
    became: {
      accelerated: "✓ It is accelerated.",
      "given-back": "It was not accelerated this time.",
      refused: "It is not accelerated: SQLite's own code runs.",
    },
    noIndex: "None on columns that it compares would spare it the scan of a table.",
    noScan: "It scans no table, so none is missing.",
    index: (n) =>
      `Each index takes room, and time at every write. Try ${n === 1 ? "it" : "them"} on a copy of the file first.`,
    reads: "Which pages does it read, and in which order?",
  },
  stale: ({ rows, then }) =>
    then === null ? `${count(rows)} rows, not counted yet` : `${count(then)} rows then, ${count(rows)} now`,
};
