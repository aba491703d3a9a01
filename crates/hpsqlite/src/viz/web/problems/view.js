/**
 * The Problems view: what is wrong with the file, page by page, grouped by the table or index that the
 * pages belong to.
 */
import { count, fill, h, pageLink, plural, treeLink } from "viz/dom.js";
import { CHECKED, WORDS } from "viz/problems/words.js";
import { moreButton } from "viz/table.js";

/** Lines of a group that are shown, and that a press of its button adds. */
const LINES = 100;
/** Groups that are shown at first. */
const GROUPS = 50;

export const view = {
  id: "problems",
  title: "Problems",
  number: ({ problem_count: n }) => n,
  create: (app) => new ProblemsView(app),
};

class ProblemsView {
  #app;
  #file = null;
  #summary = null;
  #told = { count: 0, problems: [] };
  #filter = "";
  #lines = new Map();
  #groups = GROUPS;
  #head = h("div");
  #list = h("div");

  constructor(app) {
    this.#app = app;
    this.element = h("div", { class: "view problems" }, this.#head, this.#list);
    app.on("summary", ({ file } = {}) => file === this.#file && this.#load());
  }

  show() {
    if (this.#file !== this.#app.file) {
      this.#file = this.#app.file;
      this.#filter = "";
      this.#load();
    }
  }

  async #load() {
    const file = this.#file;
    try {
      const [summary, told] = await Promise.all([this.#app.summary(file), this.#app.source.problems(file)]);
      if (file !== this.#file) return;
      this.#summary = summary;
      this.#told = told;
      fill(this.#head, h("h2", null, "Problems"), this.#words());
      this.#draw();
    } catch (e) {
      this.#app.fail(e);
    }
  }

  #words() {
    const { count: all, problems } = this.#told;
    const { scanned } = this.#summary;
    const checked = h(
      "details",
      null,
      h("summary", null, "What is looked at"),
      h(
        "ul",
        { class: "checked" },
        CHECKED.map((what) => h("li", null, what)),
      ),
    );
    const going = !scanned && h("p", null, "The file is still being read; more may be found.");
    if (all === 0) {
      return [going || h("p", { class: "good" }, "✓ Nothing is wrong with the pages of this file."), checked];
    }
    const cut = problems.length < all ? ` The first ${count(problems.length)} are listed.` : "";
    const input = (e) => {
      this.#filter = e.target.value;
      this.#groups = GROUPS;
      this.#lines.clear();
      this.#draw();
    };
    return [
      going,
      h("p", { class: "wrong" }, WORDS.found(all, cut)),
      h("p", null, WORDS.many),
      checked,
      h(
        "div",
        { class: "row" },
        h("input", {
          type: "search",
          placeholder: "Filter by page or words",
          "aria-label": "Filter by page number or words",
          oninput: input,
        }),
      ),
    ];
  }

  /** Problems that the filter leaves, by b-tree: those of the file first, of no b-tree last. */
  #grouped() {
    const wanted = this.#filter.trim().toLowerCase();
    const page = /^[\d,]+$/.test(wanted) ? Number(wanted.replaceAll(",", "")) : null;
    const groups = new Map();
    for (const problem of this.#told.problems) {
      const name = this.#summary.trees[problem.tree]?.title ?? "";
      const fits = page !== null ? problem.page === page : `${name} ${problem.what}`.toLowerCase().includes(wanted);
      if (!fits) continue;
      const key = problem.page === 0 ? -1 : (problem.tree ?? Infinity);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(problem);
    }
    return [...groups].sort(([a], [b]) => a - b);
  }

  #draw() {
    if (this.#told.count === 0) return this.#list.replaceChildren();
    const groups = this.#grouped();
    if (groups.length === 0) return fill(this.#list, h("p", { class: "empty" }, "No problem fits the filter."));
    const left = groups.length - this.#groups;
    fill(
      this.#list,
      groups.slice(0, this.#groups).map(([key, problems]) => this.#group(key, problems)),
      this.#more(
        left,
        () => (this.#groups += GROUPS),
        `Show ${plural(Math.min(left, GROUPS), "more group")} of ${count(left)}`,
      ),
    );
  }

  #group(key, problems) {
    const title = key === -1 ? "The file" : key === Infinity ? "Pages of no table or index" : treeLink(this.#app, key);
    const shown = this.#lines.get(key) ?? LINES;
    const left = problems.length - shown;
    const line = (p) =>
      h(
        "li",
        null,
        p.page > 0 ? h("span", null, "page ", pageLink(this.#app, p.page)) : h("span", { class: "faint" }, "the file"),
        h("span", null, p.what),
      );
    return h(
      "section",
      null,
      h("h3", null, title, h("small", null, plural(problems.length, "problem"))),
      h("ul", null, problems.slice(0, shown).map(line)),
      this.#more(left, () => this.#lines.set(key, shown + 10 * LINES)),
    );
  }

  #more(left, change, text) {
    const add = () => {
      change();
      this.#draw();
    };
    return moreButton(left, 10 * LINES, add, text);
  }
}
