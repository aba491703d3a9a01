/** What the schemas of two files have that is not the same, and what their headers say. */
import { append, capital, fill, h, plural, roleName, treeLink } from "viz/dom.js";
import { headerFacts, schemaDifferences, wordDifferences } from "viz/compare/data.js";
import { WORDS } from "viz/compare/words.js";
import { cell, line, name, table, wide } from "viz/table.js";

/** Statements that are shown before one asks for more. */
const SHOWN = 20;
/** Statements that are shown at most after that. */
const MOST = 500;

/** A statement, with what the other file's has not marked. */
function statement(words, side) {
  if (words.length === 0)
    return h("p", { class: "faint" }, "Made by SQLite for a constraint of its table: there is no statement.");
  const marked = words.map(({ word, same }) => (same ? word : h("mark", { class: side }, word)));
  return h("pre", null, marked);
}

function lone(app, { t, tree }, file, side) {
  return h(
    "article",
    { class: "card" },
    h("h3", null, treeLink(app, t, { file }), ` is only in the ${side} file`),
    h("p", { class: "faint" }, capital(roleName(tree)), tree.role === "index" && ` of ${tree.table}`),
    tree.sql && h("pre", null, tree.sql),
  );
}

function both(app, { left, right }, f, g, words) {
  const [a, b, compared] = words(left.tree.sql, right.tree.sql);
  return h(
    "article",
    { class: "card" },
    h("h3", null, treeLink(app, left.t, { file: f }), " is not made by the same statement"),
    !compared && h("p", { class: "faint" }, WORDS.tooLong),
    h(
      "div",
      { class: "sides" },
      h("div", null, h("p", { class: "faint" }, "Left"), statement(a, "left")),
      h(
        "div",
        null,
        h("p", { class: "faint" }, ["Right: ", treeLink(app, right.t, { file: g })]),
        statement(b, "right"),
      ),
    ),
  );
}

/**
 * The part of the view that tells of tables and indexes. It is drawn again with every new summary, so
 * what was found out of two statements is kept, and nothing is compared before it is to be seen.
 */
export class Schema {
  #app;
  #files = "";
  #compared = new Map();
  #open = false;

  constructor(app) {
    this.#app = app;
    this.element = h("div");
  }

  /** `given`: `{all, f, g}`. */
  update({ all, f, g }) {
    const files = `${f} ${g}`;
    if (files !== this.#files) {
      this.#files = files;
      this.#compared.clear();
      this.#open = false;
    }
    const differences = schemaDifferences(all);
    if (differences.length === 0)
      return fill(this.element, h("p", null, "Every table and index is made by the same statement in both files."));
    const app = this.#app;
    const words = (a, b) => this.#words(a, b);
    const one = (pair) =>
      !pair.right
        ? lone(app, pair.left, f, "left")
        : !pair.left
          ? lone(app, pair.right, g, "right")
          : both(app, pair, f, g, words);
    const rest = differences.slice(SHOWN);
    return fill(
      this.element,
      h("div", { class: "schema" }, differences.slice(0, SHOWN).map(one), rest.length > 0 && this.#folded(rest, one)),
    );
  }

  #folded(rest, one) {
    const details = h("details", { open: this.#open }, h("summary", null, `${plural(rest.length, "more difference")}`));
    let drawn = false;
    const draw = () => {
      if (details.open && !drawn) append(details, rest.slice(0, MOST).map(one));
      drawn ||= details.open;
    };
    details.addEventListener("toggle", () => {
      this.#open = details.open;
      draw();
    });
    draw();
    return details;
  }

  #words(a, b) {
    const key = JSON.stringify([a, b]);
    if (!this.#compared.has(key)) this.#compared.set(key, wordDifferences(a, b));
    return this.#compared.get(key);
  }
}

/** Fields of the header that differ, and those that do not. `given`: `{left, right}`. */
export function header({ left, right }) {
  const facts = headerFacts(left, right);
  const row = ({ title, left: a, right: b }) => line(name(title), cell(a), cell(b));
  const listed = (rows) => wide(table(["Field of the header", "Left", "Right"], rows.map(row)));
  const differ = facts.filter((fact) => fact.left !== fact.right);
  const same = facts.filter((fact) => fact.left === fact.right);
  return h(
    "div",
    null,
    differ.length > 0 ? listed(differ) : h("p", null, "The headers of both files say the same."),
    same.length > 0 &&
      h(
        "details",
        null,
        h("summary", null, `${plural(same.length, "field")} that ${same.length === 1 ? "is" : "are"} the same`),
        listed(same),
      ),
  );
}
