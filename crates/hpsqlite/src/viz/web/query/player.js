/**
 * Plays reads one after another: a slider, a button, a speed.
 */
import { count, h } from "viz/dom.js";
import { remember, remembered } from "viz/app.js";

/** Speeds: all reads in so many seconds, or so many reads a second. */
const SPEEDS = [
  { id: "s10", label: "all of it in 10 seconds", all: 10 },
  { id: "s30", label: "all of it in 30 seconds", all: 30 },
  { id: "r2", label: "2 reads a second", reads: 2 },
  { id: "r10", label: "10 reads a second", reads: 10 },
  { id: "r100", label: "100 reads a second", reads: 100 },
  { id: "r1000", label: "1,000 reads a second", reads: 1000 },
];

export class Player {
  #length = 0;
  #at = 0;
  #running = false;
  #last = 0;
  #part = 0;
  #moved;

  /** `moved(position)` is called with the number of reads that have been done. */
  constructor(moved) {
    this.#moved = moved;
    const step = (by) => () => this.seek(this.#at + by);
    this.slider = h("input", {
      type: "range",
      min: 0,
      max: 0,
      step: 1,
      value: 0,
      "aria-label": "Reads done",
      class: "query-slider",
      oninput: () => this.seek(Number(this.slider.value)),
    });
    this.play = h("button", { type: "button", class: "primary query-play", onclick: () => this.toggle() }, "Play");
    this.back = h(
      "button",
      { type: "button", class: "icon", "aria-label": "One read back", title: "One read back", onclick: step(-1) },
      "‹",
    );
    this.forward = h(
      "button",
      { type: "button", class: "icon", "aria-label": "One read forward", title: "One read forward", onclick: step(1) },
      "›",
    );
    const kept = remembered("query-speed");
    this.speed = h(
      "select",
      { "aria-label": "Speed", onchange: () => remember("query-speed", this.speed.value) },
      SPEEDS.map(({ id, label }) => h("option", { value: id, selected: id === kept }, label)),
    );
    this.element = h("div", { class: "query-player" }, this.play, this.back, this.forward, this.slider, this.speed);
    this.set(0);
  }

  /** There are so many reads, all done. */
  set(length) {
    this.pause();
    this.#length = length;
    this.slider.max = length;
    for (const control of [this.slider, this.play, this.back, this.forward]) control.disabled = length === 0;
    this.#go(length);
  }

  /** So many reads have been done. */
  seek(position) {
    this.pause();
    this.#go(position);
  }

  toggle() {
    if (this.#running) return this.pause();
    if (this.#length === 0) return;
    if (this.#at >= this.#length) this.#go(0);
    this.#running = true;
    this.#last = performance.now();
    this.#part = 0;
    this.play.textContent = "Pause";
    requestAnimationFrame((now) => this.#tick(now));
  }

  pause() {
    this.#running = false;
    this.play.textContent = "Play";
  }

  #tick(now) {
    if (!this.#running) return;
    const speed = SPEEDS.find(({ id }) => id === this.speed.value) ?? SPEEDS[0];
    const rate = speed.reads ?? this.#length / speed.all;
    this.#part += ((now - this.#last) / 1000) * rate;
    this.#last = now;
    const whole = Math.floor(this.#part);
    this.#part -= whole;
    if (whole > 0) this.#go(this.#at + whole);
    if (this.#at >= this.#length) return this.pause();
    requestAnimationFrame((next) => this.#tick(next));
  }

  #go(position) {
    this.#at = Math.max(0, Math.min(this.#length, position));
    this.slider.value = this.#at;
    this.slider.setAttribute("aria-valuetext", `${count(this.#at)} of ${count(this.#length)} reads`);
    this.#moved(this.#at);
  }
}
