/**
 * The WAL view: the frames of the write-ahead log in their order, the pages of the file that have
 * newer versions in it, its commits, and what a checkpoint would write. While it is shown it follows
 * the log: it asks each second whether anything was written, and draws what it is then.
 */
import { colours } from "viz/colours.js";
import { bytes, capital, count, fill, h, pageLink, plural, term, treeLink } from "viz/dom.js";
import { NOBODY } from "viz/map/data.js";
import { cell, line, moreButton, num, numHeads, table, wide } from "viz/table.js";
import { FATES, WalData } from "viz/wal/data.js";
import { Grid } from "viz/wal/grid.js";
import { WORDS } from "viz/wal/words.js";

/** Lines of a list that are shown at first, and that a press of its button adds. */
const LINES = 30;
const MORE = 1000;
/** Milliseconds between questions whether the log has changed. */
const FOLLOW = 1000;
/** Pixels that the pictures may be high. */
const STRIP = 220;
const FILE = 180;

export const view = { id: "wal", title: "WAL", create: (app) => new WalView(app) };

class WalView {
  #app;
  #file = null;
  #summary = null;
  #wal = null;
  #commit = null;
  #page = null;
  #lines = {};
  #live = h("div", { class: "row live" });
  #timer = null;
  #paused = false;
  /** Frames that there were when the file was opened. */
  #opened = 0;
  /** What the log was when it was last drawn, and whether that has only grown since the file was opened. */
  #tag = null;
  #same = true;
  #head = h("div");
  #pictures = h("div");
  #chosen = h("div", { class: "chosen" });
  #list = h("div");
  #strip;
  #over;

