/**
 * The search box: a page's number, the name of a table or index, a row by its rowid. What a text may
 * mean is the source's to say; names that contain it are found here, at once.
 */
import { count, fill, h, plural, roleName, swatch } from "viz/dom.js";

/** So many results are shown. */
const SHOWN = 50;
/** Milliseconds without a key before the source is asked. */
const PAUSE = 150;

export class SearchBox {
  #app;
  #input;
  #list;
  #results = [];
  #chosen = -1;
  #asked = 0;
  #timer = null;

  constructor(app) {
    this.#app = app;
    this.#list = h("ul", { class: "found", id: "found", role: "listbox", "aria-label": "Found", hidden: true });
    this.#input = h("input", {
      type: "search",
      role: "combobox",
      "aria-controls": "found",
      "aria-expanded": "false",
      "aria-autocomplete": "list",
      "aria-label": "Search",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "Page, table, index, or “table rowid 5”",
      oninput: () => this.#typed(),
      onfocus: () => this.#typed(),
      onkeydown: (e) => this.#key(e),
      onblur: () => this.#close(),
    });
    this.element = h("div", { role: "search" }, this.#input, this.#list);
    addEventListener("keydown", (e) => {
      const typing = e.target instanceof Element && e.target.closest("input, textarea, select, [contenteditable]");
      if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || typing) return;
      e.preventDefault();
      this.#input.select();
      this.#input.focus();
    });
  }

  #typed() {
    clearTimeout(this.#timer);
    const text = this.#input.value.trim();
    if (!text) return this.#close();
    this.#timer = setTimeout(() => this.#ask(text), PAUSE);
  }

  async #ask(text) {
    const asked = ++this.#asked;
    let results;
    try {
      const { trees } = await this.#app.summary();
      const found = await this.#app.source.find(this.#app.file, this.#whole(text, trees));
      results = selectedFirst(merged(found, named(trees, text)), this.#app.selection.trees);
    } catch (e) {
      results = [{ what: "error", label: e.message }];
    }
    if (asked === this.#asked && document.activeElement === this.#input) this.#show(results, text);
  }

  /** "rowid 5" is of the one table that is selected. */
  #whole(text, trees) {
    const { trees: selected } = this.#app.selection;
    if (!/^rowid\b/i.test(text) || selected?.size !== 1) return text;
    return `${trees[[...selected][0]].name} ${text}`;
  }

  async #show(results, text) {
    const { trees } = await this.#app.summary();
    this.#results = results.slice(0, SHOWN);
    const items = this.#results.map((r, i) =>
      h(
        "li",
        {
          role: "option",
          id: `found-${i}`,
          class: r.what === "error" && "none",
          onpointerdown: (e) => e.preventDefault(),
          onclick: () => this.#go(i),
          onpointermove: () => this.#choose(i),
        },
        r.tree !== undefined && trees[r.tree] && [swatch(trees[r.tree].colour), " "],
        r.label,
      ),
    );
    if (items.length === 0)
      items.push(
        h(
          "li",
          { class: "none" },
          `Nothing is called “${text}”. A page is found by its number, a row by “table rowid 5”.`,
        ),
      );
    if (results.length > SHOWN) items.push(h("li", { class: "none" }, `and ${count(results.length - SHOWN)} more`));
    fill(this.#list, items);
    this.#list.hidden = false;
    this.#input.setAttribute("aria-expanded", "true");
    this.#choose(this.#results.length > 0 ? 0 : -1);
  }

  #choose(i) {
    this.#chosen = i;
    for (const [j, item] of [...this.#list.children].entries()) {
      if (item.role === "option") item.setAttribute("aria-selected", String(j === i));
    }
    this.#list.children[i]?.scrollIntoView({ block: "nearest" });
    if (i >= 0) this.#input.setAttribute("aria-activedescendant", `found-${i}`);
    else this.#input.removeAttribute("aria-activedescendant");
  }

  #key(e) {
    const n = this.#results.length;
    if (e.key === "ArrowDown" && n > 0) this.#choose((this.#chosen + 1) % n);
    else if (e.key === "ArrowUp" && n > 0) this.#choose((this.#chosen + n - 1) % n);
    else if (e.key === "Enter") this.#enter();
    else if (e.key === "Escape") this.#list.hidden ? (this.#input.value = "") : this.#close();
    else return;
    e.preventDefault();
  }

  async #enter() {
    if (this.#list.hidden) {
      clearTimeout(this.#timer);
      await this.#ask(this.#input.value.trim());
    }
    this.#go(Math.max(0, this.#chosen));
  }

  /** Shows a result on the map. */
  #go(i) {
    const result = this.#results[i];
    if (!result || result.what === "error") return;
    this.#close();
    const trees = result.what === "tree" ? new Set([result.tree]) : this.#app.selection.trees;
    this.#app.select({ page: result.page ?? null, trees });
    const found = result.what === "tree" ? { tree: result.tree } : { page: result.page, cell: result.cell };
    this.#app.go("map", { ...found, found: Date.now() });
  }

  #close() {
    clearTimeout(this.#timer);
    this.#asked++;
    this.#results = [];
    this.#list.hidden = true;
    this.#input.setAttribute("aria-expanded", "false");
    this.#input.removeAttribute("aria-activedescendant");
  }
}

/** B-trees whose name contains a text. */
function named(trees, text) {
  const part = text.toLowerCase();
  const found = [];
  trees.forEach((tree, i) => {
    if (tree.name.toLowerCase().includes(part) || tree.title.toLowerCase().includes(part)) {
      found.push({
        what: "tree",
        tree: i,
        page: tree.root,
        label: `${tree.title}: ${roleName(tree)}, ${plural(tree.pages, "page")}`,
      });
    }
  });
  return found;
}

/** The source's results, then those of `more` that it did not have. */
function merged(found, more) {
  const has = new Set(found.filter((r) => r.what === "tree").map((r) => r.tree));
  return [...found, ...more.filter((r) => !has.has(r.tree))];
}

/** Rows of the b-trees that are selected come before those of others; the rest stays where it is. */
function selectedFirst(results, selected) {
  const other = (r) => (r.what === "row" && selected && !selected.has(r.tree) ? 1 : 0);
  return results
    .map((r, i) => [other(r), i, r])
    .sort(([a, i], [b, j]) => a - b || i - j)
    .map(([, , r]) => r);
}
