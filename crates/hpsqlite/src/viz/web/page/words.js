/**
 * Header fields in words: what the numbers at fixed places of a page are called, what they say, and
 * what that means. A field is {at, len, name, value, meaning, page}: `page` is there where the value is
 * the number of a page.
 */
import { bytes as inUnits, count, plural } from "viz/dom.js";

/** Bytes of the database header at the start of page 1. */
export const FILE_HEADER = 100;

/** A big-endian number of 1 to 4 bytes; what is beyond the end counts as 0. */
export function big(bytes, at, len) {
  let n = 0;
  for (let i = 0; i < len; i++) n = n * 256 + (bytes[at + i] ?? 0);
  return n;
}

/** A variable-length integer as {value, len}; `value` is a BigInt. */
export function varint(bytes, at) {
  let value = 0n;
  for (let i = 0; i < 9; i++) {
    const byte = bytes[at + i] ?? 0;
    if (i === 8) return { value: (value << 8n) | BigInt(byte), len: 9 };
    value = (value << 7n) | BigInt(byte & 0x7f);
    if (byte < 0x80) return { value, len: i + 1 };
  }
  return { value, len: 9 };
}

/** What a serial type of a record's header says, in words. */
export function serialName(serial) {
  const n = Number(serial);
  if (n >= 12) return `${n % 2 ? "text" : "blob"} of ${plural(Math.floor((n - 12) / 2), "byte")}`;
  return [
    "NULL",
    "integer of 1 byte",
    "integer of 2 bytes",
    "integer of 3 bytes",
    "integer of 4 bytes",
    "integer of 6 bytes",
    "integer of 8 bytes",
    "real number of 8 bytes",
    "the integer 0, in no byte",
    "the integer 1, in no byte",
    "a type of SQLite's own",
    "a type of SQLite's own",
  ][n];
}

function field(bytes, at, len, name, words, { page = false, value } = {}) {
  const n = big(bytes, at, len);
  return {
    at,
    len,
    name,
    value: value ? value(n) : count(n),
    meaning: typeof words === "function" ? words(n) : words,
    page: page && n > 0 ? n : undefined,
  };
}

const ENCODINGS = ["UTF-8 (nothing is stored yet)", "UTF-8", "UTF-16, little-endian", "UTF-16, big-endian"];
const JOURNALS = { 1: "with a rollback journal", 2: "with a write-ahead log (WAL)" };

/** The text that an application id may spell. */
function spelled(n) {
  const text = String.fromCharCode(...[24, 16, 8, 0].map((shift) => (n >>> shift) & 255));
  return /^[\x20-\x7e]{4}$/.test(text) ? `, “${text}”` : "";
}

