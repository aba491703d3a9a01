/** Colours of style sheets and of b-trees, as canvases and elements need them. */
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

/** Gives an element the colour of its b-tree, `{light, dark}`, for style sheets: `--owner`. */
export function setOwner(element, colour) {
  const one = (scheme) => (colour ? css(colour[scheme]) : "var(--accent)");
  element.style.setProperty("--owner", `light-dark(${one("light")}, ${one("dark")})`);
}
