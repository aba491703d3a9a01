/** What the words of all views mean. */

/** What the words of this page mean. */
export const GLOSSARY = {
  page: "A database file is cut into pages of the same size, often 4096 bytes. SQLite reads and writes whole pages.",
  "b-tree":
    "A table or an index: pages in levels, from one root at the top to the leaves at the bottom, with the keys " +
    "in order.",
  leaf: "A page on the lowest level of a b-tree. It holds the rows of a table or the entries of an index.",
  "interior page": "A page that only says which page below it holds which keys.",
  "overflow page": "What is left of a row that is too large for its leaf. A row may need a chain of many.",
  "free page": "A page that holds nothing since what was in it has been deleted. New rows will use it again.",
  "free list": "The list of free pages. Its trunk pages hold the numbers of the others.",
  "reserved page":
    "A free page that High Performance SQLite keeps for one table or index, so that its pages stay together in " +
    "the file.",
  "pointer map": "A page that says of other pages who points to them. Only files with auto_vacuum have them.",
  "lock-byte page": "The page at 1 GiB, which SQLite never uses: locks are taken on its bytes.",
  orphan: "A page that nothing leads to and that is not free: it should not be there.",
  fill: "How much of a page is in use.",
  "fan-out": "How many pages an interior page leads to, on average.",
  depth: "How many pages are read on the way from the root to a row.",
  scatter:
    "The share of steps from one leaf to the next, in the order of keys, that jump somewhere else in the file. 0 " +
    "is a b-tree in one piece; at 1 every step jumps.",
  cell: "One row, or one entry of an index, in a page.",
  freeblock: "A hole between cells, left by a deleted row, that can be used again.",
  fragment: "A hole of one to three bytes between cells: too small to be used again.",
  unallocated: "The room in the middle of a page that no cell has taken yet.",
  payload: "The bytes of the rows or entries themselves.",
  frame: "One version of one page in the write-ahead log.",
  "write-ahead log":
    "The file beside the database (-wal) where changes are written first. A checkpoint copies them to the " +
    "database.",
  checkpoint: "Copies the newest version of each page from the write-ahead log to the database file.",
};
