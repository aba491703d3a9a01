/**
 * The picture of a page: its bytes in rows from left to right, each at its true place, coloured and
 * patterned by what they are for; cells have their number in the order of keys.
 *
 * Two canvases lie over each other: the page, drawn when it changes, and above it what is pointed at.
 */
import { colours } from "viz/colours.js";
import { count, h, hideTip, showTip, tip } from "viz/dom.js";
import { PARTS } from "viz/page/bytes.js";
import { WORDS } from "viz/page/words.js";

/** Bytes in a row, by page size. */
const PER_ROW = { 512: 32, 1024: 32, 2048: 64, 4096: 64, 8192: 128, 16384: 128, 32768: 256, 65536: 256 };
/** Room on the left for offsets, in CSS pixels. */
const GUTTER = 52;

/** Which parts have which pattern: nothing is told by colour alone. */
const PATTERNS = {
  freeblock: "hatch",
  fragment: "solid",
  unallocated: "blank",
  reserved: "cross",
  nothing: "dots",
  unknown: "zigzag",
};

/** The picture of one page at a time. */
export class PagePicture {
  #bytes = null;
  #ink = {};
  #app;
  #marks;
  #base = h("canvas", { "aria-hidden": "true" });
  #over = h("canvas", {
    tabindex: "0",
    role: "img",
    class: "page-over",
    "aria-describedby": "page-said",
    "aria-label": WORDS.picture,
  });
  #box = h("div", { class: "page-canvas" }, this.#base, this.#over);
  #legend = h("ul", { class: "page-legend" });

  constructor(app, marks) {
    this.#app = app;
    this.#marks = marks;
    this.element = h("div", { class: "page-picture" }, this.#box, this.#legend);
    this.#over.addEventListener("pointermove", (e) => this.#point(e));
    this.#over.addEventListener("pointerleave", () => {
      hideTip();
      marks.hover(null, "picture");
    });
    this.#over.addEventListener("click", (e) => {
      const span = this.#spanUnder(e);
      if (span) marks.pin(span, "picture");
    });
    this.#over.addEventListener("keydown", (e) => this.#key(e));
    new ResizeObserver(() => this.draw()).observe(this.#box);
    app.on("theme", () => this.draw());
    marks.on(() => this.#drawOver());
  }

  /** Shows a page. */
  show(bytes) {
    this.#bytes = bytes;
    this.#drawLegend();
    this.draw();
  }

  get #perRow() {
    return PER_ROW[this.#bytes.size] ?? 64;
  }

  /** Sizes in CSS pixels: of a byte, of the whole. */
  get #metrics() {
    const perRow = this.#perRow;
    const rows = Math.ceil(this.#bytes.size / perRow);
    const width = Math.max(160, this.#box.clientWidth);
    const w = (width - GUTTER) / perRow;
    // Narrow pictures are taller, so that the cells' numbers can be read.
    const height = Math.round(Math.min(Math.max(rows * 2, width * (width < 450 ? 1.5 : 0.85)), 640));
    return { perRow, rows, w, rowHeight: height / rows, width, height };
  }

  /** Draws all of it, in the resolution of the screen. */
  draw() {
    if (!this.#bytes || !this.#box.clientWidth) return;
    const m = this.#metrics;
    this.#box.style.height = `${m.height}px`;
    const scale = devicePixelRatio || 1;
    for (const canvas of [this.#base, this.#over]) {
      canvas.width = Math.round(m.width * scale);
      canvas.height = Math.round(m.height * scale);
      canvas.style.width = `${m.width}px`;
      canvas.style.height = `${m.height}px`;
      canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
    }
    const context = this.#base.getContext("2d");
    context.clearRect(0, 0, m.width, m.height);
    const ink = (this.#ink = colours(this.element, [
      "ink",
      "faint",
      "paper",
      "panel",
      "edge",
      "line",
      "part-header",
      "part-pointers",
      "part-payload",
      "part-hole",
      "part-hole-ink",
      "part-wrong",
      "part-reserved",
      "part-even",
      "part-odd",
      "accent",
    ]));
    this.#drawOffsets(context, m, ink);
    context.fillStyle = ink.panel;
    context.fillRect(GUTTER, 0, m.width - GUTTER, m.height);
    const patterns = makePatterns(context, ink, scale);
    for (const part of this.#bytes.page.parts) this.#drawPart(context, m, part, ink, patterns);
    if (this.#bytes.page.parts.length < 4000)
      for (const part of this.#bytes.page.parts) this.#drawLabel(context, m, part, ink);
    this.#drawOver();
  }

  #drawOffsets(context, m, ink) {
    context.fillStyle = ink.faint;
    context.font = "11px ui-monospace, monospace";
    context.textAlign = "right";
    context.textBaseline = "top";
    const step = Math.max(1, 2 ** Math.ceil(Math.log2(26 / m.rowHeight)));
    for (let row = 0; row < m.rows; row += step) context.fillText(count(row * m.perRow), GUTTER - 6, row * m.rowHeight);
  }

  /** The rectangles that a range of bytes covers: its first row, whole rows, its last row. */
  #rectangles(m, at, len) {
    const rectangles = [];
    const end = Math.min(at + len, this.#bytes.size);
    const [first, last] = [Math.floor(at / m.perRow), Math.floor((end - 1) / m.perRow)];
    const add = (row, rows, from, to) =>
      rectangles.push({ x: GUTTER + from * m.w, y: row * m.rowHeight, w: (to - from) * m.w, h: rows * m.rowHeight });
    const [start, stop] = [at - first * m.perRow, end - last * m.perRow];
    if (first === last) add(first, 1, start, stop);
    else {
      add(first, 1, start, m.perRow);
      if (last - first > 1) add(first + 1, last - first - 1, 0, m.perRow);
      add(last, 1, 0, stop);
    }
    return rectangles;
  }

  #drawPart(context, m, part, ink, patterns) {
    const rectangles = this.#rectangles(m, part.at, part.len);
    const paint = (style) => {
      context.fillStyle = style;
      for (const { x, y, w, h: height } of rectangles) context.fillRect(x, y, w + 0.4, height + 0.4);
    };
    const what = part.what;
    if (what === "cell") paint(part.index % 2 ? ink["part-odd"] : ink["part-even"]);
    else if (what === "payload") paint(ink["part-even"]);
    else if (what === "fragment") paint(ink["part-hole-ink"]);
    else if (what.endsWith("header") || what === "next-page" || what === "count") paint(ink["part-header"]);
    else if (["cell-pointers", "free-pages", "pointers", "mark"].includes(what)) paint(ink["part-pointers"]);
    else if (patterns[PATTERNS[what]]) {
      if (what !== "unallocated" && what !== "nothing") paint(ink["part-hole"]);
      paint(patterns[PATTERNS[what]]);
    }
    // Lines between the entries of a list, where they can be seen.
    context.fillStyle = ink.paper;
    for (const entry of this.#bytes.entries(part)) {
      if (m.w * entry.len < 4) break;
      const { x, y } = this.#rectangles(m, entry.at, entry.len)[0];
      context.fillRect(x, y, 1, m.rowHeight);
    }
    // A line where a part begins, so that equal colours are told apart.
    if (m.w * part.len > 3 || what !== "cell") {
      const { x, y } = rectangles[0];
      context.fillRect(x, y, Math.min(1, m.w * 0.4), m.rowHeight);
    }
    if (rectangles.length > 1 && m.rowHeight >= 4) {
      const [a, b] = [rectangles[0], rectangles[1]];
      context.fillStyle = ink.paper;
      context.fillRect(b.x, b.y, a.x - b.x, 1);
    }
  }

  /** A cell's number, or what a large part is, where there is room. */
  #drawLabel(context, m, part, ink) {
    const name = part.what === "cell" ? String(part.index) : (PARTS[part.what]?.[0] ?? part.what);
    const rectangles = this.#rectangles(m, part.at, part.len);
    const widest = rectangles.reduce((best, r) => (r.w * r.h > best.w * best.h ? r : best));
    const size = Math.min(12, Math.max(8, m.rowHeight * 1.1));
    if (widest.h < size * 0.85) return;
    context.font = `${size}px system-ui, sans-serif`;
    const wide = context.measureText(name).width;
    if (wide + 4 > widest.w) return;
    context.textAlign = "left";
    context.textBaseline = "middle";
    const [x, y] = [widest.x + 3, widest.y + Math.min(widest.h / 2 + 0.5, 20)];
    if (PATTERNS[part.what]) {
      context.fillStyle = part.what === "unallocated" ? ink.panel : ink["part-hole"];
      context.fillRect(x - 2, y - size * 0.6, wide + 4, Math.min(widest.h, size * 1.2));
    }
    context.fillStyle = ink.ink;
    context.fillText(name, x, y);
  }

  #drawOver() {
    if (!this.#bytes || !this.#over.width) return;
    const m = this.#metrics;
    const context = this.#over.getContext("2d");
    context.clearRect(0, 0, m.width, m.height);
    const { ink, accent } = this.#ink;
    const { pinned, hovered } = this.#marks;
    if (pinned) this.#outline(context, m, pinned, accent, 2.5, 0.1);
    const span = hovered ?? pinned;
    if (!span) return;
    if (hovered) this.#outline(context, m, hovered, ink, 2, 0.18);
    for (const other of this.#bytes.related(span)) this.#outline(context, m, other, ink, 1.5, 0);
  }

  /** The outline of a range of bytes. */
  #outline(context, m, { at, len }, colour, thick, fill) {
    const rectangles = this.#rectangles(m, at, Math.max(1, len));
    const path = new Path2D();
    const [a, z] = [rectangles[0], rectangles.at(-1)];
    if (rectangles.length === 1) path.rect(a.x, a.y, a.w, a.h);
    else {
      const [left, right] = [GUTTER, GUTTER + m.perRow * m.w];
      // Two rows that do not meet are two rectangles; otherwise one figure with six or eight corners.
      if (rectangles.length === 2 && z.x + z.w <= a.x) {
        path.rect(a.x, a.y, a.w, a.h);
        path.rect(z.x, z.y, z.w, z.h);
      } else {
        const corners = [
          [a.x, a.y],
          [right, a.y],
          [right, z.y],
          [z.x + z.w, z.y],
          [z.x + z.w, z.y + z.h],
          [left, z.y + z.h],
          [left, a.y + a.h],
          [a.x, a.y + a.h],
        ];
        corners.forEach(([x, y], i) => (i ? path.lineTo(x, y) : path.moveTo(x, y)));
        path.closePath();
      }
    }
    context.fillStyle = colour;
    context.globalAlpha = fill;
    context.fill(path);
    context.globalAlpha = 1;
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.stroke(path);
  }

  #offsetUnder(e) {
    const m = this.#metrics;
    const box = this.#over.getBoundingClientRect();
    const column = Math.floor((e.clientX - box.left - GUTTER) / m.w);
    const row = Math.floor((e.clientY - box.top) / m.rowHeight);
    if (column < 0 || column >= m.perRow || row < 0) return null;
    const offset = row * m.perRow + column;
    return offset < this.#bytes.size ? offset : null;
  }

  #spanUnder(e) {
    const offset = this.#bytes ? this.#offsetUnder(e) : null;
    return offset === null ? null : this.#bytes.spanAt(offset);
  }

  #point(e) {
    if (e.pointerType === "touch") return;
    const span = this.#spanUnder(e);
    this.#marks.hover(span, "picture");
    if (!span) return hideTip();
    showTip(sentence(this.#bytes, span), { left: e.clientX, top: e.clientY, bottom: e.clientY + 8 });
  }

  #key(e) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (step && this.#bytes) {
      const from = this.#marks.shown;
      this.#marks.pin(
        from
          ? this.#bytes.beside(step > 0 ? from.at + from.len - 1 : from.at, step)
          : this.#bytes.whole(this.#bytes.page.parts[0]),
        "keys",
      );
      e.preventDefault();
    } else if (e.key === "Escape" && this.#marks.pinned) {
      this.#marks.pin(null, "keys");
    }
  }

  #drawLegend() {
    const seen = new Set(this.#bytes.page.parts.map((part) => part.what));
    const entries = [...seen].map((what) => {
      const [name, meaning] = PARTS[what] ?? [what, ""];
      const entry = h(
        "li",
        { tabindex: "0" },
        h("span", { class: `part-swatch what-${what}`, "aria-hidden": "true" }),
        what === "cell" ? "cells, numbered by key" : name,
      );
      return tip(entry, () => `${meaning}.`);
    });
    this.#legend.replaceChildren(...entries);
  }
}

