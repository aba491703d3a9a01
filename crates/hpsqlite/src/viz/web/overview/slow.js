/**
 * "Paste your slow query": a statement is run with both libraries, a new connection each, and one is
 * told how long it took, by which plan, what keeps it from being accelerated, and which index would help.
 *
 * The statement runs in a process of its own, which can only read and can be stopped; see the Query view
 * for which pages it reads.
 */
import { capital, count, fill, h, number, seconds, tip } from "viz/dom.js";
import { WORDS } from "viz/overview/words.js";
import { planTree, titlesOf } from "viz/query/plan.js";
import { LIBRARIES, engineKey, told } from "viz/query/result.js";
import { randomId } from "viz/query/view.js";
import { cell, line, name, num, numHeads, table, wide } from "viz/table.js";

/** Ours first: what it leaves in the system's cache helps the other one. */
const ORDER = ["hp", "stock"];
/** Milliseconds between tellings of how long it has been running. */
const TICK = 500;
/** Times that differ by less are the same. */
const SAME = 1.1;

export class SlowQuery {
  #app;
  #file = null;
  #running = null;
  #text;
  #run;
  #stop;
  #said = h("div", { role: "status" });
  #result = h("div");

  constructor(app) {
    this.#app = app;
    this.#text = h("textarea", {
      rows: 4,
      spellcheck: "false",
      autocapitalize: "off",
      autocomplete: "off",
      placeholder: "SELECT …",
      "aria-label": "Your slow query",
      class: "mono",
      onkeydown: (e) => {
        if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
          e.preventDefault();
          this.#start();
        }
      },
    });
    this.#run = h("button", { type: "button", class: "primary", onclick: () => this.#start() }, "Run it with both");
    this.#stop = h("button", { type: "button", disabled: true, onclick: () => this.#halt() }, "Stop");
    tip(this.#run, () => "Ctrl+Enter");
    this.element = h(
      "section",
      { class: "slow", "aria-label": "Paste your slow query" },
      h("h2", null, "Paste your slow query"),
      this.#text,
      h("div", { class: "row" }, this.#run, this.#stop, h("span", { class: "small faint" }, WORDS.slow.what)),
      this.#said,
      this.#result,
    );
  }

  /** Another file is shown. */
  show(file) {
    if (file === this.#file) return;
    this.#halt();
    this.#running = null;
    this.#busy(false);
    this.#file = file;
    fill(this.#said);
    fill(this.#result);
  }

  #busy(busy) {
    this.#run.disabled = busy;
    this.#stop.disabled = !busy;
  }

  #halt() {
    const run = this.#running;
    if (!run) return;
    run.stopped = true;
    if (run.id) this.#app.source.stop(run.id).catch((e) => this.#app.fail(e));
  }

  async #start() {
    const sql = this.#text.value;
    if (this.#running) return;
    if (!sql.trim()) return fill(this.#said, h("p", { class: "wrong" }, WORDS.slow.nothing));
    const run = { id: null, stopped: false, began: 0, sql, answers: {} };
    this.#running = run;
    this.#busy(true);
    fill(this.#result);
    const timer = setInterval(() => this.#tell(run), TICK);
    try {
      for (const library of ORDER) {
        run.id = randomId();
        run.library = library;
        run.began = performance.now();
        this.#tell(run);
        const answer = await this.#app.source.query(this.#file, sql, library, { id: run.id, measure: true });
        if (this.#running !== run) return;
        run.answers[library] = answer;
        // What one refuses the other does as well, and what takes too long takes longer.
        if (run.stopped || answer.error) break;
      }
      await this.#present(run);
    } catch (e) {
      if (this.#running === run) fill(this.#said, h("p", { class: "wrong" }, e.message));
    } finally {
      clearInterval(timer);
      if (this.#running === run) {
        this.#running = null;
        this.#busy(false);
      }
    }
  }

  #tell(run) {
    if (this.#running !== run) return;
    const s = Math.floor((performance.now() - run.began) / 1000);
    fill(this.#said, h("p", null, WORDS.slow.running(LIBRARIES[run.library], s)));
  }

  async #present({ sql, answers }) {
    const file = this.#file;
    const summary = await this.#app.summary(file).catch(() => null);
    if (!summary || file !== this.#file) return;
    const { hp, stock } = answers;
    const failed = [hp, stock].find((answer) => answer?.error);
    // Stopped between the two, there is no error, and nothing to compare with.
    const ending = failed || (!stock && { stopped: true });
    const wrong = ending && h("p", { class: ending.stopped ? "warn" : "wrong" }, errorLine(ending));
    if (!hp.plan.length && failed) return fill(this.#said, wrong);
    fill(this.#said, wrong || h("p", { class: "figure" }, verdict(hp, stock)));
    const notes = [...new Set([...(hp.notes ?? []), ...(stock?.notes ?? [])])];
    fill(
      this.#result,
      h(
        "div",
        { class: "slow-parts" },
        part("Times", timesTable(answers), notes.length > 0 && noteList(notes)),
        part("Accelerated?", reasons(hp)),
        part("An index that would help", indexes(hp)),
        plans(answers, summary),
      ),
      h("p", null, h("a", { href: this.#app.href("query", { sql }) }, WORDS.slow.reads)),
    );
  }
}

const part = (title, ...content) => h("section", { class: "card", "aria-label": title }, h("h3", null, title), content);
const noteList = (notes) =>
  h(
    "ul",
    { class: "small" },
    notes.map((note) => h("li", null, note)),
  );

function errorLine({ error, stopped }) {
  return stopped ? WORDS.slow.stopped : capital(error.message);
}

/** The fastest run but the first, which finds caches empty; of one run, that. */
const again = ({ times }) => (times.length > 1 ? Math.min(...times.slice(1)) : times[0]);

function verdict(hp, stock) {
  const [ours, theirs] = [again(hp), again(stock)];
  const factor = Math.max(ours, theirs) / Math.max(Math.min(ours, theirs), 1e-9);
  const words = factor >= 9.95 ? count(Math.round(factor)) : number(Math.round(factor * 10) / 10);
  if (factor < SAME) return WORDS.slow.same(seconds(ours));
  return ours < theirs
    ? WORDS.slow.faster(words, seconds(ours), seconds(theirs))
    : WORDS.slow.slower(words, seconds(ours), seconds(theirs));
}

function timesTable(answers) {
  const known = ORDER.filter((library) => answers[library]?.times.length > 0);
  if (known.length === 0) return h("p", null, WORDS.slow.noTimes);
  const differ = known.length === 2 && answers.hp.row_count !== answers.stock.row_count;
  const lines = known.map((library) => {
    const answer = answers[library];
    return line(
      name(engineKey(library), LIBRARIES[library]),
      num(seconds(answer.times[0])),
      num(answer.times.length > 1 ? seconds(again(answer)) : "–"),
      num(count(answer.row_count)),
    );
  });
  const heads = numHeads([told("first", WORDS.slow.first), told("again", WORDS.slow.again), "rows"]);
  return [wide(table([cell(), ...heads], lines)), differ && h("p", { class: "warn" }, WORDS.slow.differ)];
}

function reasons({ reasons: found }) {
  if (!found) return h("p", null, WORDS.slow.unknown);
  const good = found.became === "accelerated";
  return [
    h("p", { class: good ? "good" : "warn" }, WORDS.slow.became[found.became]),
    found.why.map((why) => h("p", null, why)),
  ];
}

function indexes({ indexes: found, plan }) {
  if (found.length === 0) {
    const scans = plan.some(({ detail }) => detail.startsWith("SCAN ") && !detail.includes("CONSTANT"));
    return h("p", null, scans ? WORDS.slow.noIndex : WORDS.slow.noScan);
  }
  return [
    found.map(({ sql, step }) => [
      h("pre", null, sql),
      h("p", { class: "small faint" }, "The plan would have: ", h("code", null, step)),
    ]),
    h("p", null, WORDS.slow.index(found.length)),
  ];
}

/** The plans of both, or one if they are the same. */
function plans({ hp, stock }, summary) {
  const titles = titlesOf(summary);
  const text = ({ plan }) => plan.map(({ detail }) => detail).join("\n");
  const tree = ({ plan }) => planTree(plan, titles);
  const one = (library, answer) => h("div", null, h("h4", null, engineKey(library), LIBRARIES[library]), tree(answer));
  const same = !stock || text(hp) === text(stock);
  return h(
    "section",
    { class: "card slow-plans", "aria-label": "Plan" },
    h("h3", null, "Plan"),
    same ? h("div", null, tree(hp)) : [one("hp", hp), one("stock", stock)],
  );
}