/** The database header, field by field. */
export function fileHeader(bytes) {
  const f = (...rest) => field(bytes, ...rest);
  const size = big(bytes, 16, 2) === 1 ? 65536 : big(bytes, 16, 2);
  const changes = big(bytes, 24, 4);
  const valid = big(bytes, 92, 4) === changes;
  const automatic = big(bytes, 52, 4) > 0;
  return [
    {
      at: 0,
      len: 16,
      name: "What this file is",
      value: String.fromCharCode(...bytes.subarray(0, 15)).replace(/[^\x20-\x7e]/g, "·"),
      meaning: "Every SQLite 3 database starts with these 16 bytes, the last of which is 0.",
    },
    f(16, 2, "Page size", `Every page has ${count(size)} bytes${size === 65536 ? "; 65,536 is written as 1" : ""}.`),
    f(
      18,
      1,
      "Write version",
      (n) => `Programs that write do so ${JOURNALS[n] ?? "in a way that is newer than this tool"}.`,
    ),
    f(
      19,
      1,
      "Read version",
      (n) => `Programs that read expect changes to be made ${JOURNALS[n] ?? "in a way that is newer than this tool"}.`,
    ),
    f(20, 1, "Reserved bytes", (n) =>
      n
        ? `The last ${plural(n, "byte")} of every page are for extensions, such as encryption or checksums.`
        : "SQLite uses every page to its end.",
    ),
    f(21, 1, "Most of a page for a cell", "Of an index's page one cell may have 64 of 255 parts. It is always 64."),
    f(22, 1, "Least of a page for a cell", "Of a cell that overflows at least 32 of 255 parts stay. It is always 32."),
    f(23, 1, "The same for table leaves", "It is always 32."),
    f(
      24,
      4,
      "Change counter",
      "It goes up with every transaction that writes to the file with a rollback journal, so that others know when " +
        "what they have in memory is old.",
    ),
    f(28, 4, "Size in pages", (n) =>
      valid
        ? `The database has ${plural(n, "page")}, ${inUnits(n * size)}.`
        : "It does not count: an old version of SQLite, which does not write it, made the last change. The size is " +
          "that of the file.",
    ),
    f(
      32,
      4,
      "First page of the free list",
      (n) => (n ? "The first trunk page of the list of pages that hold nothing." : "There is no free page."),
      { page: true },
    ),
    f(36, 4, "Free pages", "How many pages are on the free list, trunks included."),
    f(
      40,
      4,
      "Schema cookie",
      "It goes up whenever a table or an index is made, changed or dropped, so that prepared statements are " +
        "prepared again.",
    ),
    f(
      44,
      4,
      "Schema format",
      (n) =>
        ({
          0: "The database has no table yet.",
          1: "Tables as all versions of SQLite 3 read them.",
          2: "Rows may have fewer values than their table has columns (ALTER TABLE ADD COLUMN).",
          3: "The same, and the values left out may have defaults that are not NULL.",
          4: "Indexes may be descending, and 0 and 1 take no byte in a record.",
        })[n] ?? "SQLite knows formats up to 4.",
    ),
    f(
      48,
      4,
      "Suggested cache size",
      "Pages that a connection should keep in memory; 0: SQLite's own default. PRAGMA default_cache_size set it; " +
        "nobody uses that any more.",
      { value: (n) => count(n | 0) },
    ),
    f(
      52,
      4,
      "Largest root page",
      (n) =>
        n
          ? "The database has auto_vacuum: pointer maps say who leads to each page, and free pages can be given " +
            "back to the system."
          : "The database has no auto_vacuum, and no pointer maps.",
      { page: true },
    ),
    f(56, 4, "Text encoding", (n) => `Text is stored as ${ENCODINGS[n] ?? "nothing that SQLite knows"}.`),
    f(60, 4, "User version", "For the application to set and read, with PRAGMA user_version.", {
      value: (n) => count(n | 0),
    }),
    f(64, 4, "Incremental vacuum", (n) =>
      n
        ? "auto_vacuum is incremental: free pages are given back when PRAGMA incremental_vacuum says so."
        : automatic
          ? "auto_vacuum is full: free pages are given back with every commit."
          : "Not in use: there is no auto_vacuum.",
    ),
    f(
      68,
      4,
      "Application id",
      (n) =>
        n
          ? `Which application's file this is (PRAGMA application_id)${spelled(n)}.`
          : "No application has put its mark here (PRAGMA application_id).",
      { value: (n) => (n ? `0x${n.toString(16).padStart(8, "0")}` : "0") },
    ),
    {
      at: 72,
      len: 20,
      name: "For the future",
      value: bytes.subarray(72, 92).every((b) => b === 0) ? "20 zeros" : "not all zero",
      meaning: "These bytes should be zero.",
    },
    f(
      92,
      4,
      "Version valid for",
      valid
        ? "It is the change counter: the size in pages counts."
        : `It is not the change counter (${count(changes)}): an old version of SQLite made the last change.`,
    ),
    f(
      96,
      4,
      "SQLite version",
      (n) => `SQLite ${Math.floor(n / 1e6)}.${Math.floor(n / 1e3) % 1000}.${n % 1000} made the last change.`,
    ),
  ];
}

const SHAPES = {
  2: "An interior page of an index: its cells are entries, each with the page that holds what comes before it.",
  5: "An interior page of a table: it holds no rows, only rowids and the pages that hold the rows up to them.",
  10: "A leaf of an index (or of a table WITHOUT ROWID): its cells are entries in the order of their keys.",
  13: "A leaf of a table: its cells are rows in the order of their rowids.",
};

/** The header of a page of a b-tree, which starts at byte `start`. */
export function btreeHeader(bytes, start, usable) {
  const f = (at, ...rest) => field(bytes, start + at, ...rest);
  const interior = bytes[start] === 2 || bytes[start] === 5;
  const cells = big(bytes, start + 3, 2);
  const content = big(bytes, start + 5, 2) || 65536;
  const end = start + (interior ? 12 : 8) + 2 * cells;
  const fields = [
    f(0, 1, "Type", (n) => SHAPES[n] ?? "No page of a b-tree starts with this byte: it must be 2, 5, 10 or 13."),
    f(1, 2, "First freeblock", (n) =>
      n
        ? "Where the first hole between cells is; each names the next."
        : "There is no hole of four bytes or more between cells.",
    ),
    f(
      3,
      2,
      "Cells",
      (n) =>
        `${plural(n, "cell")}; the array of their places, two bytes each, follows this header, in the order of keys.`,
    ),
    f(
      5,
      2,
      "Start of content",
      () =>
        content > usable || content < end
          ? `Cells are said to start at byte ${count(content)}, which cannot be.`
          : `Cells are between here and the page's end; the ${plural(content - end, "byte")} before are not in use.`,
      { value: () => count(content) },
    ),
    f(7, 1, "Fragments", (n) =>
      n
        ? `So many bytes are in holes of one to three bytes, too small to be used again before the page is tidied up.`
        : "No bytes are lost in holes too small to be used again.",
    ),
  ];
  if (interior)
    fields.push(f(8, 4, "Right child", "The page with everything after the last cell's key.", { page: true }));
  return fields;
}