/** What bytes are, in a sentence with where they are. */
export function sentence(bytes, span) {
  const place =
    span.len === 1 ? `Byte ${count(span.at)}` : `Bytes ${count(span.at)} to ${count(span.at + span.len - 1)}`;
  const cell = span.cell === undefined ? null : bytes.cell(span.cell);
  let of = "";
  if (cell)
    of = `, cell ${span.cell}${cell.rowid === null || cell.rowid === undefined ? "" : ` (rowid ${cell.rowid})`}`;
  const value = span.field === undefined ? "" : ` = ${brief(cell?.record?.[span.field])}`;
  return `${place}${of}: ${span.text}${value}`;
}

/** A value in a few characters. */
export function brief(value, most = 60) {
  if (!value || value.type === "null") return "NULL";
  const text = value.type === "blob" ? `x'${value.value}'` : String(value.value);
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Patterns for what is no data, in the screen's resolution. */
function makePatterns(context, ink, scale) {
  const tile = (size, draw) => {
    const canvas = h("canvas");
    canvas.width = canvas.height = Math.round(size * scale);
    const c = canvas.getContext("2d");
    c.scale(canvas.width / size, canvas.height / size);
    c.strokeStyle = c.fillStyle = ink["part-hole-ink"];
    c.lineWidth = 1;
    draw(c, size);
    const pattern = context.createPattern(canvas, "repeat");
    pattern.setTransform(new DOMMatrix().scale(1 / scale));
    return pattern;
  };
  const line = (c, ...points) => {
    c.beginPath();
    points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.stroke();
  };
  return {
    hatch: tile(6, (c, s) => {
      line(c, [-1, s + 1], [s + 1, -1]);
      line(c, [-1, 1], [1, -1]);
      line(c, [s - 1, s + 1], [s + 1, s - 1]);
    }),
    cross: tile(6, (c, s) => {
      line(c, [0, s / 2], [s, s / 2]);
      line(c, [s / 2, 0], [s / 2, s]);
    }),
    dots: tile(8, (c) => c.fillRect(3, 3, 1.2, 1.2)),
    zigzag: tile(6, (c, s) => {
      c.strokeStyle = ink["part-wrong"];
      line(c, [0, 0], [s / 2, s], [s, 0]);
    }),
    blank: tile(4, () => {}),
    solid: tile(2, (c, s) => c.fillRect(0, 0, s, s)),
  };
}
