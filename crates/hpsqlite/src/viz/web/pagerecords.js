/**
 * The cells of a page as a table: keys, sizes, where a record goes on, and each value with its type.
 */
import { bytes as inUnits, count, fill, h, pageLink, plural, term, tip } from "viz/dom.js";
import { serialName } from "viz/pagewords.js";

/** Rows that are shown at once. */
const AT_ONCE = 200;
/** Characters of a value that are shown, and of a blob. */
const CHARACTERS = 80;
const DIGITS = 40;

/** The table of one page's cells. */
export class Records {
  #app;
  #marks;
  #bytes = null;
  #from = 0;
  #table = h("div", { class: "wide records", tabindex: "0", role: "region", "aria-label": "Cells of the page" });
  #more = h("div", { class: "row small records-more" });

  constructor(app, marks) {
    this.#app = app;
    this.#marks = marks;
    this.element = h("div", null, this.#more, this.#table);
    this.#table.addEventListener("pointerover", (e) => marks.hover(this.#spanOf(e.target), "records"));
    this.#table.addEventListener("pointerleave", () => marks.hover(null, "records"));
    this.#table.addEventListener("click", (e) => {
      const span = e.target.closest("a") ? null : this.#spanOf(e.target);
      if (span) marks.pin(span, "records");
    });
    marks.on(({ from, pinned }) => {
      if (pinned && from !== "records") this.#reveal();
      this.#drawMarks();
    });
  }

  /** Shows the cells of a page. */
  show(bytes) {
    this.#bytes = bytes;
    this.#from = 0;
    this.#draw();
    this.#table.scrollTop = 0;
  }

  #draw() {
    const { page } = this.#bytes;
    const cells = page.cells ?? [];
    const some = cells.slice(this.#from, this.#from + AT_ONCE);
    const step = (n) => () => {
      this.#from = Math.max(0, Math.min(cells.length - 1, this.#from + n));
      this.#draw();
      this.#table.scrollTop = 0;
    };
    fill(this.#more, cells.length > AT_ONCE && [
      h("span", null, `${count(this.#from)} to ${count(this.#from + some.length - 1)} of ${plural(cells.length, "cell")}`),
      h("button", { type: "button", disabled: this.#from === 0, onclick: step(-AT_ONCE) }, "Before"),
      h("button", { type: "button", disabled: this.#from + some.length >= cells.length, onclick: step(AT_ONCE) }, "After"),
    ]);
    this.#more.hidden = cells.length <= AT_ONCE;
    if (cells.length === 0) {
      fill(this.#table, h("p", { class: "empty" }, "No cell is in this page, or none can be read."));
      return;
    }
    const { kind } = this.#bytes;
    const interior = kind.endsWith("-interior");
    const table = kind.startsWith("table");
    const values = Math.max(0, ...cells.map((entry) => entry.record?.length ?? 0));
    const spilled = cells.some((entry) => entry.overflow);
    const bare = interior && table;
    const head = h("tr", null,
      h("th", { class: "n" }, "cell"),
      interior && h("th", { class: "n" }, "page below"),
      table && h("th", { class: "n" }, bare ? "rowids up to" : "rowid"),
      !bare && h("th", { class: "n" }, term("payload", "size")),
      spilled && h("th", { class: "n" }, term("overflow page", "goes on in")),
      Array.from({ length: values }, (_, i) => this.#heading(i)));
    const rows = some.map((entry) =>
      h("tr", { dataset: { cell: entry.index } },
        h("th", { class: "n", scope: "row" }, entry.index),
        interior && h("td", { class: "n" }, entry.child ? pageLink(this.#app, entry.child) : "0"),
        table && h("td", { class: "n" }, groups(entry.rowid)),
        !bare && h("td", { class: "n" }, inUnits(entry.payload)),
        spilled && h("td", { class: "n" }, entry.overflow ? [pageLink(this.#app, entry.overflow), h("small", { class: "block" }, `${inUnits(entry.payload - entry.local)} more`)] : null),
        entry.error && h("td", { class: "wrong", colspan: Math.max(1, values) }, `${entry.error}.`),
        (entry.record ?? []).map((value, i) => this.#value(entry, value, i)),
        values > (entry.record?.length ?? 0) && !entry.error && h("td", { colspan: values - (entry.record?.length ?? 0) })));
    const right = this.#bytes.page.around.children.at(-1);
    const last = interior && this.#from + some.length >= cells.length &&
      h("tr", null, h("th", { class: "n", scope: "row" }, "right"), h("td", { class: "n" }, right ? pageLink(this.#app, right) : "0"),
        h("td", { colspan: 20 }, h("span", { class: "faint" }, "everything after")));
    fill(this.#table, h("table", null, h("thead", null, head), h("tbody", null, rows, last)));
    this.#drawMarks();
  }

  #heading(i) {
    const column = this.#bytes.columns[i];
    const declared = column?.declared ? h("small", { class: "block" }, column.declared) : null;
    const key = column?.key ? h("small", { class: "block" }, `key${column.key.descending ? ", descending" : ""}`) : null;
    return h("th", null, this.#bytes.columnName(i), declared, key);
  }

  #value(entry, value, i) {
    const isRowid = this.#bytes.columns[i]?.is_rowid && value.type === "null";
    const shown = show(value);
    const type = typeName(value);
    const cell = h("td", { class: `value is-${value.type}`, dataset: { field: i } },
      isRowid ? [h("span", { class: "null" }, groups(entry.rowid)), h("small", { class: "type" }, "rowid")]
        : [h("span", { class: value.type === "null" ? "null" : "shown" }, shown.text), h("small", { class: "type" }, type + (shown.cut ? ", cut" : ""))]);
    return tip(cell, () => (isRowid ? "The column is the rowid by another name: the record has NULL in its place." : `${serialName(value.serial)}.`));
  }

  #spanOf(element) {
    const row = element.closest?.("[data-cell]");
    const entry = row ? this.#bytes.cell(Number(row.dataset.cell)) : null;
    if (!entry) return null;
    const field = element.closest("[data-field]")?.dataset.field;
    const value = field === undefined ? null : this.#bytes.value(entry.index, Number(field));
    return value?.len > 0 ? this.#bytes.spanAt(value.at) : this.#bytes.whole(this.#bytes.partAt(entry.at));
  }

  #drawMarks() {
    for (const element of this.#table.querySelectorAll(".marked, .pinned")) element.classList.remove("marked", "pinned");
    for (const [span, name] of [[this.#marks.hovered, "marked"], [this.#marks.pinned, "pinned"]]) {
      if (span?.cell === undefined) continue;
      const row = this.#table.querySelector(`[data-cell="${span.cell}"]`);
      row?.classList.add(name);
      if (span.field !== undefined) row?.querySelector(`[data-field="${span.field}"]`)?.classList.add(name);
    }
  }

  /** Scrolls to the cell that is held on to. */
  #reveal() {
    const index = this.#marks.pinned?.cell;
    if (index === undefined) return;
    const at = (this.#bytes.page.cells ?? []).findIndex((entry) => entry.index === index);
    if (at < 0) return;
    if (at < this.#from || at >= this.#from + AT_ONCE) {
      this.#from = Math.floor(at / AT_ONCE) * AT_ONCE;
      this.#draw();
    }
    const row = this.#table.querySelector(`[data-cell="${index}"]`);
    const [top, height] = [row.offsetTop, row.offsetHeight];
    const head = this.#table.querySelector("thead").offsetHeight;
    const { scrollTop, clientHeight } = this.#table;
    if (top - head < scrollTop || top + height > scrollTop + clientHeight) this.#table.scrollTop = Math.max(0, top - head - 40);
  }
}

/** A rowid with its digits in groups; large ones come as text. */
function groups(rowid) {
  return rowid === null || rowid === undefined ? "" : BigInt(rowid).toLocaleString("en");
}

/** A value as text, and whether that is all of it. */
function show(value) {
  if (value.type === "null") return { text: "NULL", cut: false };
  if (value.type === "blob") {
    const cut = value.cut || value.value.length > DIGITS;
    return { text: `x'${value.value.slice(0, DIGITS)}${cut ? "…" : "'"}`, cut };
  }
  const text = String(value.value);
  const cut = value.cut || text.length > CHARACTERS;
  return { text: cut ? `${text.slice(0, CHARACTERS)}…` : text, cut };
}

/** The type of a value, and its length where that says something. */
function typeName(value) {
  switch (value.type) {
    case "null": return "";
    case "integer": return value.len === 0 ? "integer, in no byte" : `integer, ${inUnits(value.len)}`;
    case "real": return "real, 8 bytes";
    default: return `${value.type}, ${inUnits(value.len)}`;
  }
}
