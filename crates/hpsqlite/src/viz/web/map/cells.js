/**
 * What is drawn over the colours of a map when its cells are large enough: gaps between them, a
 * pattern for each kind of page, numbers, and at last the bytes inside.
 */
import { mix } from "viz/colours.js";
import { count } from "viz/dom.js";
import { KIND, colourOf, paper } from "viz/map/colours.js";

/** CSS pixels a cell has to have for gaps and patterns, for its number, for its bytes. */
export const PATTERN = 8;
const NUMBER = 48;
const BYTES = 150;
/** Milliseconds until a page that could not be had is asked for again. */
const AGAIN = 3000;
/** Rows of bytes in a cell that shows them. */
const ROWS = 32;

/** Parts of a page that hold nothing, and those that lead to its cells or to other pages. */
const HOLLOW = new Set(["freeblock", "unallocated", "reserved", "nothing"]);
const FRAME = new Set([
  "file-header",
  "page-header",
  "cell-pointers",
  "next-page",
  "count",
  "free-pages",
  "mark",
  "pointers",
]);

/** What marks a kind, drawn into a square of `s` pixels; table leaves are plain. */
const MARKS = {
  [KIND.tableInterior]: (c, s) => frame(c, s, 1),
  [KIND.indexInterior]: (c, s) => (frame(c, s, 1), corner(c, s)),
  [KIND.indexLeaf]: (c, s) => corner(c, s),
  [KIND.overflow]: (c, s) => stripes(c, s, 1),
  [KIND.reserved]: (c, s) => (stripes(c, s, -1), frame(c, s, 0.6)),
  [KIND.freeLeaf]: (c, s) => line(c, [s * 0.3, s * 0.5, s * 0.7, s * 0.5]),
  [KIND.freeTrunk]: (c, s) => (
    line(c, [s * 0.25, s * 0.35, s * 0.75, s * 0.35]),
    line(c, [s * 0.25, s * 0.65, s * 0.75, s * 0.65])
  ),
  [KIND.pointerMap]: (c, s) => line(c, [s * 0.5, s * 0.2, s * 0.5, s * 0.8, s * 0.3, s * 0.6]),
  [KIND.lockByte]: (c, s) => cross(c, s),
  [KIND.orphan]: (c, s) => cross(c, s),
};

/** What the marks look like, for the legend. */
export const MARK_WORDS = {
  t: "plain",
  T: "frame",
  i: "corner cut",
  I: "frame, corner cut",
  o: "stripes",
  r: "stripes the other way, pale",
  f: "one bar",
  F: "two bars",
  p: "arrow",
  l: "cross",
  x: "cross",
  "?": "plain",
};

/** Draws the mark of the kind with this letter into a square. */
export function drawMark(context, letter, size, ink) {
  context.save();
  context.strokeStyle = ink;
  context.fillStyle = ink;
  context.lineWidth = Math.max(1, size / 12);
  context.beginPath();
  context.rect(0, 0, size, size);
  context.clip();
  MARKS[letter]?.(context, size);
  context.restore();
}

function line(c, points) {
  c.beginPath();
  for (let i = 0; i < points.length; i += 2) c.lineTo(points[i], points[i + 1]);
  c.stroke();
}

function frame(c, s, width) {
  const w = Math.max(1, (s / 9) * width);
  c.lineWidth = w;
  c.strokeRect(w, w, s - 2 * w, s - 2 * w);
}

function corner(c, s) {
  c.beginPath();
  c.moveTo(s, 0);
  c.lineTo(s, s * 0.42);
  c.lineTo(s * 0.58, 0);
  c.fill();
}

function stripes(c, s, way) {
  const step = Math.max(4, s / 3);
  for (let x = -s; x < 2 * s; x += step) line(c, way > 0 ? [x, s, x + s, 0] : [x, 0, x + s, s]);
}

function cross(c, s) {
  line(c, [s * 0.25, s * 0.25, s * 0.75, s * 0.75]);
  line(c, [s * 0.75, s * 0.25, s * 0.25, s * 0.75]);
}

/** Draws over the cells of one map. */
export class MapCells {
  #sprites = new Map();
  #pages = new Map();

  /** `bytes(n)` gives a promise of page n, or null if there is none; `arrived` is called with it. */
  constructor({ summary, dark, bytes, arrived }) {
    this.summary = summary;
    this.dark = dark;
    this.bytes = bytes;
    this.arrived = arrived;
    this.ink = dark ? "rgb(255 255 255 / 60%)" : "rgb(0 0 0 / 55%)";
    this.ground = `rgb(${paper(dark).join(" ")})`;
  }

