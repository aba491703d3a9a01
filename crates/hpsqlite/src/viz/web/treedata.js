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

/** How many of `pages` are how full: ten numbers, for up to 10 %, up to 20 % and so on. */
export function histogram(pages, map) {
  const bars = new Uint32Array(10);
  for (const n of pages) if (map.has(n)) bars[Math.min(9, Math.floor((map.fill(n) * 10) / 255))]++;
  return bars;
}
