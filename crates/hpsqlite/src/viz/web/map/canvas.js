/**
 * A map of a file that can be moved and zoomed: pages row by row in a fixed number of columns.
 *
 *   new MapCanvas({ data, summary, painter, dark, bytes, label })
 *     data      MapData; summary: the file's; painter: see map/colours.js
 *     bytes     n → promise of page n (ask.rs's Page), for what is inside large cells; may be missing
 *     label     what the map is called, for those who do not see it
 *   map.element                    put it where it is to be; it fills its box
 *   map.view                       {scale, x, y, columns}: CSS pixels a page, and the column and row at
 *                                  the left top corner; may be set, then the map moves without an event
 *   map.on(event, f)               "view" (the user moved it), "hover" (page or null, x, y), "select"
 *                                  (page), "open" (page: double click, Enter)
 *   map.setPainter(p, summary)     other colours; map.changed(from, count): other contents
 *   map.setData(data, summary)     another file
 *   map.selected, map.hovered      page or null; may be set
 *   map.marks                      iterable of pages that get a dot, or null
 *   map.faults                     iterable of pages that get a cross, however small they are, or null
 *   map.spots                      iterable of pages that are to be seen however small they are, or null
 *   map.fit(), map.goTo(n, ring), map.zoom(factor)
 *   map.setColumns(n)              another number of columns (for two maps that are to be alike)
 *
 * `pan`, `hover`, `choose`, `open`, `steer`, `stop`, `under` and `placeOf` are for map/gestures.js.
 *
 * Two canvases lie over each other: the pages, redrawn when the view or their colours change, and what
 * is pointed at, selected or searched for. Each is drawn once a frame at most.
 */
import { h } from "viz/dom.js";
import { MapCells, PATTERN } from "viz/map/cells.js";
import { MapGestures } from "viz/map/gestures.js";
import { MapTiles } from "viz/map/tiles.js";

/** CSS pixels of a page at most: about the whole window. */
const LARGEST = 640;
/** A box whose best number of columns differs by more, as a logarithm, is laid out anew. */
const NARROWER = 0.08;
/** Of a file of few pages a cell is no larger when all are in view. */
const COMFORTABLE = 96;
/** Milliseconds of a move that is shown. */
const MOVE = 260;
/** Milliseconds of the ring around what was searched for. */
const RING = 1600;
/** Marks and spots drawn at most; of more a part is drawn, evenly taken. */
const POINTS = 20_000;
/** A spot is at least so many CSS pixels large. */
const SPOT = 3;
/** The cross over a damaged page as well, and it is no larger than that. */
const CROSS = 11;
const LARGE_CROSS = 28;

