/**
 * Tables and lists: what the views show in lines.
 *
 *   table(heads, lines, {foot, ...attributes})
 *                            heads: a text or node a column, or a cell as `head` makes it; lines: `line`s
 *   line(...cells)           cells: `name` (what the line is of), `num` (to the right), `cell`
 *   wide(table)              in a box of its own, which scrolls sideways
 *   moreButton(left, step, add)
 *                            what a list shows that does not show all of its lines: `add` shows `step`
 *                            more of the `left` ones
 *   new SortedTable(...)     a table of many lines, sorted by any of its columns
 */
import { count, fill, h, tip } from "viz/dom.js";

/** A cell with words. */
export const cell = (...content) => h("td", null, content);

/** A cell with a number. */
export const num = (...content) => h("td", { class: "n" }, content);

/** The cell that says what its line is of. */
export const name = (...content) => h("th", { scope: "row" }, content);

/** A line of such cells. */
export const line = (...cells) => h("tr", null, cells);

/** The head of a column of words, or with "n" of numbers. */
export const head = (title, className = null) => h("th", { scope: "col", class: className }, title);

/** Heads of columns of numbers. */
export const numHeads = (titles) => titles.map((title) => head(title, "n"));

/** A table; its foot is a line, or lines. */
export function table(heads, lines, { foot, ...attributes } = {}) {
  const cells = heads.map((title) => (title instanceof HTMLTableCellElement ? title : head(title)));
  return h("table", attributes, h("thead", null, line(cells)), h("tbody", null, lines), foot && h("tfoot", null, foot));
}

/** A box for what may be wider than the window. */
export const wide = (...content) => h("div", { class: "wide" }, content);

/** What a button says that shows the next `step` of `left` lines. */
export function showMore(left, step) {
  return left > step ? `Show ${count(step)} more of ${count(left)}` : `Show the other ${count(left)}`;
}

/** A button for the lines that a list has left; null if there are none. */
export function moreButton(left, step, add, text = showMore(left, step)) {
  return left > 0 ? h("button", { type: "button", onclick: add }, text) : null;
}

/** Lines that a SortedTable shows, and that a press of its button adds. */
const LINES = 200;

/**
 * A table that is sorted by the column whose head is pressed, and shows some hundred of its lines. A
 * column is `{id, title, text, why, key, cell}`: `key(row)` is what is sorted by, null comes last, and
 * the head of a column without it is no button; `text`: sorted by letters, at first from the start;
 * `cell(row)` is how it is shown; `why` explains it.
 */
export class SortedTable {
  #sort;
  #redraw;
  #tell;
  #lines = LINES;
  #below = h("div", { class: "row" });

  /**
   * Sorted by column `id` at first, the largest on top. `redraw()` is called when other lines, or in
   * another order, are to be shown: it calls `show`. `tell(left, step)` is what the button says.
   */
  constructor(id, redraw, { tell = showMore, ...attributes } = {}) {
    this.#sort = { id, down: true };
    this.#redraw = redraw;
    this.#tell = tell;
    this.box = h("div", { class: "wide", ...attributes });
    this.elements = [this.box, this.#below];
  }

  /** The first lines again, of others. */
  restart() {
    this.#lines = LINES;
    this.#redraw();
  }

  /** Rows in the order that is asked for; those that are alike stay as they are. */
  sorted(columns, rows) {
    const { key, text } = columns.find((c) => c.id === this.#sort.id) ?? columns[0];
    const sign = this.#sort.down ? -1 : 1;
    const keyed = rows.map((row) => ({ row, key: key(row) }));
    keyed.sort(({ key: a }, { key: b }) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (text ? a.localeCompare(b) : a - b);
    });
    return keyed.map(({ row }) => row);
  }

  /** Shows rows that are sorted, with the line `foot` below all. */
  show(columns, rows, { foot } = {}) {
    const { scrollLeft } = this.box;
    const lines = rows.slice(0, this.#lines).map((row) => line(columns.map((c) => c.cell(row))));
    fill(
      this.box,
      table(
        columns.map((c) => this.#head(c)),
        lines,
        { foot },
      ),
    );
    this.box.scrollLeft = scrollLeft;
    const left = rows.length - lines.length;
    const add = () => {
      this.#lines += LINES;
      this.#redraw();
    };
    fill(this.#below, moreButton(left, LINES, add, this.#tell(left, LINES)));
  }

  #head(column) {
    const { id, title, text, why, key } = column;
    if (!key) return head(title);
    const { id: by, down } = this.#sort;
    const onclick = () => this.#sortBy(column);
    const arrow = id !== by ? "" : down ? " ▾" : " ▴";
    const button = h("button", { type: "button", class: "sort", dataset: { id }, onclick }, title, arrow);
    if (why) tip(button, () => why);
    const sorted = id === by && (down ? "descending" : "ascending");
    return h("th", { scope: "col", class: text ? null : "n", "aria-sort": sorted }, button);
  }

  #sortBy({ id, text }) {
    this.#sort = { id, down: this.#sort.id === id ? !this.#sort.down : !text };
    this.restart();
    this.box.querySelector(`button[data-id="${id}"]`)?.focus();
  }
}
