/** The Map view: every page of the file in its place. */
import { capital, count, fill, h, hideTip, pageLink, percent, plural, showTip, treeLink } from "viz/dom.js";
import { EXPLAINED, Legend } from "viz/map/legend.js";
import { MapCanvas } from "viz/map/canvas.js";
import { PagePainter, orderColour } from "viz/map/colours.js";
import { NOBODY } from "viz/map/data.js";
import { COLOURINGS, EXPLANATION, KEYS, WORDS } from "viz/map/words.js";

/** Milliseconds that a pointer rests before more is asked for. */
const RESTS = 200;
/** If the log has more of the file's pages newer, as a share, they are not marked unless it is asked for. */
const MANY = 0.05;
/** A filter that leaves so few pages shows each, however small it is. */
const FEW = 20_000;
/** B-trees whose order is asked for, the largest first. */
const ORDERED = 200;
/** So much of what is wrong with the selected page is listed. */
const LISTED = 5;

class MapView {
  #app;
  #map = null;
  #shown = -1;
  #ranks = new Map();
  #by = "owner";
  #legend;
  #side = h("section", { class: "map-page", "aria-live": "polite", "aria-label": "The selected page" });
  #scale = h("div", { class: "map-scale" });
  #logged = h("label", { class: "check", hidden: true });
  #markLogged = h("input", { type: "checkbox", checked: true, onchange: () => this.#mark() });
  #damaged = h("label", { class: "check", hidden: true });
  #markDamaged = h("input", { type: "checkbox", checked: true, onchange: () => this.#cross() });
  #box = h("div", { class: "map-box" });
  #census = 0;

