/**
 * What came of a query in words, numbers and rows.
 */
import { bytes, count, h, pageLink, percent, plural, seconds, swatch, tip, treeLink } from "viz/dom.js";
import { WORDS } from "viz/query/words.js";
import { cell, head, line, name, num, table, wide } from "viz/table.js";

/** What libraries are called. */
export const LIBRARIES = { hp: "HP SQLite", stock: "SQLite" };

/** A square of the colour that the engine has in all charts. */
export const engineKey = (library) => h("span", { class: `engine ${library}`, "aria-hidden": "true" });

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
    distinct === reads ? WORDS.readOnce(reads, pages) : WORDS.readAgain(reads, distinct, pages),
    share === null ? "." : WORDS.share(share),
  ];
  const most = answer.trees.find(({ tree }) => trees[tree] && trees[tree].role !== "schema");
  const scans = plan.filter(({ detail }) => detail.startsWith("SCAN ") && !detail.includes("CONSTANT"));
  const lookUps = plan.some(({ detail }) => / USING INDEX /.test(detail) || detail.startsWith("SEARCH "));
  let why = null;
  if (share !== null && logged > LOGGED * reads) {
    why = WORDS.logged(logged);
  } else if (share !== null && reads >= 20) {
    if (share >= 0.9) why = "That is the order in which a disk reads fastest.";
    else if (share < 0.5 && scans.length > 0 && !lookUps && most) {
      why = [
        WORDS.jumps,
        h("a", { href: app.href("numbers", { tree: most.tree }) }, "Numbers"),
        " says how scattered ",
        treeLink(app, most.tree),
        " is, and why.",
      ];
    } else if (share < 0.5) {
      why = WORDS.lookUps;
    }
  }
  return h("p", null, words.join(""), why && " ", why);
}

/** The numbers of one run, or of several of the same statement side by side: `[{library, answer}]`. */
export function numbersTable(runs, pageSize) {
  const row = (label, explained, f) =>
    line(
      name(explained ? told(label, explained) : label),
      runs.map(({ answer }) => num(f(answer))),
    );
  const long = (f) => (answer) => (answer.runs ? plural(f(answer.runs), "page") : "–");
  const library = ({ library: l, answer }) => head([engineKey(l), told(LIBRARIES[l], `SQLite ${answer.library}`)], "n");
  const lines = [
    row("Pages read", WORDS.reads, (a) => count(a.reads)),
    row("in bytes", null, (a) => bytes(a.reads * pageSize)),
    row("different pages", null, (a) => count(a.distinct)),
    row("Steps to the next page of the file", WORDS.next, (a) =>
      adjacentShare(a) === null ? "–" : `${count(a.adjacent)}, ${percent(adjacentShare(a))}`,
    ),
    row("Runs of adjacent pages", WORDS.run, (a) => (a.runs ? count(a.runs.count) : "–")),
    row(
      "half of them no longer than",
      null,
      long(({ median }) => median),
    ),
    row(
      "longest",
      null,
      long(({ longest }) => longest),
    ),
    row("Calls of the system that read them", WORDS.calls, (a) => count(a.calls)),
    runs.some(({ answer }) => answer.from_log > 0) && row("from the write-ahead log", null, (a) => count(a.from_log)),
    row("Rows of the result", null, (a) => count(a.row_count)),
    row("Time, while it was watched", WORDS.time, (a) => seconds(a.seconds)),
  ];
  return wide(table([cell(), ...runs.map(library)], lines, { class: "query-numbers" }));
}

/** A text that is explained by a tip. */
export function told(label, explained) {
  return tip(h("span", { class: "term", tabindex: "0" }, label), () => explained);
}

/** What was read of each b-tree, as a table with bars. */
export function treesTable(app, answer) {
  if (answer.trees.length === 0) return null;
  const row = ({ tree, read, pages }) => {
    const share = pages > 0 ? Math.min(1, read / pages) : 0;
    const bar = h("span", { class: "query-bar", style: { "--share": `${share * 100}%` }, "aria-hidden": "true" });
    return line(
      cell(treeLink(app, tree)),
      num(`${count(read)} of ${count(pages)}`),
      h("td", { class: "query-share" }, bar, " ", percent(share)),
    );
  };
  return wide(table(["Table or index", head("pages read", "n"), "share"], answer.trees.map(row)));
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
      table(
        columns,
        rows.map((row) => line(row.map(valueCell))),
      ),
    ),
    more && h("p", { class: "small faint" }, WORDS.firstRows(rows.length, all)),
  ];
}

function valueCell({ type, value, bytes: whole }) {
  if (type === "null") return h("td", { class: "faint" }, "NULL");
  if (type === "integer" || type === "real") return num(value);
  if (type === "blob") {
    const cut = whole > value.length / 2 ? "…" : "";
    return cell(h("code", null, `x'${value}${cut}'`), " ", h("small", null, bytes(whole)));
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