/** What is at the start of an overflow page, and the rest. */
export function overflowHeader(bytes) {
  return [
    field(bytes, 0, 4, "Next page", (n) => (n ? "The chain goes on there." : "This is the last page of its chain."), {
      page: true,
    }),
  ];
}

/** The fields of a trunk of the free list that come before its list. */
export function trunkHeader(bytes) {
  return [
    field(
      bytes,
      0,
      4,
      "Next trunk",
      (n) => (n ? "The free list goes on there." : "This is the last trunk of the free list."),
      { page: true },
    ),
    field(bytes, 4, 4, "Pages listed", (n) => `The numbers of ${plural(n, "free page")} follow.`),
  ];
}

/** The mark that High Performance SQLite leaves at the end of a trunk. */
export function reservedMark(bytes, usable) {
  const kind = { 0x68704504: "leaves and overflow pages", 0x68704505: "interior pages" }[big(bytes, usable - 8, 4)];
  return [
    {
      at: usable - 8,
      len: 4,
      name: "Mark",
      value: `0x${big(bytes, usable - 8, 4).toString(16)}`,
      meaning:
        `High Performance SQLite keeps the pages of this trunk for ${kind ?? "a b-tree"}, so that they lie together. ` +
        "SQLite itself does not look at these bytes.",
    },
    field(bytes, usable - 4, 4, "Kept for", "The root of the b-tree that the pages are kept for.", { page: true }),
  ];
}

/** What the first byte of a pointer map's entry says. */
export const POINTER_TYPES = {
  1: "root of a b-tree",
  2: "free page",
  3: "first overflow page of a cell",
  4: "later overflow page",
  5: "page of a b-tree, not its root",
};

/** The entries of pointer map `n`: {at, page, type, name, parent}, as many as the file has pages. */
export function pointers(bytes, n, usable, pages) {
  const entries = [];
  for (let i = 0; i < Math.floor(usable / 5) && n + 1 + i <= pages; i++) {
    const type = bytes[i * 5];
    entries.push({
      at: i * 5,
      page: n + 1 + i,
      type,
      name: POINTER_TYPES[type] ?? (type === 0 ? "nothing" : `type ${type}, which does not exist`),
      parent: big(bytes, i * 5 + 1, 4),
    });
  }
  return entries;
}

/** What is to be said of pages that have no fields. */
export const NOTHING = {
  "free-leaf":
    "This page is free: it holds nothing, and its number is in a list. SQLite does not clear pages that it " +
    "frees, so bytes left over from earlier use may still be here.",
  reserved:
    "This page is free. High Performance SQLite keeps it for the table or index above, so that its pages lie " +
    "together when it grows; plain SQLite takes it like any free page.",
  "lock-byte":
    "This page holds the byte at 1 GiB of the file, where SQLite takes its locks. It is never used for anything " +
    "else.",
  orphan: "Nothing leads to this page and it is not free: it is lost room, and a sign of damage. VACUUM gives it back.",
  unknown: "What this page is will be known when every page has been read.",
};

/** Sentences, by what they are about. */
export const WORDS = {
  pointerMap:
    "With auto_vacuum SQLite moves pages from the end of the file to free places, and has to tell whoever leads " +
    "to them. This page says who that is, five bytes a page.",
  picture: "Picture of the page’s bytes. Arrow keys go from part to part, Escape lets go.",
  rowid: "The column is the rowid by another name: the record has NULL in its place.",
  older: "This is what the database file has. The write-ahead log has a newer version, which is what SQLite reads.",
  oldFrame: (frame) =>
    `This is what frame ${count(frame + 1)} of the write-ahead log has. It is not what SQLite reads now; pages ` +
    "around it are shown as they are now.",
  committed: (frame, newest) => {
    if (frame === newest) return " (the newest that is committed)";
    return newest === undefined || frame > newest ? " (not committed)" : "";
  },
  wrong: (things) => `${plural(things, "thing")} ${things === 1 ? "is" : "are"} wrong with this page`,
  toBeWritten: "This version is in the write-ahead log; a checkpoint would write it to the file.",
  leftOver: (was) =>
    `This page is not in use. Its bytes are still those of ${/^[aeiou]/.test(was) ? "an" : "a"} ${was} left over ` +
    "from earlier use, and shown as that.",
};
