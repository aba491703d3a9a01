/**
 * Where a page stands: what it is, whose, the way to it from the root, what is beside and below it, the
 * chain or list that it is in.
 */
import { columnsOf } from "viz/page/columns.js";
import { bytes as inUnits, capital, count, fill, h, pageLink, percent, plural, term, treeLink } from "viz/dom.js";
import { isBtree } from "viz/page/bytes.js";

/** Links that are shown of a long list before the rest is counted. */
const SHOWN = 40;

/** Words for a kind of page, with what they mean. */
const KIND_TERMS = {
  "table-leaf": "leaf",
  "index-leaf": "leaf",
  "table-interior": "interior page",
  "index-interior": "interior page",
  overflow: "overflow page",
  "free-trunk": "free list",
  "free-leaf": "free page",
  reserved: "reserved page",
  "pointer-map": "pointer map",
  "lock-byte": "lock-byte page",
  orphan: "orphan",
};

/** Runs of adjacent pages in a list of pages, upwards or downwards, in the list's order: [first, last]. */
export function runs(pages) {
  const found = [];
  for (const n of pages) {
    const last = found.at(-1);
    const step = last ? n - last[1] : 0;
    const goesOn = last && (last[0] === last[1] ? Math.abs(step) === 1 : step === Math.sign(last[1] - last[0]));
    if (goesOn) last[1] = n;
    else found.push([n, n]);
  }
  return found;
}

/** 3 as "3rd". */
function ordinal(n) {
  const ending = { one: "st", two: "nd", few: "rd", other: "th" }[
    new Intl.PluralRules("en", { type: "ordinal" }).select(n)
  ];
  return `${count(n)}${ending}`;
}

/** Links to a list of pages, adjacent ones as one range. */
export function pageRuns(app, pages, shown = SHOWN) {
  const all = runs(pages);
  const links = all
    .slice(0, shown)
    .map(([first, last]) =>
      h("span", { class: "run" }, pageLink(app, first), first === last ? null : [" to ", pageLink(app, last)]),
    );
  const rest = all.length - links.length;
  return h(
    "span",
    { class: "runs" },
    links,
    rest > 0 && h("span", { class: "faint" }, `and ${plural(rest, "more run")}`),
  );
}

/** The facts about one page at a time. */
export class PageLinks {
  #app;
  element = h("dl", { class: "facts page-links" });

  constructor(app) {
    this.#app = app;
  }

  show(page, { kinds, trees }, pages) {
    const app = this.#app;
    const { kind, owner, around, number: n } = page;
    const name = kinds.find((k) => k.letter === LETTERS[kind])?.name ?? kind;
    const tree = owner === null || owner === undefined ? null : trees[owner];
    const rows = [];
    const add = (what, ...value) => rows.push(h("dt", null, what), h("dd", null, value));
    const kept = kind === "reserved" || kind === "free-trunk";
    add(
      "Kind",
      KIND_TERMS[kind] ? term(KIND_TERMS[kind], capital(name)) : capital(name),
      kind === "unknown" && " yet: it is known when every page has been read",
    );
    if (tree) {
      add(
        kept ? "Kept for" : "Belongs to",
        treeLink(app, owner),
        tree.role === "index" && ` (index of ${tree.table})`,
        !kept && [", ", h("a", { href: app.href("tree", { tree: owner, page: n }) }, "its way in the b-tree")],
      );
    }
    if (isBtree(kind) || kind === "overflow") add("Full", percent(page.fill / 255));
    this.#way(add, page, tree);
    if (around.children.length > 0) {
      add(
        kind === "free-trunk" ? "Lists" : "Below it",
        plural(around.children.length, "page"),
        ": ",
        pageRuns(app, around.children),
      );
    }
    if (kind === "free-leaf" || kind === "reserved") {
      if (page.parent) add("Listed by", pageLink(app, page.parent), " (a trunk of the free list)");
      this.#beside(add, "In that list", around);
    }
    if (kind === "free-trunk") this.#beside(add, "In the free list", around);
    if (n > 0) this.#inFile(add, n, pages);
    fill(this.element, rows);
  }

