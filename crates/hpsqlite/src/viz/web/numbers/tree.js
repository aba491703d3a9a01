/**
 * One b-tree of the Numbers view, opened: how its leaves lie in the file, its levels, its overflow
 * chains, and what a cold scan of it takes.
 */
import { bytes, count, h, number, pageLink, percent, roleName, seconds, treeLink } from "viz/dom.js";
import { coldScan, structure } from "viz/numbers/columns.js";
import { WORDS } from "viz/numbers/words.js";
import { head, line, name, num, numHeads, table, wide } from "viz/table.js";

/** The panel of b-tree `t`. */
export function treeNumbers(app, summary, t, device) {
  const tree = summary.trees[t];
  const n = tree.numbers;
  const close = h("a", { href: app.href("numbers"), class: "close" }, "Close");
  return h(
    "section",
    { class: "card opened", "aria-label": `Numbers of ${n.name}` },
    h(
      "div",
      { class: "row" },
      h("h2", { tabindex: "-1" }, treeLink(app, t)),
      h("span", { class: "faint" }, roleName(tree), tree.role === "index" && ` of ${n.table}`),
      close,
    ),
    h(
      "div",
      { class: "cards" },
      card("Content", contentWords(n)),
      card("Order in the file", orderWords(n)),
      card("Cold scan", scanWords(n, summary, device)),
      n.overflow.chains > 0 && card("Large rows", chainWords(app, n)),
    ),
    h("div", { class: "pair" }, runsChart(n), levelsTable(app, n, summary, t)),
    tree.sql && h("details", null, h("summary", null, "How it was made"), h("pre", null, tree.sql)),
  );
}

function card(title, content) {
  return h("section", null, h("h3", null, title), content);
}

function contentWords(n) {
  const each = n.entries > 0 ? `, ${number(n.payload / n.entries)} bytes each on average` : "";
  return [h("p", null, WORDS.entries(n, each)), h("p", null, WORDS.size(n, structure(n)))];
}

function orderWords(n) {
  const definition = WORDS.scatter;
  if (n.steps === 0) return h("p", null, "It has one leaf, so there is no order to lose.");
  const jumps = n.forward_jumps + n.backward_jumps;
  return [
    h("p", { class: "figure" }, n.scatter.toFixed(3), h("small", null, " scatter")),
    h("p", { class: "small faint" }, definition),
    h("p", null, WORDS.jumps(jumps, n)),
  ];
}

function scanWords(n, summary, device) {
  const now = coldScan(n.scan, device);
  const best = coldScan({ bytes: n.scan.bytes, requests: 1 }, device);
  const gain =
    now > 1.2 * best ? ` In one piece it would take ${seconds(best)}.` : " It could hardly be faster in one piece.";
  const leaves = n.overflow_pages > 0 && WORDS.withoutOverflow(coldScan(n.scan_leaves, device));
  return [
    h("p", { class: "figure" }, seconds(now), h("small", null, ` on ${device.name}`)),
    h("p", null, WORDS.allRows(n.scan, gain)),
    leaves && h("p", null, leaves),
    h("p", { class: "small faint" }, WORDS.device),
  ];
}

function chainWords(app, n) {
  const { chains, pages, longest, longest_of: page, jumps, away, unused } = n.overflow;
  return [
    h("p", null, WORDS.chains(chains, n.entries, pages, unused)),
    h("p", null, WORDS.longest(longest), pageLink(app, page), "."),
    h("p", null, WORDS.chainJumps(jumps, pages - chains, away)),
  ];
}

/** How many runs are how long, as bars. */
function runsChart(n) {
  const most = Math.max(...n.runs_by_length, 1);
  const rows = n.runs_by_length.map((runs, i) => {
    const [from, to] = [2 ** i, 2 ** (i + 1) - 1];
    const width = `${runs > 0 ? Math.max(0.5, (100 * runs) / most) : 0}%`;
    return line(
      h("th", { scope: "row", class: "n" }, i === 0 ? "1" : `${count(from)} to ${count(to)}`),
      h("td", { class: "bars" }, h("span", { class: "bar-line", style: { width } })),
      num(count(runs)),
    );
  });
  const chart = h("span", { class: "visually-hidden" }, "Chart");
  return h(
    "section",
    null,
    h("h3", null, "Runs by their length"),
    h("p", { class: "small faint" }, WORDS.run),
    table([head("Leaves", "n"), chart, head("Runs", "n")], rows, { class: "runs" }),
  );
}

/** The levels from the root to the leaves. */
function levelsTable(app, n, summary, t) {
  const last = n.levels.length - 1;
  const rows = n.levels.map((level, i) => {
    const all = level.pages * summary.usable;
    const below = i < last ? number((level.cells + level.pages) / Math.max(1, level.pages)) : "–";
    const what = i === last ? (i === 0 ? "root, a leaf" : "leaves") : i === 0 ? "root" : "interior";
    const linked = summary.trees[t] && app.source.level;
    return line(
      name(linked ? h("a", { href: app.href("tree", { tree: t, level: i }) }, what) : what),
      [
        count(level.pages),
        count(level.cells),
        below,
        bytes(level.payload),
        bytes(level.unused),
        percent(all > 0 ? 1 - level.unused / all : 0),
      ].map((text) => num(text)),
    );
  });
  return h(
    "section",
    null,
    h("h3", null, "Levels"),
    h("p", { class: "small faint" }, WORDS.depth(n.depth)),
    wide(table(["Level", ...numHeads(["Pages", "Cells", "Fan-out", "Payload", "Unused", "Fill"])], rows)),
  );
}
