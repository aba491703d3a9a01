/** What the list of problems says in sentences. */
import { capital, plural } from "viz/dom.js";

/** What is looked at, so that one knows what "nothing" means. */
export const CHECKED = [
  "The header: the size of the file, the count of free pages, the largest root.",
  "Every page of a table or index: its kind, its cells within the page and not one over another, its " +
    "freeblocks and fragments, the sizes of its records.",
  "That each page is used once, and that something leads to it.",
  "Rowids of tables, in order within pages and between them.",
  "Keys of indexes and of tables without rowid: whether each column goes the same way everywhere. Texts are " +
    "compared where the SQL of the table and the index names no collation; what is in overflow pages is not " +
    "compared.",
  "Overflow chains: as long as their rows need.",
  "The free list, pointer maps, and the checksums of the write-ahead log.",
  "Not looked at: whether values are what their columns declare, and whether an index has an entry for each " +
    "row. SQLite's PRAGMA integrity_check does that.",
];

/** Sentences, by what they are about. */
export const WORDS = {
  found: (all, cut) => `${capital(plural(all, "problem"))} ${all === 1 ? "was" : "were"} found.${cut}`,
  many:
    "One damaged page often leads to many lines: what is below it cannot be reached, or is reached twice. " +
    "SQLite's .recover command saves what can be read into a new file.",
};
