/** What is said of a statement and its reads, in sentences. */
import { capital, count, percent, plural } from "viz/dom.js";

/** Sentences, by what they are about. */
export const WORDS = {
  map:
    "Map: which pages of the file have been read. Arrow keys move, Home and End go to the first and last page, " +
    "Enter opens one.",
  readOnce: (reads, pages) => `It read ${plural(reads, "page")} of the ${count(pages)} in the file`,
  readAgain: (reads, distinct, pages) =>
    `It read ${plural(reads, "page")}: ${count(distinct)} different ones of the ${count(pages)} in the file, and ` +
    `${plural(reads - distinct, "time")} one that it had read before`,
  share: (share) => `. ${capital(percent(share))} of the steps went to the next page of the file.`,
  logged: (logged) =>
    `But ${plural(logged, "page")} came from the write-ahead log, where pages lie in the order in which they ` +
    "were written: their numbers do not say how the disk was read.",
  jumps: "The other steps jump, and on a disk that has to fetch them each jump is a request of its own. ",
  lookUps:
    "The other steps jump: rows are looked up one by one, in the order in which an index or another table names " +
    "them, wherever they are in the file.",
  reads:
    "Reads of pages from the file or from its log, first page 1, with which every transaction begins. A page " +
    "that is still in SQLite's cache (2 MB at first) is not read again.",
  next:
    "The share of steps from one page to another that go to the page right after it. The same page read again at " +
    "once is no step.",
  run:
    "A run is as many pages as follow one another in the file. The same page read again at once does not end it; " +
    "each new run is a jump.",
  calls: "SQLite reads a page by one call. HP SQLite reads adjacent leaves by one.",
  time: "With the pages as warm or cold as the system had them, by one thread. To measure, use hpsqlite compare.",
  firstRows: (shown, all) => `The first ${plural(shown, "row")} of ${count(all)}. The query ran to its end.`,
  order: "To the right the reads as they came, down the pages of the file: adjacent pages make a line, jumps do not.",
  file: "Every page in its place; those that were read are lit.",
  counted:
    "Every page that is read from the file, or from its write-ahead log, while the statement runs, in the order " +
    "of reading. The connection is new, so its cache (2 MB) is empty: a page is read when it is needed first, " +
    "and again only if it had to leave the cache. Looking at a page again in the cache is no read. The first is " +
    "page 1, with which every transaction begins; reading the list of tables before that is left out.",
  oneThread:
    "HP SQLite works with one thread here, so that there is an order, and without its shortcut for long chains " +
    "of overflow pages. It reads adjacent leaves by one call; each of these pages is counted. The first leaf may " +
    "be read twice, as it looks at it to see whether the table is large.",
  onlyReading:
    "Only reading is possible: the connection refuses everything else. A statement is stopped after 60 seconds.",
  begin: "Type a SELECT, or take an example, and run it: the pages that it reads light up.",
};
