/**
 * The Page view: one page byte by byte. A picture of its bytes, all of them in hexadecimal, its records,
 * its header in words, and links to the pages around it. What is pointed at in one is marked in all.
 */
import { setOwner } from "viz/colours.js";
import { columnsOf } from "viz/page/columns.js";
import { append, capital, count, fill, h } from "viz/dom.js";
import { Marks, PageBytes, isBtree } from "viz/page/bytes.js";
import { Fields } from "viz/page/fields.js";
import { HexDump } from "viz/page/hex.js";
import { LETTERS, PageLinks } from "viz/page/links.js";
import { PagePicture, sentence } from "viz/page/picture.js";
import { Records } from "viz/page/records.js";
import { WORDS } from "viz/page/words.js";

/** Frames of the log that are offered for a page before the rest is left out. */
const FRAMES = 200;

class PageView {
  #app;
  #number = 1;
  /** What is asked for last: answers to what was asked before come too late. */
  #wanted = 0;
  #params = {};
  #bytes = null;
  #visible = false;
  #marks = new Marks();
  #input = h("input", {
    type: "text",
    inputmode: "numeric",
    "aria-label": "Page number",
    size: "9",
    autocomplete: "off",
  });
  #before = h(
    "button",
    {
      type: "button",
      class: "icon",
      title: "The page before in the file (key: [ or k)",
      "aria-label": "The page before in the file",
    },
    "‹",
  );
  #after = h(
    "button",
    {
      type: "button",
      class: "icon",
      title: "The next page of the file (key: ] or j)",
      "aria-label": "The next page of the file",
    },
    "›",
  );
  #of = h("span", { class: "faint" });
  #version = h("select", { "aria-label": "Which version of the page" });
  #versionBox = h("label", { class: "row", hidden: true }, "Version", this.#version);
  #title = h("h2", { class: "page-title" });
  #problems = h("div", { class: "page-problems", role: "status" });
  #grid = h("div", { class: "page-grid" });
  #said = h("p", { id: "page-said", class: "page-said small", "aria-live": "polite" });

  constructor(app) {
    this.#app = app;
    this.picture = new PagePicture(app, this.#marks);
    this.hex = new HexDump(this.#marks);
    this.records = new Records(app, this.#marks);
    this.fields = new Fields(app, this.#marks);
    this.links = new PageLinks(app);
    this.cells = h("section", { class: "page-cells" }, h("h3", null, "Cells, decoded"), this.records.element);
    const form = h(
      "form",
      { class: "row" },
      this.#before,
      h("label", { class: "row" }, "Page", this.#input),
      this.#of,
      this.#after,
    );
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      this.#goTo(Number(this.#input.value.replace(/[^0-9]/g, "")));
    });
    this.#before.addEventListener("click", () => this.#goTo(this.#number - 1));
    this.#after.addEventListener("click", () => this.#goTo(this.#number + 1));
    this.#version.addEventListener("change", () =>
      app.go("page", { page: this.#number, ...JSON.parse(this.#version.value) }),
    );
    this.element = h(
      "div",
      { class: "view page-view waiting" },
      h("div", { class: "row page-bar" }, form, this.#versionBox),
      this.#title,
      this.#problems,
      this.#grid,
    );
    append(this.#grid, [
      h(
        "div",
        { class: "page-left" },
        h("section", { class: "page-bytes" }, this.picture.element, this.#said, this.hex.element),
      ),
      h(
        "div",
        { class: "page-right" },
        h("section", { class: "card" }, this.links.element),
        this.cells,
        h("section", { class: "page-words" }, this.fields.element),
      ),
    ]);
    this.#marks.on(() => this.#say());
    addEventListener("keydown", (e) => this.#key(e));
    app.on("summary", ({ file }) => this.#visible && file === app.file && this.#load());
  }

  show(params) {
    this.#visible = true;
    this.#params = params;
    const pages = this.#app.files[this.#app.file]?.pages ?? 0;
    const wanted = params.page ?? this.#app.selection.page ?? 1;
    this.#number = Math.min(Math.max(1, Math.trunc(wanted) || 1), Math.max(1, pages));
    if (this.#app.selection.page !== this.#number) this.#app.select({ page: this.#number });
    this.#load();
  }

  hide() {
    this.#visible = false;
  }

  #goTo(n) {
    const pages = this.#app.files[this.#app.file]?.pages ?? 0;
    if (n >= 1 && n <= pages) {
      // Another key may come before the address has changed.
      this.#number = n;
      this.#app.go("page", { page: n });
    } else {
      this.#input.value = this.#number;
    }
  }

  async #load() {
    const app = this.#app;
    const token = ++this.#wanted;
    const [file, n] = [app.file, this.#number];
    const version = versionOf(this.#params);
    try {
      const [summary, page, bytes] = await Promise.all([
        app.summary(file),
        app.source.page(file, n, version),
        // A saved page may have what is known of a page without its bytes.
        app.source.can.bytes ? app.source.bytes(file, n, version).catch(() => null) : null,
      ]);
      const columns = await columnsOf(app, file, page.kind === "overflow" ? null : page.owner);
      if (token === this.#wanted) this.#draw(summary, page, bytes, columns, version);
    } catch (e) {
      if (token !== this.#wanted) return;
      this.#place(n);
      this.#grid.hidden = this.#versionBox.hidden = true;
      fill(this.#title, `Page ${count(n)}`);
      fill(this.#problems, h("p", { class: "wrong" }, e.message));
    }
  }

  /** Says which page it is of how many; returns these. */
  #place(n) {
    const { pages } = this.#app.files[this.#app.file];
    this.element.classList.remove("waiting");
    // What is being typed stays.
    if (document.activeElement !== this.#input) this.#input.value = n;
    this.#of.textContent = `of ${count(pages)}`;
    this.#before.disabled = n <= 1;
    this.#after.disabled = n >= pages;
    return pages;
  }

  #draw(summary, page, bytes, columns, version) {
    const n = page.number;
    const pages = this.#place(n);
    this.#grid.hidden = false;
    const kind = summary.kinds.find((k) => k.letter === LETTERS[page.kind])?.name ?? page.kind;
    const tree = page.owner === null || page.owner === undefined ? null : summary.trees[page.owner];
    const kept = page.kind.startsWith("free") || page.kind === "reserved";
    const whose = tree ? [kept ? ", kept for " : " of ", h("bdi", null, tree.title)] : "";
    fill(this.#title, `Page ${count(n)}: ${kind}`, whose);
    this.#drawVersions(page, version);
    this.#drawProblems(page, version);
    const usable = summary.usable ?? page.parts.at(-1).at + page.parts.at(-1).len;
    const same = this.#bytes?.page.number === n ? this.#marks.pinned : null;
    this.#bytes = new PageBytes(page, bytes, usable, columns);
    this.#marks.pinned = this.#marks.hovered = null;
    setOwner(this.element, tree?.colour);
    this.picture.show(this.#bytes);
    this.hex.show(this.#bytes);
    this.links.show(page, summary, pages);
    this.cells.hidden = !isBtree(this.#bytes.kind);
    if (!this.cells.hidden) this.records.show(this.#bytes);
    this.fields.show(this.#bytes, pages);
    const cell = this.#params.cell;
    const entry = Number.isInteger(cell) ? this.#bytes.cell(cell) : null;
    if (entry) this.#marks.pin(this.#bytes.whole(this.#bytes.partAt(entry.at)), "address");
    else this.#marks.pin(same, "again");
    this.#say();
  }

  /** The versions that the log and the file have of the page. */
  #drawVersions(page, version) {
    const frames = page.frames ?? [];
    this.#versionBox.hidden = frames.length === 0;
    if (frames.length === 0) return;
    const option = (value, text, chosen) => h("option", { value: JSON.stringify(value), selected: chosen }, text);
    const newest = page.frame;
    const rest = frames.slice(-FRAMES).reverse();
    fill(
      this.#version,
      option(
        {},
        newest === undefined ? "as it counts: in the file" : `as it counts: frame ${count(newest + 1)} of the log`,
        !version.file && version.frame === undefined,
      ),
      page.in_file && option({ version: "file" }, "in the database file", Boolean(version.file)),
      rest.map((frame) =>
        option({ frame }, `frame ${count(frame + 1)}${WORDS.committed(frame, newest)}`, version.frame === frame),
      ),
    );
  }

  #drawProblems(page, version) {
    const notes = [];
    if (page.problems?.length > 0) {
      notes.push(
        h(
          "div",
          { class: "card page-wrong" },
          h("strong", { class: "wrong" }, WORDS.wrong(page.problems.length)),
          h(
            "ul",
            null,
            page.problems.map((what) => h("li", null, `${capital(what)}.`)),
          ),
        ),
      );
    }
    if (version.file && page.frame !== undefined) {
      notes.push(h("p", { class: "small" }, WORDS.older));
    } else if (version.frame !== undefined && version.frame !== page.frame) {
      notes.push(h("p", { class: "small" }, WORDS.oldFrame(version.frame)));
    } else if (page.frame !== undefined) {
      notes.push(h("p", { class: "small" }, WORDS.toBeWritten));
    }
    if (page.remains) {
      const was = page.remains.replace("-", " ").replace("interior", "interior page");
      notes.push(h("p", { class: "small" }, WORDS.leftOver(was)));
    }
    fill(this.#problems, notes);
  }

  #say() {
    const span = this.#marks.shown;
    this.#said.textContent =
      span && this.#bytes ? sentence(this.#bytes, span) : "Point at a byte to see what it is; click to hold on to it.";
  }

  #key(e) {
    if (
      !this.#visible ||
      e.ctrlKey ||
      e.metaKey ||
      e.altKey ||
      e.target.closest?.("input, select, textarea, [contenteditable]")
    )
      return;
    const step = { "[": -1, k: -1, "]": 1, j: 1 }[e.key];
    if (!step) return;
    e.preventDefault();
    this.#goTo(this.#number + step);
  }
}

/** Which version of a page the address names. */
function versionOf({ frame, version }) {
  if (Number.isInteger(frame)) return { frame };
  return version === "file" ? { file: true } : {};
}

export const view = { id: "page", title: "Page", create: (app) => new PageView(app) };
