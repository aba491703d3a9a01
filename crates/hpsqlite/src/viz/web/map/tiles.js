/**
 * The picture of a map at every scale, in squares that are painted when they are wanted.
 *
 * At level 0 a pixel is a page; each level above has a quarter of the pixels, each the mean of four.
 * A tile is 256 by 256 pixels. Tiles above level 0 are made of the four below, so that the whole of
 * a file of 64 million pages costs each page once, in pieces that a frame has time for; what
 * is not ready is shown from a coarser or an older picture. A file may have more tiles than are kept:
 * the lowest go first, since they are not needed again once those above are made of them.
 */

const SIDE = 256;
/** Tiles kept as pictures. */
const KEPT = 320;

export class MapTiles {
  #tiles = new Map();
  #pixels = new Uint32Array(SIDE * SIDE);
  #age = 1;

  /** `data` is the file's MapData; `columns` the pages in a row. */
  constructor(data, columns) {
    this.data = data;
    this.columns = columns;
    this.rows = Math.max(1, Math.ceil(data.pages / columns));
    this.painter = null;
    let top = 0;
    while (SIDE << top < Math.max(columns, this.rows)) top++;
    this.top = top;
  }

  /** Paints with another painter from now on. */
  setPainter(painter) {
    this.painter = painter;
    this.#age++;
  }

  /** Pages from `from` on have other contents than before. */
  changed(from, count) {
    const first = Math.floor((from - 1) / this.columns);
    const last = Math.floor((from - 1 + count) / this.columns);
    for (const tile of this.#tiles.values()) {
      const high = SIDE << tile.level;
      if (tile.y * high <= last && (tile.y + 1) * high > first) tile.age = 0;
    }
  }

  /**
   * Draws the cells from (x, y) on into a context, `scale` of its pixels each, `width` by `height`
   * pixels, at most for `budget` milliseconds; false if something is missing or out of date.
   */
  draw(context, { x, y, scale, width, height, budget = 12 }) {
    const start = performance.now();
    const end = start + budget;
    const level = Math.min(this.top, Math.max(0, Math.floor(Math.log2(1 / scale) + 0.01)));
    const span = SIDE << level;
    let whole = true;
    context.imageSmoothingEnabled = scale < 1;
    const lastX = Math.min(Math.floor((x + width / scale) / span), Math.floor((this.columns - 1) / span));
    const lastY = Math.min(Math.floor((y + height / scale) / span), Math.floor((this.rows - 1) / span));
    for (let ty = Math.max(0, Math.floor(y / span)); ty <= lastY; ty++) {
      for (let tx = Math.max(0, Math.floor(x / span)); tx <= lastX; tx++) {
        let tile = this.#tiles.get(key(level, tx, ty));
        if ((!tile || tile.age !== this.#age) && performance.now() < end) tile = this.#make(level, tx, ty, end) ?? tile;
        if (!tile || tile.age !== this.#age) whole = false;
        if (tile) {
          tile.used = performance.now();
          const left = Math.round((tx * span - x) * scale);
          const above = Math.round((ty * span - y) * scale);
          const right = Math.round(((tx + 1) * span - x) * scale);
          const below = Math.round(((ty + 1) * span - y) * scale);
          context.drawImage(tile.canvas, left, above, right - left, below - above);
        }
      }
    }
    this.#forget(start);
    return whole;
  }

  /** A tile that is up to date, or null if there was no time. */
  #make(level, tx, ty, end) {
    const span = SIDE << level;
    if (tx * span >= this.columns || ty * span >= this.rows) return null;
    const known = this.#tiles.get(key(level, tx, ty));
    if (known?.age === this.#age) {
      known.used = performance.now();
      return known;
    }
    const tile = known ?? { level, x: tx, y: ty, canvas: null, used: 0, age: 0 };
    tile.canvas ??= Object.assign(document.createElement("canvas"), { width: SIDE, height: SIDE });
    const context = tile.canvas.getContext("2d");
    if (level === 0) {
      this.#paint(context, tx, ty);
    } else {
      const below = [];
      for (const [dx, dy] of [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 1],
      ]) {
        const [x, y] = [tx * 2 + dx, ty * 2 + dy];
        if (x * (span / 2) >= this.columns || y * (span / 2) >= this.rows) continue;
        if (performance.now() > end) return null;
        const child = this.#make(level - 1, x, y, end);
        if (!child) return null;
        below.push([child, dx, dy]);
      }
      context.clearRect(0, 0, SIDE, SIDE);
      context.imageSmoothingEnabled = true;
      for (const [child, dx, dy] of below) {
        context.drawImage(child.canvas, (dx * SIDE) / 2, (dy * SIDE) / 2, SIDE / 2, SIDE / 2);
      }
    }
    tile.age = this.#age;
    tile.used = performance.now();
    this.#tiles.set(key(level, tx, ty), tile);
    return tile;
  }

  #paint(context, tx, ty) {
    const pixels = this.#pixels;
    pixels.fill(0);
    const left = tx * SIDE;
    const wide = Math.min(SIDE, this.columns - left);
    for (let row = 0; row < SIDE; row++) {
      const from = (ty * SIDE + row) * this.columns + left + 1;
      const n = Math.min(wide, this.data.pages - from + 1);
      if (n <= 0) break;
      this.painter.paint(this.data, from, n, pixels.subarray(row * SIDE, row * SIDE + n));
    }
    context.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), SIDE, SIDE), 0, 0);
  }

  /** Gives up tiles that were not used since `start`: of the lowest level first, the oldest of a level first. */
  #forget(start) {
    if (this.#tiles.size <= KEPT) return;
    const old = [...this.#tiles].filter(([, tile]) => tile.used < start);
    old.sort(([, a], [, b]) => a.level - b.level || a.used - b.used);
    for (const [k] of old.slice(0, this.#tiles.size - KEPT)) this.#tiles.delete(k);
  }
}

function key(level, x, y) {
  return (level * 0x10000 + y) * 0x10000 + x;
}