  constructor(app) {
    this.#app = app;
    this.element = h("div", { class: "view wal" }, this.#live, this.#head, this.#pictures, this.#chosen, this.#list);
    this.#strip = new Grid("The frames of the log in their order", STRIP, {
      thing: ["frame", "frames"],
      hint: WORDS.strip,
      classOf: (i) => 3 - this.#wal.fates[i],
      colours: () => fateColours(this.element),
      marked: (i) => this.#isChosen(i),
      group: (i) => this.#wal.commit(i),
      tell: (from, to) => this.#tellFrames(from, to),
      pick: (frame) => this.#choose({ page: this.#wal.page(frame), commit: this.#wal.commit(frame) || null }),
    });
    this.#over = new Grid("The pages of the file", FILE, {
      thing: ["page", "pages"],
      hint: WORDS.over,
      classOf: (i) => this.#classes[i],
      colours: () => overColours(this.element),
      marked: (i) => i + 1 === this.#page || this.#ofCommit?.has(i + 1),
      tell: (from, to) => this.#tellPages(from + 1, to + 1),
      pick: (from, to) => this.#pickPage(from + 1, to + 1),
    });
    app.on("summary", ({ file } = {}) => file === this.#file && this.#load());
    app.on("theme", () => this.#wal && this.#redraw());
  }

  show({ page, commit }) {
    this.#page = page ?? null;
    this.#commit = Number(commit) || null;
    if (this.#file !== this.#app.file) {
      this.#file = this.#app.file;
      this.#wal = null;
      this.#tag = null;
      this.#same = true;
      this.#load();
    } else if (this.#wal) {
      this.#redraw();
    }
    this.#drawLive();
    this.#wait();
  }

  hide() {
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  #wait() {
    clearTimeout(this.#timer);
    if (this.#app.source.can.follow && !this.#paused) this.#timer = setTimeout(() => this.#follow(), FOLLOW);
  }

  /** Looks whether the log has changed, and draws what it is now. */
  async #follow() {
    const file = this.#file;
    const timer = this.#timer;
    const { source } = this.#app;
    try {
      // A page that nobody sees needs no answers.
      if (this.#summary && !document.hidden) {
        const now = await source.log(file);
        if (file !== this.#file || timer !== this.#timer) return;
        if (now.tag !== this.#tag) {
          const words = now.facts?.frames > 0 ? await source.logFrames(file) : null;
          if (file !== this.#file || timer !== this.#timer) return;
          const first = this.#tag === null;
          this.#tag = now.tag;
          // Frames and figures come by two questions, and more may have been written between them.
          const fits = !words || words.length === 3 * now.facts.frames;
          if (!fits) this.#tag = null;
          else if (!first || !isAsShown(now, this.#summary)) this.#change(now, words);
        }
      }
    } catch (e) {
      if (timer !== this.#timer) return;
      return this.#app.fail(e);
    }
    this.#wait();
  }

  /** The log is another one now. */
  #change({ facts, pages, same }, words) {
    this.#same = same;
    this.#summary = { ...this.#summary, wal: facts, pages: pages ?? this.#summary.pages };
    this.#drawLive(new Date());
    this.#draw(words);
  }

  /** The line that says that the log is followed, and the button that stops it. */
  #drawLive(changed = null) {
    if (!this.#app.source.can.follow) return;
    const press = () => {
      this.#paused = !this.#paused;
      this.#drawLive();
      if (this.#paused) this.hide();
      else this.#wait();
    };
    const said = this.#paused ? WORDS.paused : changed ? WORDS.changed(changed) : WORDS.following;
    fill(
      this.#live,
      h("span", { class: this.#paused ? "dot" : "dot on", "aria-hidden": "true" }, "●"),
      h("span", { role: "status" }, said),
      h("button", { type: "button", onclick: press }, this.#paused ? "Follow" : "Pause"),
    );
  }

  async #load() {
    const file = this.#file;
    let summary, words;
    try {
      summary = await this.#app.summary(file);
      words = summary.wal?.frames > 0 ? await this.#app.source.wal(file) : null;
    } catch (e) {
      return this.#app.fail(e);
    }
    if (file !== this.#file) return undefined;
    this.#summary = summary;
    this.#opened = summary.wal?.frames ?? 0;
    this.#draw(words);
  }

  /** Draws the log of the summary, whose frames are `words`. */
  #draw(words) {
    const summary = this.#summary;
    this.#wal = words && new WalData(words, summary.wal, summary.pages);
    for (const part of [this.#pictures, this.#chosen, this.#list]) part.replaceChildren();
    fill(this.#head, h("h2", null, "The write-ahead log"), this.#wal ? this.#facts() : noLog(this.#app, summary));
    if (!this.#wal) return undefined;
    this.#judgePages();
    fill(
      this.#pictures,
      h("h3", null, "Frames, in the order they were written"),
      legend(
        FATES.map((f) => f.name),
        fateColours(this.element).fills.toReversed(),
      ),
      this.#strip.element,
      h("h3", null, "The pages of the database"),
      legend(
        ["no version in the log", "in the log, copied", "in the log, to be written"],
        overColours(this.element).fills,
      ),
      this.#over.element,
    );
    return this.#redraw();
  }

  /** Of each page of the file: 0 not in the log, 1 copied already, 2 to be written. */
  #judgePages() {
    this.#classes = new Uint8Array(this.#summary.pages);
    for (const frame of this.#wal.newest) {
      const n = this.#wal.page(frame);
      if (n <= this.#classes.length) this.#classes[n - 1] = this.#wal.fates[frame] === 0 ? 2 : 1;
    }
  }
  #classes = new Uint8Array(0);
  #ofCommit = null;

  #redraw() {
    const range = this.#wal.framesOf(this.#commit);
    if (!range) this.#commit = null;
    this.#ofCommit = range && new Set(this.#wal.pagesOf(this.#commit));
    this.#strip.update(this.#wal.frames);
    this.#over.update(this.#summary.pages);
    fill(this.#chosen, this.#page !== null && this.#pageCard(), range && this.#commitCard(range));
    fill(this.#list, this.#commits());
  }

  #choose({ page = null, commit = null }) {
    this.#app.go("wal", { page, commit });
  }

  #isChosen(frame) {
    return this.#wal.page(frame) === this.#page || (this.#commit !== null && this.#wal.commit(frame) === this.#commit);
  }

  #facts() {
    const { wal: f, page_size: size } = this.#summary;
    const open = f.frames - f.committed;
    const rest = this.#wal.newest.length;
    const fact = (name, value) => value !== null && [h("dt", null, name), h("dd", null, value)];
    return [
      f.damage && h("p", { class: "wrong" }, capital(f.damage), "."),
      h(
        "div",
        { class: "cards" },
        h(
          "section",
          { class: "card" },
          h("h3", null, "The log"),
          h(
            "dl",
            { class: "facts" },
            fact(term("frame", "Frames"), `${count(f.frames)} (${bytes(f.frames * size)})`),
            fact("Committed", `${count(f.committed)} in ${plural(f.commits, "commit")}`),
            fact("Not committed", open > 0 ? `${count(open)}: a transaction is under way, or was cut off` : "none"),
            fact("Old frames", f.old > 0 ? `${count(f.old)} of before the log began anew` : "none"),
            fact("Size of the file", bytes(f.bytes)),
            fact("Began anew", plural(f.sequence, "time")),
          ),
        ),
        h(
          "section",
          { class: "card" },
          h("h3", null, "Pages"),
          h(
            "dl",
            { class: "facts" },
            fact("With versions in the log", withVersions(rest, this.#summary.pages)),
            fact("Versions of one page", rest > 0 ? `${(f.committed / rest).toFixed(1)} on average` : "–"),
          ),
        ),
        h("section", { class: "card" }, h("h3", null, "A checkpoint"), checkpoint(f)),
      ),
    ];
  }

  /** What frames are, for the line below the picture. */
  #tellFrames(from, to) {
    const wal = this.#wal;
    if (to > from) {
      const commits = [wal.commit(from), wal.commit(to)].map((k) => (k ? count(k) : "none"));
      const these = commits[0] === commits[1] ? `commit ${commits[0]}` : `commits ${commits[0]} to ${commits[1]}`;
      return `Frames ${count(from + 1)} to ${count(to + 1)}, ${these}`;
    }
    const k = wal.commit(from);
    const last = k > 0 && wal.ends[k - 1] === from + 1 ? ", its last" : "";
    return (
      `Frame ${count(from + 1)}: page ${count(wal.page(from))}${this.#ownerOf(wal.page(from))}, ` +
      `${k ? `commit ${count(k)}${last}, ` : ""}${FATES[wal.fates[from]].name}`
    );
  }

  #tellPages(from, to) {
    const versions = this.#wal.newest.filter(
      (frame) => this.#wal.page(frame) >= from && this.#wal.page(frame) <= to,
    ).length;
    if (to > from) return `Pages ${count(from)} to ${count(to)}: ${count(versions)} of them in the log`;
    const here = this.#wal.versions(from).length;
    return (
      `Page ${count(from)}${this.#ownerOf(from)}: ` +
      `${here === 0 ? "no version in the log" : `${plural(here, "version")} in the log`}`
    );
  }

  #ownerOf(n) {
    const map = this.#app.map(this.#file);
    if (!map.has(n) || map.owner(n) === NOBODY) return "";
    return ` of ${this.#summary.trees[map.owner(n)].title}`;
  }

  /** The first page of a cell that has versions, or its first. */
  #pickPage(from, to) {
    const frame = this.#wal.newest.find((f) => this.#wal.page(f) >= from && this.#wal.page(f) <= to);
    this.#choose({ page: frame === undefined ? from : this.#wal.page(frame) });
  }

  /** All versions of the page that is chosen. */
  #pageCard() {
    const wal = this.#wal;
    const n = this.#page;
    const frames = [...wal.versions(n)].reverse();
    const map = this.#app.map(this.#file);
    const owner = map.has(n) && map.owner(n) !== NOBODY ? [", ", treeLink(this.#app, map.owner(n))] : null;
    const newest = frames.find((f) => f < wal.committed);
    const shown = frames.slice(0, this.#linesOf("page"));
    const row = (frame) =>
      line(
        h("th", { scope: "row", class: "n" }, this.#frameLink(n, frame)),
        num(wal.commit(frame) ? this.#commitLink(wal.commit(frame), n) : "–"),
        cell(frame === newest ? `what SQLite reads; ${FATES[wal.fates[frame]].name}` : FATES[wal.fates[frame]].name),
      );
    const heads = [...numHeads(["Version", "Commit"]), "What became of it"];
    return h(
      "section",
      { class: "card" },
      h("div", { class: "row" }, h("h3", null, "Page ", pageLink(this.#app, n), owner), this.#close()),
      frames.length === 0
        ? h("p", null, WORDS.noVersion)
        : [
            h(
              "p",
              null,
              WORDS.versions(frames.length),
              h("a", { href: this.#app.href("page", { page: n, version: "file" }) }, "The one in the database file"),
              ".",
            ),
            wide(table(heads, shown.map(row))),
            this.#more("page", frames.length),
          ],
    );
  }

  /** A version of a page; the page view has those of the log as it was when the file was opened. */
  #frameLink(n, frame) {
    const text = `frame ${count(frame + 1)}`;
    if (!this.#same || frame >= this.#opened) return text;
    return h("a", { href: this.#app.href("page", { page: n, frame }) }, text);
  }

  /** What a commit wrote. */
  #commitCard([from, to]) {
    const wal = this.#wal;
    const k = this.#commit;
    const pages = [...this.#ofCommit];
    const later = plural(wal.sizeAfter(k), "page");
    const shown = pages.slice(0, this.#linesOf("commit"));
    return h(
      "section",
      { class: "card" },
      h(
        "div",
        { class: "row" },
        h("h3", null, `Commit ${count(k)}`),
        k > 1 && this.#commitLink(k - 1, null, "before"),
        k < wal.ends.length && this.#commitLink(k + 1, null, "after"),
        this.#close(),
      ),
      h("p", null, WORDS.commit(from, to, pages.length, later)),
      h(
        "p",
        { class: "numbers-list" },
        shown.map((n) => [
          h("a", { href: this.#app.href("wal", { page: n, commit: k }), class: "page-link" }, count(n)),
          " ",
        ]),
      ),
      this.#more("commit", pages.length),
    );
  }

  #commitLink(k, page, text = count(k)) {
    return h("a", { href: this.#app.href("wal", { commit: k, page }) }, text);
  }

  #close() {
    return h("a", { class: "close", href: this.#app.href("wal") }, "Close");
  }

  /** All commits, the newest first. */
  #commits() {
    const wal = this.#wal;
    const all = wal.ends.length;
    if (all === 0) return h("p", { class: "empty" }, "No transaction has committed in this log.");
    const shown = Math.min(all, this.#linesOf("commits"));
    const rows = Array.from({ length: shown }, (_, i) => {
      const k = all - i;
      const [from, to] = wal.framesOf(k);
      return h(
        "tr",
        { class: k === this.#commit ? "current" : null },
        h("th", { scope: "row", class: "n" }, this.#commitLink(k)),
        [to - from, from + 1, to, wal.sizeAfter(k)].map((x) => num(count(x))),
      );
    });
    const heads = numHeads(["Commit", "Frames", "First", "Last", "Pages of the database after it"]);
    return [h("h3", null, "Commits, the newest first"), wide(table(heads, rows)), this.#more("commits", all)];
  }

  #linesOf(list) {
    return (this.#lines[list] ??= LINES);
  }

  /** A button for what a list does not show yet. */
  #more(list, all) {
    return moreButton(all - this.#linesOf(list), MORE, () => {
      this.#lines[list] += MORE;
      this.#redraw();
    });
  }
}

/** Whether the log is what the summary of the file has. */
function isAsShown({ facts, same }, { wal }) {
  return same && facts?.frames === wal?.frames && facts?.copied === wal?.copied && facts?.old === wal?.old;
}

/** How many pages have versions in the log: a database that became smaller had more. */
function withVersions(versions, pages) {
  return versions <= pages ? `${count(versions)} of ${count(pages)}` : WORDS.smaller(versions, pages);
}

/** What a checkpoint would do, in words. */
function checkpoint(f) {
  if (f.to_checkpoint === 0) {
    return h("p", null, f.committed > 0 ? WORDS.allCopied : "Nothing is committed, so there is nothing to copy.");
  }
  return [
    h("p", null, WORDS.wouldWrite(f)),
    h("p", null, f.copied > 0 ? WORDS.copied(f) : "None has been copied yet."),
  ];
}

/** What is said where there is no log. */
function noLog(app, { header, wal }) {
  const what = h("p", null, WORDS.ofItsOwn, h("code", { class: "whole" }, "-wal"), WORDS.oneWouldSee);
  if (wal?.damage) return [h("p", { class: "wrong" }, capital(wal.damage), "."), what];
  if (wal)
    return [
      h("p", null, wal.old > 0 ? WORDS.old(wal.old) : "There is a log beside the database, and no frame in it."),
      what,
    ];
  if (header.write_version === 2) {
    return [h("p", null, WORDS.noLog), what];
  }
  return [h("p", null, WORDS.notWal), what];
}

/** Names of the colours of cells. */
const CELLS = ["ink", "paper", "edge", "none-cell", "older-cell", "copied-cell", "write-cell", "warn-cell"];

/** Colours of frames on an element, from the least important to the most, by what became of them. */
function fateColours(element) {
  const of = colours(element, CELLS);
  return {
    fills: [
      { colour: of["warn-cell"], stripes: of.ink },
      of["older-cell"],
      { colour: of["copied-cell"], stripes: of.edge },
      of["write-cell"],
    ],
    mark: [of.ink, of.paper],
    edge: of.ink,
  };
}

/** Colours of pages: not in the log, copied, to be written. */
function overColours(element) {
  const of = colours(element, CELLS);
  return {
    fills: [of["none-cell"], { colour: of["copied-cell"], stripes: of.edge }, of["write-cell"]],
    mark: [of.ink, of.paper],
    edge: of.ink,
  };
}

function legend(names, fills) {
  return h(
    "ul",
    { class: "legend" },
    names.map((name, i) => {
      const what = typeof fills[i] === "string" ? { colour: fills[i] } : fills[i];
      const stripes = what.stripes
        ? `repeating-linear-gradient(135deg, ${what.stripes} 0 1px, transparent 1px 4px)`
        : "none";
      return h(
        "li",
        null,
        h("span", {
          class: "cell",
          "aria-hidden": "true",
          style: { "background-color": what.colour, "background-image": stripes },
        }),
        name,
      );
    }),
  );
}
