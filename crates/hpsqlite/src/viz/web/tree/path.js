/**
 * The way to a key: a box for a rowid or the values of a key, and each step from the root down with the
 * cell that leads on.
 */
import { count, fill, h, pageLink, plural } from "viz/dom.js";
import { brief } from "viz/page/picture.js";
import { WORDS } from "viz/tree/words.js";

/**
 * The values that a person wrote, separated by commas, as the source takes them: numbers, NULL, 'text' or
 * "text", x'hex digits'; all else is text as it stands.
 */
export function parseKey(text) {
  const values = [];
  const one = /\s*(?:'((?:[^']|'')*)'|"((?:[^"]|"")*)"|([^,]*?))\s*(,|$)/y;
  let ended = false;
  while (!ended) {
    const blob = /\s*x'([0-9a-f]*)'\s*(,|$)/iy;
    blob.lastIndex = one.lastIndex;
    const hex = blob.exec(text);
    if (hex) {
      if (hex[1].length % 2) throw new Error("A blob has two hexadecimal digits for each byte.");
      values.push({ blob: hex[1] });
      one.lastIndex = blob.lastIndex;
      ended = hex[2] === "";
      continue;
    }
    const found = one.exec(text);
    if (!found) throw new Error("A quote has no end.");
    const [, single, double, bare, end] = found;
    if (single !== undefined) values.push(single.replaceAll("''", "'"));
    else if (double !== undefined) values.push(double.replaceAll('""', '"'));
    else values.push(plain(bare));
    ended = end === "";
  }
  return values;
}

function plain(word) {
  if (word === "") throw new Error("A value is missing: an empty text is written as ''.");
  if (/^null$/i.test(word)) return null;
  if (/^[+-]?\d+$/.test(word))
    return Number.isSafeInteger(Number(word)) ? Number(word) : { integer: String(BigInt(word.replace("+", ""))) };
  const number = Number(word);
  return Number.isFinite(number) && /^[+-]?[\d.]/.test(word) ? number : word;
}

/** The box and the way that it found. */
export class TreePath {
  #app;
  #drawing;
  #tree = 0;
  #facts = null;
  #info = null;
  #asked = 0;
  #input = h("input", { type: "text", id: "tree-key", autocomplete: "off", spellcheck: "false" });
  #label = h("label", { for: "tree-key" });
  #steps = h("div", { class: "tree-steps", role: "status" });

