/**
 * The table of all b-trees: sorted by any column, filtered, with a line of sums.
 */
import { count, h, plural, treeLink } from "viz/dom.js";
import { SETS, columnsOf, csv } from "viz/numbers/columns.js";
import { SortedTable, cell, line, name, num } from "viz/table.js";

const ROLES = { schema: "schema", table: "table", "without-rowid": "table, no rowid", index: "index" };

export class NumbersTable {
  #app;
  #trees = [];
  #context = null;
  #title = "";
  #set = "main";
  #filter = "";
  #role = "";
  #list = new SortedTable("bytes", () => this.#draw(), {
    tabindex: "0",
    role: "region",
    "aria-label": "Numbers of each b-tree",
  });
  #told = h("span", { class: "faint small", role: "status" });

  constructor(app) {
    this.#app = app;
    const input = (e) => this.#change(() => (this.#filter = e.target.value));
    const option = ({ id, title }) => h("option", { value: id }, title);
    const roles = [
      ["", "Tables and indexes"],
      ["table", "Tables"],
      ["index", "Indexes"],
    ];
    this.element = h(
      "section",
      null,
      h("h2", null, "Tables and indexes"),
      h(
        "div",
        { class: "row tools" },
        h("input", {
          type: "search",
          placeholder: "Filter by name",
          "aria-label": "Filter by the name of the table or index",
          oninput: input,
        }),
        h(
          "select",
          { "aria-label": "What is shown", onchange: (e) => this.#change(() => (this.#role = e.target.value)) },
          roles.map(([id, title]) => option({ id, title })),
        ),
        h(
          "select",
          { "aria-label": "Columns", onchange: (e) => this.#change(() => (this.#set = e.target.value)) },
          SETS.map(option),
        ),
        h("button", { type: "button", onclick: () => this.#download() }, "Download as CSV"),
        this.#told,
      ),
      this.#list.elements,
    );
  }

  /** Other numbers, or another device. */
  update(summary, device) {
    this.#trees = summary.trees.map((tree, t) => ({ t, n: tree.numbers })).filter(({ n }) => n);
    this.#context = { whole: summary.whole, device };
    this.#title = summary.title;
    this.#draw();
  }

  #change(how) {
    how();
    this.#list.restart();
  }

  /** The b-trees that are asked for, in their order. */
  #chosen(columns) {
    const wanted = this.#filter.trim().toLowerCase();
    const is = { "": () => true, table: (n) => n.role !== "index", index: (n) => n.role === "index" }[this.#role];
    const rows = this.#trees.filter(
      ({ n }) => is(n) && (n.name.toLowerCase().includes(wanted) || n.table.toLowerCase().includes(wanted)),
    );
    return this.#list.sorted(columns, rows);
  }

  #columns(set) {
    return columnsOf(set).map((c) => ({
      ...c,
      key: ({ n }) => c.value(n, this.#context),
      cell: (row) => this.#cell(c, row),
    }));
  }

  #draw() {
    const columns = this.#columns(this.#set);
    const rows = this.#chosen(columns);
    this.#list.show(columns, rows, { foot: rows.length > 1 && line(columns.map((c) => this.#sum(c, rows))) });
    this.#told.textContent =
      rows.length === this.#trees.length
        ? plural(rows.length, "b-tree")
        : `${count(rows.length)} of ${plural(this.#trees.length, "b-tree")}`;
  }

  #cell(column, { t, n }) {
    if (column.id === "name") return name(treeLink(this.#app, t, { view: "numbers" }));
    const value = column.value(n, this.#context);
    if (column.id === "role") return cell(ROLES[value] ?? value);
    if (column.text) return cell(value);
    return num(value === null ? "–" : column.show(value));
  }

  #sum(column, rows) {
    if (column.id === "name") return name("Together");
    if (column.text) return cell();
    return num(column.sum && column.show(rows.reduce((all, row) => all + column.key(row), 0)));
  }

  #download() {
    const rows = this.#chosen(this.#columns("all")).map(({ n }) => n);
    const blob = new Blob([csv(rows, this.#context)], { type: "text/csv;charset=utf-8" });
    const href = URL.createObjectURL(blob);
    h("a", { href, download: `${this.#title.replace(/[^\w.-]+/g, "_") || "database"}-numbers.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  }
}
