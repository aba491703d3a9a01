/**
 * What the two pictures of a query share: a canvas that is as large as its box, in the colours of the
 * page, and the colours of pages.
 */
import { h, rgb } from "viz/dom.js";
import { NOBODY } from "viz/mapdata.js";

/** A canvas that is drawn again when its box or the theme changes. */
export class Picture {
  /** Its size in device pixels, and how many of them are a CSS pixel. */
  width = 0;
  height = 0;
  scale = 1;
  #draw;
  #resized;
  #frame = null;

  /** `resized()` is called when the size is another, `draw()` once a frame at most. */
  constructor(className, label, { resized, draw }) {
    this.canvas = h("canvas", { class: className, role: "img", "aria-label": label });
    this.context = this.canvas.getContext("2d");
    this.#draw = draw;
    this.#resized = resized;
    new ResizeObserver(() => this.measure()).observe(this.canvas);
  }

  /** Takes the size of the box. */
  measure() {
    const box = this.canvas.getBoundingClientRect();
    if (box.width === 0) return;
    const scale = devicePixelRatio || 1;
    const [width, height] = [Math.round(box.width * scale), Math.round(box.height * scale)];
    if (width === this.width && height === this.height) return;
    Object.assign(this, { width, height, scale });
    Object.assign(this.canvas, { width, height });
    this.#resized();
    this.#draw();
  }

  /** Draws with the next frame. */
  soon() {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null;
      if (this.width > 0) this.#draw();
    });
  }

  /** A colour of the style sheet, as it is now: `ink("--faint")`. */
  ink(name) {
    this.canvas.style.color = `var(${name})`;
    const colour = getComputedStyle(this.canvas).color;
    this.canvas.style.color = "";
    return colour;
  }

  /** Where the pointer is, in device pixels. */
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * this.scale, (event.clientY - box.top) * this.scale];
  }
}

/** The colours of the b-trees and kinds of a file, as three numbers each. */
export class PageColours {
  #trees;
  #kinds;
  #map;

  constructor({ trees, kinds }, map, dark) {
    const of = ({ colour }) => rgb(dark ? colour?.dark : colour?.light);
    this.#trees = trees.map(of);
    this.#kinds = kinds.map(of);
    this.#map = map;
  }

  /** The colour of page `n`: its b-tree's, or its kind's if it has none. */
  of(n) {
    const owner = this.#map.has(n) ? this.#map.owner(n) : NOBODY;
    return this.#trees[owner] ?? this.#kinds[this.#map.has(n) ? this.#map.kind(n) : 0] ?? [128, 128, 128];
  }
}

/** Three numbers as `ImageData` has them when it is looked at as words. */
export function packed([r, g, b]) {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** A colour that is so far on the way from `a` to `b`. */
export function mixed(a, b, share) {
  return a.map((x, i) => Math.round(x + (b[i] - x) * share));
}

/** `rgb(1, 2, 3)` as three numbers. */
export function numbersOf(colour) {
  return (colour.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);
}