/** The place of the first of sorted `pages` that is not before `n`. */
function firstFrom(pages, n) {
  let [low, high] = [0, pages.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pages[middle] < n) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many columns show all pages best in a box. */
export function columnsFor(pages, width, height) {
  const best = Math.ceil(Math.sqrt((pages * Math.max(1, width)) / Math.max(1, height)));
  const columns = Math.max(1, Math.min(pages, best));
  return columns > 64 ? Math.ceil(columns / 8) * 8 : columns;
}

export class MapCanvas {
  #listeners = new Map();
  #view = { scale: 0, x: 0, y: 0, columns: 0 };
  #size = { width: 0, height: 0, ratio: 1 };
  #base = h("canvas");
  #over = h("canvas");
  #frame = 0;
  #drawBase = true;
  #ring = null;
  #animation = null;
  #fitted = true;
  /** Columns are chosen here, not from outside. */
  #own = true;
  #selected = null;
  #hovered = null;
  #marks = null;
  #faults = null;
  #spots = null;
  #tiles;
  #cells;
  #options;

  constructor(options) {
    this.#options = options;
    this.element = h(
      "div",
      {
        class: "map-canvas",
        tabindex: "0",
        role: "application",
        "aria-label": options.label ?? "Map of the file's pages",
      },
      this.#base,
      this.#over,
    );
    new ResizeObserver(() => this.#resized()).observe(this.element);
    new MapGestures(this);
    this.setData(options.data, options.summary);
  }

  on(event, f) {
    if (!this.#listeners.has(event)) this.#listeners.set(event, new Set());
    this.#listeners.get(event).add(f);
    return () => this.#listeners.get(event).delete(f);
  }

  #emit(event, ...detail) {
    for (const f of this.#listeners.get(event) ?? []) f(...detail);
  }

  setData(data, summary) {
    this.data = data;
    this.summary = summary;
    this.#tiles = null;
    this.#fitted = true;
    this.#selected = null;
    this.#hovered = null;
    this.#marks = null;
    this.#faults = null;
    this.#spots = null;
    this.#view.columns = 0;
    this.setPainter(this.#options.painter, summary);
    this.#resized();
  }

  setPainter(painter, summary = this.summary, dark = painter.dark ?? this.#options.dark ?? false) {
    this.#options.painter = painter;
    this.summary = summary;
    this.#cells = new MapCells({ summary, dark, bytes: this.#options.bytes, arrived: () => this.#redraw() });
    this.#tiles?.setPainter(painter);
    this.dark = dark;
    this.#redraw();
  }

  /** Pages from `from` on have other contents, or other colours. */
  changed(from = 1, n = this.data.pages) {
    this.#tiles?.changed(from, n);
    this.#cells?.changed(from, n);
    this.#redraw();
  }

  get view() {
    return { ...this.#view };
  }

  set view(view) {
    this.stop();
    this.#fitted = false;
    if (view.columns) this.#own = false;
    if (view.columns && view.columns !== this.#view.columns) this.#layOut(view.columns);
    Object.assign(this.#view, view);
    this.#redraw();
  }

  get selected() {
    return this.#selected;
  }

  set selected(n) {
    this.#selected = n;
    this.#request();
  }

  get hovered() {
    return this.#hovered;
  }

  set hovered(n) {
    this.#hovered = n;
    this.#request();
  }

  get marks() {
    return this.#marks;
  }

  set marks(pages) {
    this.#marks = pages && Uint32Array.from(pages).sort();
    this.#redraw();
  }

  get faults() {
    return this.#faults;
  }

  set faults(pages) {
    this.#faults = pages && Uint32Array.from(pages).sort();
    this.#redraw();
  }

  get spots() {
    return this.#spots;
  }

  set spots(pages) {
    this.#spots = pages && Uint32Array.from(pages).sort();
    this.#redraw();
  }

  /** Shows the whole file. */
  fit() {
    this.#fitted = true;
    this.#moveTo(this.#fitting(), true);
  }

  /** Larger or smaller, around a point of the element or its middle. */
  zoom(factor, px = this.#size.width / 2, py = this.#size.height / 2) {
    const { scale, x, y } = this.#view;
    const to = Math.min(LARGEST, Math.max(this.#smallest(), scale * factor));
    this.#fitted = false;
    this.#set({ scale: to, x: x + px / scale - px / to, y: y + py / scale - py / to });
  }

  /** Moves page `n` into view, large enough to be seen; with `ring` it is pointed out. */
  goTo(n, ring = false) {
    if (!this.data.has(n) || !this.#size.width) {
      this.#pending = { n, ring };
      return;
    }
    const [column, row] = this.#place(n);
    const { width, height } = this.#size;
    const scale = ring ? Math.max(this.#view.scale, Math.min(24, this.#fitting().scale * 64)) : this.#view.scale;
    const { x, y } = this.#view;
    const inside = column >= x && column + 1 <= x + width / scale && row >= y && row + 1 <= y + height / scale;
    if (!inside || scale !== this.#view.scale) {
      this.#fitted = false;
      this.#moveTo({ scale, x: column + 0.5 - width / scale / 2, y: row + 0.5 - height / scale / 2 }, ring);
    }
    if (ring) this.#ring = { n, from: performance.now() };
    this.#request();
  }

  #pending = null;

  /** Lays the pages out in another number of columns. */
  setColumns(columns) {
    this.#own = false;
    this.#layOut(columns);
    this.#moveTo(this.#fitting(), false);
  }

  /** The page at a point of the element, or null. */
  pageAt(px, py) {
    const { scale, x, y, columns } = this.#view;
    const column = Math.floor(x + px / scale);
    const row = Math.floor(y + py / scale);
    const n = row * columns + column + 1;
    return column >= 0 && column < columns && row >= 0 && this.data.has(n) ? n : null;
  }

  #place(n) {
    const { columns } = this.#view;
    return [(n - 1) % columns, Math.floor((n - 1) / columns)];
  }

  get #rows() {
    return Math.ceil(this.data.pages / this.#view.columns);
  }

  #layOut(columns) {
    this.#view.columns = columns;
    this.#tiles = new MapTiles(this.data, columns);
    this.#tiles.setPainter(this.#options.painter);
  }

  /** The view that shows all. */
  #fitting() {
    const { width, height } = this.#size;
    const { columns } = this.#view;
    const rows = this.#rows;
    const scale = Math.min(width / columns, height / rows, COMFORTABLE);
    return { scale, x: (columns - width / scale) / 2, y: Math.max((rows - height / scale) / 2, -12 / scale) };
  }

  #smallest() {
    return this.#fitting().scale * 0.8;
  }

  #resized() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    const ratio = devicePixelRatio || 1;
    this.#size = { width, height, ratio };
    for (const canvas of [this.#base, this.#over]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const best = columnsFor(this.data.pages, width, height);
    if (!this.#tiles) this.#layOut(this.#view.columns || best);
    else if (this.#own && this.#fitted && Math.abs(Math.log(best / this.#view.columns)) > NARROWER) this.#layOut(best);
    if (this.#fitted) Object.assign(this.#view, this.#fitting());
    this.#redraw();
    if (this.#pending) {
      const { n, ring } = this.#pending;
      this.#pending = null;
      this.goTo(n, ring);
    }
  }

  /** Takes a view of the user's, within bounds. */
  #set(view) {
    Object.assign(this.#view, view);
    const v = this.#view;
    const { width, height } = this.#size;
    const keep = (at, shown, all) => {
      const edge = Math.min(shown, all) / 2;
      return Math.min(Math.max(at, edge - shown), all - edge);
    };
    v.x = keep(v.x, width / v.scale, v.columns);
    v.y = keep(v.y, height / v.scale, this.#rows);
    // Another page is below the pointer now, which is not told before it moves.
    if (this.#hovered) this.hover(null);
    this.#redraw();
    this.#emit("view", this.view);
  }

  #moveTo(view, shown) {
    this.stop();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!shown || still || !this.#size.width) return this.#set(view);
    const from = this.view;
    const middle = ({ scale, x, y }) => [x + this.#size.width / scale / 2, y + this.#size.height / scale / 2];
    const [a, b] = [middle(from), middle(view)];
    const begin = performance.now();
    const step = (now) => {
      const t = Math.min(1, Math.max(0, (now - begin) / MOVE));
      const eased = t * t * (3 - 2 * t);
      if (t === 1) this.#set(view);
      else {
        const scale = from.scale * (view.scale / from.scale) ** eased;
        const at = a.map((v, i) => v + (b[i] - v) * eased);
        this.#set({ scale, x: at[0] - this.#size.width / scale / 2, y: at[1] - this.#size.height / scale / 2 });
      }
      this.#animation = t < 1 ? requestAnimationFrame(step) : null;
    };
    this.#animation = requestAnimationFrame(step);
  }

  /** Ends a move that is shown. */
  stop() {
    cancelAnimationFrame(this.#animation);
    this.#animation = null;
  }

  #redraw() {
    this.#drawBase = true;
    this.#request();
  }

  #request() {
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#frame = 0;
    const { ratio } = this.#size;
    const { scale, x, y, columns } = this.#view;
    if (!this.#tiles || !scale) return;
    if (this.#drawBase) {
      const context = this.#base.getContext("2d");
      const { width, height } = this.#base;
      context.clearRect(0, 0, width, height);
      const at = { x, y, scale: scale * ratio, ratio, columns, width, height };
      this.#drawBase = !this.#tiles.draw(context, at);
      this.#drawSpots(context);
      this.#cells.draw(context, this.data, at, this.#options.painter);
      this.#drawMarks(context);
      this.#drawFaults(context);
    }
    const ringing = this.#drawOver();
    if (this.#drawBase || ringing) this.#request();
  }

  /** Draws what is pointed at; true while it moves. */
  #drawOver() {
    const context = this.#over.getContext("2d");
    const { width, height, ratio } = this.#size;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(this.element);
    const ink = style.getPropertyValue("--ink") || "#000";
    const ground = style.getPropertyValue("--paper") || "#fff";
    if (this.#hovered) this.#outline(context, this.#hovered, ink, ground, 1.5);
    if (this.#selected) this.#outline(context, this.#selected, ink, ground, 3);
    this.#drawOverview(context, ink, ground);
    return this.#drawRing(context, style.getPropertyValue("--accent"));
  }

  #outline(context, n, ink, ground, thick) {
    if (!this.data.has(n)) return;
    const [left, top, size] = this.#box(n, 7);
    for (const [colour, out] of [
      [ground, thick + 1.5],
      [ink, thick / 2],
    ]) {
      context.strokeStyle = colour;
      context.lineWidth = colour === ink ? thick : 2;
      context.strokeRect(left - out, top - out, size + 2 * out, size + 2 * out);
    }
  }

  /** Where page `n` is on the element, at least `least` pixels large. */
  #box(n, least) {
    const { scale, x, y } = this.#view;
    const [column, row] = this.#place(n);
    const size = Math.max(scale, least);
    const aside = (size - scale) / 2;
    return [(column - x) * scale - aside, (row - y) * scale - aside, size];
  }

  /** Where those of `pages` are that are in view. */
  *#boxes(pages, least) {
    const { width, height } = this.#size;
    const { scale, y, columns } = this.#view;
    const from = firstFrom(pages, Math.floor(y) * columns + 1);
    const to = firstFrom(pages, Math.min(this.data.pages, Math.ceil(y + height / scale) * columns) + 1);
    const step = Math.max(1, Math.ceil((to - from) / POINTS));
    for (let i = from; i < to; i += step) {
      const [left, top, size] = this.#box(pages[i], least);
      if (left + size > 0 && left < width) yield [left, top, size, pages[i]];
    }
  }

  /** Pages that are smaller than a spot in their colour, larger. */
  #drawSpots(context) {
    const { ratio } = this.#size;
    if (!this.#spots || this.#view.scale >= SPOT) return;
    const pixel = new Uint32Array(1);
    const [r, g, b] = [0, 1, 2].map((i) => new Uint8Array(pixel.buffer, i, 1));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const [left, top, size, n] of this.#boxes(this.#spots, SPOT)) {
      this.#options.painter.paint(this.data, n, 1, pixel);
      context.fillStyle = `rgb(${r[0]} ${g[0]} ${b[0]})`;
      context.fillRect(left, top, size, size);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
  }

  #drawMarks(context) {
    if (!this.#marks) return;
    const { ratio } = this.#size;
    const { scale } = this.#view;
    const style = getComputedStyle(this.element);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = style.getPropertyValue(scale < PATTERN ? "--accent" : "--ink");
    context.strokeStyle = style.getPropertyValue("--paper");
    context.lineWidth = 1;
    const radius = Math.min(scale / 5, 6);
    for (const [left, top, size] of this.#boxes(this.#marks, 1)) {
      if (scale < PATTERN) {
        // Half of the cell, so that its own colour is seen as well.
        const side = Math.max(1, size / 2);
        context.fillRect(left + (size - side) / 2, top + (size - side) / 2, side, side);
        continue;
      }
      context.beginPath();
      context.arc(left + size / 2, top + size / 2, radius, 0, 7);
      context.fill();
      context.stroke();
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
  }

  /** A cross in the corner of a page that is large, over the whole of one that is small. */
  #drawFaults(context) {
    if (!this.#faults) return;
    const { ratio } = this.#size;
    const style = getComputedStyle(this.element);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.lineCap = "round";
    const boxes = [...this.#boxes(this.#faults, CROSS)];
    for (const [colour, thick] of [
      [style.getPropertyValue("--paper"), 6],
      [style.getPropertyValue("--wrong"), 3],
    ]) {
      context.strokeStyle = colour;
      context.lineWidth = thick;
      context.beginPath();
      for (const [left, top, size] of boxes) {
        const side = Math.min(size, Math.max(CROSS, Math.min(size / 2, LARGE_CROSS))) - 4;
        const [right, above] = [left + size - 2, top + 2];
        context.moveTo(right - side, above);
        context.lineTo(right, above + side);
        context.moveTo(right, above);
        context.lineTo(right - side, above + side);
      }
      context.stroke();
    }
    context.lineCap = "butt";
    context.setTransform(1, 0, 0, 1, 0, 0);
  }

  #drawRing(context, colour) {
    if (!this.#ring) return false;
    const age = performance.now() - this.#ring.from;
    if (age > RING) {
      this.#ring = null;
      return false;
    }
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const [left, top, size] = this.#box(this.#ring.n, 7);
    const wave = still ? 0.5 : (age % 800) / 800;
    context.strokeStyle = colour;
    context.lineWidth = 3;
    context.globalAlpha = still ? 1 : 1 - wave;
    context.beginPath();
    context.arc(left + size / 2, top + size / 2, size / 2 + 6 + 30 * (still ? 0.3 : 1 - wave), 0, 7);
    context.stroke();
    context.globalAlpha = 1;
    return true;
  }

  /** Where the small picture of the whole file is, when only a part is in view; or null. */
  #overview() {
    const { width, height } = this.#size;
    const { scale, columns } = this.#view;
    if (scale < this.#fitting().scale * 1.3) return null;
    const side = Math.min(150, width / 4, height / 4);
    const small = Math.min(side / columns, side / this.#rows);
    const [w, t] = [columns * small, this.#rows * small];
    return { small, left: width - w - 12, top: height - t - 12, width: w, height: t };
  }

  #drawOverview(context, ink, ground) {
    const box = this.#overview();
    if (!box) return;
    const { ratio } = this.#size;
    context.fillStyle = ground;
    context.fillRect(box.left - 4, box.top - 4, box.width + 8, box.height + 8);
    context.strokeStyle = ink;
    context.lineWidth = 1;
    context.strokeRect(box.left - 4.5, box.top - 4.5, box.width + 9, box.height + 9);
    context.save();
    context.setTransform(1, 0, 0, 1, Math.round(box.left * ratio), Math.round(box.top * ratio));
    context.beginPath();
    context.rect(0, 0, box.width * ratio, box.height * ratio);
    context.clip();
    const whole = this.#tiles.draw(context, {
      x: 0,
      y: 0,
      scale: box.small * ratio,
      width: box.width * ratio,
      height: box.height * ratio,
      budget: 6,
    });
    context.restore();
    if (!whole) this.#request();
    const { scale, x, y } = this.#view;
    const { width, height } = this.#size;
    context.strokeStyle = getComputedStyle(this.element).getPropertyValue("--accent");
    context.lineWidth = 2;
    const [left, top] = [box.left + x * box.small, box.top + y * box.small];
    context.strokeRect(left, top, Math.max(3, (width / scale) * box.small), Math.max(3, (height / scale) * box.small));
  }

  /** Goes where the small picture of the whole is pressed, or held; false if it is not. */
  steer(px, py, held = false) {
    const box = this.#overview();
    if (!box || (!held && !this.#onOverview(px, py))) return false;
    const { scale } = this.#view;
    const { width, height } = this.#size;
    this.#set({
      x: (px - box.left) / box.small - width / scale / 2,
      y: (py - box.top) / box.small - height / scale / 2,
    });
    return true;
  }

  #onOverview(px, py) {
    const box = this.#overview();
    return box !== null && px >= box.left && py >= box.top && px <= box.left + box.width && py <= box.top + box.height;
  }

  /** The page that is seen at a point of the element, or null. */
  under(px, py) {
    return this.#onOverview(px, py) ? null : this.pageAt(px, py);
  }

  /** The middle of page `n` on the element, or null if it is not in view. */
  placeOf(n) {
    const { width, height } = this.#size;
    const [left, top, size] = this.#box(n, 0);
    const [px, py] = [left + size / 2, top + size / 2];
    return px >= 0 && py >= 0 && px <= width && py <= height ? [px, py] : null;
  }

  /** Moves what is shown by so many pixels. */
  pan(dx, dy) {
    const { scale, x, y } = this.#view;
    this.#fitted = false;
    this.#set({ x: x - dx / scale, y: y - dy / scale });
  }

  /** The user points at page `n`, or at none, at this place of the window. */
  hover(n, x, y) {
    if (n === this.#hovered && x === undefined) return;
    this.#hovered = n;
    this.#request();
    this.#emit("hover", n, x, y);
  }

  /** The user selects page `n`. */
  choose(n) {
    this.selected = n;
    this.#emit("select", n);
  }

  /** The user wants to see more of page `n`. */
  open(n) {
    this.#emit("open", n);
  }
}
