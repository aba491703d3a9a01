/**
 * What became different, in sentences: first what a reader wants to know who asked for a copy.
 */
import { bytes, capital, count, h, number, percent, plural, seconds, treeLink } from "viz/dom.js";
import { bySize, sum } from "viz/compare/data.js";

/** B-trees that are told of one by one. */
const TOLD = 3;
/** What is called one piece, and scattered. */
const PIECE = 0.005;
/** A change of scatter that is worth a word. */
const WORTH = 0.02;

/** What was done to the left file to get the right one, as the beginning of a sentence. */
export function beginning(status, left) {
  if (status.copy?.of !== left) return "On the right, ";
  return {
    vacuumed: "After VACUUM ",
    stock: "Written anew by SQLite, ",
    hp: "Written anew by High Performance SQLite, ",
  }[status.copy.kind];
}

/** What a kind of copy is, for its button. */
export const KINDS = [
  {
    kind: "vacuumed",
    title: "VACUUM it",
    why:
      "VACUUM INTO makes a copy in which each table and each index is in one piece, without free pages. The file " +
      "itself stays as it is.",
  },
  {
    kind: "stock",
    title: "Write it anew with SQLite",
    why:
      "Fills a new file with the same rows, of all tables in turn, as an application would that fills all its " +
      "tables at the same time: you see how SQLite lays out a file that grows.",
  },
  {
    kind: "hp",
    title: "Write it anew with HP SQLite",
    why:
      "The same with High Performance SQLite and its default settings: it reserves adjacent pages for each table " +
      "and index that grows.",
  },
];

/** The sentences, as elements. `all`: the b-trees in pairs; `f`, `g`: the numbers of the files. */
export function sentences(app, { left, right, all, f, g }) {
  const told = [];
  const say = (...parts) => told.push(h("p", null, parts));
  const start = beginning(app.files[g], f);
  const [before, after] = [left, right].map((s) => s.pages * s.page_size);
  const scattered = movements(all);
  const first = scattered[0];
  const size = before === after ? "the file has the same size" : `the file is ${bySize(before, after)}`;
  say(
    capital(start),
    size,
    before === after ? ` (${bytes(after)})` : ` (${bytes(before)} → ${bytes(after)})`,
    first ? [" and ", movement(app, f, first)] : "",
    ".",
  );
  for (const one of scattered.slice(1, TOLD)) say(movement(app, f, one), ".");
  if (scattered.length > TOLD) {
    const better = scattered.slice(TOLD).filter((m) => m.after < m.before).length;
    const worse = scattered.length - TOLD - better;
    const are = (n) => `${count(n)} ${n === 1 ? "is" : "are"}`;
    const parts = [better > 0 && `${are(better)} less scattered`, worse > 0 && `${are(worse)} more scattered`].filter(
      Boolean,
    );
    say(`Of the other tables and indexes, ${parts.join(" and ")}.`);
  }
  if (scattered.length === 0 && left.whole && right.whole)
    say("No table and no index is clearly more or less scattered than in the other file.");
  cold(say, left, right);
  free(say, left, right);
  only(app, say, all, { f, g });
  return told;
}

/** B-trees whose order in the file became another, the one with the most steps that changed first. */
function movements(all) {
  const moved = [];
  for (const { left, right } of all) {
    const [a, b] = [left?.tree.numbers, right?.tree.numbers];
    if (!a || !b || Math.max(a.steps, b.steps) === 0 || a.role === "schema") continue;
    if (Math.abs(b.scatter - a.scatter) < WORTH) continue;
    const weight = Math.abs(b.scatter - a.scatter) * Math.max(a.steps, b.steps);
    moved.push({ t: left.t, before: a.scatter, after: b.scatter, weight });
  }
  return moved.sort((a, b) => b.weight - a.weight);
}

