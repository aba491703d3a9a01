/**
 * The legend of a map: every b-tree and every kind of page with its colour, its mark, how many pages it
 * has; clicked, only those stay bright.
 */
import { count, fill, h, percent, rgb, roleName, swatch, tip } from "viz/dom.js";
import { drawMark } from "viz/map/cells.js";
import { OWNED } from "viz/map/colours.js";
import { NOBODY } from "viz/map/data.js";

/** B-trees shown at once; the box above finds the others. */
const SHOWN = 60;

/** Counts pages by b-tree and by kind. */
export function census(data, summary) {
  const trees = new Float64Array(summary.trees.length);
  const kinds = new Float64Array(256);
  for (let i = 0; i < data.loaded; i++) {
    const owner = data.owners[i];
    if (owner !== NOBODY && owner < trees.length) trees[owner]++;
    kinds[data.kinds[i]]++;
  }
  return { trees, kinds, pages: data.pages };
}

export class Legend {
  #app;
  #trees = h("ul", { class: "legend" });
  #kinds = h("ul", { class: "legend" });
  #more = h("p", { class: "small faint" });
  #filter = h("input", {
    type: "search",
    placeholder: "Name contains …",
    "aria-label": "Tables and indexes whose name contains",
    oninput: () => this.#draw(),
  });
  #all = h(
    "button",
    { type: "button", class: "plain", hidden: true, onclick: () => this.#app.select({ trees: null, kinds: null }) },
    "show all",
  );
  #census = null;
  #by = "owner";
  #summary = null;

  constructor(app) {
    this.#app = app;
    this.element = h(
      "section",
      { class: "legend-box", "aria-label": "Legend" },
      h("div", { class: "row" }, h("h2", null, "Tables and indexes"), this.#all),
      this.#filter,
      this.#trees,
      this.#more,
      h("h2", null, "Kinds of pages"),
      this.#kinds,
      h("p", { class: "small faint" }, "Click one to see only its pages; with Ctrl or Shift one more."),
    );
    app.on("select", () => this.#draw());
    app.on("theme", () => this.#draw());
  }

  /** Says what colours tell on the map: "owner", "kind" or another. */
  colouredBy(by) {
    this.#by = by;
    this.#draw();
  }

  /** The pages of a file that a selection leaves, at most `most`; null if there are more, or all. */
  chosen(data, most) {
    const { trees, kinds } = this.#app.selection;
    if (!this.#census || (!trees && !kinds)) return null;
    const of = (numbers, counts) => [...numbers].reduce((sum, i) => sum + counts[i], 0);
    const expected = Math.min(
      trees ? of(trees, this.#census.trees) : Infinity,
      kinds ? of(kinds, this.#census.kinds) : Infinity,
    );
    if (expected > most) return null;
    const pages = [];
    for (let i = 0; i < data.loaded; i++) {
      if ((!trees || trees.has(data.owners[i])) && (!kinds || kinds.has(data.kinds[i]))) pages.push(i + 1);
    }
    return pages;
  }

  /** Shows the legend of a file. */
  show(summary, data) {
    this.#summary = summary;
    this.#census = census(data, summary);
    this.#filter.hidden = summary.trees.length <= 12;
    this.#draw();
  }

  #draw() {
    if (!this.#summary) return;
    const { trees, kinds } = this.#summary;
    const { selection } = this.#app;
    const focused = this.element.contains(document.activeElement) ? document.activeElement.dataset.entry : null;
    const part = this.#filter.value.trim().toLowerCase();
    const wanted = trees
      .map((tree, t) => ({ tree, t, pages: this.#census.trees[t] }))
      .filter(({ tree }) => `${tree.name} ${tree.title}`.toLowerCase().includes(part))
      .sort((a, b) => b.pages - a.pages);
    fill(
      this.#trees,
      wanted
        .slice(0, SHOWN)
        .map(({ tree, t, pages }) =>
          this.#entry(
            "trees",
            t,
            [swatch(tree.colour), h("span", { class: "name" }, tree.title)],
            pages,
            `${tree.name}: ${roleName(tree)}`,
          ),
        ),
    );
    this.#more.textContent =
      wanted.length > SHOWN
        ? `and ${count(wanted.length - SHOWN)} smaller ones: type a part of the name above`
        : wanted.length === 0
          ? "None is called so."
          : "";
    this.#more.hidden = this.#more.textContent === "";
    const some = kinds.map((kind, k) => ({ kind, k, pages: this.#census.kinds[k] })).filter(({ pages }) => pages > 0);
    fill(
      this.#kinds,
      some.map(({ kind, k, pages }) =>
        this.#entry(
          "kinds",
          k,
          [this.#mark(kind), h("span", { class: "name" }, kind.name)],
          pages,
          EXPLAINED[kind.letter],
        ),
      ),
    );
    this.#all.hidden = !selection.trees && !selection.kinds;
    if (focused) this.element.querySelector(`[data-entry="${focused}"]`)?.focus();
  }

  #entry(what, i, label, pages, words) {
    const chosen = this.#app.selection[what];
    const button = h(
      "button",
      {
        type: "button",
        dataset: { entry: `${what}${i}` },
        "aria-pressed": String(chosen?.has(i) ?? false),
        class: chosen && !chosen.has(i) && "off",
        onclick: (e) => this.#choose(what, i, e.ctrlKey || e.metaKey || e.shiftKey),
      },
      label,
      h("span", { class: "n" }, count(pages)),
      h("span", { class: "n faint" }, percent(pages / Math.max(1, this.#census.pages))),
    );
    return h("li", null, words ? tip(button, () => words) : button);
  }

  #choose(what, i, more) {
    const before = this.#app.selection[what];
    let chosen = new Set([i]);
    if (more && before) {
      chosen = new Set(before);
      if (!chosen.delete(i)) chosen.add(i);
    } else if (before?.size === 1 && before.has(i)) {
      chosen.clear();
    }
    this.#app.select({ [what]: chosen.size > 0 ? chosen : null });
  }

  /** A kind's mark as the map draws it, on the colour it has there if nobody owns it. */
  #mark({ letter, colour }) {
    const size = 18;
    const canvas = h("canvas", { width: size * 2, height: size * 2, class: "mark", "aria-hidden": "true" });
    const context = canvas.getContext("2d");
    const dark = this.#app.dark;
    context.scale(2, 2);
    const [r, g, b] = markGround(letter, colour, dark, this.#by);
    context.fillStyle = `rgb(${r} ${g} ${b})`;
    context.fillRect(0, 0, size, size);
    drawMark(context, letter, size, dark ? "rgb(255 255 255 / 75%)" : "rgb(0 0 0 / 65%)");
    return canvas;
  }
}

/** Pages of b-trees mostly have their b-tree's colour on the map: grey stands for any. */
function markGround(letter, colour, dark, by) {
  if (by !== "kind" && OWNED.includes(letter)) return dark ? [92, 100, 110] : [196, 203, 211];
  return rgb(dark ? colour.dark : colour.light);
}

/** What kinds of pages are, by their letters. */
export const EXPLAINED = {
  "?": "Not read yet.",
  t: "Holds rows of a table.",
  T: "Leads to the pages that hold rows of a table.",
  i: "Holds entries of an index, or rows of a table without rowid.",
  I: "Leads to the leaves of an index, and holds entries itself.",
  o: "Holds what did not fit into a leaf: the rest of a long row.",
  F: "Lists pages that are free.",
  f: "Is free: what it held was deleted. New rows will use it.",
  r: "Is free, and kept by High Performance SQLite for one table or index, so that it stays together.",
  p: "Says of other pages who points to them (auto_vacuum).",
  l: "The page at 1 GiB: SQLite takes its locks there and never uses it.",
  x: "Nothing leads to it, and it is not free: it should not be there.",
};
