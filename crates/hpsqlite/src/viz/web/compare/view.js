/**
 * The Compare view: two files side by side, in words, on two maps at one scale, and number by number.
 * Copies to compare with are made from here: VACUUMed, or written anew by either library.
 *
 *   compare/data.js     pairs of b-trees, numbers, differences
 *   compare/words.js    what is told in sentences
 *   compare/maps.js     the two maps
 *   compare/pages.js    pages that are not the same, byte by byte
 *   compare/table.js    numbers beside each other
 *   compare/schema.js   statements and headers
 */
import { fill, h, percent, tip } from "viz/dom.js";
import { OF_FILES, OF_TREES, kindNumbers, pairs } from "viz/compare/data.js";
import { CompareMaps } from "viz/compare/maps.js";
import { PageDifferences } from "viz/compare/pages.js";
import { Schema, header } from "viz/compare/schema.js";
import { TreesTable, numbersTable } from "viz/compare/table.js";
import { KINDS, sentences, WORDS } from "viz/compare/words.js";

export const view = {
  id: "compare",
  title: "Compare",
  wanted: (app) => app.files.length > 1 || app.source.can.copy,
  create: (app) => new CompareView(app),
};

/** Whether a file can be looked at. */
const isOpen = (status) => status?.state === "ready" || status?.state === "scanning";

class CompareView {
  #app;
  #left = 0;
  #right = null;
  /** A copy that was asked for here, and is shown when it is there. */
  #awaited = null;
  #opened = null;
  #shown = false;
  #drawn = 0;
  #given = null;
  /** What choosers, buttons and lines of progress were drawn for. */
  #chosen = "";
  #offered = "";
  #copying = new Map();
  #parts = {};
  #maps;
  #pages;
  #trees;
  #schema;

