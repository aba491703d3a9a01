/**
 * All bytes of a page as hexadecimal digits and as text, tinted by what they are for, with the names of
 * what begins in each row. Only the rows that are seen are elements, so that a page of 64 KiB is as
 * quick as one of 512 bytes.
 */
import { fill, h, hideTip, showTip } from "viz/dom.js";
import { sentence } from "viz/page/picture.js";

/** Height of a row, as in page/style.css. */
const ROW = 20;
/** Rows that are made above and below those that are seen. */
const MORE = 4;
/** Pixels of width from which a row has 16 bytes. */
const WIDE = 520;

/** Names that fit beside a row. */
const SHORT = {
  "file-header": "database header",
  "page-header": "header",
  "cell-pointers": "pointers",
  unknown: "no sense",
};

/** The dump of one page at a time. */
export class HexDump {
  #bytes = null;
  #marks;
  #perRow = 16;
  #rows = h("div", { class: "hex-rows" });
  #from = -1;
  #to = -1;

  constructor(marks) {
    this.#marks = marks;
    this.element = h(
      "div",
      { class: "hex", tabindex: "0", role: "region", "aria-label": "All bytes of the page" },
      this.#rows,
    );
    this.element.addEventListener("scroll", () => this.#draw());
    this.#rows.addEventListener("pointerover", (e) => this.#point(e));
    this.#rows.addEventListener("pointerleave", () => {
      hideTip();
      marks.hover(null, "hex");
    });
    this.#rows.addEventListener("click", (e) => {
      const span = this.#spanOf(e.target);
      if (span) marks.pin(span, "hex");
    });
    new ResizeObserver(() => this.#resize()).observe(this.element);
    marks.on(({ from, pinned }) => {
      if (pinned && from !== "hex") this.#reveal();
      this.#drawMarks();
    });
  }

  /** Shows a page; without its bytes, a sentence. */
  show(bytes) {
    this.#bytes = bytes;
    this.element.scrollTop = 0;
    if (!bytes.bytes) {
      this.#rows.style.height = "auto";
      fill(this.#rows, h("p", { class: "empty" }, "This saved page holds no bytes of the database."));
      return;
    }
    this.#resize(true);
  }

  #resize(again = false) {
    if (!this.#bytes?.bytes || !this.element.clientWidth) return;
    const perRow = this.element.clientWidth >= WIDE ? 16 : 8;
    const top = (this.element.scrollTop / ROW) * this.#perRow;
    if (perRow !== this.#perRow || again) {
      this.#perRow = perRow;
      this.#rows.style.height = `${Math.ceil(this.#bytes.bytes.length / perRow) * ROW}px`;
      this.element.scrollTop = (top / perRow) * ROW;
      this.#from = -1;
    }
    this.#draw();
  }

  /** Makes the rows that are seen. */
  #draw() {
    if (!this.#bytes?.bytes) return;
    const all = Math.ceil(this.#bytes.bytes.length / this.#perRow);
    const first = Math.floor(this.element.scrollTop / ROW);
    const from = Math.max(0, first - MORE);
    const to = Math.min(all, first + Math.ceil(this.element.clientHeight / ROW) + MORE);
    if (from === this.#from && to === this.#to) return;
    [this.#from, this.#to] = [from, to];
    const rows = [];
    for (let row = from; row < to; row++) rows.push(this.#row(row));
    fill(this.#rows, rows);
    this.#drawMarks();
  }

  #row(row) {
    const { bytes } = this.#bytes;
    const start = row * this.#perRow;
    const end = Math.min(start + this.#perRow, bytes.length);
    const [digits, letters, names] = [[], [], []];
    for (let at = start; at < end;) {
      const span = this.#bytes.spanAt(at);
      const to = Math.min(span.at + span.len, end);
      const some = bytes.subarray(at, to);
      const odd = span.cell !== undefined && span.cell % 2 === 1 ? " odd" : "";
      const attributes = { class: `what-${span.part.what}${odd}`, dataset: { at } };
      const hex = Array.from(some, (b) => b.toString(16).padStart(2, "0")).join(" ");
      // The gap after a byte belongs to what goes on behind it.
      digits.push(h("span", attributes, hex, to < end && to < span.at + span.len ? " " : ""));
      if (to < end && to === span.at + span.len) digits.push(" ");
      letters.push(
        h("span", attributes, Array.from(some, (b) => (b >= 32 && b < 127 ? String.fromCharCode(b) : "·")).join("")),
      );
      if (span.part.at >= start && span.part.at < end && !names.includes(span.part)) names.push(span.part);
      at = to;
    }
    const label = names.map((part) => SHORT[part.what] ?? this.#bytes.whole(part).name).join(", ");
    return h(
      "div",
      { class: "hex-row", style: { top: `${row * ROW}px` } },
      h("span", { class: "hex-at" }, start.toString(16).padStart(4, "0")),
      h("span", { class: "hex-digits", style: { "min-width": `${this.#perRow * 3 - 1}ch` } }, digits),
      h("span", { class: "hex-text", style: { "min-width": `${this.#perRow}ch` } }, letters),
      h("span", { class: "hex-names", title: label }, label),
    );
  }

  #drawMarks() {
    const { hovered, pinned } = this.#marks;
    const shown = hovered ?? pinned;
    const related = shown && this.#bytes ? this.#bytes.related(shown) : [];
    const within = (at, range) => range && at >= range.at && at < range.at + range.len;
    for (const element of this.#rows.querySelectorAll(".marked, .pinned")) element.classList.remove("marked", "pinned");
    if (!shown) return;
    for (const element of this.#rows.querySelectorAll("[data-at]")) {
      const at = Number(element.dataset.at);
      if (within(at, hovered) || related.some((range) => within(at, range))) element.classList.add("marked");
      if (within(at, pinned)) element.classList.add("pinned");
    }
  }

  #spanOf(element) {
    const at = element.closest?.("[data-at]")?.dataset.at;
    return at === undefined ? null : this.#bytes.spanAt(Number(at));
  }

  #point(e) {
    if (e.pointerType === "touch") return;
    const span = this.#spanOf(e.target);
    this.#marks.hover(span, "hex");
    if (span) showTip(sentence(this.#bytes, span), e.target.getBoundingClientRect());
    else hideTip();
  }

  /** Scrolls to what is held on to. */
  #reveal() {
    const span = this.#marks.pinned;
    if (!span) return;
    const [top, bottom] = [span.at, span.at + span.len].map((at) => Math.floor(at / this.#perRow) * ROW);
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop || bottom + ROW > scrollTop + clientHeight) this.element.scrollTop = Math.max(0, top - 3 * ROW);
  }
}
