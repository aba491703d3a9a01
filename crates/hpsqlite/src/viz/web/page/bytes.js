/**
 * A page's bytes with names. The server says which part of the page each byte belongs to; here the
 * parts are divided further, when they are looked at: a cell into its numbers, its record's header and
 * its values, a header into its fields.
 *
 * A span is {at, len, part, name, text, cell, field, page}: `name` is short, `text` a sentence; `cell` is a
 * place in the order of keys, `field` one of its values, `page` a page that the bytes name.
 */
import { count, plural } from "viz/dom.js";
import {
  big,
  btreeHeader,
  fileHeader,
  FILE_HEADER,
  overflowHeader,
  POINTER_TYPES,
  reservedMark,
  serialName,
  trunkHeader,
  varint,
} from "viz/page/words.js";

/** What the parts of a page are called, and what they are. */
export const PARTS = {
  "file-header": ["database header", "What SQLite knows of the file as a whole"],
  "page-header": ["page header", "What kind of page this is, and where its cells are"],
  "cell-pointers": ["cell pointers", "Where each cell starts, in the order of keys"],
  cell: ["cell", "A row or an entry"],
  freeblock: ["freeblock", "A hole between cells that can be used again"],
  fragment: ["fragment", "A hole of one to three bytes, too small to be used again"],
  unallocated: ["unused", "Room that nothing has taken yet"],
  reserved: ["reserved", "Left to extensions, such as encryption or checksums"],
  "next-page": ["next page", "The number of the page that comes next"],
  payload: ["payload", "Bytes of a row or entry that does not fit into its leaf"],
  count: ["count", "How many free pages are listed"],
  "free-pages": ["list of free pages", "The numbers of pages that hold nothing"],
  mark: ["mark", "Which b-tree the pages are kept for, by High Performance SQLite"],
  pointers: ["pointer map", "What each of the pages after this one is, and who leads to it"],
  nothing: ["not in use", "Bytes left over from earlier use, or none"],
  unknown: ["does not make sense", "Bytes that nothing accounts for"],
};

/** Whether pages of a kind have cells. */
export function isBtree(kind) {
  return kind in CELLS;
}

/** What a cell is, by the kind of its page. */
const CELLS = {
  "table-leaf": "A row",
  "table-interior": "A rowid and the page below it",
  "index-leaf": "An entry",
  "index-interior": "An entry and the page with what comes before it",
};

/** The parts of one page, divided further. */
export class PageBytes {
  #details = new Map();
  #cells = new Map();

  /** `page` is the server's; `bytes` may be null; `columns` are names of values, or nothing. */
  constructor(page, bytes, usable, columns = []) {
    this.page = page;
    this.bytes = bytes;
    this.usable = usable;
    this.columns = columns;
    /** What its bytes are read as: of pages that are not in use, what they were. */
    this.kind = page.remains ?? page.kind;
    this.size = page.parts.reduce((end, part) => Math.max(end, part.at + part.len), 0);
    for (const entry of page.cells ?? []) this.#cells.set(entry.index, entry);
  }

  /** The cell at a place in the order of keys. */
  cell(index) {
    return this.#cells.get(index);
  }

