/**
 * Two maps at one scale: the same number of columns, moved and zoomed together, the same page pointed
 * at in both.
 */
import { mix, pixel } from "viz/colours.js";
import { bytes, count, fill, h, plural, swatch } from "viz/dom.js";
import { MapCanvas, columnsFor } from "viz/map/canvas.js";
import { PagePainter, paper } from "viz/map/colours.js";
import { WORDS } from "viz/compare/words.js";

/** CSS pixels of a page at most while all are in view. */
const COMFORTABLE = 44;
/** B-trees in the legend. */
const LEGEND = 14;
/** Pages that get a dot because they differ; where there are more, paling the others tells more. */
const DOTS = 20_000;

/** What is said while nothing is pointed at. */
const POINT = "Point at a page, or select it, to read what it is in both files.";

/** Milliseconds between two looks at what has been compared meanwhile. */
const PAUSE = 500;

/** Paints as another painter does, and pales the pages that are the same in both files. */
export class DifferencePainter {
  /** `known`: `{marks, done}`, of page n `marks[n - 1]` if it is one of the first `done`. */
  constructor(painter, known, dark) {
    this.painter = painter;
    this.known = known;
    this.dark = dark;
    this.ground = paper(dark);
  }

  isWanted(data, n) {
    return this.painter.isWanted(data, n) && !this.#isSame(n);
  }

  #isSame(n) {
    return n <= this.known.done && this.known.marks[n - 1] === 0;
  }

  paint(data, from, n, out) {
    this.painter.paint(data, from, n, out);
    for (let i = 0; i < n; i++) {
      if (!this.#isSame(from + i)) continue;
      const p = out[i];
      out[i] = pixel(mix([p & 255, (p >> 8) & 255, (p >> 16) & 255], this.ground, 0.1));
    }
  }
}

