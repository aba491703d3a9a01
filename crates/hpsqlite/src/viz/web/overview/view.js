/**
 * The overview: what is to be known of a file before one looks at anything in it. Its size and free
 * space, whether it is in order, a box for a slow query (slow.js), the advice that matters most, indexes
 * that are redundant or missing, and whether the statistics of ANALYZE are those of the rows there are.
 */
import { bytes, count, fill, h, percent, plural, term, treeLink } from "viz/dom.js";
import { SlowQuery } from "viz/overview/slow.js";
import { WORDS } from "viz/overview/words.js";

/** Sentences of advice that are shown at first. */
const ADVICE = 3;
/** Tables and indexes that are listed by their sizes. */
const LARGEST = 6;

export const view = { id: "overview", title: "Overview", create: (app) => new OverviewView(app) };

class OverviewView {
  #app;
  #file = null;
  #above = h("div");
  #below = h("div");
  #slow;

  constructor(app) {
    this.#app = app;
    // The box stays while what is around it is drawn anew: somebody may be typing.
    this.#slow = app.source.can?.query ? new SlowQuery(app) : null;
    this.element = h("div", { class: "view overview" }, this.#above, this.#slow?.element, this.#below);
    app.on("summary", ({ file } = {}) => file === this.#file && this.#load());
  }

  show() {
    if (this.#file === this.#app.file) return;
    this.#file = this.#app.file;
    this.#slow?.show(this.#file);
    this.#load();
  }

  async #load() {
    const file = this.#file;
    const [summary, found] = await Promise.all([
      this.#app.summary(file).catch(() => null), // The app has told why.
      this.#app.source.overview(file).catch(() => null),
    ]);
    if (!summary || file !== this.#file) return;
    // What would help a file that is whole is not for one that is damaged.
    const damaged = summary.problem_count > 0;
    fill(
      this.#above,
      h("h2", null, "Overview"),
      !summary.whole && h("p", null, WORDS.reading),
      h("div", { class: "cards" }, size(summary), health(this.#app, summary), largest(this.#app, summary)),
      found && damaged && advice(this.#app, found, true),
    );
    const healthy = !damaged && found;
    fill(
      this.#below,
      healthy && advice(this.#app, found, false),
      healthy && h("div", { class: "cards" }, indexes(this.#app, found.indexes), statistics(found.statistics)),
    );
  }
}

const card = (title, ...content) => h("section", { class: "card", "aria-label": title }, h("h3", null, title), content);
const fact = (name, value) => [h("dt", null, name), h("dd", null, value)];

function size({ bytes: file, pages, page_size, whole, trees }) {
  const tables = trees.filter((tree) => tree.role === "table" || tree.role === "without-rowid").length;
  const all = trees.filter((tree) => tree.role === "index").length;
  return card(
    "Size",
    h("p", { class: "figure" }, bytes(file), " ", h("small", null, plural(pages, "page"))),
    h(
      "dl",
      { class: "facts" },
      fact(term("page", "Page size"), bytes(page_size)),
      fact("Tables, indexes", `${count(tables)}, ${count(all)}`),
      whole && [
        fact(
          term("free page", "Free space"),
          WORDS.free(whole.free_pages, whole.free_pages * page_size, whole.free_pages / whole.pages),
        ),
        fact("VACUUM gives back", WORDS.givesBack(whole.vacuum_gives_back)),
      ],
    ),
  );
}

function health(app, { problem_count: problems, scanned, whole, wal }) {
  return card(
    "Health",
    problems > 0
      ? h("p", { class: "wrong" }, WORDS.wrong(problems), " ", h("a", { href: app.href("problems") }, "What is wrong"))
      : h("p", { class: scanned ? "good" : "faint" }, scanned ? WORDS.inOrder : WORDS.soFar),
    h(
      "dl",
      { class: "facts" },
      whole && [
        fact("Fragmentation", WORDS.scatter(whole)),
        fact("Unused within pages", `${bytes(whole.unused)}, ${percent(whole.unused / whole.bytes)}`),
      ],
      wal && fact("Write-ahead log", h("a", { href: app.href("wal") }, WORDS.log(wal.committed - wal.copied))),
    ),
  );
}

function largest(app, { trees, pages, page_size }) {
  const sorted = trees.map((tree, t) => ({ tree, t })).sort((a, b) => b.tree.pages - a.tree.pages);
  return card(
    "Largest tables and indexes",
    h(
      "ul",
      { class: "largest" },
      sorted.slice(0, LARGEST).map(({ tree, t }) => {
        const share = pages > 0 ? tree.pages / pages : 0;
        return h(
          "li",
          null,
          h("span", null, treeLink(app, t)),
          h("span", { class: "n" }, `${bytes(tree.pages * page_size)}, ${percent(share)}`),
          h("div", { class: "bar", "aria-hidden": "true", style: { "--share": `${100 * share}%` } }),
        );
      }),
    ),
  );
}

function advice(app, { advice: list }, damaged) {
  const sentence = (parts) =>
    parts.map((part) => (typeof part === "string" ? part : treeLink(app, part.tree, { text: part.name })));
  const items = (some) => some.map((parts) => h("li", null, sentence(parts)));
  const rest = list.slice(ADVICE);
  return h(
    "section",
    { "aria-label": "Advice" },
    h("h2", null, damaged ? "What to do first" : "What matters most"),
    list.length === 0 ? h("p", null, WORDS.nothing) : h("ol", null, items(list.slice(0, ADVICE))),
    rest.length > 0 &&
      h("details", null, h("summary", null, WORDS.more(rest.length)), h("ol", { start: ADVICE + 1 }, items(rest))),
  );
}

function indexes(app, found) {
  if (!found) return card("Indexes", h("p", null, WORDS.noSchema));
  const { redundant, missing, foreign_keys: keys } = found;
  const columns = (key) => key.columns.join(", ");
  return card(
    capitalIndexes(found.count),
    found.count < 2 && keys === 0 && h("p", null, WORDS.noKeys(found.count)),
    findings("Redundant", found.count > 1 && WORDS.noneRedundant, redundant, (r) => [
      treeLink(app, r.tree),
      ` (${bytes(r.bytes)}): ${r.is_same ? "the same columns as" : "the beginning of"} `,
      beside(app, r.beside),
    ]),
    findings("Missing", keys > 0 && WORDS.noneMissing, missing, (key) => [
      treeLink(app, key.tree),
      ` (${WORDS.rows(key.entries)}): no index begins with ${columns(key)}, which refers to `,
      h("bdi", null, key.parent),
      h("pre", null, `CREATE INDEX ${name(key)} ON ${quoted(key.table)}(${key.columns.map(quoted).join(", ")});`),
    ]),
  );
}

/** What was found of a kind, each as `parts` tells it, or `none`: that it was looked for, if it was. */
function findings(title, none, list, parts) {
  if (list.length === 0 && !none) return null;
  return [
    h("h4", null, title),
    list.length === 0
      ? h("p", { class: "good" }, "✓ ", none)
      : h(
          "ul",
          null,
          list.map((each) => h("li", null, parts(each))),
        ),
  ];
}

const capitalIndexes = (n) => (n === 0 ? "No indexes" : plural(n, "index", "indexes"));

/** The b-tree of a name, once the summary is there. */
function beside(app, name) {
  const link = h("span", null, name);
  app.summary().then(
    ({ trees }) => {
      const t = trees.findIndex((tree) => tree.name === name);
      if (t >= 0) fill(link, treeLink(app, t));
    },
    () => {},
  );
  return link;
}

/** A name as SQL has it, in quotes where it needs them. */
const quoted = (text) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`);
const name = (key) => quoted([key.table, ...key.columns].join("_"));

function statistics(found) {
  if (!found) return null;
  const good = found.state === "fresh" || found.state === "not-needed";
  return card(
    "Statistics",
    h("p", { class: good ? "good" : "warn" }, WORDS.statistics[found.state]),
    found.state === "stale" &&
      h(
        "ul",
        null,
        found.tables.map((table) => h("li", null, h("bdi", null, table.table), `: ${WORDS.stale(table)}`)),
      ),
  );
}
