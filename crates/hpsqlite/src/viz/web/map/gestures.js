/**
 * What wheel, pointers and keys do to a map. The map has the methods that are called here: `pan`,
 * `zoom`, `fit`, `steer`, `hover`, `choose`, `goTo`, `open`, `stop`, and tells `under` a point and
 * `placeOf` a page.
 */

/** A click does not move further than this, in CSS pixels. */
const CLICK = 4;
/** CSS pixels of a step of a wheel, by what it counts in: pixels, lines, pages. */
const WHEEL = [1, 16, 400];
/** A step of a wheel zooms no further than one of so many pixels. */
const FARTHEST = 240;
/** How much a key zooms. */
const KEY_ZOOM = 1.5;

/** Lets a MapCanvas be used. */
export class MapGestures {
  #map;
  #pointers = new Map();
  /** How far the pointer went since it was pressed. */
  #moved = 0;
  /** It was pressed on the small picture of the whole. */
  #steering = false;

  constructor(map) {
    this.#map = map;
    const { element } = map;
    element.addEventListener("wheel", (e) => this.#wheel(e), { passive: false });
    element.addEventListener("pointerdown", (e) => this.#down(e));
    element.addEventListener("pointermove", (e) => this.#move(e));
    for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, (e) => this.#up(e));
    element.addEventListener("pointerleave", () => map.hover(null));
    element.addEventListener("dblclick", (e) => {
      const n = map.under(...this.#at(e));
      if (n) map.open(n);
    });
    element.addEventListener("keydown", (e) => this.#key(e));
  }

  #at(e) {
    const box = this.#map.element.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  }

  #wheel(e) {
    e.preventDefault();
    const map = this.#map;
    map.stop();
    const unit = WHEEL[e.deltaMode] ?? 1;
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) return map.pan(-(e.deltaX || e.deltaY) * unit, 0);
    const speed = e.ctrlKey ? 0.01 : 0.0022;
    const by = Math.max(-FARTHEST, Math.min(FARTHEST, e.deltaY * unit));
    map.zoom(Math.exp(-by * speed), ...this.#at(e));
  }

  #down(e) {
    if (e.button !== 0) return;
    const map = this.#map;
    map.stop();
    map.element.focus({ preventScroll: true });
    map.element.setPointerCapture(e.pointerId);
    this.#pointers.set(e.pointerId, this.#at(e));
    const first = this.#pointers.size === 1;
    if (first) this.#moved = 0;
    this.#steering = first && map.steer(...this.#at(e));
  }

  #move(e) {
    const map = this.#map;
    const before = this.#pointers.get(e.pointerId);
    const now = this.#at(e);
    if (!before) return map.hover(map.under(...now), e.clientX, e.clientY);
    if (this.#steering) return void map.steer(...now, true);
    const other = [...this.#pointers].find(([id]) => id !== e.pointerId)?.[1];
    this.#pointers.set(e.pointerId, now);
    this.#moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (other) this.#pinch(other, before, now);
    else if (this.#moved > CLICK) {
      map.hover(null);
      map.pan(now[0] - before[0], now[1] - before[1]);
    }
  }

  /** One of two fingers moved from `before` to `now`. */
  #pinch(other, before, now) {
    const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
    const middle = (p) => [(p[0] + other[0]) / 2, (p[1] + other[1]) / 2];
    const [from, to] = [middle(before), middle(now)];
    this.#map.pan(to[0] - from[0], to[1] - from[1]);
    if (apart(before) > 0) this.#map.zoom(apart(now) / apart(before), ...to);
  }

  #up(e) {
    const was = this.#pointers.delete(e.pointerId);
    const steered = this.#steering;
    if (this.#pointers.size === 0) this.#steering = false;
    if (!was || steered || e.type === "pointercancel" || this.#moved > CLICK || this.#pointers.size > 0) return;
    const n = this.#map.under(...this.#at(e));
    if (n) this.#map.choose(n);
  }

  #key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const map = this.#map;
    const { selected, data } = map;
    const { columns } = map.view;
    const { clientWidth: width, clientHeight: height } = map.element;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    const pans = {
      ArrowLeft: [width / 5, 0],
      ArrowRight: [-width / 5, 0],
      ArrowUp: [0, height / 5],
      ArrowDown: [0, -height / 5],
    };
    if (e.shiftKey && pans[e.key]) map.pan(...pans[e.key]);
    else if (steps[e.key]) this.#step(selected ? selected + steps[e.key] : this.#middle());
    else if (e.key === "PageUp" || e.key === "PageDown") map.pan(0, e.key === "PageUp" ? height * 0.9 : -height * 0.9);
    else if (e.key === "+" || e.key === "=") this.#zoom(KEY_ZOOM);
    else if (e.key === "-") this.#zoom(1 / KEY_ZOOM);
    else if (e.key === "0") map.fit();
    else if (e.key === "Home") this.#step(1);
    else if (e.key === "End") this.#step(data.pages);
    else if (e.key === "Enter" && selected) map.open(selected);
    else if (e.key === "n" || e.key === "p") this.#sameOwner(e.key === "n" ? 1 : -1);
    else return;
    e.preventDefault();
  }

  /** Around the selected page if it is in view. */
  #zoom(factor) {
    const map = this.#map;
    map.stop();
    const place = map.selected && map.placeOf(map.selected);
    if (place) map.zoom(factor, ...place);
    else map.zoom(factor);
  }

  #middle() {
    const { clientWidth: width, clientHeight: height } = this.#map.element;
    return this.#map.pageAt(width / 2, height / 2) ?? 1;
  }

  #step(n) {
    if (!this.#map.data.has(n)) return;
    this.#map.choose(n);
    this.#map.goTo(n);
  }

  /** The next page of the same b-tree in the order of the file. */
  #sameOwner(step) {
    const { data } = this.#map;
    const from = this.#map.selected ?? this.#middle();
    const owner = data.owner(from);
    for (let n = from + step; data.has(n); n += step) if (data.owner(n) === owner) return this.#step(n);
  }
}
