/**
 * What came of a query in words, numbers and rows.
 */
import { bytes, capital, count, h, pageLink, percent, plural, seconds, swatch, tip, treeLink } from "viz/dom.js";

/** What libraries are called. */
export const LIBRARIES = { hp: "HP SQLite", stock: "SQLite" };

/** With a larger share of pages from the log, page numbers do not tell how the disk was read. */
const LOGGED = 0.03;

/** Share of steps that go to the next page of the file; a page read again at once is no step. */
export function adjacentShare({ reads, adjacent, again }) {
  const steps = reads - 1 - again;
  return steps > 0 ? adjacent / steps : null;
}

/** What was read, in a sentence or two, and what that means. */
export function verdict(app, answer, { pages, trees }) {
  const { reads, distinct, plan, from_log: logged } = answer;
  if (reads === 0) return h("p", null, "It read no page: what it needs is in the statement itself.");
  const share = adjacentShare(answer);
  const words = [
    distinct === reads
      ? `It read ${plural(reads, "page")} of the ${count(pages)} in the file`
      : `It read ${plural(reads, "page")}: ${count(distinct)} different ones of the ${count(pages)} in the file, and ${count(reads - distinct)} times one that it had read before`,
    share === null ? "." : `. ${capital(percent(share))} of the steps went to the next page of the file.`,
  ];
  const most = answer.trees.find(({ tree }) => trees[tree] && trees[tree].role !== "schema");
  const scans = plan.filter(({ detail }) => detail.startsWith("SCAN ") && !detail.includes("CONSTANT"));
  const lookUps = plan.some(({ detail }) => / USING INDEX /.test(detail) || detail.startsWith("SEARCH "));
  let why = null;
  if (share !== null && logged > LOGGED * reads) {
    why = `But ${plural(logged, "page")} came from the write-ahead log, where pages lie in the order in which they were written: their numbers do not say how the disk was read.`;
  } else if (share !== null && reads >= 20) {
    if (share >= 0.9) why = "That is the order in which a disk reads fastest.";
    else if (share < 0.5 && scans.length > 0 && !lookUps && most) {
      why = [
        "The other steps jump, and on a disk that has to fetch them each jump is a request of its own. ",
        h("a", { href: app.href("numbers", { tree: most.tree }) }, "Numbers"),
        " says how scattered ",
        treeLink(app, most.tree),
        " is, and why.",
      ];
    } else if (share < 0.5) {
      why =
        "The other steps jump: rows are looked up one by one, in the order in which an index or another table names them, wherever they are in the file.";
    }
  }
  return h("p", null, words.join(""), why && " ", why);
}

/** The numbers of one run, or of several of the same statement side by side: `[{library, answer}]`. */
export function numbersTable(runs, pageSize) {
  const of = (f) => runs.map(({ answer }) => h("td", { class: "n" }, f(answer)));
  const row = (label, explained, f) =>
    h("tr", null, h("th", { scope: "row" }, explained ? told(label, explained) : label), of(f));
  const long = (f) => (answer) => (answer.runs ? plural(f(answer.runs), "page") : "–");
  return h(
    "div",
    { class: "wide" },
    h(
      "table",
      { class: "query-numbers" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("td", null),
          runs.map(({ library, answer }) =>
            h(
              "th",
              { class: "n", scope: "col" },
              tip(h("span", { class: "term", tabindex: "0" }, LIBRARIES[library]), () => `SQLite ${answer.library}`),
            ),
          ),
        ),
      ),
      h(
        "tbody",
        null,
        row(
          "Pages read",
          "Reads of pages from the file or from its log, first page 1, with which every transaction begins. A page that is still in SQLite's cache (2 MB at first) is not read again.",
          (a) => count(a.reads),
        ),
        row("in bytes", null, (a) => bytes(a.reads * pageSize)),
        row("different pages", null, (a) => count(a.distinct)),
        row(
          "Steps to the next page of the file",
          "The share of steps from one page to another that go to the page right after it. The same page read again at once is no step.",
          (a) => (adjacentShare(a) === null ? "–" : `${count(a.adjacent)}, ${percent(adjacentShare(a))}`),
        ),
        row(
          "Runs of adjacent pages",
          "A run is as many pages as follow one another in the file. The same page read again at once does not end it; each new run is a jump.",
          (a) => (a.runs ? count(a.runs.count) : "–"),
        ),
        row(
          "half of them no longer than",
          null,
          long((r) => r.median),
        ),
        row(
          "longest",
          null,
          long((r) => r.longest),
        ),
        row(
          "Calls of the system that read them",
          "SQLite reads a page by one call. HP SQLite reads adjacent leaves by one.",
          (a) => count(a.calls),
        ),
        runs.some(({ answer }) => answer.from_log > 0) &&
          row("from the write-ahead log", null, (a) => count(a.from_log)),
        row("Rows of the result", null, (a) => count(a.row_count)),
        row(
          "Time, while it was watched",
          "With the pages as warm or cold as the system had them, by one thread. To measure, use hpsqlite compare.",
          (a) => seconds(a.seconds),
        ),
      ),
    ),
  );
}

