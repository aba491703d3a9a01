/**
 * Which colour a page has on a map.
 *
 * A painter has `paint(data, from, count, out)`, which writes the colours of `count` pages from page
 * `from` on into `out`, as 32-bit pixels of a canvas. `PagePainter` is the map's own: it paints by
 * owner, fill, kind, or place in the order of keys, and pales what a filter leaves out. Other views
 * give painters of their own to a MapCanvas.
 */
import { mix, pixel, scaled } from "viz/colours.js";
import { rgb } from "viz/dom.js";
import { NOBODY } from "viz/map/data.js";

/** Letters of kinds, as the server has them. */
export const KIND = {
  unknown: "?",
  tableLeaf: "t",
  tableInterior: "T",
  indexLeaf: "i",
  indexInterior: "I",
  overflow: "o",
  freeTrunk: "F",
  freeLeaf: "f",
  reserved: "r",
  pointerMap: "p",
  lockByte: "l",
  orphan: "x",
};

/** Kinds of pages that b-trees own; one without its b-tree is grey. */
export const OWNED = "tTiIor";
const GREY = [128, 128, 128];

/** Where pages lie that hold nothing, by theme: the colour that emptiness is mixed with. */
const PAPER = { light: [255, 255, 255], dark: [20, 23, 27] };
/** Of an empty page's colour so much is the owner's. */
const EMPTY = 0.22;
/** The same of reserved pages, and of pages that a filter leaves out. */
const RESERVED = 0.3;
const PALE = 0.1;

/** From the first key (dark blue) to the last (yellow): evenly brighter, so it needs no hue to be read. */
const ORDER = [
  [38, 44, 110],
  [49, 104, 142],
  [31, 150, 139],
  [98, 196, 96],
  [250, 225, 60],
];

/** The colour at `x` from 0 to 1 of the scale of keys. */
export function orderColour(x) {
  return scaled(ORDER, x);
}

/** The colour of emptiness in this theme. */
export function paper(dark) {
  return dark ? PAPER.dark : PAPER.light;
}

/** The colour of b-tree or kind `of` in this theme, as three numbers. */
export function colourOf(of, dark) {
  return rgb(dark ? of.colour.dark : of.colour.light);
}

/** The map's painter. */
export class PagePainter {
  #ranks = null;

  /**
   * `summary` is the file's; `by` is "owner", "fill", "kind" or "order"; `trees` and `kinds` are the
   * Sets of a filter, or null; `marked`, if given, says of a page whether it is to stand out.
   */
  constructor(summary, { by = "owner", dark = false, trees = null, kinds = null } = {}) {
    this.by = by;
    this.dark = dark;
    const letters = summary.kinds.map((k) => k.letter);
    const reserved = letters.indexOf(KIND.reserved);
    const ground = paper(dark);
    const ink = dark ? [235, 238, 242] : [27, 31, 36];
    const none = { colour: { light: GREY, dark: GREY } };
    this.owners = summary.trees.length + 1;
    // Each combination of owner and kind has sixteen colours, from empty to full.
    const rows = this.owners * letters.length;
    this.table = new Uint32Array(rows * 16);
    for (let o = 0; o < this.owners; o++) {
      const tree = summary.trees[o] ?? null;
      for (let k = 0; k < letters.length; k++) {
        const kind = summary.kinds[k] ?? none;
        const wanted = (!trees || (tree && trees.has(o))) && (!kinds || kinds.has(k));
        const lost = !tree && OWNED.includes(letters[k]);
        const full =
          by === "fill" ? ink : by === "kind" ? colourOf(kind, dark) : lost ? GREY : colourOf(tree ?? kind, dark);
        for (let f = 0; f < 16; f++) {
          const free = letters[k] === KIND.freeLeaf || letters[k] === KIND.freeTrunk;
          let share = free && by !== "fill" ? 1 : EMPTY + ((1 - EMPTY) * f) / 15;
          if (by === "kind") share = 1;
          if (k === reserved && by === "owner") share = RESERVED;
          const colour = mix(full, ground, share);
          this.table[(o * letters.length + k) * 16 + f] = pixel(wanted ? colour : mix(colour, ground, PALE));
        }
      }
    }
    this.kindCount = letters.length;
    this.wanted = { trees, kinds };
    /** What has no place in the order, when that is shown. */
    this.unranked = pixel(mix(GREY, ground, 0.2));
  }

  /** Whether the filter leaves page `n`. */
  isWanted(data, n) {
    const { trees, kinds } = this.wanted;
    return (!trees || trees.has(data.owner(n))) && (!kinds || kinds.has(data.kind(n)));
  }

  /** Gives the place of each page in the order of keys, 1 to 65535 (0: none), for "order". */
  setRanks(ranks) {
    this.#ranks = ranks;
    this.scale ??= Uint32Array.from({ length: 256 }, (_, i) => pixel(orderColour(i / 255)));
  }

  paint(data, from, count, out) {
    const { owners, kinds, fills } = data;
    const { table, kindCount } = this;
    const nobody = this.owners - 1;
    const ranks = this.by === "order" ? this.#ranks : null;
    for (let i = 0, at = from - 1; i < count; i++, at++) {
      const o = owners[at];
      const owner = o === NOBODY || o > nobody ? nobody : o;
      const k = kinds[at];
      const wanted =
        ranks && (!this.wanted.trees || this.wanted.trees.has(o)) && (!this.wanted.kinds || this.wanted.kinds.has(k));
      const unranked = ranks ? this.unranked : table[(owner * kindCount + k) * 16 + (fills[at] >> 4)];
      out[i] = wanted && ranks[at] > 0 ? this.scale[ranks[at] >> 8] : unranked;
    }
  }
}
