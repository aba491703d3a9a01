/** Colours of style sheets and of b-trees, as canvases and elements need them. Three numbers are a colour. */
import { css, h } from "viz/dom.js";

/** The computed colours of custom properties on an element: `{ink: "rgb(…)", …}`. */
export function colours(element, names) {
  const probe = h("span", { hidden: true });
  element.append(probe);
  const found = {};
  for (const name of names) {
    probe.style.color = `var(--${name})`;
    found[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return found;
}

/** `rgb(1, 2, 3)`, as computed colours are, as three numbers. */
export function numbers(colour) {
  return (colour.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);
}

/** A pixel as a canvas has it in memory on a little-endian machine. */
export function pixel([r, g, b]) {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** `share` of colour `a`, the rest of colour `b`. */
export function mix(a, b, share) {
  return a.map((v, i) => Math.round(v * share + b[i] * (1 - share)));
}

/** The colour at `x`, 0 to 1, of a scale of colours that are evenly apart. */
export function scaled(scale, x) {
  const at = Math.min(Math.max(x, 0), 1) * (scale.length - 1);
  const i = Math.min(Math.floor(at), scale.length - 2);
  return mix(scale[i + 1], scale[i], at - i);
}

/** Gives an element the colour of its b-tree, `{light, dark}`, for style sheets: `--owner`. */
export function setOwner(element, colour) {
  const one = (scheme) => (colour ? css(colour[scheme]) : "var(--accent)");
  element.style.setProperty("--owner", `light-dark(${one("light")}, ${one("dark")})`);
}
