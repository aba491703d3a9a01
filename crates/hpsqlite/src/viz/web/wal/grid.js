/**
 * Many small cells in rows on a canvas: the frames of a log, the pages of a file. Where they are too
 * many, one cell stands for several, and shows the most important of them.
 */
import { count, h, hideTip, showTip } from "viz/dom.js";

/** Widths of a cell that are tried, and most rows of pixels. */
const SIZES = [16, 14, 12, 10, 8, 6, 5, 4, 3];

export class Grid {
  #canvas = h("canvas", { tabindex: "0", role: "application" });
  #told = h("p", { class: "small grid-told", role: "status" });
  #items = 0;
  #options;
  #size = 16;
  #columns = 1;
  #each = 1;
  #at = null;
  #classes = null;
  #width = 0;
  /** The cells without the one that is pointed at. */
  #cellsDrawn = document.createElement("canvas");

  /**
   * `thing` is what an item is called, with its plural: ["frame", "frames"]. `classOf(i)` gives a small
   * number for item i, larger ones being more important; `colours()` the colours of these as `fills`,
   * and `mark` (dark and light) and `edge`; `marked(i)` whether it is marked; `group(i)` the number of
   * its group, every other one being paler; `tell(i, to)` says in words what items i to `to` are;
   * `pick(i, to)` is called when a cell is chosen.
   */
  constructor(label, height, options) {
    this.#options = options;
    this.height = height;
    this.element = h("div", { class: "grid" }, this.#canvas, this.#told);
    this.#canvas.setAttribute("aria-label", `${label}. Arrow keys move, Enter chooses.`);
    this.#canvas.addEventListener("pointermove", (e) => this.#hover(e));
    this.#canvas.addEventListener("pointerleave", () => {
      hideTip();
      this.#point(null);
    });
    this.#canvas.addEventListener("click", (e) => this.#pick(this.#cellAt(e)));
    this.#canvas.addEventListener("keydown", (e) => this.#key(e));
    this.#canvas.addEventListener("blur", () => this.#point(null));
    new ResizeObserver(() => this.element.clientWidth !== this.#width && this.#layOut()).observe(this.element);
  }

  /** Other items, or other classes or marks of them. */
  update(items) {
    this.#items = items;
    this.#at = null;
    this.#layOut();
  }

