/**
 * What the two pictures of a query share: a canvas that is as large as its box, in the colours of the
 * page, and the colours of pages.
 */
import { colours } from "viz/colours.js";
import { h, rgb } from "viz/dom.js";
import { NOBODY } from "viz/map/data.js";

/** A canvas that is drawn again when its box or the theme changes. */
export class Picture {
  /** Its size in device pixels, and how many of them are a CSS pixel. */
  width = 0;
  height = 0;
  scale = 1;
  #draw;
  #resized;
  #frame = null;

  /**
   * `role` is what it is for those who use keys; `resized()` is called when the size is another,
   * `draw()` once a frame at most.
   */
  constructor(className, role, label, { resized, draw }) {
    this.canvas = h("canvas", { class: className, role, tabindex: "0", "aria-label": label });
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

  /** Colours of the style sheet, as they are now: `ink("faint", "line")`. */
  ink(...names) {
    return colours(this.canvas, names);
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
