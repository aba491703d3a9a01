/**
 * The Tree view: a b-tree level by level, how full its pages are, a drawing of all of it, and the way to
 * a key.
 */
import { setOwner } from "viz/colours.js";
import { bytes as inUnits, capital, count, fill, h, number, percent, plural, roleName, term } from "viz/dom.js";
import { cell, line, name, num, numHeads, table } from "viz/table.js";
import { TreeData, histogram } from "viz/tree/data.js";
import { TreeDrawing, positionColour } from "viz/tree/draw.js";
import { TreePath } from "viz/tree/path.js";
import { WORDS } from "viz/tree/words.js";

class TreeView {
  #app;
  #tree = null;
  #file = null;
  #data = null;
  #facts = null;
  #visible = false;
  #asked = 0;
  #redraw = null;
  #choice = h("select", { "aria-label": "Table or index" });
  #by = h(
    "select",
    { "aria-label": "Colour of pages" },
    h("option", { value: "fill" }, "how full a page is"),
    h("option", { value: "position" }, "where in the file it is"),
  );
  #title = h("h2", { class: "tree-title" });
  #words = h("p");
  #legend = h("div", { class: "tree-legend small" });
  #levels = h("div", { class: "wide tree-levels" });
  #sql = h("div");
  #wrong = h("p", { class: "wrong", role: "status", hidden: true });

  constructor(app) {
    this.#app = app;
    this.drawing = new TreeDrawing(app);
    this.path = new TreePath(app, this.drawing);
    this.#choice.addEventListener("change", () => app.go("tree", { tree: Number(this.#choice.value) }));
    this.#by.addEventListener("change", () => {
      this.drawing.colourBy(this.#by.value);
      this.#drawLegend();
    });
    const onMap = h("button", { type: "button" }, "Show it on the map");
    onMap.addEventListener("click", () => {
      app.select({ trees: new Set([this.#tree]) });
      app.go("map");
    });
    this.element = h(
      "div",
      { class: "view tree-view waiting" },
      h(
        "div",
        { class: "row tree-bar" },
        h("label", { class: "row" }, "B-tree", this.#choice),
        h("label", { class: "row" }, "Colour by", this.#by),
        onMap,
      ),
      this.#title,
      this.#words,
      this.#wrong,
      h("section", null, this.drawing.element, this.#legend),
      h("section", null, h("h3", null, "The way to a key"), this.path.element),
      h("section", null, h("h3", null, "Level by level"), this.#levels),
      this.#sql,
    );
    app.on("summary", ({ file }) => this.#visible && file === app.file && this.#load({}, true));
    app.on("map", ({ file }) => file === this.#file && this.#mapCame());
  }

  async show(params) {
    this.#visible = true;
    const same = this.#file === this.#app.file;
    const summary = await this.#app.summary().catch(() => null); // The app has told why.
    if (!summary) return;
    const { trees } = summary;
    const wanted = params.tree ?? (await this.#ownerOf(params.page)) ?? (same ? this.#tree : null);
    const largest = trees.reduce((best, tree, t) => (tree.pages > trees[best].pages ? t : best), 0);
    const tree = trees[wanted] ? wanted : largest;
    const again = same && tree === this.#tree && this.#data !== null;
    this.#tree = tree;
    this.#file = this.#app.file;
    await this.#load(params, !again);
  }

  hide() {
    this.#visible = false;
  }

  /** The b-tree that a page belongs to; nothing if there is no such page, or it belongs to none. */
  async #ownerOf(page) {
    if (page === undefined) return null;
    return this.#app.source.page(this.#app.file, page).then(
      ({ owner }) => owner,
      () => null,
    );
  }

  async #load(params, anew) {
    const app = this.#app;
    const token = ++this.#asked;
    try {
      const summary = await app.summary(this.#file);
      const info = summary.trees[this.#tree];
      if (anew) {
        const facts = await app.source.tree(this.#file, this.#tree);
        const data = await TreeData.load(app.source, this.#file, this.#tree, facts.levels.length);
        if (token !== this.#asked) return;
        [this.#data, this.#facts] = [data, facts];
        this.#draw(summary, info);
      }
      this.#wrong.hidden = true;
      await this.path.ask(params);
    } catch (e) {
      if (token !== this.#asked) return;
      this.element.classList.remove("waiting");
      this.#wrong.textContent = e.message;
      this.#wrong.hidden = false;
    }
  }

  #draw(summary, info) {
    this.element.classList.remove("waiting");
    const options = summary.trees
      .map((tree, t) => ({ tree, t }))
      .sort((a, b) => b.tree.pages - a.tree.pages || a.t - b.t);
    fill(
      this.#choice,
      options.map(({ tree, t }) =>
        h(
          "option",
          { value: t, selected: t === this.#tree },
          `${tree.title} (${tree.role === "index" ? `index of ${tree.table}` : roleName(tree)}, ` +
            `${plural(tree.pages, "page")})`,
        ),
      ),
    );
    fill(this.#title, info.title);
    const depth = this.#data.levels.length;
    fill(
      this.#words,
      `${capital(roleName(info))}${info.role === "index" ? ` of ${info.table}` : ""}: `,
      depth === 1 ? "one page, which is root and leaf." : [WORDS.depth(depth, this.#data.leaves)],
      depth > 1 && [WORDS.widths, term("scatter", "a scan has to jump"), WORDS.jump],
    );
    const map = this.#app.map(this.#file);
    setOwner(this.element, info.colour);
    this.drawing.show(
      this.#data,
      map,
      info.colour,
      summary.kinds.map((kind) => kind.letter),
    );
    this.#drawLegend();
    this.#drawLevels(summary);
    this.path.show(this.#tree, info, this.#facts);
    fill(
      this.#sql,
      info.sql ? h("details", null, h("summary", null, "The statement that made it"), h("pre", null, info.sql)) : null,
    );
  }

  #drawLegend() {
    const steps = Array.from({ length: 10 }, (_, i) => i / 9);
    const fills = this.#by.value === "fill";
    const bar = h(
      "span",
      { class: "tree-scale", "aria-hidden": "true" },
      fills
        ? h("span", { class: "tree-fill-scale" })
        : steps.map((x) => h("span", { style: { background: positionColour(x) } })),
    );
    fill(
      this.#legend,
      fills ? "empty" : "start of the file",
      bar,
      fills ? "full" : "end of the file",
      h("span", { class: "faint" }, WORDS.keys),
    );
  }

  #drawLevels({ usable, scanned }) {
    const { levels } = this.#facts;
    const map = this.#app.map(this.#file);
    const last = levels.length - 1;
    const rows = levels.map((level, l) => {
      const what = last === 0 ? "root, which is the leaf" : l === 0 ? "root" : l === last ? "leaves" : `level ${l}`;
      const fan = l < last && level.pages > 0 ? number(levels[l + 1].pages / level.pages) : "";
      const full = percent(1 - level.unused / Math.max(1, level.pages * usable));
      const known = (...cells) => cells.map((text) => num(scanned ? text : "…"));
      return line(
        name(what),
        num(count(level.pages)),
        num(fan),
        known(count(level.cells), full, inUnits(level.payload), inUnits(level.unused)),
        cell(map.complete ? bars(histogram(this.#data.levels[l], map)) : "…"),
      );
    });
    const numbers = ["pages", term("fan-out"), term("cell", "cells"), term("fill", "full"), term("payload"), "unused"];
    fill(
      this.#levels,
      table(["level", ...numHeads(numbers), "pages by how full they are"], rows),
      h("p", { class: "small faint" }, scanned ? "" : "What is in its pages is known when every page has been read."),
    );
  }

  /** More of the map is there: fills may be known now. */
  #mapCame() {
    if (!this.#visible || !this.#data || this.#redraw) return;
    this.#redraw = setTimeout(async () => {
      this.#redraw = null;
      this.drawing.mapCame();
      const summary = await this.#app.summary(this.#file).catch(() => null); // The app has told why.
      if (summary && this.#facts) this.#drawLevels(summary);
    }, 400);
  }
}

/** A histogram of how full pages are. */
function bars(numbers) {
  const most = Math.max(1, ...numbers);
  const all = numbers.reduce((sum, n) => sum + n, 0);
  const words = Array.from(numbers, (n, i) => (n > 0 ? `${i * 10} to ${i * 10 + 10} % full: ${plural(n, "page")}` : ""))
    .filter(Boolean)
    .join("; ");
  return h(
    "div",
    { class: "fill-bars", role: "img", "aria-label": words, title: words },
    Array.from(numbers, (n) => h("span", { style: { height: `${n > 0 ? Math.max(8, (n / most) * 100) : 0}%` } })),
    all === 0 && "",
  );
}

export const view = { id: "tree", title: "Tree", create: (app) => new TreeView(app) };
