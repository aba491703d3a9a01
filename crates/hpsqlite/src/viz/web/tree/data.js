/**
 * One b-tree as pictures need it: the pages of each level in the order of keys, and below which part of
 * the leaves each of them stands.
 */

/** Levels of a b-tree; the root's is 0, the leaves' the last. */
export class TreeData {
  /** `levels` are arrays of page numbers; `fans` say how many pages each of them leads to. */
  constructor(tree, levels, fans) {
    this.tree = tree;
    this.levels = levels;
    this.leaves = levels.at(-1)?.length ?? 0;
    this.starts = spread(levels, fans);
  }

  /** Asks a source for b-tree number `t` that has `depth` levels. */
  static async load(source, file, t, depth) {
    const numbers = [...Array(depth).keys()];
    const [levels, fans] = await Promise.all([
      Promise.all(numbers.map((l) => source.level(file, t, l))),
      Promise.all(numbers.slice(0, -1).map((l) => source.fan(file, t, l))),
    ]);
    return new TreeData(t, levels, fans);
  }

  /** The place of the page of a level that stands above a leaf (the leaf's place may be a fraction). */
  placeAt(level, leaf) {
    const starts = this.starts[level];
    let [low, high] = [0, this.levels[level].length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= leaf) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The leaves that the page at a place of a level stands above: from and to. */
  extent(level, place) {
    return [this.starts[level][place], this.starts[level][place + 1]];
  }
}

/** For each level where the leaves below each page start, and where those of the last end. */
function spread(levels, fans) {
  const starts = new Array(levels.length);
  for (let l = levels.length - 1; l >= 0; l--) {
    const count = levels[l].length;
    const all = new Float64Array(count + 1);
    if (l === levels.length - 1) {
      for (let i = 0; i <= count; i++) all[i] = i;
    } else {
      const below = starts[l + 1];
      let child = 0;
      for (let i = 0; i < count; i++) {
        all[i] = below[Math.min(child, below.length - 1)];
        child += fans[l][i] ?? 0;
      }
      all[count] = below[below.length - 1];
    }
    starts[l] = all;
  }
  return starts;
}

/** Letters of the kinds of pages that a step from leaf to leaf may go over: interior and overflow. */
const BETWEEN = "TIo";

/**
 * Which steps from a leaf to the next jump, by the rule that the numbers are counted by (numbers.rs):
 * a step goes on if all pages between are interior or overflow pages of the same b-tree, however many.
 */
export class Steps {
  #data;
  #map;
  #between;
  /**
   * What is known of a step: 0 nothing, 1 it goes on, 2 it jumps. All together look at no more pages
   * than the file has.
   */
  #known;

  /** `data` is a TreeData, `map` the file's MapData, `letters` those of its kinds in the summary's order. */
  constructor(data, map, letters) {
    this.#data = data;
    this.#map = map;
    this.#between = letters.map((letter) => BETWEEN.includes(letter));
    this.#known = new Uint8Array(data.leaves);
  }

  /** Other pages are known now. */
  forget() {
    this.#known.fill(0);
  }

  /** Whether the step from the leaf at a place to the next jumps. */
  jumps(place) {
    this.#known[place] ||= this.#goesOn(place) ? 1 : 2;
    return this.#known[place] === 2;
  }

  #goesOn(place) {
    const leaves = this.#data.levels.at(-1);
    if (place + 1 >= leaves.length) return true;
    const [from, to] = [leaves[place], leaves[place + 1]];
    if (to <= from) return false;
    let n = from + 1;
    while (n < to && this.#between[this.#map.kind(n)] && this.#map.owner(n) === this.#data.tree) n++;
    return n === to;
  }
}

/** How many of `pages` are how full: ten numbers, for up to 10 %, up to 20 % and so on. */
export function histogram(pages, map) {
  const bars = new Uint32Array(10);
  for (const n of pages) if (map.has(n)) bars[Math.min(9, Math.floor((map.fill(n) * 10) / 255))]++;
  return bars;
}