function movement(app, f, { t, before, after }) {
  const how = after < PIECE ? "is in one piece" : after < before ? "is less scattered" : "is more scattered";
  return [
    treeLink(app, t, { file: f, view: "numbers" }),
    ` ${how} (scatter ${before.toFixed(2)} → ${after.toFixed(2)})`,
  ];
}

function cold(say, left, right) {
  const [a, b] = [left, right].map((s) => sum(s, (n) => n.cold_scan));
  if (a === null || b === null || Math.max(a, b) < 1e-3) return;
  if (a === 0)
    return say(
      `To read every table and index with nothing cached would take about ${seconds(b)}; there is nothing to read ` +
        "in the left file.",
    );
  const change = Math.abs(b - a) / a;
  if (change < 0.02)
    return say(`To read every table and index with nothing cached would take the same time, about ${seconds(b)}.`);
  const ratio = b >= 2 * a ? `${number(b / a)} times as long` : `${percent(change)} ${b < a ? "less" : "more"}`;
  say(
    `To read every table and index with nothing cached would take about ${seconds(b)} instead of ${seconds(a)}: ` +
      `${ratio}. This is an estimate from the bytes and jumps of a scan.`,
  );
}

function free(say, left, right) {
  if (!left.whole || !right.whole) return;
  const [a, b] = [left.whole, right.whole];
  if (a.free_pages === b.free_pages) return;
  const part = b.reserved_pages === b.free_pages ? "all" : count(b.reserved_pages);
  const reserved = b.reserved_pages > 0 ? `, ${part} of them reserved for tables and indexes that grow` : "";
  const some = (n) => (n === 0 ? "no" : count(n));
  say(
    `It has ${some(b.free_pages)} free ${b.free_pages === 1 ? "page" : "pages"}${reserved}; the left file has ` +
      `${some(a.free_pages)}${a.free_pages === 0 ? "ne" : ""}.`,
  );
}

function only(app, say, all, { f, g }) {
  for (const [side, file, where] of [
    ["left", f, "left"],
    ["right", g, "right"],
  ]) {
    const other = side === "left" ? "right" : "left";
    const lone = all.filter((pair) => pair[side] && !pair[other]);
    if (lone.length === 0) continue;
    const links = lone.slice(0, 5).flatMap((pair, i) => [i > 0 && ", ", treeLink(app, pair[side].t, { file })]);
    const more = lone.length > 5 && ` and ${count(lone.length - 5)} more`;
    say(
      lone.length === 1 ? "Only the " : `${count(lone.length)} tables or indexes are only in the `,
      lone.length === 1 ? `${where} file has ` : `${where} file: `,
      links,
      more,
      ".",
    );
  }
}

/** Sentences, by what they are about. */
export const WORDS = {
  maps:
    "A square is a page, in the order of the file; its colour is that of its table or index, paler where it is " +
    "empty. Both maps move together: a wheel or two fingers zoom, a click selects, a double click opens the page.",
  pageSizes: (left, right) =>
    `The files have pages of ${count(left)} and of ${count(right)} bytes, so no page of one can be the same as a ` +
    "page of the other.",
  saved: "Pages can be compared where hpsqlite viz serves this page; a saved page does not have their bytes.",
  allSame: (done) => `All ${plural(done, "page")} that were compared are the same in both files.`,
  someDiffer: (some, done) =>
    `${count(some)} of ${plural(done, "page")} (${percent(some / done)}) have other bytes in the right file ` +
    "than in the left.",
  longer: (left, right) =>
    ` The ${left > right ? "left" : "right"} file has ${plural(Math.abs(left - right), "page")} more.`,
  tooLong: "The statements are too long to be compared word by word: what differs is not marked.",
  two:
    "Two files are shown here side by side: their pages on two maps at one scale, and every number of both with " +
    "its difference.",
  copies:
    "Make a copy of the file to compare it with, or start hpsqlite viz with two files. Copies are made in a " +
    "temporary folder, which is removed at the end; the file itself is only read.",
  beingRead: "Every page of both files is being read. What became different is told here when that is done.",
};
