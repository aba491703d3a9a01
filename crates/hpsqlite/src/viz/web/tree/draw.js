/**
 * The drawing of a b-tree: a row for each level, its pages in the order of keys, each as wide as the leaves
 * below it; and a plot of where in the file the leaves are. Zooms from all of it to a few leaves.
 *
 * What a frame costs depends on the width in pixels, not on the number of pages.
 */
import { colours, scaled } from "viz/colours.js";
import { count, css, h, hideTip, percent, rgb, showTip } from "viz/dom.js";
import { Steps } from "viz/tree/data.js";
import { WORDS } from "viz/tree/words.js";

/** Room on the left for the levels' names, in CSS pixels. */
const GUTTER = 66;
const ROW = 24;
const LEAVES = 44;
const GAP = 10;
const JUMPS = 12;
const PLOT = 130;
/** Leaves that are seen at the closest. */
const FEWEST = 4;
/** Pages that are looked at for one column of pixels. */
const SAMPLES = 16;

/** From the file's start to its end: told apart by lightness as well, also by the colour-blind. */
const POSITIONS = [
  [0, 45, 110],
  [60, 85, 130],
  [110, 112, 125],
  [150, 143, 115],
  [200, 182, 90],
  [250, 225, 70],
];

/** The colour of a place in the file, 0 to 1. */
export function positionColour(x) {
  return `rgb(${scaled(POSITIONS, x).join(" ")})`;
}

