/**
 * The cells of a page as a table: keys, sizes, where a record goes on, and each value with its type.
 */
import { bytes as inUnits, count, fill, h, hideTip, pageLink, plural, showTip, term } from "viz/dom.js";
import { moreButton } from "viz/table.js";
import { serialName, WORDS } from "viz/page/words.js";

/** Rows that are shown at once. */
const AT_ONCE = 200;
/** Columns of values that are shown at first, and that a press of the button adds. */
const COLUMNS = 50;
/** Characters of a value that are shown, and of a blob. */
const CHARACTERS = 80;
const DIGITS = 40;

/** The table of one page's cells. */
export class Records {
  #app;
  #marks;
  #bytes = null;
  #from = 0;
  #columns = COLUMNS;
  /** The value that a tip is shown of. */
  #tipped = null;
  #table = h("div", { class: "wide records", tabindex: "0", role: "region", "aria-label": "Cells of the page" });
  #more = h("div", { class: "row small records-more" });

  constructor(app, marks) {
    this.#app = app;
    this.#marks = marks;
    this.element = h("div", null, this.#more, this.#table);
    this.#table.addEventListener("pointerover", (e) => {
      marks.hover(this.#spanOf(e.target), "records");
      this.#tip(e.pointerType === "mouse" ? e.target.closest("td.value") : null);
    });
    this.#table.addEventListener("pointerleave", () => {
      marks.hover(null, "records");
      this.#tip(null);
    });
    this.#table.addEventListener("click", (e) => {
      this.#tip(null);
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
    this.#columns = COLUMNS;
    this.#draw();
    this.#table.scrollTo(0, 0);
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
    const values = Math.max(0, ...cells.map((entry) => entry.record?.length ?? 0));
    const shown = Math.min(values, this.#columns);
    const widen = () => {
      const { scrollLeft, scrollTop } = this.#table;
      this.#columns += COLUMNS;
      this.#draw();
      this.#table.scrollTo(scrollLeft, scrollTop);
      this.#more.querySelector("button:last-child:not(:disabled)")?.focus();
    };
    fill(
      this.#more,
      cells.length > AT_ONCE && [
        h(
          "span",
          null,
          `${count(this.#from)} to ${count(this.#from + some.length - 1)} of ${plural(cells.length, "cell")}`,
        ),
        h("button", { type: "button", disabled: this.#from === 0, onclick: step(-AT_ONCE) }, "Before"),
        h(
          "button",
          { type: "button", disabled: this.#from + some.length >= cells.length, onclick: step(AT_ONCE) },
          "After",
        ),
      ],
      values > shown && [
        h("span", null, `Values 1 to ${count(shown)} of ${count(values)}`),
        moreButton(values - shown, COLUMNS, widen),
      ],
    );
    this.#more.hidden = this.#more.childElementCount === 0;
    if (cells.length === 0) {
      fill(this.#table, h("p", { class: "empty" }, "No cell is in this page, or none can be read."));
      return;
    }
    const { kind } = this.#bytes;
    const interior = kind.endsWith("-interior");
    const table = kind.startsWith("table");
    const spilled = cells.some((entry) => entry.overflow);
    const bare = interior && table;
    const head = h(
      "tr",
      null,
      h("th", { class: "n" }, "cell"),
      interior && h("th", { class: "n" }, "page below"),
      table && h("th", { class: "n" }, bare ? "rowids up to" : "rowid"),
      !bare && h("th", { class: "n" }, term("payload", "size")),
      spilled && h("th", { class: "n" }, term("overflow page", "goes on in")),
      Array.from({ length: shown }, (_, i) => this.#heading(i)),
    );
    const rows = some.map((entry) =>
      h(
        "tr",
        { dataset: { cell: entry.index } },
        h("th", { class: "n", scope: "row" }, entry.index),
        interior && h("td", { class: "n" }, entry.child ? pageLink(this.#app, entry.child) : "0"),
        table && h("td", { class: "n" }, groups(entry.rowid)),
        !bare && h("td", { class: "n" }, inUnits(entry.payload)),
        spilled &&
          h(
            "td",
            { class: "n" },
            entry.overflow
              ? [
                  pageLink(this.#app, entry.overflow),
                  h("small", { class: "block" }, `${inUnits(entry.payload - entry.local)} more`),
                ]
              : null,
          ),
        entry.error && h("td", { class: "wrong", colspan: Math.max(1, shown) }, `${entry.error}.`),
        (entry.record ?? []).slice(0, shown).map((value, i) => this.#value(entry, value, i)),
        shown > (entry.record?.length ?? 0) &&
          !entry.error &&
          h("td", { colspan: shown - (entry.record?.length ?? 0) }),
      ),
    );
    const right = this.#bytes.page.around.children.at(-1);
    const last =
      interior &&
      this.#from + some.length >= cells.length &&
      h(
        "tr",
        null,
        h("th", { class: "n", scope: "row" }, "right"),
        h("td", { class: "n" }, right ? pageLink(this.#app, right) : "0"),
        h("td", { colspan: 20 }, h("span", { class: "faint" }, "everything after")),
      );
    fill(this.#table, h("table", null, h("thead", null, head), h("tbody", null, rows, last)));
    this.#drawMarks();
  }

  #heading(i) {
    const column = this.#bytes.columns[i];
    const declared = column?.declared ? h("small", { class: "block" }, column.declared) : null;
    const key = column?.key
      ? h("small", { class: "block" }, `key${column.key.descending ? ", descending" : ""}`)
      : null;
    return h("th", null, this.#bytes.columnName(i), declared, key);
  }

  #value(entry, value, i) {
    const isRowid = this.#isRowid(value, i);
    const shown = show(value);
    const type = typeName(value);
    return h(
      "td",
      { class: `value is-${value.type}`, dataset: { field: i } },
      isRowid
        ? [h("span", { class: "null" }, groups(entry.rowid)), h("small", { class: "type" }, "rowid")]
        : [
            h("span", { class: value.type === "null" ? "null" : "shown" }, shown.text),
            h("small", { class: "type" }, type + (shown.cut ? ", cut" : "")),
          ],
    );
  }

  #isRowid(value, i) {
    return this.#bytes.columns[i]?.is_rowid && value.type === "null";
  }

  /** Says how the value in this cell of the table is stored; null takes the tip away. */
  #tip(cell) {
    if (cell === this.#tipped) return;
    this.#tipped = cell;
    if (!cell) return hideTip();
    const i = Number(cell.dataset.field);
    const value = this.#bytes.cell(Number(cell.parentElement.dataset.cell)).record[i];
    showTip(this.#isRowid(value, i) ? WORDS.rowid : `${serialName(value.serial)}.`, cell.getBoundingClientRect());
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
    for (const element of this.#table.querySelectorAll(".marked, .pinned"))
      element.classList.remove("marked", "pinned");
    for (const [span, name] of [
      [this.#marks.hovered, "marked"],
      [this.#marks.pinned, "pinned"],
    ]) {
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
    const away = at < this.#from || at >= this.#from + AT_ONCE;
    if (away) this.#from = Math.floor(at / AT_ONCE) * AT_ONCE;
    // So many columns that its value is among them, if that is not too much for one table.
    const wide = Math.ceil(((this.#marks.pinned.field ?? 0) + 1) / COLUMNS) * COLUMNS;
    const wider =
      wide > this.#columns && wide * Math.min(AT_ONCE, this.#bytes.page.cells.length - this.#from) <= AT_ONCE * COLUMNS;
    if (wider) this.#columns = wide;
    if (away || wider) this.#draw();
    const row = this.#table.querySelector(`[data-cell="${index}"]`);
    const [top, height] = [row.offsetTop, row.offsetHeight];
    const head = this.#table.querySelector("thead").offsetHeight;
    const { scrollTop, clientHeight } = this.#table;
    if (top - head < scrollTop || top + height > scrollTop + clientHeight)
      this.#table.scrollTop = Math.max(0, top - head - 40);
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
    case "null":
      return "";
    case "integer":
      return value.len === 0 ? "integer, in no byte" : `integer, ${inUnits(value.len)}`;
    case "real":
      return "real, 8 bytes";
    default:
      return `${value.type}, ${inUnits(value.len)}`;
  }
}
