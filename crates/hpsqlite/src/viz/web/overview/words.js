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
  log: (frames) => (frames === 0 ? "empty" : `${plural(frames, "frame")} wait for a checkpoint`),
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
  stale: ({ rows, then }) =>
    then === null ? `${count(rows)} rows, not counted yet` : `${count(then)} rows then, ${count(rows)} now`,
};