/** Draws one b-tree at a time. */
export class TreeDrawing {
  #app;
  #data = null;
  #map = null;
  #colour = null;
  #steps = null;
  #by = "fill";
  #way = [];
  /** Which leaves are seen. */
  #from = 0;
  #to = 1;
  #drag = null;
  #due = false;
  #canvas = h("canvas", {
    tabindex: "0",
    role: "application",
    "aria-label": WORDS.drawing,
  });
  #share = h("span", { class: "small faint" });

  constructor(app) {
    this.#app = app;
    const button = (text, label, f) =>
      h("button", { type: "button", class: "icon", title: label, "aria-label": label, onclick: f }, text);
    this.element = h(
      "div",
      { class: "tree-drawing" },
      h(
        "div",
        { class: "row tree-zoom" },
        button("+", "Zoom in", () => this.#zoom(0.5)),
        button("−", "Zoom out", () => this.#zoom(2)),
        h("button", { type: "button", onclick: () => this.#look(0, this.#data?.leaves ?? 1) }, "All"),
        this.#share,
      ),
      h("div", { class: "tree-canvas" }, this.#canvas),
    );
    const canvas = this.#canvas;
    canvas.addEventListener("wheel", (e) => this.#wheel(e), { passive: false });
    canvas.addEventListener("pointerdown", (e) => this.#down(e));
    canvas.addEventListener("pointermove", (e) => this.#move(e));
    canvas.addEventListener("pointerup", (e) => this.#up(e));
    canvas.addEventListener("pointerleave", () => hideTip());
    canvas.addEventListener("keydown", (e) => this.#key(e));
    new ResizeObserver(() => this.draw()).observe(this.element);
    app.on("theme", () => this.draw());
    app.on("select", () => this.draw());
  }

  /** Shows a b-tree; `colour` is its own, `letters` those of the map's kinds. */
  show(data, map, colour, letters) {
    this.#steps = new Steps(data, map, letters);
    const again = this.#data?.tree === data.tree && this.#data.leaves === data.leaves;
    this.#data = data;
    this.#map = map;
    this.#colour = colour;
    this.#way = [];
    if (again) this.draw();
    else this.#look(0, data.leaves);
  }

  /** More of the map is there. */
  mapCame() {
    this.#steps?.forget();
    this.draw();
  }

  /** Colours pages by "fill" or by "position". */
  colourBy(by) {
    this.#by = by;
    this.draw();
  }

  /** Marks the pages on a way from the root, and looks where it leads. */
  showWay(pages) {
    this.#way = pages.map((n, l) => this.#data.levels[l]?.indexOf(n) ?? -1);
    const last = this.#way.length - 1;
    if (last >= 0 && this.#way[last] >= 0) {
      const [from, to] = this.#data.extent(last, this.#way[last]);
      const wide = this.#to - this.#from;
      const middle = (from + to) / 2;
      if (middle < this.#from || middle > this.#to) this.#look(middle - wide / 2, middle + wide / 2);
    }
    this.draw();
  }

  /** Draws at the next frame. */
  draw() {
    if (this.#due) return;
    this.#due = true;
    requestAnimationFrame(() => {
      this.#due = false;
      this.#draw();
    });
  }

  get #sizes() {
    const width = Math.max(200, this.element.clientWidth);
    const depth = this.#data.levels.length;
    const rows = this.#data.levels.map((_, l) => ({
      y: l * ROW + (l > 0 ? l * GAP : 0),
      h: l === depth - 1 ? LEAVES : ROW,
    }));
    const jumps = rows.at(-1).y + LEAVES + 3;
    const plot = jumps + JUMPS + GAP;
    return {
      width,
      rows,
      jumps,
      plot,
      height: plot + PLOT + 4,
      scale: (width - GUTTER) / Math.max(1, this.#to - this.#from),
    };
  }

  #draw() {
    if (!this.#data || this.element.clientWidth === 0) return;
    const s = this.#sizes;
    const canvas = this.#canvas;
    const density = devicePixelRatio || 1;
    canvas.width = Math.round(s.width * density);
    canvas.height = Math.round(s.height * density);
    canvas.style.width = `${s.width}px`;
    canvas.style.height = `${s.height}px`;
    const c = canvas.getContext("2d");
    c.setTransform(density, 0, 0, density, 0, 0);
    const ink = colours(this.element, ["ink", "faint", "paper", "panel", "line", "accent", "wrong"]);
    const paint = this.#painter();
    c.font = "12px system-ui, sans-serif";
    this.#data.levels.forEach((pages, l) => this.#drawLevel(c, s, pages, l, paint, ink));
    this.#drawJumps(c, s, ink);
    this.#drawPlot(c, s, ink, paint);
    this.#drawWay(c, s, ink);
    const seen = Math.round(this.#to - this.#from);
    this.#share.textContent =
      seen >= this.#data.leaves
        ? seen === 1
          ? "one leaf"
          : `all ${count(this.#data.leaves)} leaves`
        : `leaves ${count(Math.floor(this.#from) + 1)} to ${count(Math.ceil(this.#to))} of ${count(this.#data.leaves)}`;
  }

  /** The colour of pages `from` to `to` of a level, by their places. */
  #painter() {
    const { pages } = this.#map;
    if (this.#by === "position") return (level, from) => positionColour(level[from] / Math.max(1, pages));
    const dark = this.#app.dark;
    const [full, empty] = [rgb(this.#colour?.[dark ? "dark" : "light"]), dark ? [34, 39, 46] : [244, 246, 248]];
    const shade = Array.from({ length: 256 }, (_, f) =>
      css(full.map((x, k) => Math.round(empty[k] + (x - empty[k]) * (0.06 + 0.94 * (f / 255) ** 1.5)))),
    );
    return (level, from, to) => {
      const step = Math.max(1, Math.ceil((to - from) / SAMPLES));
      let [sum, n] = [0, 0];
      for (let i = from; i < to; i += step, n++) sum += this.#map.fill(level[i]) ?? 0;
      return shade[Math.round(sum / Math.max(1, n))] ?? shade[0];
    };
  }

  #drawLevel(c, s, pages, l, paint, ink) {
    const { y, h: height } = s.rows[l];
    const last = this.#data.levels.length - 1;
    c.fillStyle = ink.faint;
    c.textAlign = "right";
    c.textBaseline = "middle";
    c.fillText(
      last === 0 ? "root, leaf" : l === 0 ? "root" : l === last ? "leaves" : `level ${l}`,
      GUTTER - 8,
      y + height / 2,
    );
    const first = this.#data.placeAt(l, this.#from);
    const end = this.#data.placeAt(l, Math.min(this.#to, this.#data.leaves) - 1e-9) + 1;
    const x = (leaf) => GUTTER + (leaf - this.#from) * s.scale;
    if (end - first > (s.width - GUTTER) / 2) {
      for (let at = GUTTER; at < s.width; at++) {
        const [left, right] = [at, at + 1].map((edge) => this.#from + (edge - GUTTER) / s.scale);
        if (left >= this.#data.leaves) break;
        const from = this.#data.placeAt(l, left);
        c.fillStyle = paint(pages, from, Math.max(from + 1, Math.min(end, this.#data.placeAt(l, right))));
        c.fillRect(at, y, 1, height);
      }
      return;
    }
    c.textAlign = "center";
    for (let i = first; i < end; i++) {
      const [from, to] = this.#data.extent(l, i);
      const [left, right] = [Math.max(GUTTER, x(from)), Math.min(s.width, x(to))];
      if (right <= left) continue;
      c.fillStyle = paint(pages, i, i + 1);
      const gap = right - left > 4 ? 1 : 0;
      c.fillRect(left, y, Math.max(0.5, right - left - gap), height);
      if (gap) {
        c.strokeStyle = ink.line;
        c.lineWidth = 1;
        c.strokeRect(left + 0.5, y + 0.5, right - left - 2, height - 1);
      }
      const name = count(pages[i]);
      if (right - left > name.length * 7 + 10) {
        const wide = c.measureText(name).width + 8;
        c.fillStyle = ink.paper;
        c.fillRect((left + right - wide) / 2, y + height / 2 - 8, wide, 16);
        c.fillStyle = ink.ink;
        c.fillText(name, (left + right) / 2, y + height / 2 + 0.5);
      }
    }
  }

  /** Under the leaves: filled where the next leaf is somewhere else in the file. */
  #drawJumps(c, s, ink) {
    c.fillStyle = ink.panel;
    c.fillRect(GUTTER, s.jumps, s.width - GUTTER, JUMPS);
    c.fillStyle = ink.faint;
    c.textAlign = "right";
    c.textBaseline = "middle";
    c.fillText("jumps", GUTTER - 8, s.jumps + JUMPS / 2 + 1);
    c.fillStyle = ink.ink;
    const last = this.#data.leaves - 1;
    if (s.scale > 2) {
      for (let i = Math.floor(this.#from); i < Math.min(last, this.#to); i++) {
        if (!this.#steps.jumps(i)) continue;
        const left = Math.max(GUTTER, GUTTER + (i - this.#from) * s.scale);
        c.fillRect(left, s.jumps, GUTTER + (i + 1 - this.#from) * s.scale - left - 1, JUMPS);
      }
      return;
    }
    for (let at = GUTTER; at < s.width; at++) {
      const [left, right] = [at, at + 1].map((edge) => Math.floor(this.#from + (edge - GUTTER) / s.scale));
      const step = Math.max(1, Math.ceil((right - left) / SAMPLES));
      let [jumps, n] = [0, 0];
      for (let i = left; i < Math.max(left + 1, right) && i < last; i += step, n++) jumps += this.#steps.jumps(i);
      if (jumps === 0) continue;
      // As tall as the share of steps that jump.
      const tall = Math.max(1, (jumps / n) * JUMPS);
      c.fillRect(at, s.jumps + JUMPS - tall, 1, tall);
    }
  }

  /** Where in the file the leaves are: from left to right in the order of keys, downwards in the file's. */
  #drawPlot(c, s, ink, paint) {
    const leaves = this.#data.levels.at(-1);
    const pages = Math.max(2, this.#map.pages);
    c.fillStyle = ink.panel;
    c.fillRect(GUTTER, s.plot, s.width - GUTTER, PLOT);
    c.fillStyle = ink.faint;
    c.textAlign = "right";
    c.textBaseline = "top";
    c.fillText("page 1", GUTTER - 8, s.plot);
    c.textBaseline = "bottom";
    c.fillText(count(this.#map.pages), GUTTER - 8, s.plot + PLOT);
    const [first, end] = [Math.max(0, Math.floor(this.#from)), Math.min(leaves.length, Math.ceil(this.#to))];
    const step = Math.max(1, Math.floor((end - first) / (s.width - GUTTER) / SAMPLES));
    const size = s.scale > 6 ? 4 : s.scale > 1 ? 2.5 : 1.5;
    c.fillStyle = ink.ink;
    for (let i = first; i < end; i += step) {
      if (this.#by === "position" && s.scale > 1) c.fillStyle = paint(leaves, i, i + 1);
      const y = s.plot + ((leaves[i] - 1) / (pages - 1)) * (PLOT - size);
      c.fillRect(GUTTER + (i + 0.5 - this.#from) * s.scale - size / 2, y, size, size);
    }
  }

  #drawWay(c, s, ink) {
    const places = [...this.#way];
    if (places.length === 0) {
      const chosen = this.#app.selection.page;
      const l = this.#data.levels.findIndex((pages) => pages.length < 5e5 && pages.includes(chosen));
      if (l >= 0) places[l] = this.#data.levels[l].indexOf(chosen);
    }
    c.strokeStyle = ink.wrong;
    c.lineWidth = 2.5;
    let before = null;
    places.forEach((place, l) => {
      if (!(place >= 0) || !s.rows[l]) return;
      const [from, to] = this.#data.extent(l, place);
      const [left, right] = [from, to].map((leaf) => GUTTER + (leaf - this.#from) * s.scale);
      const { y, h: height } = s.rows[l];
      const wide = Math.max(4, right - left);
      const [a, b] = [Math.max(GUTTER, left), Math.min(s.width, left + wide)];
      if (b > a) c.strokeRect(a, y, b - a, height);
      const here = { x: (left + right) / 2, y };
      if (before && here.x >= GUTTER && here.x <= s.width) {
        c.beginPath();
        c.moveTo(Math.min(Math.max(before.x, GUTTER), s.width), before.y);
        c.lineTo(here.x, y);
        c.stroke();
      }
      before = { x: here.x, y: y + height };
    });
  }

  /** Looks at the leaves from one to another, as far as they are there. */
  #look(from, to) {
    const leaves = Math.max(1, this.#data?.leaves ?? 1);
    const wide = Math.min(leaves, Math.max(Math.min(FEWEST, leaves), to - from));
    this.#from = Math.min(Math.max(0, from), leaves - wide);
    this.#to = this.#from + wide;
    this.draw();
  }

  #zoom(factor, at = (this.#from + this.#to) / 2) {
    const leaves = this.#data?.leaves ?? 1;
    const wide = Math.min(leaves, Math.max(Math.min(FEWEST, leaves), (this.#to - this.#from) * factor));
    const share = (at - this.#from) / (this.#to - this.#from);
    this.#look(at - share * wide, at + (1 - share) * wide);
  }

  #leafUnder(e) {
    const box = this.#canvas.getBoundingClientRect();
    return this.#from + (e.clientX - box.left - GUTTER) / this.#sizes.scale;
  }

  /** The page under the pointer: {page, level, place}. */
  #pageUnder(e) {
    if (!this.#data) return null;
    const box = this.#canvas.getBoundingClientRect();
    const leaf = this.#leafUnder(e);
    if (leaf < this.#from || leaf < 0 || leaf >= this.#data.leaves) return null;
    const s = this.#sizes;
    const y = e.clientY - box.top;
    let level = s.rows.findIndex((row) => y >= row.y && y < row.y + row.h);
    if (y >= s.plot && y < s.plot + PLOT) level = this.#data.levels.length - 1;
    if (level < 0) return null;
    const place = this.#data.placeAt(level, leaf);
    return { page: this.#data.levels[level][place], level, place };
  }

  /** The wheel zooms once the drawing was clicked, so that it does not catch who scrolls the page. */
  #wheel(e) {
    if (!this.#data || !(e.ctrlKey || document.activeElement === this.#canvas)) return;
    e.preventDefault();
    const wide = this.#to - this.#from;
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY))
      this.#look(this.#from + (e.deltaX / 800) * wide, this.#to + (e.deltaX / 800) * wide);
    else this.#zoom(1.0015 ** e.deltaY, this.#leafUnder(e));
  }

  #down(e) {
    this.#drag = { x: e.clientX, from: this.#from, moved: false };
    this.#canvas.setPointerCapture(e.pointerId);
  }

  #move(e) {
    if (this.#drag) {
      const by = e.clientX - this.#drag.x;
      if (Math.abs(by) > 4) this.#drag.moved = true;
      if (this.#drag.moved) {
        const wide = this.#to - this.#from;
        const from = this.#drag.from - by / this.#sizes.scale;
        this.#look(from, from + wide);
      }
      return;
    }
    const under = e.pointerType === "touch" ? null : this.#pageUnder(e);
    this.#canvas.style.cursor = under ? "pointer" : "default";
    if (!under) return hideTip();
    const at = { left: e.clientX, top: e.clientY, bottom: e.clientY + 10 };
    showTip(this.#words(under), at);
  }

  #words({ page, level, place }) {
    const levels = this.#data.levels;
    const where = `${count(place + 1)} of ${count(levels[level].length)} in key order`;
    const next = levels[level][place + 1];
    const step =
      next === undefined
        ? ""
        : next === page + 1
          ? "; the next one is the next page of the file"
          : `; the next one is page ${count(next)}`;
    return `Page ${count(page)}, ${percent((this.#map.fill(page) ?? 0) / 255)} full: ${where}${step}.`;
  }

  #up(e) {
    const moved = this.#drag?.moved;
    this.#drag = null;
    if (moved) return;
    const under = this.#pageUnder(e);
    if (under) this.#app.go("page", { page: under.page });
  }

  #key(e) {
    if (!this.#data || e.ctrlKey || e.metaKey || e.altKey) return;
    const wide = this.#to - this.#from;
    const move = { ArrowLeft: -0.1, ArrowRight: 0.1, PageUp: -0.9, PageDown: 0.9 }[e.key];
    if (move) this.#look(this.#from + move * wide, this.#to + move * wide);
    else if (e.key === "+" || e.key === "=") this.#zoom(0.5);
    else if (e.key === "-") this.#zoom(2);
    else if (e.key === "0") this.#look(0, this.#data.leaves);
    else if (e.key === "Enter")
      this.#app.go("page", { page: this.#data.levels.at(-1)[Math.floor((this.#from + this.#to) / 2)] });
    else return;
    e.preventDefault();
  }
}
