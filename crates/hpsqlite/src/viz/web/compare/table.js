/**
 * Tables of differences: all numbers of the files or of one b-tree, and one number of all b-trees.
 */
import { count, fill, h, plural, tip, treeLink } from "viz/dom.js";
import { OF_TREES, ratio, signed } from "viz/compare/data.js";

/** Lines that are drawn before one asks for more. */
const LINES = 200;

/** A cell with a difference. */
function differenceCell(left, right, write) {
  const { text, way } = signed(left, right, write);
  const said = { more: "more on the right", less: "less on the right", same: "the same on both sides" }[way];
  return h("td", { class: `n difference ${way}`, title: said }, text);
}

const shown = (value, show) => h("td", { class: "n" }, value === null || value === undefined ? "–" : show(value));

/** Left, right, difference and ratio of numbers: a row a number. `of`: what the numbers are of. */
export function numbersTable(numbers, left, right, contexts) {
  const row = (c) => {
    const a = left ? (c.value(left, contexts.left) ?? null) : null;
    const b = right ? (c.value(right, contexts.right) ?? null) : null;
    const name = h("th", { scope: "row" }, c.title);
    if (c.why) tip(name, () => c.why);
    return h(
      "tr",
      null,
      name,
      shown(a, c.show),
      shown(b, c.show),
      differenceCell(a, b, c.difference),
      h("td", { class: "n" }, ratio(a, b)),
    );
  };
  const head = h(
    "tr",
    null,
    ["Number", "Left", "Right", "Difference", "Ratio"].map((title, i) =>
      h("th", { scope: "col", class: i > 0 && "n" }, title),
    ),
  );
  return h("div", { class: "wide" }, h("table", null, h("thead", null, head), h("tbody", null, numbers.map(row))));
}

/** One number of all b-trees, to be chosen and sorted by. */
export class TreesTable {
  #app;
  #given = null;
  #number = OF_TREES.find((c) => c.id === "scatter");
  #sort = { id: "size", down: true };
  #lines = LINES;
  #opened;
  #box = h("div", { class: "wide" });
  #below = h("div", { class: "row" });

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
      this.#box,
      this.#below,
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
    const rows = all.map((pair, i) => {
      const [a, b] = [value(pair.left, left), value(pair.right, right)];
      const size = Math.max(pair.left?.tree.pages ?? 0, pair.right?.tree.pages ?? 0);
      const both = a !== null && b !== null;
      return {
        pair,
        i,
        size,
        a,
        b,
        name: pair.name,
        difference: both ? b - a : null,
        ratio: both && a !== 0 ? b / a : null,
      };
    });
    const { id, down } = this.#sort;
    const key = { left: "a", right: "b" }[id] ?? id;
    const sign = down ? -1 : 1;
    return rows.sort((x, y) => {
      const [p, q] = [x[key], y[key]];
      if (p === null || q === null) return (p === null) - (q === null) || x.i - y.i;
      return sign * (key === "name" ? p.localeCompare(q) : p - q) || x.i - y.i;
    });
  }

  #draw() {
    const given = this.#given;
    if (!given) return;
    this.element.querySelector(".why").textContent = this.#number.why ?? "";
    const rows = this.#rows();
    const head = [
      ["name", "b-tree"],
      ["left", "Left"],
      ["right", "Right"],
      ["difference", "Difference"],
      ["ratio", "Ratio"],
    ].map(([id, title], i) => {
      const sorted = this.#sort.id === id;
      const arrow = sorted ? (this.#sort.down ? " ▾" : " ▴") : "";
      const sort = h(
        "button",
        { type: "button", class: "sort", dataset: { id }, onclick: () => this.#sortBy(id) },
        title,
        arrow,
      );
      return h(
        "th",
        { scope: "col", class: i > 0 && "n", "aria-sort": sorted && (this.#sort.down ? "descending" : "ascending") },
        sort,
      );
    });
    const left = this.#box.scrollLeft;
    fill(
      this.#box,
      h(
        "table",
        null,
        h("thead", null, h("tr", null, head, h("th", null, h("span", { class: "visually-hidden" }, "More")))),
        h(
          "tbody",
          null,
          rows.slice(0, this.#lines).map((row) => this.#row(row)),
        ),
      ),
    );
    this.#box.scrollLeft = left;
    const more = rows.length - this.#lines;
    fill(
      this.#below,
      more > 0 &&
        h(
          "button",
          {
            type: "button",
            onclick: () => {
              this.#lines += LINES;
              this.#draw();
            },
          },
          `Show ${count(Math.min(more, LINES))} more of ${plural(more, "b-tree")}`,
        ),
    );
  }

  #row({ pair, a, b, ratio: r, name }) {
    const { f, g } = this.#given;
    const { show, difference } = this.#number;
    const link = pair.left
      ? treeLink(this.#app, pair.left.t, { text: name, file: f, view: "numbers" })
      : treeLink(this.#app, pair.right.t, { text: name, file: g, view: "numbers" });
    const lone = !pair.left ? "only right" : !pair.right ? "only left" : null;
    return h(
      "tr",
      null,
      h("th", { scope: "row" }, link, lone && [" ", h("span", { class: "lone" }, lone)]),
      shown(a, show),
      shown(b, show),
      differenceCell(a, b, difference),
      h("td", { class: "n" }, r === null ? "–" : ratio(a, b)),
      h(
        "td",
        null,
        h(
          "button",
          { type: "button", class: "plain", onclick: () => this.#opened(name), "aria-label": `All numbers of ${name}` },
          "all numbers",
        ),
      ),
    );
  }

  #sortBy(id) {
    const same = this.#sort.id === id;
    this.#sort = { id, down: same ? !this.#sort.down : id !== "name" };
    this.#draw();
    this.#box.querySelector(`button[data-id="${id}"]`)?.focus();
  }
}