  constructor(app) {
    this.#app = app;
    this.#legend = new Legend(app);
    this.element = h(
      "div",
      { class: "map-view" },
      h("div", { class: "map-main" }, this.#bar(), this.#box),
      h("aside", { class: "map-side" }, this.#side, this.#legend.element),
    );
    app.on("select", (change) => this.#selected(change));
    app.on("theme", () => this.#paint());
    app.on("map", ({ file, from, count: n }) => file === this.#shown && this.#came(from, n));
    app.on("summary", ({ file }) => file === this.#shown && this.#load());
  }

  async show(params) {
    if (this.#shown !== this.#app.file) await this.#load();
    if (params.page) {
      this.#app.select({ page: params.page });
      this.#map?.goTo(params.page, true);
    } else if (params.tree !== undefined) {
      this.#app.select({ trees: new Set([params.tree]) });
      this.#map?.fit();
    }
  }

  hide() {
    hideTip();
  }

  /** Shows the file that is chosen, or its new state. */
  async #load() {
    const f = this.#app.file;
    const summary = await this.#app.summary(f).catch(() => null);
    if (!summary || f !== this.#app.file) return;
    const data = this.#app.map(f);
    this.#summary = summary;
    this.#ranks.clear();
    this.#newer = null;
    this.#wrong = null;
    this.#parentOf = null;
    if (f !== this.#shown) this.#markLogged.checked = (summary.wal?.versions ?? 0) <= summary.pages * MANY;
    if (this.#map && this.#shown === f && this.#map.data === data) {
      this.#count();
      this.#paint();
      this.#mark();
      this.#cross();
      this.#tell();
      return;
    }
    this.#shown = f;
    const painter = this.#painter();
    if (this.#map) {
      this.#map.setData(data, summary);
      this.#map.setPainter(painter, summary);
    } else {
      this.#map = new MapCanvas({
        data,
        summary,
        painter,
        label: "Map of the file’s pages. Arrow keys select a page.",
        bytes: (n) => (this.#app.source.can.bytes ? this.#app.source.page(this.#shown, n) : null),
      });
      this.#map.on("hover", (n, x, y) => this.#hover(n, x, y));
      this.#map.on("select", (n) => this.#app.select({ page: n }));
      this.#map.on("open", (n) => this.#app.go("page", { page: n }));
      fill(this.#box, this.#map.element);
    }
    this.#count();
    this.#paint();
    this.#mark();
    this.#cross();
    this.#tell();
  }

  #summary = null;
  #parentOf = null;
  /** Promise of the pages that the log has newer, once it was asked for. */
  #newer = null;
  /** Promise of what is wrong with pages, by their numbers, once it was asked for. */
  #wrong = null;

  /** Marks the pages that the log has newer, if that is wanted. */
  async #mark() {
    const versions = this.#summary.wal?.versions ?? 0;
    this.#logged.hidden = versions === 0;
    fill(this.#logged, this.#markLogged, `${plural(versions, "page")} newer in the log (dots)`);
    const [map, f] = [this.#map, this.#shown];
    if (versions === 0 || !this.#markLogged.checked) return void (map.marks = null);
    this.#newer ??= newerPages(this.#app.source, f, this.#summary.wal.committed).catch(() => null);
    const pages = await this.#newer;
    if (f === this.#shown) map.marks = pages;
  }

  /** What is wrong with the file's pages: texts by page. */
  #wrongs() {
    if (!this.#summary?.problem_count) return new Map();
    this.#wrong ??= this.#app.source.problems(this.#shown).then(
      ({ problems }) =>
        Map.groupBy(
          problems.filter((p) => p.page > 0),
          (p) => p.page,
        ),
      () => new Map(),
    );
    return this.#wrong;
  }

  /** Crosses out the damaged pages, if that is wanted. */
  async #cross() {
    const [map, f] = [this.#map, this.#shown];
    const wrong = await this.#wrongs();
    if (f !== this.#shown || map !== this.#map) return;
    this.#damaged.hidden = wrong.size === 0;
    fill(this.#damaged, this.#markDamaged, `${plural(wrong.size, "damaged page")} (crosses)`);
    map.faults = this.#markDamaged.checked && wrong.size > 0 ? wrong.keys() : null;
  }

  #painter() {
    const { trees, kinds } = this.#app.selection;
    return new PagePainter(this.#summary, { by: this.#by, dark: this.#app.dark, trees, kinds });
  }

  async #paint() {
    if (!this.#map || !this.#summary) return;
    const painter = this.#painter();
    const f = this.#shown;
    this.#drawScale();
    if (this.#by === "order") {
      if (!this.#ranks.has(f)) this.#ranks.set(f, this.#order(f));
      painter.setRanks(await this.#ranks.get(f));
      if (this.#by !== "order" || f !== this.#shown) return;
    }
    this.#map.setPainter(painter, this.#summary);
    this.#map.spots = this.#legend.chosen(this.#map.data, FEW);
  }

  /** The place of each leaf in the order of its b-tree's keys, from 1 to 65535. */
  async #order(f) {
    const summary = this.#summary;
    const ranks = new Uint16Array(this.#app.map(f).pages);
    const largest = summary.trees
      .map((tree, t) => [tree, t])
      .sort(([a], [b]) => b.pages - a.pages)
      .slice(0, ORDERED);
    for (const [tree, t] of largest) {
      const leaves = await this.#app.source.level(f, t, tree.depth - 1).catch(() => []);
      leaves.forEach((n, i) => {
        if (n >= 1 && n <= ranks.length) ranks[n - 1] = 1 + Math.round((i / Math.max(1, leaves.length - 1)) * 65534);
      });
    }
    return ranks;
  }

  #came(from, n) {
    if (n > 0) this.#map?.changed(from, n);
    const { page } = this.#app.selection;
    if (page >= from && page < from + n) this.#tell();
    const now = performance.now();
    if (n === 0 || now - this.#census > 1000) this.#count();
    if (n === 0 && this.#map) this.#map.spots = this.#legend.chosen(this.#map.data, FEW);
  }

  #count() {
    this.#census = performance.now();
    this.#legend.show(this.#summary, this.#app.map(this.#shown));
  }

  #selected(change) {
    if ("trees" in change || "kinds" in change) this.#paint();
    if ("page" in change && this.#map) {
      this.#map.selected = change.page;
      this.#tell();
    }
  }

  async #hover(n, x, y) {
    if (!n) return hideTip();
    const text = await this.#app.describe(this.#shown, n);
    const show = (more) => this.#map.hovered === n && showTip([text, more], { left: x, top: y });
    show();
    await new Promise((done) => setTimeout(done, RESTS));
    if (this.#map.hovered !== n) return;
    const damaged = (await this.#wrongs()).has(n) ? "; damaged" : "";
    show(damaged);
    if (!this.#app.source.can.bytes) return;
    const parent = await this.#parent(n);
    if (parent > 0) show(`, found from page ${count(parent)}${damaged}`);
  }

  /** The page that leads to page `n`; of the last page asked for it is kept. */
  async #parent(n) {
    if (this.#parentOf?.n !== n) {
      this.#parentOf = {
        n,
        parent: this.#app.source.page(this.#shown, n).then(
          (page) => page.parent,
          () => 0,
        ),
      };
    }
    return this.#parentOf.parent;
  }

  /** Says in the panel what the selected page is. */
  async #tell() {
    const n = this.#app.selection.page;
    const f = this.#shown;
    const data = this.#app.map(f);
    if (!n || !data.has(n)) {
      return void fill(this.#side, h("p", { class: "faint" }, "Click a page to read here what it is."));
    }
    const { kinds, trees, page_size: size } = this.#summary;
    const kind = kinds[data.kind(n)];
    const t = data.owner(n) === NOBODY ? null : data.owner(n);
    const facts = h(
      "dl",
      { class: "facts" },
      h("dt", null, "Kind"),
      h("dd", null, capital(kind.name)),
      t !== null && [h("dt", null, kind.letter === "r" ? "Kept for" : "Of"), h("dd", null, treeLink(this.#app, t))],
      h("dt", null, "Full"),
      h("dd", null, `${percent(data.fill(n) / 255)} of ${count(size)} bytes`),
      h("dt", null, "In the file"),
      h("dd", null, `from byte ${count((n - 1) * size)} on`),
    );
    const around = h("div", { class: "map-around" });
    const wrong = h("ul", { class: "map-wrong wrong", hidden: true });
    fill(
      this.#side,
      h("h2", null, "Page ", pageLink(this.#app, n)),
      wrong,
      h("p", { class: "small" }, EXPLAINED[kind.letter] ?? ""),
      facts,
      around,
      h(
        "p",
        { class: "row" },
        h("a", { href: this.#app.href("page", { page: n }) }, "Look inside"),
        trees[t] &&
          h(
            "button",
            { type: "button", class: "plain", onclick: () => this.#app.select({ trees: new Set([t]), kinds: null }) },
            `Only ${short(trees[t].title)}`,
          ),
      ),
    );
    this.#wrongWith(f, n, wrong);
    if (!this.#app.source.can.bytes) return;
    const page = await this.#app.source.page(f, n).catch(() => null);
    if (page && this.#app.selection.page === n) fill(around, this.#links(page));
  }

  /** Lists in `list` what is wrong with page `n`. */
  async #wrongWith(f, n, list) {
    const wrong = (await this.#wrongs()).get(n) ?? [];
    if (f !== this.#shown || this.#app.selection.page !== n) return;
    list.hidden = wrong.length === 0;
    const more = wrong.length - LISTED;
    fill(
      list,
      wrong.slice(0, LISTED).map(({ what }) => h("li", null, capital(what))),
      more > 0 && h("li", null, `and ${count(more)} more`),
    );
  }

  #links({ around, cells = [], parent, frame }) {
    const link = (n) => pageLink(this.#app, n, { view: "map" });
    const { path = [], before, after, children = [] } = around ?? {};
    return h(
      "dl",
      { class: "facts" },
      frame !== undefined && [h("dt", null, "Newest in"), h("dd", null, `frame ${count(frame + 1)} of the log`)],
      cells.length > 0 && [h("dt", null, "Holds"), h("dd", null, plural(cells.length, "cell"))],
      path.length > 0 && [
        h("dt", null, "Way from the root"),
        h(
          "dd",
          null,
          path.map((n, i) => [i > 0 && " → ", link(n)]),
        ),
      ],
      path.length === 0 && parent > 0 && [h("dt", null, "Comes from"), h("dd", null, link(parent))],
      before > 0 && [h("dt", null, "Before it"), h("dd", null, link(before))],
      after > 0 && [h("dt", null, "After it"), h("dd", null, link(after))],
      children.length > 0 && [
        h("dt", null, "Leads to"),
        h(
          "dd",
          null,
          children.slice(0, 8).map((n, i) => [i > 0 && ", ", link(n)]),
          children.length > 8 && ` and ${count(children.length - 8)} more`,
        ),
      ],
    );
  }

  #bar() {
    const by = h(
      "select",
      { onchange: (e) => this.#colourBy(e.target.value) },
      Object.entries(COLOURINGS).map(([id, [name]]) => h("option", { value: id }, name)),
    );
    const button = (text, title, f) =>
      h("button", { type: "button", class: "icon", title, "aria-label": title, onclick: f }, text);
    return h(
      "div",
      { class: "map-bar" },
      h("label", { class: "row" }, h("span", null, "Colour"), by),
      h(
        "div",
        { class: "row" },
        button("−", "Smaller (−)", () => this.#map?.zoom(1 / 1.6)),
        button("+", "Larger (+)", () => this.#map?.zoom(1.6)),
        h(
          "button",
          { type: "button", title: "Show the whole file (0)", onclick: () => this.#map?.fit() },
          "Whole file",
        ),
      ),
      this.#logged,
      this.#damaged,
      h(
        "details",
        {
          class: "map-help",
          onkeydown: (e) => e.key === "Escape" && (e.currentTarget.open = false),
          onfocusout: (e) => this.#left(e),
        },
        h("summary", null, "What am I looking at?"),
        h(
          "div",
          { class: "card" },
          EXPLANATION.map((text) => h("p", null, text)),
          h("p", { class: "small faint" }, KEYS),
        ),
      ),
      this.#scale,
    );
  }

  /** Folds the explanation when something else is used. */
  #left({ currentTarget: help, relatedTarget: to }) {
    if (to && !help.contains(to)) help.open = false;
  }

  #colourBy(by) {
    this.#by = by;
    this.#legend.colouredBy(by);
    this.#paint();
  }

  #drawScale() {
    const [, words] = COLOURINGS[this.#by];
    const ramp =
      this.#by === "order" &&
      h(
        "span",
        { class: "ramp", "aria-hidden": "true" },
        Array.from({ length: 24 }, (_, i) =>
          h("i", { style: { background: `rgb(${orderColour(i / 23).join(" ")})` } }),
        ),
      );
    const trees = this.#summary?.trees.length ?? 0;
    const partly = ramp && trees > ORDERED ? WORDS.largest(ORDERED, trees) : "";
    fill(this.#scale, ramp && ["First key ", ramp, " last key. "], words, partly);
    this.#scale.title = `${words}${partly}`;
  }
}

/** The pages of which the log has a newer version. */
async function newerPages(source, f, committed) {
  const frames = await source.wal(f);
  const pages = new Set();
  for (let i = 0; i < committed; i++) pages.add(frames[i * 3]);
  return pages;
}

function short(name) {
  return name.length > 24 ? `${name.slice(0, 23)}…` : name;
}

export const view = { id: "map", title: "Map", create: (app) => new MapView(app) };