  #way(add, page, tree) {
    const app = this.#app;
    const { kind, around, number: n } = page;
    if (isBtree(kind)) {
      if (around.path.length === 0) add("Place", "The root");
      else
        add(
          "From the root",
          h(
            "span",
            { class: "runs" },
            around.path.map((p, i) => [i > 0 && "→ ", pageLink(app, p)]),
            "→ this",
          ),
        );
      if (around.path.length > 0) this.#beside(add, "In key order", around);
    }
    if (kind === "free-trunk") this.#chain(add, "Trunks", n);
    if (kind !== "overflow") return;
    const holder = around.path.at(-1);
    if (holder) {
      const cell = h("span", null);
      add(
        "Part of",
        cell,
        "page ",
        pageLink(app, holder),
        around.path.length > 1 && [" (root ", pageLink(app, around.path[0]), ")"],
      );
      // What cannot be had is left out.
      this.#holder(cell, holder, page).catch(() => {});
    }
    this.#beside(add, "In its chain", { before: around.before === holder ? 0 : around.before, after: around.after });
    this.#chain(add, "Chain", n);
  }

  /** The cell whose record an overflow page holds a part of, and which part. */
  async #holder(element, holder, page) {
    const app = this.#app;
    const [from, { pages: chain }, { usable }] = await Promise.all([
      app.source.page(app.file, holder),
      app.source.chain(app.file, page.number),
      app.summary(),
    ]);
    const entry = (from.cells ?? []).find((e) => e.overflow === page.around.chain);
    if (!entry) return;
    const key = entry.rowid === null || entry.rowid === undefined ? "" : ` (rowid ${entry.rowid})`;
    fill(
      element,
      h("a", { href: app.href("page", { page: holder, cell: entry.index }) }, `cell ${entry.index}`),
      `${key} in `,
    );
    const place = chain.indexOf(page.number);
    const first = entry.local + place * (usable - 4);
    const last = Math.min(entry.payload, first + usable - 4) - 1;
    if (place < 0 || last < first) return;
    const columns = await columnsOf(app, app.file, page.owner);
    const inside = (entry.record ?? []).flatMap(({ at, len }, i) =>
      at <= last && at + len > first && len > 0
        ? [columns[i] ? (columns[i].name ?? "expression") : `value ${i + 1}`]
        : [],
    );
    element.parentElement?.append(
      `: bytes ${count(first)} to ${count(last)} of a record of ${inUnits(entry.payload)}`,
      inside.length > 0 ? `, of ${inside.join(", ")}` : "",
    );
  }

  /** The chain or list that a page is in, when it has come. */
  #chain(add, what, n) {
    const app = this.#app;
    const whole = h("span", null, "…");
    add(what, whole);
    app.source.chain(app.file, n).then(
      ({ pages: chain, more }) => {
        const place = chain.indexOf(n);
        const pieces = runs(chain).length;
        const all = `${more ? "more than " : ""}${plural(chain.length, "page")}`;
        fill(
          whole,
          place >= 0 ? `the ${ordinal(place + 1)} of ${all}` : all,
          pieces > 1 ? `, in ${plural(pieces, "piece")}: ` : ", one after another in the file: ",
          pageRuns(app, chain),
        );
      },
      (e) => fill(whole, e.message),
    );
  }

  #beside(add, what, { before, after }) {
    const app = this.#app;
    const parts = [
      before ? ["before it ", pageLink(app, before)] : "nothing before it",
      after ? [", after it ", pageLink(app, after)] : ", nothing after it",
    ];
    add(what, parts);
  }

  #inFile(add, n, pages) {
    const app = this.#app;
    add(
      "In the file",
      n > 1 ? ["before it ", pageLink(app, n - 1)] : "the first page",
      n < pages ? [", after it ", pageLink(app, n + 1)] : ", the last page",
      ", ",
      h("a", { href: app.href("map", { page: n }) }, "on the map"),
    );
  }
}

/** Letters of the kinds, by the names that pages have. */
export const LETTERS = {
  unknown: "?",
  "table-leaf": "t",
  "table-interior": "T",
  "index-leaf": "i",
  "index-interior": "I",
  overflow: "o",
  "free-trunk": "F",
  "free-leaf": "f",
  reserved: "r",
  "pointer-map": "p",
  "lock-byte": "l",
  orphan: "x",
};
