/**
 * Tables of differences: all numbers of the files or of one b-tree, and one number of all b-trees.
 */
import { count, h, plural, tip, treeLink } from "viz/dom.js";
import { OF_TREES, ratio, signed } from "viz/compare/data.js";
import { SortedTable, cell, line, name, num, numHeads, table, wide } from "viz/table.js";

/** A cell with a difference. */
function differenceCell(left, right, write) {
  const { text, way } = signed(left, right, write);
  const said = { more: "more on the right", less: "less on the right", same: "the same on both sides" }[way];
  return h("td", { class: `n difference ${way}`, title: said }, text);
}

const shown = (value, show) => num(value === null || value === undefined ? "–" : show(value));

/** How many times the left one the right one is, to be sorted by. */
const ratioOf = ({ a, b }) => (a !== null && b !== null && a !== 0 ? b / a : null);

/** Left, right, difference and ratio of numbers: a row a number. `of`: what the numbers are of. */
export function numbersTable(numbers, left, right, contexts) {
  const row = (c) => {
    const a = left ? (c.value(left, contexts.left) ?? null) : null;
    const b = right ? (c.value(right, contexts.right) ?? null) : null;
    const title = name(c.title);
    if (c.why) tip(title, () => c.why);
    return line(title, shown(a, c.show), shown(b, c.show), differenceCell(a, b, c.difference), num(ratio(a, b)));
  };
  return wide(table(["Number", ...numHeads(["Left", "Right", "Difference", "Ratio"])], numbers.map(row)));
}

/** One number of all b-trees, to be chosen and sorted by. */
export class TreesTable {
  #app;
  #given = null;
  #number = OF_TREES.find((c) => c.id === "scatter");
  #opened;
  #list = new SortedTable("size", () => this.#draw(), {
    tell: (left, step) => `Show ${count(Math.min(left, step))} more of ${plural(left, "b-tree")}`,
  });
  /** The largest b-trees come first, by no column that is shown. */
  #columns = [
    { id: "name", title: "b-tree", text: true, key: (row) => row.name, cell: (row) => this.#name(row) },
    { id: "left", title: "Left", key: ({ a }) => a, cell: ({ a }) => shown(a, this.#number.show) },
    { id: "right", title: "Right", key: ({ b }) => b, cell: ({ b }) => shown(b, this.#number.show) },
    {
      id: "difference",
      title: "Difference",
      key: ({ a, b }) => (a !== null && b !== null ? b - a : null),
      cell: ({ a, b }) => differenceCell(a, b, this.#number.difference),
    },
    {
      id: "ratio",
      title: "Ratio",
      key: ratioOf,
      cell: (row) => num(ratioOf(row) === null ? "–" : ratio(row.a, row.b)),
    },
    { title: h("span", { class: "visually-hidden" }, "More"), cell: (row) => cell(this.#opener(row)) },
  ];

  /** `opened(name)` is called when all numbers of one b-tree are asked for. */
  constructor(app, opened) {
    this.#app = app;
    this.#opened = opened;
    const options = OF_TREES.map((c) => h("option", { value: c.id, selected: c === this.#number }, c.title));
    const choose = (e) => {
      this.#number = OF_TREES.find((c) => c.id === e.target.value);
      this.#draw();
    };
    this.element = h(
      "div",
      null,
      h(
        "p",
        { class: "row" },
        h("label", { class: "row" }, "Number ", h("select", { onchange: choose }, options)),
        h("span", { class: "faint why" }),
      ),
      this.#list.elements,
    );
  }

  /** `given`: `{all, left, right, f, g}`: b-trees in pairs, summaries, numbers of files. */
  update(given) {
    this.#given = given;
    this.#draw();
  }

  #rows() {
    const { all, left, right } = this.#given;
    const value = (side, context) =>
      side?.tree.numbers ? (this.#number.value(side.tree.numbers, context) ?? null) : null;
    return all.map((pair) => ({
      pair,
      name: pair.name,
      size: Math.max(pair.left?.tree.pages ?? 0, pair.right?.tree.pages ?? 0),
      a: value(pair.left, left),
      b: value(pair.right, right),
    }));
  }

  #draw() {
    if (!this.#given) return;
    this.element.querySelector(".why").textContent = this.#number.why ?? "";
    const bySize = { id: "size", key: ({ size }) => size };
    this.#list.show(this.#columns, this.#list.sorted([...this.#columns, bySize], this.#rows()));
  }

  #name({ pair, name: text }) {
    const { f, g } = this.#given;
    const link = pair.left
      ? treeLink(this.#app, pair.left.t, { text, file: f, view: "numbers" })
      : treeLink(this.#app, pair.right.t, { text, file: g, view: "numbers" });
    const lone = !pair.left ? "only right" : !pair.right ? "only left" : null;
    return name(link, lone && [" ", h("span", { class: "lone" }, lone)]);
  }

  #opener({ name }) {
    const onclick = () => this.#opened(name);
    return h(
      "button",
      { type: "button", class: "plain", onclick, "aria-label": `All numbers of ${name}` },
      "all numbers",
    );
  }
}
