/**
 * The Query view: type a SELECT, see its plan, its first rows, and which pages it read, in order.
 *
 * The statement runs in a process of its own, which reports pages while it runs; this view asks for
 * what is new and lights the pages up. When it has ended everything can be played again.
 */
import { capital, count, fill, h, plural, seconds, tip } from "viz/dom.js";
import { NOBODY } from "viz/map/data.js";
import { PageColours } from "viz/query/canvas.js";
import { OrderChart } from "viz/query/chart.js";
import { examples } from "viz/query/examples.js";
import { ReadsMap } from "viz/query/map.js";
import { planTree, titlesOf } from "viz/query/plan.js";
import { Player } from "viz/query/player.js";
import {
  LIBRARIES,
  engineKey,
  kindsLine,
  numbersTable,
  readLine,
  rowsTable,
  treesTable,
  verdict,
} from "viz/query/result.js";
import { WORDS } from "viz/query/words.js";

/** Milliseconds between looks at a statement that runs. */
const LOOK = 250;
/** Milliseconds at least between drawings of what a scan finds: each draws every read anew. */
const REDRAW = 1000;

export const view = {
  id: "query",
  title: "Query",
  wanted: (app) => Boolean(app.source.can?.query),
  create: (app) => new QueryView(app),
};

class QueryView {
  #app;
  #summary = null;
  /** Runs of the statement that is shown, `{library, answer, reads}`, and which of them is shown. */
  #runs = [];
  #shown = null;
  #statement = null;
  #running = null;
  #file = null;