  constructor(app, drawing) {
    this.#app = app;
    this.#drawing = drawing;
    const form = h(
      "form",
      { class: "row" },
      this.#label,
      this.#input,
      h("button", { type: "submit", class: "primary" }, "Show the way"),
    );
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      this.#submit();
    });
    this.element = h("div", null, form, this.#steps);
  }

  get #byRowid() {
    return this.#info.role === "table" || this.#info.role === "schema";
  }

  /** A b-tree to look in: its number, its entry of the summary, what the source says of it. */
  show(tree, info, facts) {
    this.#tree = tree;
    this.#info = info;
    this.#facts = facts;
    this.#asked++;
    const keys = facts.columns.filter((column) => column.key).map((column) => column.name ?? "expression");
    this.#label.textContent = this.#byRowid
      ? "Rowid"
      : keys.length > 1
        ? `Values of ${keys.join(", ")} (one or more)`
        : `Value of ${keys[0] ?? "the key"}`;
    this.#input.placeholder = this.#byRowid ? "for example 42" : "for example 42, 'text', NULL, x'00ff'";
    this.#input.value = "";
    fill(
      this.#steps,
      facts.columns_error && !this.#byRowid && h("p", { class: "small" }, WORDS.unordered(facts.columns_error)),
    );
  }

  /** Shows the way that an address names: to a `rowid`, to a `key` (as JSON), to a `page`. */
  async ask(params) {
    let what;
    if (params.rowid !== undefined) {
      what = { rowid: params.rowid };
      this.#input.value = params.rowid;
    } else if (params.key !== undefined) {
      what = { key: JSON.parse(params.key) };
      this.#input.value = what.key.map(written).join(", ");
    } else if (params.page !== undefined) {
      what = { page: params.page };
    } else {
      return;
    }
    await this.#find(what);
  }

  #submit() {
    const text = this.#input.value.trim();
    try {
      if (text === "") return;
      if (this.#byRowid) {
        if (!/^[+-]?\d+$/.test(text.replaceAll(",", ""))) throw new Error("A rowid is a whole number.");
        this.#app.go("tree", { tree: this.#tree, rowid: text.replaceAll(",", "") });
      } else {
        this.#app.go("tree", { tree: this.#tree, key: JSON.stringify(parseKey(text)) });
      }
    } catch (e) {
      fill(this.#steps, h("p", { class: "wrong" }, e.message));
    }
  }

  async #find(what) {
    const app = this.#app;
    const token = ++this.#asked;
    try {
      const way = await app.source.path(app.file, this.#tree, what);
      // A saved page does not have all pages inside.
      const bare = (n) => ({ number: n, kind: "", cells: null });
      const pages = await Promise.all(way.pages.map((n) => app.source.page(app.file, n).catch(() => bare(n))));
      if (token !== this.#asked) return;
      this.#drawing.showWay(way.pages);
      this.#draw(way, pages, what);
    } catch (e) {
      if (token === this.#asked) fill(this.#steps, h("p", { class: "wrong" }, sentence(e.message)));
    }
  }

  #draw(way, pages, what) {
    const app = this.#app;
    const last = pages.length - 1;
    const steps = pages.map((page, i) => {
      const cells = page.cells ?? [];
      const unknown = page.cells === null;
      const taken = way.cells[i];
      const entry = taken === undefined ? null : cells.find((e) => e.index === taken);
      const title = h(
        "strong",
        null,
        i === 0 ? "Root" : page.kind.endsWith("leaf") ? "Leaf" : `Level ${i}`,
        ", page ",
        pageLink(app, page.number),
      );
      let words;
      if (unknown) words = taken === undefined ? "" : `cell ${taken}`;
      else if (i < last && entry)
        words = [
          this.#cellLink(page, entry),
          ` of ${count(cells.length)}: ${this.#byRowid ? "up to" : "what comes before"} `,
          h("code", null, this.#key(entry)),
        ];
      else if (i < last) words = `what comes after all of its ${plural(cells.length, "cell")}`;
      else if (entry)
        words = [this.#cellLink(page, entry), ` of ${count(cells.length)}: `, h("code", null, this.#key(entry))];
      else if (what.page !== undefined) words = plural(cells.length, "cell");
      else words = "it is not there; this is where it would be";
      return h("li", null, title, words && ": ", words);
    });
    const found = way.cell !== null && way.cell !== undefined;
    const title =
      what.page !== undefined
        ? `The way to page ${count(what.page)}`
        : found
          ? "The way to it"
          : "It is not in this b-tree";
    fill(
      this.#steps,
      h("h3", null, `${title}: ${plural(pages.length, "page")} ${pages.length === 1 ? "is" : "are"} read`),
      h("ol", null, steps),
    );
  }

  #cellLink(page, entry) {
    return h("a", { href: this.#app.href("page", { page: page.number, cell: entry.index }) }, `cell ${entry.index}`);
  }

  /** What a cell's key is, with the names of its columns. */
  #key(entry) {
    if (this.#byRowid) return `rowid ${entry.rowid}`;
    const columns = this.#facts.columns;
    const values = (entry.record ?? [])
      .slice(0, 4)
      .map((value, i) => `${columns[i] ? (columns[i].name ?? "expression") : `value ${i + 1}`} = ${brief(value, 40)}`);
    return values.join(", ");
  }
}

/** A value of a key as one writes it. */
function written(value) {
  if (value === null) return "NULL";
  if (typeof value === "object") return value.integer ?? `x'${value.blob}'`;
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}

function sentence(text) {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
