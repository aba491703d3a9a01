/**
 * EXPLAIN QUERY PLAN as a tree, each step with what it means in plain words.
 */
import { h } from "viz/dom.js";

/** A table or index in a step: all that is no word of the plan. */
const NAME = "(.+?)";

/** What steps mean: [pattern, explanation of its parts]. The first that fits is taken. */
const MEANINGS = [
  [`^SCAN (\\d+ )?CONSTANT ROWS?`, () => "Nothing is read: the values are in the statement."],
  [
    `^SCAN ${NAME} VIRTUAL TABLE`,
    (t) => `Asks the module behind ${t} for rows; that module decides which pages are read.`,
  ],
  [
    `^SCAN ${NAME} USING COVERING INDEX (.+)$`,
    (t, i) =>
      `Goes through all of index ${i}, which holds every column that is needed. The table ${t} itself is not read.`,
  ],
  [
    `^SCAN ${NAME} USING INDEX (.+)$`,
    (t, i) =>
      `Goes through all of index ${i} in its order, and looks up the row in ${t} for each entry. These look-ups ` +
      "jump unless the table is in the same order.",
  ],
  [`^SCAN ${NAME}$`, (t) => `Reads all of ${t}, leaf by leaf in the order of its keys.`],
  [`^SEARCH ${NAME} VIRTUAL TABLE`, (t) => `Asks the module behind ${t} for the rows that fit.`],
  [
    `^SEARCH ${NAME} USING INTEGER PRIMARY KEY \\((.+)\\)$`,
    (t, k) =>
      k === "rowid=?"
        ? `Finds one row of ${t} by its rowid: one way down the b-tree, a page a level, each time.`
        : `Reads the part of ${t} whose rowids are in a range: one way down, then leaf by leaf.`,
  ],
  [`^SEARCH ${NAME} USING PRIMARY KEY`, (t) => `Finds rows of ${t} by its primary key, down its own b-tree.`],
  [
    `^SEARCH ${NAME} USING AUTOMATIC (?:PARTIAL )?(?:COVERING )?INDEX`,
    (t) =>
      `There is no index that fits, so SQLite makes one of ${t} for this statement alone: first it reads all of ` +
      "the table, then it looks up in memory.",
  ],
  [
    `^SEARCH ${NAME} USING COVERING INDEX (.+?)(?: \\((.+)\\))?$`,
    (t, i) =>
      `Finds entries in index ${i}, which holds every column that is needed. The table ${t} itself is not read.`,
  ],
  [
    `^SEARCH ${NAME} USING INDEX (.+?)(?: \\((.+)\\))?$`,
    (t, i) =>
      `Finds entries in index ${i}, and looks up the row in ${t} for each of them: often another page each time.`,
  ],
  [
    `^SEARCH ${NAME}(?: EXISTS)? USING HASH TABLE`,
    (t) => `Looks rows of ${t} up in a hash table in memory, which one scan of ${t} fills.`,
  ],
  [`^SEARCH ${NAME}$`, (t) => `Finds some rows of ${t}.`],
  [
    `^USE TEMP B-TREE FOR (.+)$`,
    (w) =>
      `${purpose(w)} in memory, or in a temporary file if there are many rows. No pages of this database are read ` +
      "for that.",
  ],
  [`^USE HASH TABLE FOR (.+)$`, (w) => `${purpose(w)} in a hash table in memory: High Performance SQLite's own way.`],
  [
    `^(?:CREATE )?BLOOM FILTER`,
    () => "A small table of bits in memory that tells quickly which rows cannot match, so that they are not looked up.",
  ],
  [`^MULTI-INDEX OR`, () => "Each part of the OR is found by an index of its own; the rows are then put together."],
  [`^INDEX \\d+$`, () => "One part of the OR."],
  [
    `^(?:REUSE )?(?:CORRELATED )?(?:SCALAR |LIST )?SUBQUERY`,
    (step) =>
      step.includes("CORRELATED")
        ? "A SELECT inside the statement that depends on the row outside: it runs again for every row."
        : "A SELECT inside the statement. It runs once, and its result is kept.",
  ],
  [`^CO-ROUTINE (.+)$`, (v) => `Makes the rows of ${v} one by one, as they are wanted.`],
  [`^MATERIALIZE (.+)$`, (v) => `Makes all rows of ${v} first, and keeps them in memory or in a temporary file.`],
  [`^COMPOUND QUERY`, () => "Several SELECTs put together."],
  [`^LEFT-MOST SUBQUERY`, () => "The first of them."],
  [`^UNION ALL`, () => "Its rows come after those before."],
  [
    `^(UNION|EXCEPT|INTERSECT) USING TEMP B-TREE`,
    () => "Rows are compared with those before in memory, or in a temporary file.",
  ],
  [`^MERGE`, () => "Both sides are sorted, and merged like a zip."],
  [`^(?:LEFT|RIGHT)$`, () => "One side of the merge."],
  [`^RIGHT-JOIN (.+)$`, (t) => `Reads the rows of ${t} again that found no partner.`],
  [`^SETUP`, () => "The first rows, before it repeats."],
  [`^RECURSIVE STEP`, () => "Repeats with the rows that came last, until none come."],
  [`^USING (?:INDEX|ROWID)`, () => "Whether a value is in the list is looked up in what there is already."],
].map(([pattern, meaning]) => [new RegExp(pattern, "s"), meaning]);