  /** The part that a byte belongs to. */
  partAt(offset) {
    return this.page.parts[this.#partNumber(offset)];
  }

  #partNumber(offset) {
    const { parts } = this.page;
    let [low, high] = [0, parts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (parts[middle].at <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The part before (-1) or after (1) that with a byte. */
  beside(offset, step) {
    const { parts } = this.page;
    const i = Math.max(0, Math.min(parts.length - 1, this.#partNumber(offset) + step));
    return this.whole(parts[i]);
  }

  /** A part as a span. */
  whole(part) {
    const [name, meaning] = PARTS[part.what] ?? [part.what, ""];
    const { at, len, what } = part;
    if (what !== "cell") return { at, len, part, name, text: meaning };
    return { at, len, part, cell: part.index, name: `cell ${part.index}`, text: CELLS[this.kind] ?? meaning };
  }

  /** The smallest span with a name that a byte belongs to. */
  spanAt(offset) {
    const i = this.#partNumber(offset);
    const spans = this.#divided(i);
    let [low, high] = [0, spans.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (spans[middle].at <= offset) low = middle;
      else high = middle - 1;
    }
    return spans[low];
  }

  /** The entries of a part that is a list of numbers; nothing of other parts. */
  entries(part) {
    const lists = ["cell-pointers", "free-pages", "pointers"];
    return lists.includes(part.what) ? this.#divided(this.#partNumber(part.at)) : [];
  }

  /** The bytes of a value of a cell that are in this page; null if none are. */
  value(index, field) {
    const entry = this.cell(index);
    const { at, len } = entry?.record?.[field] ?? {};
    if (at === undefined || at >= entry.local) return null;
    const here = Math.min(len, entry.local - at);
    return { at: entry.local_at + at, len: here, cell: index, field };
  }

  /** Other bytes that belong to a span: a cell's pointer, a pointer's cell. */
  related({ cell, part }) {
    if (cell === undefined) return [];
    const pointers = this.page.parts.find((p) => p.what === "cell-pointers");
    const entry = this.cell(cell);
    if (part?.what === "cell-pointers") return entry ? [{ at: entry.at, len: entry.size }] : [];
    const at = pointers ? pointers.at + 2 * cell : -1;
    return pointers && at < pointers.at + pointers.len ? [{ at, len: 2 }] : [];
  }

  #divided(i) {
    if (!this.#details.has(i)) this.#details.set(i, this.#cover(this.page.parts[i]));
    return this.#details.get(i);
  }

  /** Spans that follow each other and are all of a part. */
  #cover(part) {
    const all = this.whole(part);
    if (!this.bytes) return [all];
    const spans = [];
    let end = part.at;
    const last = part.at + part.len;
    for (const span of this.#inside(part)) {
      const at = Math.max(span.at, end);
      const to = Math.min(span.at + span.len, last);
      if (to <= at) continue;
      if (at > end) spans.push({ ...all, at: end, len: at - end });
      spans.push({ ...all, ...span, at, len: to - at });
      end = to;
    }
    if (end < last) spans.push({ ...all, at: end, len: last - end });
    return spans;
  }

  #inside(part) {
    const { bytes, usable } = this;
    const fields = (list) =>
      list.map((f) => ({
        at: f.at,
        len: f.len,
        name: f.name.toLowerCase(),
        text: `${f.name}: ${f.value}. ${f.meaning}`,
        page: f.page,
      }));
    switch (part.what) {
      case "file-header":
        return fields(fileHeader(bytes));
      case "page-header":
        return fields(btreeHeader(bytes, this.page.number === 1 ? FILE_HEADER : 0, usable));
      case "next-page":
      case "count":
        return fields(this.page.kind === "free-trunk" ? trunkHeader(bytes) : overflowHeader(bytes));
      case "mark":
        return fields(reservedMark(bytes, usable));
      case "cell-pointers":
        return this.#numbers(part, 2, (n, i) => ({
          cell: i,
          name: `pointer ${i}`,
          text: `Cell ${i} starts at byte ${count(n)}`,
        }));
      case "free-pages":
        return this.#numbers(part, 4, (n) => ({ name: `page ${n}`, text: `Page ${count(n)} is free`, page: n }));
      case "pointers":
        return this.#pointers(part);
      case "freeblock":
        return this.#freeblock(part);
      case "cell":
        return this.cell(part.index) ? this.#inCell(this.cell(part.index)) : [];
      default:
        return [];
    }
  }

