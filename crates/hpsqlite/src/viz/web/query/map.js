/**
 * The whole file as a grid, in the order of pages, in which pages light up as they are read.
 *
 * A cell is a page, or several where the file has more pages than the picture has room for. Each
 * knows how many of its pages have been read, so a step forwards or backwards changes only the
 * cells of the reads in between, however large the file is.
 */
import { mix, numbers, pixel } from "viz/colours.js";
import { h, hideTip, showTip } from "viz/dom.js";
import { Picture } from "viz/query/canvas.js";
import { WORDS } from "viz/query/words.js";

/** The largest cell, and the smallest, in CSS pixels. */
const LARGEST = 18;
const SMALLEST = 2;
/** How far a page that has not been read is from the colour of the background. */
const UNREAD = 0.22;
/** Reads that are marked as the last ones. */
const TRAIL = 24;

export class ReadsMap {
  #reads = new Uint32Array();
  #pages = 1;
  #colours = null;
  /** The number of the first read of each page, from 1; 0: it is not read. */
  #first = new Uint32Array(1);
  #position = 0;
  #picture;
  /** Columns, device pixels a cell, pages a cell. */
  #grid = { columns: 1, cell: 1, each: 1, rows: 1 };
  #lit = new Uint32Array(1);
  #words = new Uint32Array(1);
  #image = null;
  #kept = document.createElement("canvas");
  #touched = false;
  /** The cell that keys are at. */
  #at = null;
  #told;
  #tipOf;

