/**
 * Pages that both files have and that are not the same, byte by byte: compared by the server, piece by
 * piece, while one looks.
 */
import { bytes, count, fill, h, pageLink, percent, plural, treeLink } from "viz/dom.js";
import { NOBODY } from "viz/map/data.js";
import { WORDS } from "viz/compare/words.js";

/** Files of at most so many bytes are compared without being asked; copies are not, as they have nearly
 *  all content elsewhere. */
const AT_ONCE = 64 << 20;
/** Runs of pages that are listed. */
const LISTED = 40;

/** Marks of pages that differ, as far as they are known. */
export class PageDifferences {
  #app;
  #changed;
  #given = null;
  #state = "none";
  #error = null;
  #run = 0;
  /** Of page n at n - 1: 1 if it differs. Empty before anything was compared. */
  marks = new Uint8Array(0);
  /** Pages that were compared, and those that differ. */
  done = 0;
  count = 0;

  /** `changed()` is called when more pages are known. */
  constructor(app, changed) {
    this.#app = app;
    this.#changed = changed;
    this.element = h("div", { class: "differs" });
  }

  /** Two files to be compared: `{left, right, f, g}`, summaries and numbers of files. */
  update(given) {
    const before = this.#given;
    this.#given = given;
    const same =
      before &&
      before.f === given.f &&
      before.g === given.g &&
      before.left.path === given.left.path &&
      before.right.path === given.right.path &&
      before.left.pages === given.left.pages &&
      before.right.pages === given.right.pages;
    if (!same) {
      this.#run++;
      this.#state = "none";
      this.marks = new Uint8Array(0);
      this.done = this.count = 0;
      const copy = [given.f, given.g].some((i) => this.#app.files[i].copy);
      if (this.#possible() && !copy && this.#bytes() <= AT_ONCE) this.#start();
    }
    this.#draw();
  }

  #possible() {
    const { left, right } = this.#given;
    return left.page_size === right.page_size && Boolean(this.#app.source.differs);
  }

  #bytes() {
    const { left, right } = this.#given;
    return Math.min(left.pages, right.pages) * left.page_size;
  }

  async #start() {
    const { left, right, f, g } = this.#given;
    const run = ++this.#run;
    const all = Math.min(left.pages, right.pages);
    this.marks = new Uint8Array(all);
    this.done = this.count = 0;
    this.#state = "running";
    this.#draw();
    try {
      while (this.done < all) {
        const marks = await this.#app.source.differs(f, g, this.done + 1);
        if (run !== this.#run) return;
        if (marks.length === 0) break;
        this.marks.set(marks, this.done);
        for (const mark of marks) this.count += mark;
        this.done += marks.length;
        this.#draw();
        this.#changed();
      }
      this.#state = "done";
    } catch (e) {
      if (run !== this.#run) return;
      this.#state = "failed";
      this.#error = e.message;
    }
    this.#draw();
    this.#changed();
  }

  #stop() {
    this.#run++;
    this.#state = "stopped";
    this.#draw();
  }

  #draw() {
    const { left, right } = this.#given;
    const both = Math.min(left.pages, right.pages);
    if (left.page_size !== right.page_size) {
      return fill(this.element, h("p", null, WORDS.pageSizes(left.page_size, right.page_size)));
    }
    if (!this.#possible()) return fill(this.element, h("p", null, WORDS.saved));
    if (this.#state === "none") {
      return fill(
        this.element,
        h(
          "p",
          { class: "row" },
          h("button", { type: "button", onclick: () => this.#start() }, "Compare the pages"),
          h("span", { class: "faint" }, `Reads ${bytes(this.#bytes())} of each file.`),
        ),
      );
    }
    const ends =
      this.#state === "running"
        ? h(
            "p",
            { class: "row" },
            h("progress", { value: this.done, max: both }),
            `${percent(this.done / Math.max(1, both))} compared`,
            h("button", { type: "button", onclick: () => this.#stop() }, "Stop"),
          )
        : this.#state === "stopped"
          ? h(
              "p",
              { class: "row" },
              `Stopped after ${plural(this.done, "page")}.`,
              h("button", { type: "button", onclick: () => this.#start() }, "Compare them all"),
            )
          : this.#state === "failed"
            ? h("p", { class: "wrong" }, this.#error)
            : null;
    const said = this.count === 0 ? WORDS.allSame(this.done) : WORDS.someDiffer(this.count, this.done);
    const more = left.pages !== right.pages && this.#state === "done" ? WORDS.longer(left.pages, right.pages) : "";
    fill(
      this.element,
      this.done > 0 && h("p", null, said, more),
      ends,
      this.#state !== "running" && this.count > 0 && [this.#owners(), this.#list()],
    );
  }

  /** Whose the pages are that differ, in the left file. */
  #owners() {
    const { left, f } = this.#given;
    const map = this.#app.map(f);
    const counts = new Map();
    for (let i = 0; i < this.done; i++) {
      if (this.marks[i]) counts.set(map.owners[i], (counts.get(map.owners[i]) ?? 0) + 1);
    }
    const all = [...counts].sort((a, b) => b[1] - a[1]);
    const name = (t) => (t === NOBODY || !left.trees[t] ? "of no b-tree" : treeLink(this.#app, t, { file: f }));
    return h(
      "p",
      null,
      "Whose they are in the left file: ",
      all.slice(0, 12).flatMap(([t, n], i) => [i > 0 && ", ", name(t), ` ${count(n)}`]),
      all.length > 12 && `, and ${count(all.length - 12)} more`,
      ".",
    );
  }

  #list() {
    const { f } = this.#given;
    const runs = [];
    let more = 0;
    for (let i = 0; i < this.done; i++) {
      if (!this.marks[i]) continue;
      let end = i;
      while (end + 1 < this.done && this.marks[end + 1]) end++;
      if (runs.length < LISTED) runs.push([i + 1, end + 1]);
      else more += end - i + 1;
      i = end;
    }
    const link = (n) => pageLink(this.#app, n, { file: f });
    return h(
      "p",
      { class: "small" },
      "Pages ",
      runs.flatMap(([a, b], i) => [i > 0 && ", ", link(a), b > a && ["–", link(b)]]),
      more > 0 && ` and ${plural(more, "page")} more`,
      ".",
    );
  }
}