  #numbers(part, len, say) {
    const spans = [];
    for (let at = part.at, i = 0; at + len <= part.at + part.len; at += len, i++) {
      spans.push({ at, len, ...say(big(this.bytes, at, len), i) });
    }
    return spans;
  }

  #pointers(part) {
    const spans = [];
    for (let at = part.at; at + 5 <= part.at + part.len; at += 5) {
      const [page, type, parent] = [this.page.number + 1 + at / 5, this.bytes[at], big(this.bytes, at + 1, 4)];
      const name = POINTER_TYPES[type] ?? "nothing";
      const from = parent ? `, page ${count(parent)} leads to it` : "";
      spans.push({ at, len: 5, name: `page ${page}`, text: `Page ${count(page)}: ${name}${from}`, page });
    }
    return spans;
  }

  #freeblock(part) {
    const next = big(this.bytes, part.at, 2);
    return [
      {
        at: part.at,
        len: 2,
        name: "next freeblock",
        text: next ? `The next hole is at byte ${count(next)}` : "This is the last hole of the list",
      },
      {
        at: part.at + 2,
        len: 2,
        name: "size",
        text: `This hole has ${plural(big(this.bytes, part.at + 2, 2), "byte")}`,
      },
      { at: part.at + 4, len: part.len - 4, name: "freeblock", text: `Free bytes, and what is left of what was there` },
    ];
  }

  /** The numbers of a cell, its record's header and its values. */
  #inCell(entry) {
    const { bytes } = this;
    const spans = [];
    const kind = bytes[this.page.number === 1 ? FILE_HEADER : 0];
    let at = entry.at;
    const add = (len, name, text, more) => {
      spans.push({ at, len, name, text, ...more });
      at += len;
    };
    if (kind === 2 || kind === 5)
      add(4, "left child", `Page ${count(entry.child ?? 0)} holds what comes before this key`, { page: entry.child });
    if (kind !== 5) add(varint(bytes, at).len, "payload size", `The record has ${plural(entry.payload, "byte")}`);
    if (kind === 5 || kind === 13) add(varint(bytes, at).len, "rowid", `Rowid ${entry.rowid}`);
    if (kind !== 5) {
      this.#recordHeader(entry, spans);
      (entry.record ?? []).forEach((value, i) => {
        const place = this.value(entry.index, i);
        if (place?.len > 0)
          spans.push({
            at: place.at,
            len: place.len,
            field: i,
            name: this.columnName(i),
            text: `${this.columnName(i)}: ${serialName(value.serial)}`,
          });
      });
      const known = spans.reduce((end, span) => Math.max(end, span.at + span.len), entry.local_at);
      const rest = entry.local_at + entry.local - known;
      if (rest > 0) spans.push({ at: known, len: rest, name: "payload", text: "Values that cannot be decoded here" });
      if (entry.overflow) {
        spans.push({
          at: entry.local_at + entry.local,
          len: 4,
          name: "overflow page",
          text: `The record goes on in page ${count(entry.overflow)}`,
          page: entry.overflow,
        });
      }
    }
    return spans;
  }

  #recordHeader(entry, spans) {
    const { bytes } = this;
    let at = entry.local_at;
    const limit = entry.local_at + entry.local;
    const header = varint(bytes, at);
    spans.push({
      at,
      len: header.len,
      name: "header size",
      text: `The record's header has ${plural(Number(header.value), "byte")}`,
    });
    const end = Math.min(limit, at + Number(header.value));
    at += header.len;
    for (let i = 0; at < end; i++) {
      const serial = varint(bytes, at);
      const known = i < (entry.record?.length ?? 0);
      spans.push({
        at,
        len: serial.len,
        field: known ? i : undefined,
        name: `type of ${this.columnName(i)}`,
        text: `Type ${serial.value} of ${this.columnName(i)}: ${serialName(serial.value)}`,
      });
      at += serial.len;
    }
  }

  /** What a value of a record is called. */
  columnName(i) {
    const column = this.columns[i];
    if (!column) return `value ${i + 1}`;
    return column.name ?? "expression";
  }
}

/** What of a page is pointed at, and what is held on to: all drawings of the page follow it. */
export class Marks {
  hovered = null;
  pinned = null;
  #listeners = new Set();

  on(f) {
    this.#listeners.add(f);
  }

  /** `from` is who says it, so that it need not scroll to where the user is anyway. */
  hover(span, from) {
    if (this.hovered === span) return;
    this.hovered = span;
    this.#tell(from);
  }

  pin(span, from) {
    this.pinned = span;
    this.hovered = null;
    this.#tell(from, true);
  }

  get shown() {
    return this.hovered ?? this.pinned;
  }

  #tell(from, pinned = false) {
    for (const f of this.#listeners) f({ from, pinned });
  }
}