  #layOut() {
    const width = (this.#width = this.element.clientWidth);
    if (width === 0) return;
    const fits = SIZES.find((s) => Math.ceil(this.#items / Math.floor(width / s)) * s <= this.height);
    this.#size = fits ?? SIZES.at(-1);
    this.#columns = Math.max(1, Math.floor(width / this.#size));
    const most = this.#columns * Math.floor(this.height / this.#size);
    this.#each = Math.max(1, Math.ceil(this.#items / most));
    this.#sortCells();
    this.#draw();
    this.#tell();
  }

  get #cells() {
    return Math.ceil(this.#items / this.#each);
  }

  /** The class of each cell: that of its most important item, and 128 more if one is marked. */
  #sortCells() {
    const { classOf, marked } = this.#options;
    this.#classes = new Uint8Array(this.#cells);
    for (let i = 0, cell = 0, left = this.#each; i < this.#items; i++) {
      const value = Math.max(this.#classes[cell] & 127, classOf(i));
      this.#classes[cell] = value | (this.#classes[cell] & 128) | (marked(i) ? 128 : 0);
      if (--left === 0) {
        cell++;
        left = this.#each;
      }
    }
  }

  #draw() {
    const [size, columns] = [this.#size, this.#columns];
    const rows = Math.max(1, Math.ceil(this.#cells / columns));
    const scale = devicePixelRatio || 1;
    const [width, height] = [columns * size, rows * size];
    for (const canvas of [this.#canvas, this.#cellsDrawn]) {
      canvas.width = width * scale;
      canvas.height = height * scale;
    }
    this.#canvas.style.width = `${width}px`;
    this.#canvas.style.height = `${height}px`;
    const draw = this.#cellsDrawn.getContext("2d");
    draw.scale(scale, scale);
    const { colours, group } = this.#options;
    const { fills, mark, edge } = colours();
    const gap = size >= 6 ? 1 : 0;
    let last = group?.(0);
    for (let cell = 0; cell < this.#cells; cell++) {
      const [x, y] = [(cell % columns) * size, Math.floor(cell / columns) * size];
      const value = this.#classes[cell];
      const now = group?.(cell * this.#each);
      draw.globalAlpha = now % 2 === 1 ? 0.78 : 1;
      paint(draw, fills[value & 127], x, y, size - gap);
      draw.globalAlpha = 1;
      if (value & 128) outline(draw, mark, x, y, size - gap);
      if (now !== last && size >= 5) {
        draw.fillStyle = edge;
        draw.fillRect(x - 1, y, 1.5, size);
      }
      last = now;
    }
    this.#show();
  }

  /** Puts the cells on the canvas, and a frame around the one that is pointed at. */
  #show() {
    const draw = this.#canvas.getContext("2d");
    draw.setTransform(1, 0, 0, 1, 0, 0);
    draw.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    draw.drawImage(this.#cellsDrawn, 0, 0);
    if (this.#at === null) return;
    const scale = devicePixelRatio || 1;
    draw.scale(scale, scale);
    const size = this.#size;
    const [x, y] = [(this.#at % this.#columns) * size, Math.floor(this.#at / this.#columns) * size];
    const [dark, light] = this.#options.colours().mark;
    draw.strokeStyle = light;
    draw.lineWidth = 4;
    draw.strokeRect(x, y, size - 1, size - 1);
    draw.strokeStyle = dark;
    draw.lineWidth = 2;
    draw.strokeRect(x, y, size - 1, size - 1);
  }

  /** What is pointed at, or what the cells are. */
  #tell() {
    const { thing, hint, tell } = this.#options;
    const what =
      this.#each === 1 ? `Each cell is a ${thing[0]}` : `Each cell stands for ${count(this.#each)} ${thing[1]}`;
    this.#told.textContent = this.#at === null ? `${what}${hint}` : tell(...this.#range(this.#at));
  }

  #cellAt(e) {
    const box = this.#canvas.getBoundingClientRect();
    const column = Math.floor((e.clientX - box.left) / this.#size);
    const row = Math.floor((e.clientY - box.top) / this.#size);
    const cell = row * this.#columns + column;
    return column >= 0 && column < this.#columns && cell >= 0 && cell < this.#cells ? cell : null;
  }

  /** Items of a cell: first and last. */
  #range(cell) {
    return [cell * this.#each, Math.min(this.#items, (cell + 1) * this.#each) - 1];
  }

  #hover(e) {
    const cell = this.#cellAt(e);
    if (cell === null) {
      hideTip();
      return this.#point(null);
    }
    this.#point(cell);
    if (e.pointerType === "mouse")
      showTip(this.#told.textContent, { left: e.clientX + 8, top: e.clientY, bottom: e.clientY + 8 });
  }

  #point(cell) {
    if (cell === this.#at) return;
    this.#at = cell;
    this.#tell();
    this.#show();
  }

  #pick(cell) {
    if (cell !== null) this.#options.pick(...this.#range(cell));
  }

  #key(e) {
    const step = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: -this.#columns,
      ArrowDown: this.#columns,
      Home: -Infinity,
      End: Infinity,
    }[e.key];
    if (e.key === "Enter" && this.#at !== null) this.#pick(this.#at);
    else if (step !== undefined && this.#cells > 0)
      this.#point(Math.max(0, Math.min(this.#cells - 1, (this.#at ?? -Math.sign(step)) + step)));
    else return;
    e.preventDefault();
  }
}

/** The frame of a cell that is marked: dark and light, so that it is seen on any colour. */
function outline(draw, [dark, light], x, y, size) {
  draw.fillStyle = dark;
  if (size < 6) {
    draw.fillRect(x, y, size, size);
    return;
  }
  const wide = Math.min(2, size / 4);
  draw.strokeStyle = dark;
  draw.lineWidth = wide;
  draw.strokeRect(x + wide / 2, y + wide / 2, size - wide, size - wide);
  if (size < 8) return;
  draw.strokeStyle = light;
  draw.lineWidth = 1;
  draw.strokeRect(x + 2.5, y + 2.5, size - 5, size - 5);
}

/** A cell: plain, or `{colour, stripes}` with stripes across it. */
function paint(draw, fill, x, y, size) {
  const { colour, stripes } = typeof fill === "string" ? { colour: fill } : fill;
  draw.fillStyle = colour;
  draw.fillRect(x, y, size, size);
  if (!stripes || size < 5) return;
  draw.save();
  draw.beginPath();
  draw.rect(x, y, size, size);
  draw.clip();
  draw.strokeStyle = stripes;
  draw.lineWidth = 1.2;
  draw.beginPath();
  for (let d = 0; d <= 2 * size; d += 4) {
    draw.moveTo(x + d, y);
    draw.lineTo(x + d - size, y + size);
  }
  draw.stroke();
  draw.restore();
}