  /**
   * Draws what cells of `scale` pixels have over their colour, but not over those that `painter` has
   * paled; `ratio` is pixels a CSS pixel, and (x, y) the cell at the left top corner.
   */
  draw(context, data, { x, y, scale, ratio, columns, width, height }, painter) {
    if (scale < PATTERN * ratio) return;
    const firstX = Math.max(0, Math.floor(x));
    const firstY = Math.max(0, Math.floor(y));
    const lastX = Math.min(columns - 1, Math.floor(x + width / scale));
    const lastY = Math.min(Math.ceil(data.pages / columns) - 1, Math.floor(y + height / scale));
    const size = Math.round(scale);
    for (let row = firstY; row <= lastY; row++) {
      for (let column = firstX; column <= lastX; column++) {
        const n = row * columns + column + 1;
        if (n > data.pages) break;
        const left = Math.round((column - x) * scale);
        const top = Math.round((row - y) * scale);
        const letter = this.summary.kinds[data.kind(n)]?.letter;
        const pale = painter.isWanted?.(data, n) === false;
        if (MARKS[letter] && !pale) context.drawImage(this.#sprite(letter, size), left, top);
        if (scale >= NUMBER * ratio) this.#words(context, data, n, left, top, scale, ratio);
      }
    }
    this.#gaps(context, { x, y, scale, ratio, firstX, firstY, lastX, lastY });
  }

  #sprite(letter, size) {
    const name = `${letter}${size}`;
    let sprite = this.#sprites.get(name);
    if (!sprite) {
      if (this.#sprites.size > 100) this.#sprites.clear();
      sprite = Object.assign(document.createElement("canvas"), { width: size, height: size });
      drawMark(sprite.getContext("2d"), letter, size, this.ink);
      this.#sprites.set(name, sprite);
    }
    return sprite;
  }

  #gaps(context, { x, y, scale, ratio, firstX, firstY, lastX, lastY }) {
    context.fillStyle = this.ground;
    const gap = Math.max(1, Math.round(Math.min(scale / 16, 2 * ratio)));
    const [left, right] = [(firstX - x) * scale, (lastX + 1 - x) * scale];
    const [top, bottom] = [(firstY - y) * scale, (lastY + 1 - y) * scale];
    for (let column = firstX; column <= lastX + 1; column++) {
      context.fillRect(Math.round((column - x) * scale) - (gap >> 1), top, gap, bottom - top);
    }
    for (let row = firstY; row <= lastY + 1; row++) {
      context.fillRect(left, Math.round((row - y) * scale) - (gap >> 1), right - left, gap);
    }
  }

  #words(context, data, n, left, top, scale, ratio) {
    const size = Math.max(10, Math.min(16, scale / ratio / 5)) * ratio;
    const pad = size / 2;
    if (scale >= BYTES * ratio && this.#inside(context, data, n, left, top, scale, size)) return;
    context.font = `${size}px system-ui, sans-serif`;
    context.textBaseline = "top";
    const text = count(n);
    const wide = context.measureText(text).width;
    context.fillStyle = this.dark ? "rgb(0 0 0 / 65%)" : "rgb(255 255 255 / 80%)";
    context.fillRect(left + pad / 2, top + pad / 2, wide + pad, size * 1.3);
    context.fillStyle = this.dark ? "#fff" : "#111";
    context.fillText(text, left + pad, top + pad * 0.8);
  }

  /** The parts of a page where they are in it; false while they are not known. */
  #inside(context, data, n, left, top, scale, size) {
    const page = this.#page(n);
    if (!page?.parts) return false;
    const { page_size: bytes, kinds, trees } = this.summary;
    const tree = trees[data.owner(n)];
    const of = tree ?? kinds[data.kind(n)];
    const owner = colourOf(of, this.dark);
    const ground = paper(this.dark);
    const head = size * 1.6;
    const pad = Math.round(scale / 40);
    const [x, y, w, h] = [left + pad, top + head, scale - 2 * pad, scale - head - pad];
    context.fillStyle = `rgb(${mix(owner, ground, 0.12).join(" ")})`;
    context.fillRect(left, top, scale, scale);
    context.fillStyle = this.dark ? "#fff" : "#111";
    context.font = `600 ${size}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    const title = `${count(n)}  ${kinds[data.kind(n)].name}${tree ? ` of ${tree.title}` : ""}`;
    context.save();
    context.beginPath();
    context.rect(left, top, scale, scale);
    context.clip();
    context.fillText(title, x, top + head / 2);
    const perRow = bytes / ROWS;
    const high = h / ROWS;
    let odd = 0;
    for (const part of page.parts) {
      const colour = this.#partColour(part, owner, ground, odd);
      if (!colour) continue;
      odd ^= 1;
      context.fillStyle = `rgb(${colour.join(" ")})`;
      for (let at = part.at; at < part.at + part.len;) {
        const row = Math.floor(at / perRow);
        const to = Math.min(part.at + part.len, (row + 1) * perRow);
        context.fillRect(
          x + ((at - row * perRow) / perRow) * w,
          y + row * high,
          ((to - at) / perRow) * w,
          high - (high > 4 ? 1 : 0),
        );
        at = to;
      }
    }
    context.strokeStyle = this.ink;
    context.lineWidth = 1;
    context.strokeRect(x, y, w, h);
    context.restore();
    return true;
  }

  /** Cells in two shades by turns, what leads to them darker, holes and free room not at all. */
  #partColour({ what }, owner, ground, odd) {
    const ink = this.dark ? [235, 238, 242] : [27, 31, 36];
    if (HOLLOW.has(what)) return null;
    if (what === "fragment") return mix(ink, ground, 0.35);
    if (FRAME.has(what)) return mix(ink, owner, 0.35);
    return mix(owner, ground, odd ? 0.95 : 0.65);
  }

  #page(n) {
    if (!this.#pages.has(n)) {
      if (this.#pages.size > 300) this.#pages.clear();
      const awaited = {};
      this.#pages.set(n, awaited);
      const page = this.bytes?.(n);
      page?.then(
        (p) => {
          if (!awaited.old) this.#pages.set(n, p);
          this.arrived();
        },
        () => setTimeout(() => this.#pages.get(n) === awaited && this.#pages.delete(n), AGAIN),
      );
    }
    return this.#pages.get(n);
  }

  /** Pages from `from` on have other contents than before. */
  changed(from, count) {
    for (const [n, page] of this.#pages) {
      if (n < from || n >= from + count) continue;
      page.old = true;
      this.#pages.delete(n);
    }
  }
}