function purpose(what) {
  if (/ORDER BY/.test(what)) return "Sorts the rows";
  if (/GROUP BY/.test(what)) return "Puts the rows of a group together";
  if (/DISTINCT/.test(what)) return "Keeps the values seen so far, to leave out those that come again,";
  return "Keeps rows";
}

/**
 * What a line of the plan means, in plain words; empty where that is not known. `made` has the names
 * of what the statement makes itself: common table expressions, subqueries, views.
 */
export function meaning(detail, made = new Set()) {
  const either = / OR VECTORIZED SCAN$/.test(detail);
  const [, later] = / OR, IF LONG, VECTORIZED SCAN OF (.+)$/.exec(detail) ?? [];
  const groups = / OR, IF LONG, HASH TABLE \(.+\)$/.test(detail);
  const ours = !either && !later && / VECTORIZED\b/.test(detail);
  const left = / LEFT-JOIN$/.test(detail);
  const plain = detail
    .replace(/ OR VECTORIZED SCAN$/, "")
    .replace(/ OR, IF LONG, (VECTORIZED SCAN OF .+|HASH TABLE \(.+\))$/, "")
    .replace(/ VECTORIZED\b/g, "")
    .replace(/ LEFT-JOIN$/, "")
    .trim();
  const [, scanned] = /^SCAN (.+)$/.exec(plain) ?? [];
  if (made.has(scanned) || /^\(?subquery/i.test(scanned ?? ""))
    return `Goes through the rows of ${scanned}, which the statement makes itself.`;
  for (const [pattern, explain] of MEANINGS) {
    const match = pattern.exec(plain);
    if (!match) continue;
    const words = [explain(...match.slice(1), plain)];
    if (left) words.push("A row that finds no partner is kept.");
    if (either) words.push("If it leads to many rows, High Performance SQLite scans the whole table instead.");
    if (later) words.push(`If the loops take long, High Performance SQLite gives them up and scans ${later} instead.`);
    if (groups)
      words.push("If that takes long, High Performance SQLite scans the table once and finds the rest by key.");
    if (ours)
      words.push("High Performance SQLite does it with its own executor, which reads adjacent pages by one call.");
    return words.join(" ");
  }
  return "";
}

/** What indexes are for whose names SQLite made, by these names. */
export function titlesOf({ trees }) {
  return new Map(trees.filter((tree) => tree.title !== tree.name).map(({ name, title }) => [name, title]));
}

/** A text with names that SQLite made in the words that say what they are for. */
function entitled(text, titles) {
  return text.replace(/\bindex (sqlite_autoindex_\S+_\d+)/g, (whole, name) =>
    titles.has(name) ? `the index “${titles.get(name)}”` : whole,
  );
}

/** The steps `[{id, parent, detail}]` as a tree of elements; `titles` has better names of indexes. */
export function planTree(steps, titles = new Map()) {
  if (steps.length === 0) return h("p", { class: "faint" }, "There is no plan for such a statement.");
  const known = new Set(steps.map((step) => step.id));
  const made = new Set(steps.flatMap(({ detail }) => /^(?:CO-ROUTINE|MATERIALIZE) (.+)$/s.exec(detail)?.[1] ?? []));
  const below = new Map();
  for (const step of steps) {
    const parent = known.has(step.parent) && step.parent !== step.id ? step.parent : 0;
    if (!below.has(parent)) below.set(parent, []);
    below.get(parent).push(step);
  }
  const drawn = new Set();
  const list = (parent) =>
    h(
      "ul",
      { class: "plan" },
      (below.get(parent) ?? [])
        .filter((step) => !drawn.has(step))
        .map((step) => {
          drawn.add(step);
          return h(
            "li",
            null,
            h("code", null, step.detail),
            h("div", { class: "small faint" }, entitled(meaning(step.detail, made), titles)),
            below.has(step.id) && list(step.id),
          );
        }),
    );
  return list(0);
}
