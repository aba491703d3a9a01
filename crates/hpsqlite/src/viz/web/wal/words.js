/** What is said of the write-ahead log, in sentences. */
import { bytes, capital, count, plural } from "viz/dom.js";

/** Sentences, by what they are about. */
export const WORDS = {
  following: "Following the log: what is written to it appears here.",
  changed: (when) => `Following the log: it last changed at ${when.toLocaleTimeString("en-GB")}.`,
  paused: "The log is not followed.",
  strip: ", every other commit is paler. Choose a cell to see its page and its commit.",
  over: " of the database, in the order of the file. Choose a cell to see which versions of a page are in the log.",
  noVersion: "The log has no version of it: what is in the database file is what SQLite reads.",
  versions: (versions) => `The log has ${plural(versions, "version")} of it, the newest first. `,
  commit: (from, to, pages, later) =>
    `${capital(plural(to - from, "frame"))}, from ${count(from + 1)} to ${count(to)}, with ` +
    `${plural(pages, "page")}. The database has ${later} after it.`,
  smaller: (versions, pages) => `${count(versions)}; the database became smaller and has ${count(pages)} now`,
  allCopied: "All that is committed has been copied to the database. The next writer may begin the log anew.",
  wouldWrite: (f) =>
    `Would write ${plural(f.to_checkpoint, "page")} (${bytes(f.checkpoint_bytes)}) to the database, in ` +
    `${plural(f.checkpoint_runs, "piece")} of adjacent pages.`,
  copied: (f) =>
    `${plural(f.copied, "frame")} of ${count(f.committed)} ${f.copied === 1 ? "has" : "have"} been copied ` +
    "already.",
  ofItsOwn: "In WAL mode SQLite writes changes to a file of their own beside the database, its name with ",
  oneWouldSee:
    " at the end. Here one would see each version of each page in it, which commit it belongs to, and what a " +
    "checkpoint would copy to the database.",
  old: (old) =>
    `The log has ${plural(old, "frame")} of before it began anew, and none that counts: all has been copied to ` +
    "the database.",
  noLog:
    "This database is in WAL mode, but no log with frames of it is beside it: everything has been copied to the " +
    "database. The last program that closes a database in WAL mode does that, and removes the log.",
  notWal:
    "This database is not in WAL mode: it has a rollback journal, where SQLite keeps the old version of each " +
    "page until a commit is done. Such a journal is gone after the commit. PRAGMA journal_mode=WAL turns WAL " +
    "mode on.",
};