export class CompareMaps {
  #app;
  #sides = [];
  #given = null;
  #fitted = true;
  /** The marks as far as they are on the maps, and the first pages that differ. */
  #known = { marks: new Uint8Array(0), done: 0, different: [] };
  /** Pages that were compared since. */
  #compared = 0;
  #timer = null;
  #only = false;
  #wanted = new Set();
  #hovered = null;
  #said = h("p", { class: "said small", "aria-live": "off" }, POINT);
  #legend = h("div", {
    class: "row compare-legend",
    role: "group",
    "aria-label": "Show only these tables and indexes",
  });
  #check = h("input", { type: "checkbox" });

  constructor(app) {
    this.#app = app;
    this.#sides = ["Left", "Right"].map((name) => ({
      name,
      map: null,
      data: null,
      title: h("figcaption"),
      box: h("div", { class: "compare-box" }),
    }));
    const zoom = (factor) => () => this.#sides[0].map?.zoom(factor);
    const button = (text, label, onclick) =>
      h("button", { type: "button", title: label, "aria-label": label, onclick }, text);
    this.#check.addEventListener("change", () => {
      this.#only = this.#check.checked;
      this.#paint();
    });
    this.onlyLabel = h("label", { class: "check", hidden: true }, this.#check, "Pale what is the same");
    this.pair = h(
      "div",
      { class: "maps" },
      this.#sides.map(({ title, box }) => h("figure", null, title, box)),
    );
    this.element = h(
      "section",
      { "aria-label": "Both maps" },
      h(
        "div",
        { class: "row maps-bar" },
        h("h2", null, "Pages side by side"),
        h(
          "div",
          { class: "row" },
          button("−", "Smaller", zoom(1 / 1.5)),
          button("+", "Larger", zoom(1.5)),
          h("button", { type: "button", onclick: () => this.#fit() }, "Whole files"),
          this.onlyLabel,
        ),
      ),
      h("p", { class: "faint small" }, WORDS.maps),
      this.#legend,
      this.pair,
      this.#said,
    );
    new ResizeObserver(() => this.#resized()).observe(this.pair);
    app.on("theme", () => this.#paint());
  }

  /** Two files: `{left, right, f, g, all}`, summaries, numbers of files, b-trees in pairs. */
  update(given) {
    const before = this.#given;
    const others = !before || before.f !== given.f || before.g !== given.g;
    this.#given = given;
    if (others) {
      this.#fitted = true;
      this.#hovered = null;
      this.#wanted.clear();
    }
    for (const [i, side] of this.#sides.entries()) {
      const file = i === 0 ? given.f : given.g;
      const summary = i === 0 ? given.left : given.right;
      const data = this.#app.map(file);
      fill(
        side.title,
        h("strong", null, `${side.name}: `),
        this.#app.files[file].title,
        h("span", { class: "faint" }, ` ${plural(data.pages, "page")}, ${bytes(data.pages * summary.page_size)}`),
      );
      const label = `Map of the ${side.name.toLowerCase()} file, ${this.#app.files[file].title}`;
      if (!side.map) this.#make(side, { data, summary, label, file });
      else if (side.data !== data) side.map.setData(data, summary);
      side.map.element.setAttribute("aria-label", label);
      side.data = data;
      side.file = file;
      side.summary = summary;
    }
    if (others) this.#said.textContent = POINT;
    this.#drawLegend();
    this.#paint();
    requestAnimationFrame(() => this.#fitted && this.#fit());
  }

  #make(side, { data, summary, label }) {
    const map = new MapCanvas({
      data,
      summary,
      label,
      painter: new PagePainter(summary, { dark: this.#app.dark }),
      bytes: (n) => this.#app.source.page(side.file, n),
    });
    const others = () => this.#sides.filter((other) => other !== side && other.map).map((other) => other.map);
    map.on("view", (view) => {
      this.#fitted = false;
      for (const other of others()) other.view = view;
    });
    map.on("hover", (n) => {
      for (const other of others()) other.hovered = n;
      this.#say(n);
    });
    map.on("select", (n) => {
      for (const other of others()) other.selected = n;
      this.#say(n);
    });
    map.on("open", (n) => this.#app.go("page", { file: side.file, page: n }));
    side.map = map;
    side.box.append(map.element);
  }

  /** Pages of a file have come, or were scanned. */
  dataChanged(file, from, n) {
    for (const side of this.#sides) if (side.file === file) side.map?.changed(from, n);
  }

  /**
   * Pages that differ: of page n `marks[n - 1]`, known of the first `done` pages. While a comparison
   * goes on this is called with each piece of it, and the maps follow now and then.
   */
  mark(marks, done) {
    const anew = marks !== this.#known.marks || done < this.#known.done;
    if (anew) this.#known = { marks, done: 0, different: [] };
    this.#compared = done;
    if (anew || done === marks.length) this.#follow();
    else this.#timer ??= setTimeout(() => this.#follow(), PAUSE);
    if (anew) this.#paint();
  }

  /** Shows what was compared since the last time. */
  #follow() {
    clearTimeout(this.#timer);
    this.#timer = null;
    const known = this.#known;
    const { marks, done, different } = known;
    for (let i = done; i < this.#compared && different.length <= DOTS; i++) if (marks[i]) different.push(i + 1);
    known.done = this.#compared;
    this.onlyLabel.hidden = known.done === 0;
    if (known.done === done) return;
    if (this.#only) for (const { map } of this.#sides) map?.changed(done + 1, known.done - done);
    this.#drawDots();
  }

  #drawDots() {
    const { done, different } = this.#known;
    // Where nearly all differ, as in a copy, dots tell nothing.
    const few = different.length > 0 && different.length <= Math.min(DOTS, done / 2);
    for (const { map } of this.#sides) if (map) map.marks = !this.#only && few ? different : null;
  }

  /** Gives both maps their colours: another theme, filter, file, or what is paled. */
  #paint() {
    if (!this.#given) return;
    const { dark } = this.#app;
    for (const { map, summary } of this.#sides) {
      if (!map) continue;
      const names = (trees) => trees.flatMap((tree, t) => (this.#wanted.has(tree.name.toLowerCase()) ? [t] : []));
      const trees = this.#wanted.size > 0 ? new Set(names(summary.trees)) : null;
      const painter = new PagePainter(summary, { dark, trees });
      map.setPainter(this.#only ? new DifferencePainter(painter, this.#known, dark) : painter, summary, dark);
      map.changed();
    }
    this.#drawDots();
  }

  #drawLegend() {
    const size = ({ left, right }) => Math.max(left?.tree.pages ?? 0, right?.tree.pages ?? 0);
    const largest = [...this.#given.all].sort((a, b) => size(b) - size(a));
    const button = (pair) => {
      const key = pair.name.toLowerCase();
      const b = h(
        "button",
        {
          type: "button",
          class: "legend-tree",
          "aria-pressed": String(this.#wanted.has(key)),
          onclick: () => {
            if (!this.#wanted.delete(key)) this.#wanted.add(key);
            b.setAttribute("aria-pressed", String(this.#wanted.has(key)));
            this.#paint();
          },
        },
        swatch((pair.left ?? pair.right).tree.colour),
        " ",
        pair.name,
      );
      return b;
    };
    const more = largest.length - LEGEND;
    const colours = new Map(this.#given.left.kinds.map((kind) => [kind.letter, kind]));
    const free = colours.get("f");
    fill(
      this.#legend,
      largest.slice(0, LEGEND).map(button),
      more > 0 && h("span", { class: "faint" }, `and ${count(more)} more`),
      free && h("span", { class: "small" }, swatch(free.colour), " free page"),
    );
  }

  /** What page `n` is in both files. */
  async #say(n) {
    this.#hovered = n;
    if (n === null) return;
    // If it fails the app has told why.
    const told = await Promise.all(this.#sides.map(({ file }) => this.#app.describe(file, n))).catch(() => null);
    if (!told || this.#hovered !== n) return;
    const { marks, done } = this.#known;
    const same = n <= done ? (marks[n - 1] ? " Their bytes differ." : " Their bytes are the same.") : "";
    fill(
      this.#said,
      h("strong", null, "Left: "),
      told[0],
      ". ",
      h("strong", null, "Right: "),
      told[1],
      told[1].endsWith(".") ? "" : ".",
      same,
    );
  }

  #resized() {
    if (this.#fitted) this.#fit();
  }

  /** Shows both files whole, at the scale that the larger one needs. */
  #fit() {
    const maps = this.#sides.map(({ map }) => map);
    if (maps.some((map) => !map)) return;
    const { clientWidth: width, clientHeight: height } = maps[0].element;
    if (!width || !height) return;
    const pages = Math.max(...maps.map((map) => map.data.pages));
    const columns = columnsFor(pages, width, height);
    const scale = Math.min(width / columns, height / Math.ceil(pages / columns), COMFORTABLE);
    for (const map of maps) map.view = { scale, columns, x: (columns - width / scale) / 2, y: 0 };
    this.#fitted = true;
  }
}
