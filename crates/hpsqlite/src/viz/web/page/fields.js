/**
 * What a page's headers say, in words: a table of fields with value and meaning, or, of pages that are
 * lists, what they list. Pages that hold nothing get a paragraph.
 */
import { count, fill, h, pageLink, plural } from "viz/dom.js";
import { isBtree } from "viz/page/bytes.js";
import {
  btreeHeader,
  FILE_HEADER,
  fileHeader,
  NOTHING,
  overflowHeader,
  pointers,
  reservedMark,
  WORDS,
  trunkHeader,
} from "viz/page/words.js";
import { cell, head, name, num, table, wide } from "viz/table.js";

/** Entries of a pointer map that are shown at once. */
const AT_ONCE = 200;

/** The fields of one page at a time. */
export class Fields {
  #app;
  #marks;
  #bytes = null;
  #fields = [];
  element = h("div");

  constructor(app, marks) {
    this.#app = app;
    this.#marks = marks;
    this.element.addEventListener("pointerover", (e) => marks.hover(this.#spanOf(e.target), "fields"));
    this.element.addEventListener("pointerleave", () => marks.hover(null, "fields"));
    this.element.addEventListener("click", (e) => {
      const span = e.target.closest("a") ? null : this.#spanOf(e.target);
      if (span) marks.pin(span, "fields");
    });
    marks.on(() => this.#drawMarks());
  }

  /** Shows what a page's headers say; `pages` is how many pages the file has. */
  show(bytes, pages) {
    this.#bytes = bytes;
    const { page, usable } = bytes;
    const raw = bytes.bytes;
    const sections = [];
    this.#fields = [];
    const list = (title, fields) => sections.push(h("h3", null, title), this.#table(fields));
    if (NOTHING[page.kind])
      sections.push(
        h("p", null, NOTHING[page.kind], page.remains && " What is shown of it here is what it was before."),
      );
    if (raw) {
      const btree = isBtree(bytes.kind);
      if (btree) list("Page header", btreeHeader(raw, page.number === 1 ? FILE_HEADER : 0, usable));
      if (page.number === 1) list("Database header", fileHeader(raw));
      if (page.kind === "overflow") list("Overflow page", overflowHeader(raw));
      if (page.kind === "free-trunk") {
        const marked = page.parts.some((part) => part.what === "mark");
        list("Trunk of the free list", [...trunkHeader(raw), ...(marked ? reservedMark(raw, usable) : [])]);
      }
      if (page.kind === "pointer-map") this.#pointerMap(sections, pointers(raw, page.number, usable, pages));
    }
    fill(this.element, sections);
    this.element.hidden = sections.length === 0;
  }

  #table(fields) {
    const rows = fields.map((field) => {
      this.#fields.push(field);
      return h(
        "tr",
        { dataset: { at: field.at } },
        h(
          "td",
          { class: "n faint" },
          field.len === 1 ? count(field.at) : `${count(field.at)}–${count(field.at + field.len - 1)}`,
        ),
        name(field.name),
        h("td", { class: "mono" }, field.page ? pageLink(this.#app, field.page) : field.value),
        cell(field.meaning),
      );
    });
    return wide(table([head("byte", "n"), "field", "value", "meaning"], rows, { class: "fields" }));
  }

  #pointerMap(sections, entries) {
    let from = 0;
    const box = h("div");
    const draw = () => {
      const some = entries.slice(from, from + AT_ONCE);
      const step = (n) => () => {
        from = Math.max(0, from + n);
        draw();
      };
      const rows = some.map((entry) =>
        h(
          "tr",
          { dataset: { at: entry.at } },
          num(pageLink(this.#app, entry.page)),
          num(entry.type),
          cell(entry.name),
          num(entry.parent ? pageLink(this.#app, entry.parent) : ""),
        ),
      );
      fill(
        box,
        entries.length > AT_ONCE &&
          h(
            "div",
            { class: "row small" },
            h(
              "span",
              null,
              `${count(from + 1)} to ${count(from + some.length)} of ${plural(entries.length, "entry", "entries")}`,
            ),
            h("button", { type: "button", disabled: from === 0, onclick: step(-AT_ONCE) }, "Before"),
            h(
              "button",
              { type: "button", disabled: from + some.length >= entries.length, onclick: step(AT_ONCE) },
              "After",
            ),
          ),
        wide(table([head("page", "n"), head("type", "n"), "which is", head("led to by", "n")], rows)),
      );
    };
    draw();
    sections.push(h("h3", null, "Pointer map"), h("p", null, WORDS.pointerMap), box);
  }

  #spanOf(element) {
    const row = element.closest?.("[data-at]");
    return row && this.#bytes ? this.#bytes.spanAt(Number(row.dataset.at)) : null;
  }

  #drawMarks() {
    const { hovered, pinned } = this.#marks;
    const within = (at, range) => Boolean(range && at >= range.at && at < range.at + range.len);
    for (const row of this.element.querySelectorAll("[data-at]")) {
      row.classList.toggle("marked", within(Number(row.dataset.at), hovered));
      row.classList.toggle("pinned", within(Number(row.dataset.at), pinned));
    }
  }
}