  /** `choose(page)` is called when a page is clicked, `tipOf(page, first)` for a tip on it. */
  constructor({ choose, tipOf }) {
    this.#picture = new Picture("query-map", "application", WORDS.map, {
      resized: () => this.#layOut(),
      draw: () => this.#draw(),
    });
    this.#told = h("p", { class: "visually-hidden", role: "status" });
    this.#tipOf = tipOf;
    const canvas = this.#picture.canvas;
    this.element = h("div", null, canvas, this.#told);
    canvas.addEventListener("click", (e) => {
      const page = this.#pageAt(e);
      if (page) choose(page);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (e.pointerType !== "mouse") return;
      const page = this.#pageAt(e);
      canvas.style.cursor = page ? "pointer" : "";
      if (page) showTip(tipOf(page, this.#first[page] ?? 0, this.#grid.each), { left: e.clientX, top: e.clientY });
      else hideTip();
    });
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("keydown", (e) => this.#key(e, choose));
    canvas.addEventListener("blur", () => this.#point(null));
  }

  #key(e, choose) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const { columns, each } = this.#grid;
    const last = Math.ceil(this.#pages / each) - 1;
    const step = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: -columns,
      ArrowDown: columns,
      Home: -Infinity,
      End: Infinity,
    }[e.key];
    if (e.key === "Enter" && this.#at !== null) choose(this.#at * each + 1);
    else if (step !== undefined)
      this.#point(this.#at === null && Number.isFinite(step) ? 0 : Math.max(0, Math.min(last, (this.#at ?? 0) + step)));
    else return;
    e.preventDefault();
  }

  /** Keys are at this cell, or at none: it has a frame, and is told. */
  #point(cell) {
    this.#at = cell;
    hideTip();
    if (cell === null) this.#told.textContent = "";
    else {
      const { columns, cell: side, each } = this.#grid;
      const page = cell * each + 1;
      this.#told.textContent = this.#tipOf(page, this.#first[page] ?? 0, each);
      const box = this.#picture.canvas.getBoundingClientRect();
      const { scale } = this.#picture;
      const [left, top] = [
        box.left + ((cell % columns) * side) / scale,
        box.top + (Math.floor(cell / columns) * side) / scale,
      ];
      showTip(this.#told.textContent, { left, top, bottom: top + side / scale });
    }
    this.#picture.soon();
  }

  /** Shows a file of so many pages, nothing read. */
  reset(pages, colours) {
    this.#reads = new Uint32Array();
    this.#pages = Math.max(1, pages);
    this.#colours = colours;
    this.#first = new Uint32Array(this.#pages + 1);
    this.#position = 0;
    this.#at = null;
    this.#picture.measure();
    this.#layOut();
    this.#picture.soon();
  }

  /** Other colours, or what is known of pages has changed. */
  recolour(colours) {
    this.#colours = colours;
    this.#layOut();
    this.#picture.soon();
  }

  /** The reads there are; those that were there before are the first of them. */
  set(reads) {
    for (let i = this.#reads.length; i < reads.length; i++) {
      const page = reads[i];
      if (page <= this.#pages && this.#first[page] === 0) this.#first[page] = i + 1;
    }
    this.#reads = reads;
  }

  /** So many reads have been done. */
  show(position) {
    const [from, to] = [Math.min(position, this.#position), Math.max(position, this.#position)];
    const step = position > this.#position ? 1 : -1;
    this.#position = position;
    for (let i = from; i < to; i++) {
      const page = this.#reads[i];
      if (page > this.#pages || this.#first[page] !== i + 1) continue;
      const cell = Math.floor((page - 1) / this.#grid.each);
      this.#lit[cell] += step;
      this.#paint(cell);
    }
    this.#picture.soon();
  }

  /** Chooses the largest cells that fit, and paints all. */
  #layOut() {
    const { width, height, scale } = this.#picture;
    if (width === 0 || !this.#colours) return;
    const fits = (side, each) => Math.floor(width / side) * Math.floor(height / side) * each >= this.#pages;
    let side = Math.round(LARGEST * scale);
    const least = Math.max(1, Math.round(SMALLEST * scale));
    while (side > least && !fits(side, 1)) side--;
    const cells = Math.floor(width / side) * Math.floor(height / side);
    const each = Math.max(1, Math.ceil(this.#pages / Math.max(1, cells)));
    const columns = Math.max(1, Math.floor(width / side));
    const used = Math.ceil(this.#pages / each);
    // Keys stay at their page: a layout comes also when the scan has got further.
    if (this.#at !== null) this.#at = Math.floor((this.#at * this.#grid.each) / each);
    this.#grid = { columns, cell: side, each, rows: Math.ceil(used / columns) };
    Object.assign(this.#kept, { width: columns * side, height: Math.max(1, this.#grid.rows * side) });
    this.#image = this.#kept.getContext("2d").createImageData(this.#kept.width, this.#kept.height);
    this.#words = new Uint32Array(this.#image.data.buffer);
    this.#lit = new Uint32Array(used);
    for (let i = 0; i < this.#position; i++) {
      const page = this.#reads[i];
      if (page <= this.#pages && this.#first[page] === i + 1) this.#lit[Math.floor((page - 1) / each)]++;
    }
    this.#paper = numbers(this.#picture.ink("paper").paper);
    for (let cell = 0; cell < used; cell++) this.#paint(cell);
    this.#touched = true;
  }

  #paper = [255, 255, 255];

  /** Paints a cell as its pages are. */
  #paint(cell) {
    const { columns, cell: side, each } = this.#grid;
    const page = cell * each + 1;
    const pages = Math.min(each, this.#pages - page + 1);
    const share = this.#lit[cell] / pages;
    // A cell of many pages is lit as soon as one of them is read, and brighter with each.
    const strength = share === 0 ? UNREAD : 0.6 + 0.4 * share;
    const word = pixel(mix(this.#colours.of(page), this.#paper, strength));
    const gap = side >= 6 ? 1 : 0;
    const left = (cell % columns) * side;
    const top = Math.floor(cell / columns) * side;
    const width = this.#kept.width;
    for (let y = top; y < top + side - gap; y++)
      this.#words.fill(word, y * width + left, y * width + left + side - gap);
    this.#touched = true;
  }

  #pageAt(event) {
    const [x, y] = this.#picture.at(event);
    const { columns, cell, each } = this.#grid;
    const column = Math.floor(x / cell);
    if (column >= columns) return null;
    const page = (Math.floor(y / cell) * columns + column) * each + 1;
    return page >= 1 && page <= this.#pages ? page : null;
  }

  #draw() {
    const { context, width, height, scale } = this.#picture;
    context.clearRect(0, 0, width, height);
    if (!this.#image) return;
    if (this.#touched) this.#kept.getContext("2d").putImageData(this.#image, 0, 0);
    this.#touched = false;
    context.drawImage(this.#kept, 0, 0);
    const { ink, accent } = this.#picture.ink("ink", "accent");
    if (this.#at !== null) {
      const { columns, cell: side } = this.#grid;
      context.strokeStyle = ink;
      context.lineWidth = 2 * scale;
      context.strokeRect((this.#at % columns) * side, Math.floor(this.#at / columns) * side, side, side);
    }
    if (this.#position === 0 || this.#position === this.#reads.length) return;
    // The last reads: the newest has a ring, those before a frame that fades.
    const { columns, cell: side, each } = this.#grid;
    context.strokeStyle = ink;
    const place = (i) => {
      const cell = Math.floor((this.#reads[i] - 1) / each);
      return [(cell % columns) * side, Math.floor(cell / columns) * side];
    };
    const last = this.#position - 1;
    for (let i = Math.max(0, last - TRAIL); i <= last; i++) {
      const [x, y] = place(i);
      context.globalAlpha = 0.15 + (0.85 * (i - last + TRAIL)) / TRAIL;
      context.lineWidth = scale;
      context.strokeRect(x - scale / 2, y - scale / 2, side + (side >= 6 ? 0 : scale), side + (side >= 6 ? 0 : scale));
    }
    context.globalAlpha = 1;
    const [x, y] = place(last);
    context.strokeStyle = accent;
    context.lineWidth = 2 * scale;
    context.beginPath();
    context.arc(x + side / 2, y + side / 2, Math.max(side, 8 * scale), 0, 2 * Math.PI);
    context.stroke();
  }
}