  constructor(app) {
    this.#app = app;
    const part = (name, attributes) => (this.#parts[name] = h("div", attributes));
    this.#maps = new CompareMaps(app);
    this.#pages = new PageDifferences(app, () => this.#maps.mark(this.#pages.marks, this.#pages.done));
    this.#trees = new TreesTable(app, (name) => this.#openTree(name));
    this.#schema = new Schema(app);
    this.#parts.rest = h(
      "div",
      null,
      part("words", { class: "card words", "aria-live": "polite" }),
      part("notes"),
      this.#maps.element,
      h("h2", null, "Numbers of the files"),
      part("whole"),
      h("h2", null, "Tables and indexes"),
      this.#trees.element,
      part("tree", { class: "card" }),
      h("h2", null, "Schema"),
      this.#schema.element,
      h("h2", null, "Headers"),
      part("header"),
      h("h2", null, "Pages that differ"),
      this.#pages.element,
    );
    this.element = h(
      "div",
      { class: "view compare" },
      part("sides", { class: "sides-bar" }),
      part("offers", { class: "row copy-bar" }),
      part("copying"),
      part("failed", { class: "wrong", role: "status" }),
      part("empty"),
      this.#parts.rest,
    );
    this.#parts.tree.hidden = true;
    app.on("files", () => this.#shown && this.#filesChanged());
    app.on("summary", ({ file } = {}) => this.#shown && (file === this.#left || file === this.#right) && this.#load());
    app.on("map", ({ file, from, count }) => this.#shown && this.#maps.dataChanged(file, from, count));
  }

  show(params) {
    this.#shown = true;
    this.#left = this.#app.file;
    const asked = params.with;
    const exists = Number.isInteger(asked) && asked !== this.#left && this.#app.files[asked];
    this.#right = exists ? asked : this.#usualRight();
    this.#filesChanged();
    this.#load();
  }

  hide() {
    this.#shown = false;
  }

  /** The file that the left one is compared with if nothing else is asked for. */
  #usualRight() {
    const { files } = this.#app;
    const copies = files.findIndex(
      (file, f) => file.copy?.of === this.#left && f !== this.#left && file.state !== "failed",
    );
    if (copies >= 0) return copies;
    const other = files.findIndex((file, f) => f !== this.#left && file.state !== "failed");
    return other >= 0 ? other : null;
  }

  /** Whether there is more than one file, as far as they could be made. */
  get #several() {
    return this.#app.files.filter((file) => file.state !== "failed").length > 1;
  }

  /** How far files are, and which there are. */
  #filesChanged() {
    const { files } = this.#app;
    if (this.#awaited !== null && files[this.#awaited] && files[this.#awaited].state !== "copying") {
      const made = this.#awaited;
      this.#awaited = null;
      if (isOpen(files[made])) this.#compare(this.#left, made);
    }
    if (this.#right === null || files[this.#right]?.state === "failed") {
      const before = this.#right;
      this.#right = this.#usualRight();
      if (before !== this.#right) this.#load();
    }
    this.#drawSides();
    this.#drawCopies();
  }

  #compare(left, right) {
    this.#app.go("compare", { file: left, with: right });
  }

  #drawSides() {
    const { files } = this.#app;
    const now = JSON.stringify([files.map((f) => [f.title, isOpen(f)]), this.#left, this.#right]);
    if (now === this.#chosen) return;
    this.#chosen = now;
    const chooser = (label, chosen, change) => {
      const options = files.map(
        (file, f) => (isOpen(file) || f === chosen) && h("option", { value: f, selected: f === chosen }, file.title),
      );
      return h(
        "label",
        null,
        h("span", { class: "side-name" }, label),
        h("select", { onchange: (e) => change(Number(e.target.value)) }, options),
      );
    };
    if (!this.#several) return fill(this.#parts.sides);
    const turn = h(
      "button",
      {
        type: "button",
        title: "Change sides",
        "aria-label": "Change sides",
        disabled: this.#right === null,
        onclick: () => this.#compare(this.#right, this.#left),
      },
      "⇄",
    );
    fill(
      this.#parts.sides,
      chooser("Left", this.#left, (f) => this.#compare(f, f === this.#right ? this.#left : this.#right)),
      turn,
      chooser("Right", this.#right, (g) => this.#compare(g === this.#left ? this.#right : this.#left, g)),
    );
  }

  /** The buttons for copies; below them how far copies are, which changes while the buttons stay. */
  #drawCopies() {
    const { files, source } = this.#app;
    if (!source.can.copy) return;
    const left = files[this.#left];
    const there = (kind) =>
      files.findIndex((file) => file.copy?.of === this.#left && file.copy.kind === kind && file.state !== "failed");
    const now = JSON.stringify([
      this.#left,
      this.#right,
      isOpen(left),
      this.#several,
      KINDS.map(({ kind }) => files[there(kind)]?.state),
    ]);
    if (now !== this.#offered) {
      this.#offered = now;
      const button = ({ kind, title, why }) => {
        const copy = there(kind);
        const pressed = copy >= 0 && copy === this.#right && isOpen(files[copy]);
        const b = h(
          "button",
          {
            type: "button",
            disabled: files[copy]?.state === "copying" || !isOpen(left),
            "aria-pressed": String(pressed),
            dataset: { kind },
            onclick: () => (isOpen(files[copy]) ? this.#compare(this.#left, copy) : this.#copy(kind)),
          },
          title,
        );
        return tip(b, () => why);
      };
      const { kind } = this.#parts.offers.contains(document.activeElement) ? document.activeElement.dataset : {};
      fill(
        this.#parts.offers,
        h(
          "span",
          null,
          this.#several ? "Compare the left file with a copy of it: " : "Compare the file with a copy of it: ",
        ),
        KINDS.map(button),
      );
      if (kind) this.#parts.offers.querySelector(`[data-kind="${kind}"]`)?.focus();
    }
    this.#drawProgress();
    const failed = files.filter((file) => file.state === "failed" && file.copy?.of === this.#left && file.error).at(-1);
    this.#parts.failed.textContent = failed ? `${failed.title}: ${failed.error}` : "";
  }

  #drawProgress() {
    const { files, source } = this.#app;
    const copying = new Set([...files.keys()].filter((f) => files[f].state === "copying"));
    for (const [f, line] of this.#copying) {
      if (copying.has(f)) continue;
      line.element.remove();
      this.#copying.delete(f);
    }
    for (const f of copying) {
      const { title, done, total } = files[f];
      if (!this.#copying.has(f)) {
        const bar = h("progress", { max: 1, "aria-label": `How much of ${title} is made` });
        const share = h("span", { class: "n" });
        const stop = source.stopCopy && h("button", { type: "button", onclick: () => this.#stop(f) }, "Stop");
        const line = { bar, share, element: h("p", { class: "row copying" }, `${title}: `, bar, share, stop) };
        this.#copying.set(f, line);
        this.#parts.copying.append(line.element);
      }
      const line = this.#copying.get(f);
      if (total > 0) line.bar.value = done / total;
      line.share.textContent = total > 0 ? percent(done / total) : "counting rows";
    }
  }

  async #copy(kind) {
    try {
      const { file } = await this.#app.source.copy(this.#left, kind);
      this.#awaited = file;
      this.#app.watch();
    } catch (e) {
      this.#app.fail(e);
    }
  }

  async #stop(f) {
    try {
      await this.#app.source.stopCopy(f);
      this.#app.watch();
    } catch (e) {
      this.#app.fail(e);
    }
  }

  /** Asks for both summaries and draws all. */
  async #load() {
    const [f, g] = [this.#left, this.#right];
    const { files } = this.#app;
    const ready = g !== null && isOpen(files[f]) && isOpen(files[g]);
    this.#parts.rest.hidden = !ready;
    fill(this.#parts.empty, !ready && this.#why(f, g));
    if (!ready) return;
    const drawn = ++this.#drawn;
    let left, right;
    try {
      [left, right] = await Promise.all([this.#app.summary(f), this.#app.summary(g)]);
    } catch {
      return; // The app has told why.
    }
    if (drawn !== this.#drawn) return;
    this.#given = { left, right, f, g, all: pairs(left, right) };
    this.#draw();
  }

  /** Why there is nothing to see yet. */
  #why(f, g) {
    const { files } = this.#app;
    const waiting = [f, g].find((i) => i !== null && files[i]?.state === "copying");
    if (waiting !== undefined)
      return h("p", { class: "empty" }, "The copy is being made. It is shown here when it is whole.");
    if (g === null) {
      return h(
        "div",
        { class: "empty" },
        h("p", null, WORDS.two),
        h("p", null, this.#app.source.can.copy ? WORDS.copies : "This page was saved with one file only."),
        this.#app.source.can.copy &&
          h(
            "dl",
            { class: "kinds" },
            KINDS.map(({ title, why }) => [h("dt", null, title), h("dd", null, why)]),
          ),
      );
    }
    return h("p", { class: "empty" }, "One of the files cannot be looked at.");
  }

  #draw() {
    const given = this.#given;
    const { left, right } = given;
    const counted = left.whole && right.whole;
    fill(this.#parts.words, counted ? sentences(this.#app, given) : h("p", null, WORDS.beingRead));
    const notes = (this.#app.files[given.g].copy ? right.notes : []).concat(
      this.#app.files[given.f].copy ? left.notes : [],
    );
    fill(this.#parts.notes, notes.length > 0 && h("p", { class: "faint small" }, notes.join(" ")));
    this.#maps.update(given);
    fill(this.#parts.whole, numbersTable([...OF_FILES, ...kindNumbers(left, right)], left, right, { left, right }));
    this.#trees.update(given);
    this.#drawTree();
    this.#schema.update(given);
    fill(this.#parts.header, header(given));
    this.#pages.update(given);
    this.#maps.mark(this.#pages.marks, this.#pages.done);
  }

  #openTree(name) {
    this.#opened = name;
    this.#drawTree();
    this.#parts.tree.scrollIntoView({ block: "nearest" });
    this.#parts.tree.querySelector("button")?.focus();
  }

  /** All numbers of one b-tree. */
  #drawTree() {
    const pair = this.#given.all.find(({ name }) => name === this.#opened);
    this.#parts.tree.hidden = !pair;
    if (!pair) return;
    const { left, right } = this.#given;
    const close = () => {
      this.#opened = null;
      this.#drawTree();
    };
    fill(
      this.#parts.tree,
      h(
        "div",
        { class: "row" },
        h("h3", null, "All numbers of ", h("bdi", null, pair.name)),
        h("button", { type: "button", class: "close", onclick: close }, "Close"),
      ),
      numbersTable(OF_TREES, pair.left?.tree.numbers, pair.right?.tree.numbers, { left, right }),
    );
  }
}
