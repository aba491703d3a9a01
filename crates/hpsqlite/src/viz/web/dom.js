/**
 * Making elements, writing numbers, links to pages and b-trees, tips: what every view uses.
 *
 * Text that comes from a database reaches the page through here only, as text.
 */
import { GLOSSARY } from "viz/words.js";

/**
 * An element: `h("a", {href: "#x", class: "c", onclick: f}, "text", child)`. Attributes that are
 * null, undefined or false are left out; `on…` are listeners; `dataset` and `style` are objects.
 * Children are nodes, texts, numbers, or arrays of these; null and false are left out.
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "style") for (const [k, v] of Object.entries(value)) element.style.setProperty(k, v);
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

/** Adds children as `h` takes them. */
export function append(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** Puts other children in the place of those that an element has. */
export function fill(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

const whole = new Intl.NumberFormat("en");
const one = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const two = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

/** 1234567 as "1,234,567". */
export function count(n) {
  return whole.format(n);
}

/** `plural(1, "page")` is "1 page", `plural(2, "index", "indexes")` is "2 indexes". */
export function plural(n, thing, things = `${thing}s`) {
  return `${count(n)} ${n === 1 ? thing : things}`;
}

/** A number with few digits after the point. */
export function number(x) {
  return Math.abs(x) < 10 ? two.format(x) : one.format(x);
}

/** 4096 as "4,096 bytes", 1252864 as "1.25 MB": units as the terminal and the advice have them. */
export function bytes(n) {
  if (Math.abs(n) < 10_000) return plural(n, "byte");
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let i = 0;
  while (Math.abs(n) >= 1000 && i < units.length - 1) {
    n /= 1000;
    i++;
  }
  return `${number(n)} ${units[i]}`;
}

/** A share from 0 to 1 as "12 %"; what is there but small is "< 0.1 %". */
export function percent(share) {
  const x = share * 100;
  if (x > 0 && x < 0.1) return "< 0.1 %";
  if (x < 100 && x > 99.9) return "> 99.9 %";
  return `${x < 10 || x > 99 ? one.format(x) : Math.round(x)} %`;
}

/** 0.0123 as "12.3 ms". */
export function seconds(s) {
  if (s >= 120) return `${number(s / 60)} min`;
  if (s >= 1) return `${number(s)} s`;
  if (s >= 1e-3) return `${number(s * 1e3)} ms`;
  return `${number(s * 1e6)} µs`;
}

/** The first letter large. */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A square of a colour `{light, dark}` as the server gives them: texts, or three numbers each. */
export function swatch(colour) {
  return h("span", {
    class: "swatch",
    "aria-hidden": "true",
    style: { "--light": css(colour?.light), "--dark": css(colour?.dark) },
  });
}

/** A colour as CSS has it. */
export function css(colour) {
  if (!colour) return "transparent";
  return typeof colour === "string" ? colour : `rgb(${colour[0]} ${colour[1]} ${colour[2]})`;
}

/** A colour as three numbers. */
export function rgb(colour) {
  if (!colour) return [128, 128, 128];
  if (typeof colour !== "string") return colour;
  const n = Number.parseInt(colour.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

/**
 * A link to page `n`, with a tip that says what the page is. `view` is where it leads ("page", "map").
 */
export function pageLink(app, n, { text, view = "page", file = app.file } = {}) {
  const link = h("a", { href: app.href(view, { file, page: n }), class: "page-link n" }, text ?? count(n));
  tip(link, () => app.describe(file, n));
  return link;
}

/** A link to b-tree number `t`, with its colour. */
export function treeLink(app, t, { text, view = "tree", file = app.file } = {}) {
  const link = h("a", { href: app.href(view, { file, tree: t }), class: "tree" });
  const name = h("span", null, text ?? `b-tree ${t}`);
  app.summary(file).then(
    ({ trees }) => {
      const tree = trees[t];
      if (!tree) return;
      link.prepend(swatch(tree.colour));
      if (text === undefined) name.textContent = tree.title;
      const named = tree.title === tree.name ? tree.name : `${tree.title} (${tree.name})`;
      tip(link, () => `${capital(roleName(tree))} ${named}: ${plural(tree.pages, "page")}`);
    },
    () => {},
  );
  link.append(name);
  return link;
}

/** What a b-tree is, in words. */
export function roleName(tree) {
  return (
    {
      schema: "list of tables and indexes",
      table: "table",
      "without-rowid": "table without rowid",
      index: "index",
    }[tree.role] ?? tree.role
  );
}

/** A word that is explained by a tip: `term("overflow page")`, or with other text. */
export function term(word, text = word) {
  const span = h("span", { class: "term", tabindex: "0" }, text);
  return tip(span, () => GLOSSARY[word] ?? "");
}

let tipBox = null;
let tipOf = null;

/** Shows a tip with `content()` (text or nodes) while `element` is pointed at or has the focus. */
export function tip(element, content) {
  const show = () => {
    tipOf = element;
    const shown = content();
    if (shown instanceof Promise) shown.then((c) => tipOf === element && showTip(c, element.getBoundingClientRect()));
    else showTip(shown, element.getBoundingClientRect());
  };
  const hide = () => {
    if (tipOf === element) hideTip();
  };
  element.addEventListener("pointerenter", (e) => e.pointerType === "mouse" && show());
  element.addEventListener("pointerleave", hide);
  element.addEventListener("focus", () => element.matches(":focus-visible") && show());
  element.addEventListener("blur", hide);
  element.addEventListener("click", hide);
  return element;
}

/** Shows a tip beside a rectangle of the window: below it, or above where there is no room. */
export function showTip(content, { left, right = left, top, bottom = top }) {
  tipBox ??= document.body.appendChild(h("div", { id: "tip", role: "tooltip" }));
  if (!content || content.length === 0) return hideTip();
  fill(tipBox, content);
  tipBox.hidden = false;
  const { width, height } = tipBox.getBoundingClientRect();
  const x = Math.max(8, Math.min(left, innerWidth - width - 8));
  const below = bottom + 8 + height <= innerHeight;
  const y = below ? bottom + 8 : Math.max(8, top - height - 8);
  tipBox.style.left = `${right > left ? x : x + 4}px`;
  tipBox.style.top = `${y}px`;
}

/** Takes the tip away. */
export function hideTip() {
  tipOf = null;
  if (tipBox) tipBox.hidden = true;
}

addEventListener("keydown", (e) => e.key === "Escape" && hideTip());
addEventListener("scroll", hideTip, true);
addEventListener("hashchange", hideTip);