/** A text that is explained by a tip. */
function told(label, explained) {
  return tip(h("span", { class: "term", tabindex: "0" }, label), () => explained);
}

/** What was read of each b-tree, as a table with bars. */
export function treesTable(app, answer) {
  if (answer.trees.length === 0) return null;
  return h(
    "div",
    { class: "wide" },
    h(
      "table",
      null,
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("th", { scope: "col" }, "Table or index"),
          h("th", { class: "n", scope: "col" }, "pages read"),
          h("th", { scope: "col" }, "share"),
        ),
      ),
      h(
        "tbody",
        null,
        answer.trees.map(({ tree, read, pages }) => {
          const share = pages > 0 ? Math.min(1, read / pages) : 0;
          return h(
            "tr",
            null,
            h("td", null, treeLink(app, tree)),
            h("td", { class: "n" }, `${count(read)} of ${count(pages)}`),
            h(
              "td",
              { class: "query-share" },
              h("span", { class: "query-bar", style: { "--share": `${share * 100}%` }, "aria-hidden": "true" }),
              " ",
              percent(share),
            ),
          );
        }),
      ),
    ),
  );
}

/** Pages by kind, in a line. */
export function kindsLine(answer, { kinds }) {
  const parts = answer.kinds.map(({ letter, read }) => {
    const kind = kinds.find((k) => k.letter === letter);
    return h("li", null, kind?.colour && swatch(kind.colour), ` ${kind?.name ?? letter}: ${count(read)}`);
  });
  return parts.length > 0 && h("ul", { class: "query-kinds" }, parts);
}

/** The first rows of the result. */
export function rowsTable(answer) {
  const { columns, rows, row_count: all, more } = answer;
  if (columns.length === 0) return null;
  if (rows.length === 0)
    return h("p", { class: "empty" }, all === 0 ? "No rows." : "The rows are too large to be shown.");
  return [
    h(
      "div",
      { class: "wide query-rows", tabindex: "0" },
      h(
        "table",
        null,
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            columns.map((name) => h("th", { scope: "col" }, name)),
          ),
        ),
        h(
          "tbody",
          null,
          rows.map((row) => h("tr", null, row.map(valueCell))),
        ),
      ),
    ),
    more &&
      h(
        "p",
        { class: "small faint" },
        `The first ${plural(rows.length, "row")} of ${count(all)}. The query ran to its end.`,
      ),
  ];
}

function valueCell({ type, value, bytes: whole }) {
  if (type === "null") return h("td", { class: "faint" }, "NULL");
  if (type === "integer" || type === "real") return h("td", { class: "n" }, value);
  if (type === "blob") {
    const cut = whole > value.length / 2 ? "…" : "";
    return h("td", null, h("code", null, `x'${value}${cut}'`), " ", h("small", null, bytes(whole)));
  }
  return h("td", { class: "query-text" }, value, whole !== undefined && h("small", null, `… ${bytes(whole)}`));
}

/** One read in words: which, of what, and how far from the one before. */
export function readLine(app, reads, position, describe) {
  if (position === 0) return "Nothing has been read yet.";
  const page = reads[position - 1];
  const before = position > 1 ? reads[position - 2] : null;
  const step = before === null ? "" : stepWords(page - before);
  return [
    h("strong", null, `Read ${count(position)} of ${count(reads.length)}: `),
    "page ",
    pageLink(app, page),
    `, ${describe(page)}`,
    step && `; ${step}`,
  ];
}

function stepWords(by) {
  if (by === 1) return "the next page of the file";
  if (by === 0) return "the same page again";
  return `a jump of ${plural(Math.abs(by), "page")} ${by > 0 ? "forwards" : "back"}`;
}