  constructor(app) {
    this.#app = app;
    this.#makeForm();
    this.#map = new ReadsMap({
      choose: (page) => app.go("page", { page }),
      tipOf: (page, first, each) => this.#tipOfPage(page, first, each),
    });
    this.#chart = new OrderChart({
      seek: (position) => this.#player.seek(position),
      tipOf: (i) => this.#tipOfRead(i),
    });
    this.#player = new Player((position) => this.#moved(position));
    this.#line = h("p", { class: "query-line", "aria-live": "off" });
    this.#said = h("div", { class: "query-said", role: "status" });
    this.#result = h("div", { class: "query-result" });
    const figure = (title, explained, picture) =>
      h(
        "figure",
        null,
        h("figcaption", null, h("strong", null, title), " ", h("span", { class: "small faint" }, explained)),
        picture,
      );
    this.element = h(
      "div",
      { class: "view query" },
      this.#form,
      this.#said,
      h(
        "div",
        { class: "query-pictures" },
        figure("The file.", WORDS.file, this.#map.element),
        figure("The order.", WORDS.order, this.#chart.element),
      ),
      this.#player.element,
      this.#line,
      this.#result,
    );
    app.on("theme", () => this.#whenSeen("colours", () => this.#recolour()));
    app.on("map", ({ file }) => file === this.#file && this.#whenSeen("colours", () => this.#recolourSoon()));
    app.on("summary", ({ file }) => file === this.#file && this.#whenSeen("summary", () => this.#load()));
  }

  #seen = false;
  /** What is to be done when it is shown again: "colours", or "summary", which does both. */
  #missed = null;
  #redraw = null;

  /** Does something at once if the view is shown, or notes that it was missed. */
  #whenSeen(what, act) {
    if (this.#seen) act();
    else if (this.#missed !== "summary") this.#missed = what;
  }

  #form;
  #text;
  #libraries;
  #examples;
  #run;
  #stop;
  #map;
  #chart;
  #player;
  #line;
  #said;
  #result;

  #makeForm() {
    this.#text = h("textarea", {
      rows: 4,
      spellcheck: "false",
      autocapitalize: "off",
      autocomplete: "off",
      "aria-label": "A statement that reads",
      class: "mono query-text-box",
      onkeydown: (e) => {
        if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
          e.preventDefault();
          this.#start();
        }
      },
    });
    this.#examples = h("select", {
      "aria-label": "Examples",
      class: "query-examples",
      onchange: () => {
        if (this.#examples.value) this.#text.value = this.#examples.value;
        this.#examples.selectedIndex = 0;
        this.#text.focus();
      },
    });
    this.#libraries = Object.entries(LIBRARIES).map(([id, name], i) =>
      h(
        "label",
        { class: "check" },
        h("input", { type: "radio", name: "query-library", value: id, checked: i === 0 }),
        engineKey(id),
        name,
      ),
    );
    this.#run = h("button", { type: "button", class: "primary", onclick: () => this.#start() }, "Run");
    this.#stop = h("button", { type: "button", onclick: () => this.#halt(), disabled: true }, "Stop");
    tip(this.#run, () => "Ctrl+Enter");
    this.#form = h(
      "section",
      { class: "query-form", "aria-label": "Statement" },
      this.#text,
      h("div", { class: "row" }, this.#run, this.#stop, this.#libraries, this.#examples),
      h(
        "details",
        { class: "small" },
        h("summary", null, "What is counted?"),
        h("p", null, WORDS.counted),
        h("p", null, WORDS.oneThread),
        h("p", null, WORDS.onlyReading),
      ),
    );
  }

  show({ sql } = {}) {
    this.#seen = true;
    const missed = this.#missed;
    this.#missed = null;
    if (this.#file !== this.#app.file) this.#reset();
    else if (missed === "summary") this.#load();
    else if (missed) this.#recolour();
    if (sql) this.#text.value = sql;
    this.#map.show(0);
    this.#moved(this.#position);
  }

  hide() {
    this.#seen = false;
    this.#player.pause();
  }

  #position = 0;

  /** Begins with another file. */
  #reset() {
    this.#halt();
    this.#running = null;
    this.#busy(false);
    this.#file = this.#app.file;
    this.#runs = [];
    this.#shown = null;
    this.#statement = null;
    this.#text.value = "";
    fill(this.#said, h("p", { class: "faint" }, WORDS.begin));
    fill(this.#result);
    this.#load(true);
  }

  async #load(fresh = false) {
    const file = this.#file;
    const summary = await this.#app.summary(file).catch(() => null);
    if (!summary || file !== this.#file) return;
    const grown = this.#summary?.pages !== summary.pages;
    this.#summary = summary;
    if (!fresh && !grown) return this.#recolour();
    if (!fresh) return this.#reset();
    this.#map.reset(summary.pages, this.#colours());
    this.#chart.set(new Uint32Array(), summary.pages, this.#colours());
    this.#player.set(0);
    const offered = await examples(summary, async (t) => (await this.#app.source.tree(file, t)).columns);
    if (file !== this.#file) return;
    fill(
      this.#examples,
      h("option", { value: "" }, "Examples …"),
      offered.map(({ label, sql }) => h("option", { value: sql }, label)),
    );
    if (!this.#text.value) this.#text.value = offered[0]?.sql ?? "";
  }

  #colours() {
    return new PageColours(this.#summary, this.#app.map(this.#file), this.#app.dark);
  }

  #recolour() {
    if (!this.#summary) return;
    const colours = this.#colours();
    this.#map.recolour(colours);
    if (this.#shown) this.#chart.set(this.#shown.reads, this.#summary.pages, colours);
    this.#chart.show(this.#position);
  }

  /** The same, a while after a scan has found more, however often it says so. */
  #recolourSoon() {
    this.#redraw ??= setTimeout(() => {
      this.#redraw = null;
      this.#whenSeen("colours", () => this.#recolour());
    }, REDRAW);
  }

  /** Runs what is in the box. */
  async #start(library = this.#chosenLibrary()) {
    const sql = this.#text.value;
    if (this.#running || !this.#summary) return;
    if (this.#statement !== sql) this.#runs = [];
    this.#statement = sql;
    const run = { id: randomId(), library, reads: new Reads(), began: performance.now() };
    this.#running = run;
    this.#busy(true);
    this.#map.reset(this.#summary.pages, this.#colours());
    this.#player.set(0);
    fill(this.#said, h("p", null, "It runs …"));
    const watching = this.#watch(run);
    try {
      const answer = await this.#app.source.query(this.#file, sql, library, { id: run.id });
      if (this.#running !== run) return;
      run.answer = answer;
      await this.#take(run);
      this.#finish(run);
    } catch (e) {
      if (this.#running === run) fill(this.#said, h("p", { class: "wrong" }, e.message));
    } finally {
      if (this.#running === run) {
        this.#running = null;
        this.#busy(false);
      }
      await watching;
    }
  }

  #chosenLibrary() {
    const inputs = this.#libraries.map((label) => label.querySelector("input"));
    return inputs.find((input) => input.checked)?.value ?? "hp";
  }

  #busy(busy) {
    this.#run.disabled = busy;
    this.#stop.disabled = !busy;
  }

  /** Has the statement that runs end. */
  #halt() {
    const run = this.#running;
    if (run) this.#app.source.stop(run.id).catch((e) => this.#app.fail(e));
  }

  /** Shows what has been read while the statement runs. */
  async #watch(run) {
    while (this.#running === run && !run.answer) {
      await new Promise((done) => setTimeout(done, LOOK));
      if (this.#running !== run || run.answer) break;
      try {
        await this.#take(run);
      } catch {
        // It has not begun yet, or has ended: the answer will tell.
        continue;
      }
      if (this.#running !== run || run.answer) break;
      const time = seconds(Math.round((performance.now() - run.began) / 1000));
      fill(this.#said, h("p", null, `It runs: ${plural(run.reads.length, "page")} read so far, in ${time}.`));
    }
  }

  /** Takes reads that are new. */
  async #take(run) {
    const from = run.reads.length;
    const more = await this.#app.source.reads(run.id, { from });
    if (this.#running !== run || run.reads.length !== from || more.length === 0) return;
    run.reads.add(more);
    this.#map.set(run.reads.all());
    this.#map.show(run.reads.length);
  }

  /** The statement has ended. */
  #finish(run) {
    const { answer } = run;
    const { error } = answer;
    if (error && answer.reads === 0 && answer.columns.length === 0) {
      this.#shown = null;
      this.#position = 0;
      fill(this.#said, this.#errorLine(error));
      fill(this.#line);
      fill(this.#result);
      this.#chart.set(new Uint32Array(), this.#summary.pages, this.#colours());
      return;
    }
    const shown = { library: run.library, answer, reads: run.reads.all() };
    this.#runs = [...this.#runs.filter((other) => other.library !== run.library), shown].sort(
      (a, b) => Object.keys(LIBRARIES).indexOf(a.library) - Object.keys(LIBRARIES).indexOf(b.library),
    );
    this.#present(shown);
  }

  #errorLine({ message, offset }) {
    if (offset === undefined) return h("p", { class: "wrong" }, capital(message));
    // SQLite counts bytes, of the statement that ran: another one may be in the box by now.
    const before = new TextDecoder().decode(new TextEncoder().encode(this.#statement).slice(0, offset));
    const lines = before.split("\n");
    return h(
      "p",
      { class: "wrong" },
      `${capital(message)} (line ${count(lines.length)}, column ${count(lines.at(-1).length + 1)})`,
    );
  }

  /** Shows one of the runs. */
  #present(run) {
    this.#shown = run;
    const { answer, reads } = run;
    const app = this.#app;
    const colours = this.#colours();
    this.#map.reset(this.#summary.pages, colours);
    this.#map.set(reads);
    this.#chart.set(reads, this.#summary.pages, colours);
    this.#player.set(reads.length);
    const stopped = answer.stopped ? "It was stopped; what is here is of the part that ran." : null;
    fill(
      this.#said,
      answer.error && !answer.stopped && this.#errorLine(answer.error),
      stopped && h("p", { class: "warn" }, stopped),
      verdict(app, answer, this.#summary),
    );
    const other = Object.keys(LIBRARIES).find((library) => !this.#runs.some((r) => r.library === library));
    fill(
      this.#result,
      answer.notes.length > 0 &&
        h(
          "ul",
          { class: "small query-notes" },
          answer.notes.map((note) => h("li", null, note)),
        ),
      h(
        "div",
        { class: "query-columns" },
        h("section", null, h("h2", null, "Plan"), planTree(answer.plan, titlesOf(this.#summary))),
        h(
          "section",
          null,
          h("h2", null, "Reads"),
          this.#chooser(run, other),
          numbersTable(this.#runs, this.#summary.header.page_size),
        ),
        h("section", null, h("h2", null, "Of what"), treesTable(app, answer), kindsLine(answer, this.#summary)),
      ),
      h("section", null, h("h2", null, "Rows"), rowsTable(answer)),
    );
  }

  /** Which library's reads are shown, and a button to run it with the other one. */
  #chooser(run, other) {
    if (other) {
      return h(
        "p",
        null,
        h("button", { type: "button", onclick: () => this.#startWith(other) }, `Run it with ${LIBRARIES[other]} too`),
      );
    }
    return h(
      "p",
      { class: "row", role: "group", "aria-label": "Whose reads are shown" },
      h("span", null, "Shown:"),
      this.#runs.map((each) =>
        h(
          "button",
          { type: "button", "aria-pressed": String(each === run), onclick: () => this.#present(each) },
          LIBRARIES[each.library],
        ),
      ),
    );
  }

  #startWith(library) {
    this.#text.value = this.#statement;
    this.#start(library);
  }

  /** So many reads have been done. */
  #moved(position) {
    this.#position = position;
    this.#map?.show(position);
    this.#chart?.show(position);
    if (!this.#line) return;
    const reads = this.#shown?.reads ?? new Uint32Array();
    fill(this.#line, reads.length > 0 ? readLine(this.#app, reads, position, (page) => this.#describe(page)) : "");
  }

  /** What a page is, in words. */
  #describe(page) {
    const map = this.#app.map(this.#file);
    if (!this.#summary || !map.has(page)) return "which the file did not have when it was opened here";
    const owner = map.owner(page);
    const whose = owner === NOBODY ? "" : ` of ${this.#summary.trees[owner]?.title}`;
    return `${this.#summary.kinds[map.kind(page)]?.name ?? "page"}${whose}`;
  }

  #tipOfPage(page, first, each) {
    const pages = each > 1 ? `Pages ${count(page)} to ${count(page + each - 1)}. ` : "";
    const when = first === 0 ? (this.#shown ? "not read" : "") : `read ${count(first)}`;
    return `${pages}Page ${count(page)}, ${this.#describe(page)}${when && `: ${when}`}`;
  }

  #tipOfRead(i) {
    const page = this.#shown?.reads[i];
    return page === undefined ? "" : `Read ${count(i + 1)}: page ${count(page)}, ${this.#describe(page)}`;
  }
}

/** Page numbers, as they come. */
class Reads {
  #room = new Uint32Array(4096);
  length = 0;

  add(more) {
    const length = this.length + more.length;
    if (length > this.#room.length) {
      const room = new Uint32Array(Math.max(length, this.#room.length * 2));
      room.set(this.all());
      this.#room = room;
    }
    this.#room.set(more, this.length);
    this.length = length;
  }

  all() {
    return this.#room.subarray(0, this.length);
  }
}

/** A name for a query that nobody guesses. */
export function randomId() {
  const words = crypto.getRandomValues(new Uint32Array(4));
  return [...words].map((word) => word.toString(16).padStart(8, "0")).join("");
}
