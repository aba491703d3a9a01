/**
 * The table of all b-trees: sorted by any column, filtered, with a line of sums. Thousands of b-trees
 * are shown some hundred at a time.
 */
import { count, fill, h, plural, tip, treeLink } from "viz/dom.js";
import { SETS, columnsOf, csv, showMore } from "viz/numbers/columns.js";

/** Lines that are shown, and that a press of the button adds. */
const LINES = 200;

const ROLES = { schema: "schema", table: "table", "without-rowid": "table, no rowid", index: "index" };

export class NumbersTable {
  #app;
  #trees = [];
  #context = null;
  #title = "";
  #set = "main";
  #filter = "";
  #role = "";
  #sort = { id: "bytes", down: true };
  #lines = LINES;
  #box = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Numbers of each b-tree" });
  #below = h("div", { class: "row" });
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
      this.#box,
      this.#below,
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
    this.#lines = LINES;
    this.#draw();
  }

  #sortBy(column) {
    const same = this.#sort.id === column.id;
    this.#change(() => (this.#sort = { id: column.id, down: same ? !this.#sort.down : !column.text }));
    this.#box.querySelector(`button[data-id="${column.id}"]`)?.focus();
  }

  /** The b-trees that are asked for, in their order. */
  #chosen(columns) {
    const wanted = this.#filter.trim().toLowerCase();
    const is = { "": () => true, table: (n) => n.role !== "index", index: (n) => n.role === "index" }[this.#role];
    const rows = this.#trees.filter(
      ({ n }) => is(n) && (n.name.toLowerCase().includes(wanted) || n.table.toLowerCase().includes(wanted)),
    );
    const column = columns.find((c) => c.id === this.#sort.id) ?? columns[0];
    const keyed = rows.map((row) => ({ row, key: column.value(row.n, this.#context) }));
    const sign = this.#sort.down ? -1 : 1;
    keyed.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      return sign * (column.text ? a.key.localeCompare(b.key) : a.key - b.key) || a.row.t - b.row.t;
    });
    return keyed.map(({ row }) => row);
  }

  #draw() {
    const columns = columnsOf(this.#set);
    const rows = this.#chosen(columns);
    const shown = rows.slice(0, this.#lines);
    const head = columns.map((c) => {
      const sorted = c.id === this.#sort.id;
      const arrow = sorted ? (this.#sort.down ? " ▾" : " ▴") : "";
      const button = h(
        "button",
        { type: "button", class: "sort", dataset: { id: c.id }, onclick: () => this.#sortBy(c) },
        c.title,
        arrow,
      );
      if (c.why) tip(button, () => c.why);
      return h(
        "th",
        {
          scope: "col",
          class: c.text ? null : "n",
          "aria-sort": sorted && (this.#sort.down ? "descending" : "ascending"),
        },
        button,
      );
    });
    const left = this.#box.scrollLeft;
    fill(
      this.#box,
      h(
        "table",
        null,
        h("thead", null, h("tr", null, head)),
        h(
          "tbody",
          null,
          shown.map((row) =>
            h(
              "tr",
              null,
              columns.map((c) => this.#cell(c, row)),
            ),
          ),
        ),
        rows.length > 1 &&
          h(
            "tfoot",
            null,
            h(
              "tr",
              null,
              columns.map((c) => this.#sum(c, rows)),
            ),
          ),
      ),
    );
    this.#box.scrollLeft = left;
    const more = rows.length - shown.length;
    fill(
      this.#below,
      more > 0 &&
        h(
          "button",
          {
            type: "button",
            onclick: () => {
              this.#lines += LINES;
              this.#draw();
            },
          },
          showMore(more, LINES),
        ),
    );
    this.#told.textContent =
      rows.length === this.#trees.length
        ? plural(rows.length, "b-tree")
        : `${count(rows.length)} of ${plural(this.#trees.length, "b-tree")}`;
  }

  #cell(column, { t, n }) {
    if (column.id === "name") return h("th", { scope: "row" }, treeLink(this.#app, t, { view: "numbers" }));
    const value = column.value(n, this.#context);
    if (column.id === "role") return h("td", null, ROLES[value] ?? value);
    if (column.text) return h("td", null, value);
    return h("td", { class: "n" }, value === null ? "–" : column.show(value));
  }

  #sum(column, rows) {
    if (column.id === "name") return h("th", { scope: "row" }, "Together");
    const sum = column.sum ? column.show(rows.reduce((all, { n }) => all + column.value(n, this.#context), 0)) : "";
    return h("td", { class: column.text ? null : "n" }, sum);
  }

  #download() {
    const rows = this.#chosen(columnsOf("all")).map(({ n }) => n);
    const blob = new Blob([csv(rows, this.#context)], { type: "text/csv;charset=utf-8" });
    const href = URL.createObjectURL(blob);
    h("a", { href, download: `${this.#title.replace(/[^\w.-]+/g, "_") || "database"}-numbers.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  }
}
