/**
 * The order of reads: to the right the reads as they came, down the pages of the file. Reads of
 * adjacent pages make a line, a jump is seen as one.
 *
 * All reads are drawn once, into a picture that is kept; what is drawn while it plays is that picture,
 * twice, whatever the number of reads.
 */
import { pixel } from "viz/colours.js";
import { count, hideTip, showTip } from "viz/dom.js";
import { Picture } from "viz/query/canvas.js";

/** Room for numbers, in CSS pixels. */
const LEFT = 64;
const BOTTOM = 22;
const TOP = 8;
const RIGHT = 10;
/** From so many CSS pixels a read on, reads are dots joined by lines. */
const DOTS = 4;

export class OrderChart {
  #reads = new Uint32Array();
  #pages = 1;
  #colours = null;
  #position = 0;
  #tipOf;
  #picture;
  #kept = document.createElement("canvas");

  /** `seek(position)` is called when a place in the chart is chosen, `tipOf(i)` for a tip on read i. */
  constructor({ seek, tipOf }) {
    this.#picture = new Picture("query-chart", "slider", "Chart: which page was read when", {
      resized: () => this.#drawReads(),
      draw: () => this.#draw(),
    });
    this.element = this.#picture.canvas;
    let held = false;
    const readAt = (e) => {
      const { left, width } = this.#plot();
      const [x] = this.#picture.at(e);
      return Math.max(0, Math.min(this.#reads.length - 1, Math.floor(((x - left) / width) * this.#reads.length)));
    };
    this.element.addEventListener("pointerdown", (e) => {
      if (this.#reads.length === 0 || e.button !== 0) return;
      held = true;
      this.element.setPointerCapture(e.pointerId);
      seek(readAt(e) + 1);
    });
    this.element.addEventListener("pointermove", (e) => {
      if (this.#reads.length === 0) return;
      const i = readAt(e);
      if (held) seek(i + 1);
      if (e.pointerType === "mouse") showTip(tipOf(i), { left: e.clientX, top: e.clientY });
    });
    for (const type of ["pointerup", "pointercancel"]) this.element.addEventListener(type, () => (held = false));
    this.element.addEventListener("pointerleave", hideTip);
    this.element.addEventListener("keydown", (e) => this.#key(e, seek));
    this.#tipOf = tipOf;
    this.#tellPosition();
  }

  /** A read on or back, a tenth of all, the first or the last. */
  #key(e, seek) {
    const all = this.#reads.length;
    if (all === 0 || e.ctrlKey || e.metaKey || e.altKey) return;
    const far = Math.max(1, Math.round(all / 10));
    const step = {
      ArrowLeft: -1,
      ArrowDown: -1,
      ArrowRight: 1,
      ArrowUp: 1,
      PageDown: -far,
      PageUp: far,
      Home: -all,
      End: all,
    }[e.key];
    if (step === undefined) return;
    seek(Math.max(1, Math.min(all, this.#position + step)));
    e.preventDefault();
  }

  #tellPosition() {
    const all = this.#reads.length;
    const at = Math.min(this.#position, all);
    const values = {
      min: 0,
      max: all,
      now: at,
      text: at === 0 ? `${count(at)} of ${count(all)} reads` : this.#tipOf(at - 1),
    };
    for (const [name, value] of Object.entries(values)) this.element.setAttribute(`aria-value${name}`, value);
  }

  /** Shows other reads, of a file of so many pages. */
  set(reads, pages, colours) {
    this.#reads = reads;
    this.#pages = Math.max(1, pages);
    this.#colours = colours;
    this.#tellPosition();
    this.#picture.measure();
    this.#drawReads();
    this.#picture.soon();
  }

  /** So many reads have been done. */
  show(position) {
    this.#position = position;
    this.#tellPosition();
    this.#picture.soon();
  }

  /** Where reads are drawn, in device pixels. */
  #plot() {
    const { width, height, scale } = this.#picture;
    return {
      left: LEFT * scale,
      top: TOP * scale,
      width: Math.max(1, width - (LEFT + RIGHT) * scale),
      height: Math.max(1, height - (TOP + BOTTOM) * scale),
    };
  }

  #x(i, { width }) {
    return ((i + 0.5) / this.#reads.length) * width;
  }

  #y(page, { height }) {
    return this.#pages === 1 ? height / 2 : ((page - 1) / (this.#pages - 1)) * (height - 1);
  }

  /** Draws all reads into the kept picture. */
  #drawReads() {
    const { width, scale } = this.#picture;
    if (width === 0) return;
    const plot = this.#plot();
    Object.assign(this.#kept, { width: Math.ceil(plot.width), height: Math.ceil(plot.height) });
    if (this.#reads.length === 0 || !this.#colours) return;
    const context = this.#kept.getContext("2d");
    if (plot.width / this.#reads.length >= DOTS * scale) this.#drawDots(context, plot);
    else this.#drawPixels(context, plot);
  }

  #drawDots(context, plot) {
    const { scale } = this.#picture;
    context.strokeStyle = this.#picture.ink("edge").edge;
    context.lineWidth = scale;
    context.beginPath();
    this.#reads.forEach((page, i) => context.lineTo(this.#x(i, plot), this.#y(page, plot)));
    context.stroke();
    const radius = Math.min(4, Math.max(2, plot.width / scale / this.#reads.length / 3)) * scale;
    this.#reads.forEach((page, i) => {
      context.fillStyle = `rgb(${this.#colours.of(page).join(" ")})`;
      context.beginPath();
      context.arc(this.#x(i, plot), this.#y(page, plot), radius, 0, 2 * Math.PI);
      context.fill();
    });
  }

  /** A square of two CSS pixels for each read. */
  #drawPixels(context, plot) {
    const { width, height } = this.#kept;
    const image = context.createImageData(width, height);
    const words = new Uint32Array(image.data.buffer);
    const side = Math.max(1, Math.round(2 * this.#picture.scale));
    for (let i = 0; i < this.#reads.length; i++) {
      const page = this.#reads[i];
      const word = pixel(this.#colours.of(page));
      const x = Math.min(width - side, Math.floor(this.#x(i, plot)));
      const y = Math.max(0, Math.min(height - side, Math.floor(this.#y(page, plot))));
      for (let row = y; row < y + side && row < height; row++)
        words.fill(word, row * width + Math.max(0, x), row * width + Math.max(0, x) + side);
    }
    context.putImageData(image, 0, 0);
  }

  #draw() {
    const { context, width, height, scale } = this.#picture;
    context.clearRect(0, 0, width, height);
    const plot = this.#plot();
    const { faint, panel, line, accent } = this.#picture.ink("faint", "panel", "line", "accent");
    context.fillStyle = panel;
    context.fillRect(plot.left, plot.top, plot.width, plot.height);
    context.strokeStyle = line;
    context.lineWidth = scale;
    context.strokeRect(plot.left, plot.top, plot.width, plot.height);
    context.font = `${12 * scale}px ${getComputedStyle(this.element).fontFamily}`;
    context.fillStyle = faint;
    const text = (words, x, y, align) => {
      context.textAlign = align;
      context.fillText(words, x, y);
    };
    const beside = plot.left - 6 * scale;
    text("page 1", beside, plot.top + 11 * scale, "right");
    text(count(this.#pages), beside, plot.top + plot.height, "right");
    const below = plot.top + plot.height + 16 * scale;
    text("first read", plot.left, below, "left");
    const n = this.#reads.length;
    text(n === 0 ? "last read" : `read ${count(n)}`, plot.left + plot.width, below, "right");
    if (n === 0) return;
    const at = this.#position === 0 ? 0 : this.#x(this.#position - 1, plot) + plot.width / n / 2;
    if (this.#kept.width > 0) {
      context.globalAlpha = 0.35;
      context.drawImage(this.#kept, plot.left, plot.top);
      context.globalAlpha = 1;
      const done = Math.min(this.#kept.width, Math.ceil(at));
      if (done > 0)
        context.drawImage(this.#kept, 0, 0, done, this.#kept.height, plot.left, plot.top, done, this.#kept.height);
    }
    if (this.#position === 0 || this.#position === n) return;
    // Where it is now.
    const x = plot.left + this.#x(this.#position - 1, plot);
    const y = plot.top + this.#y(this.#reads[this.#position - 1], plot);
    context.strokeStyle = accent;
    context.lineWidth = 1.5 * scale;
    context.beginPath();
    context.moveTo(x, plot.top);
    context.lineTo(x, plot.top + plot.height);
    context.stroke();
    context.beginPath();
    context.arc(x, y, 5 * scale, 0, 2 * Math.PI);
    context.stroke();
  }
}
