/**
 * The page's frame: which files there are, which view is shown, what is selected.
 *
 * Each view is given the one `App`:
 *
 *   app.source              where data come from (source.js)
 *   app.files, app.file     the files that are looked at, and the number of the one shown
 *   app.summary(f)          promise of a file's summary, kept
 *   app.map(f)              the file's MapData, filled as it comes (map/data.js)
 *   app.describe(f, n)      promise of a line on page n, for tips
 *   app.selection           {page, trees, kinds}: trees and kinds are Sets of numbers, or null for all
 *   app.select({…})         changes it
 *   app.go(view, params)    shows a view; app.href(view, params) is the address of that
 *   app.watch()             asks for the files' states until nothing is under way
 *   app.say(...what)        a line that everybody shall see, of texts and elements
 *   app.dark                whether the page is dark now
 *   app.on(event, f)        calls f from now on; returns a function that ends it. Events: "files",
 *                           "file" (another is shown), "summary" and "map" (with {file, from, count}),
 *                           "select", "theme"
 *
 * A view is a module with `view = {id, title, wanted?(app), number?(summary), create(app)}`; `number`
 * stands on its tab if it is not 0; `create` is called when it is shown first and returns {element,
 * show(params), hide?()}.
 */
import { capital, count, fill, h, percent, plural } from "viz/dom.js";
import { MapLoader, NOBODY } from "viz/map/data.js";
import { SearchBox } from "viz/search.js";
import { SourceGone } from "viz/source.js";

/** The modules of the views, in the order of their tabs. */
const VIEWS = ["overview", "map", "page", "tree", "numbers", "compare", "query", "wal", "problems"];

/** Parameters of addresses that are numbers. */
const NUMBERS = new Set(["file", "page", "tree", "cell", "level", "frame", "with"]);
/** Milliseconds between questions for the files' states: while work is under way, and otherwise. */
const SOON = 300;
const LATER = 10_000;

export class App {
  files = [];
  file = 0;
  selection = { page: null, trees: null, kinds: null };
  #views = [];
  #open = new Map();
  #shown = null;
  #summaries = new Map();
  #maps = new Map();
  #listeners = new Map();
  #timer = null;
  /** The summary of the file that is shown, once it is there. */
  #summary = null;
  /** Questions for the files' states so far: only the newest one's answer counts. */
  #asked = 0;
  #scheme = matchMedia("(prefers-color-scheme: dark)");

  constructor(source, views) {
    this.source = source;
    this.#views = views;
  }

  /** Asks for the files and shows what the address says. */
  async start() {
    addEventListener("unhandledrejection", ({ reason }) => this.fail(reason));
    this.#drawTools();
    this.#scheme.addEventListener("change", () => this.#emit("theme"));
    await this.#askFiles();
    if (this.files.length === 0) return;
    document.getElementById("search").append(new SearchBox(this).element);
    this.on("summary", () => this.#drawTabs());
    this.on("summary", ({ file }) => file === this.file && this.#drawDamage());
    addEventListener("hashchange", () => this.#route());
    this.#route();
  }

  on(event, f) {
    if (!this.#listeners.has(event)) this.#listeners.set(event, new Set());
    this.#listeners.get(event).add(f);
    return () => this.#listeners.get(event).delete(f);
  }

  #emit(event, detail) {
    for (const f of this.#listeners.get(event) ?? []) f(detail);
  }

  summary(f = this.file) {
    if (!this.#summaries.has(f)) {
      const answer = this.source.summary(f);
      answer.catch((e) => {
        this.#summaries.delete(f);
        this.fail(e);
      });
      this.#summaries.set(f, answer);
    }
    return this.#summaries.get(f);
  }

  map(f = this.file) {
    const status = this.files[f];
    if (!this.#maps.has(f)) {
      const changed = (from, n) => this.#emit("map", { file: f, from, count: n });
      const loader = new MapLoader(this.source, f, status.pages, changed, (e) => this.fail(e));
      this.#maps.set(f, loader);
      loader.update(status);
    }
    return this.#maps.get(f).data;
  }

  async describe(f, n) {
    const { kinds, trees } = await this.summary(f);
    const map = this.map(f);
    if (!map.has(n)) return `Page ${count(n)} is not in the file.`;
    const kind = kinds[map.kind(n)];
    const owner = map.owner(n) === NOBODY ? null : trees[map.owner(n)];
    const whose = owner ? ` of ${owner.title}` : "";
    return `Page ${count(n)}: ${kind.name}${whose}, ${percent(map.fill(n) / 255)} full`;
  }

  select(change) {
    this.selection = { ...this.selection, ...change };
    this.#emit("select", change);
  }

  href(view, params = {}) {
    const all = { file: this.file, ...params };
    const given = Object.entries(all).filter(([, v]) => v !== null && v !== undefined && v !== "");
    return `#${view}?${new URLSearchParams(given)}`;
  }

  go(view, params = {}) {
    const address = this.href(view, params);
    if (location.hash === address) this.#route();
    else location.hash = address;
  }

  get dark() {
    const theme = document.documentElement.dataset.theme;
    return theme ? theme === "dark" : this.#scheme.matches;
  }

  say(...what) {
    fill(document.getElementById("notice"), what);
  }

  /** Tells the user that a request failed. */
  fail(e) {
    console.error(e);
    const hint = e instanceof SourceGone ? " Start it again, and open the address it prints." : "";
    this.say(`${e?.message ?? e}${hint}`);
  }

  watch() {
    this.#askFiles();
  }

  async #askFiles() {
    clearTimeout(this.#timer);
    const asked = ++this.#asked;
    let wait = LATER;
    try {
      const files = await this.source.files();
      if (asked !== this.#asked) return;
      const before = this.files;
      this.files = files;
      const busy = this.files.some((f) => f.state === "scanning" || f.state === "copying");
      if (busy) wait = SOON;
      this.files.forEach((file, f) => this.#fileMoved(f, before[f], file));
      this.#drawTitle();
      this.#emit("files");
    } catch (e) {
      if (asked !== this.#asked) return;
      this.fail(e);
      wait = e instanceof SourceGone ? null : LATER;
    }
    if (wait && asked === this.#asked) this.#timer = setTimeout(() => this.#askFiles(), wait);
  }

  /** A file's state as it was before and is now. */
  #fileMoved(f, before, now) {
    if (before && before.state !== now.state) {
      this.#summaries.delete(f);
      if (this.#maps.has(f) && this.#maps.get(f).data.pages !== now.pages) this.#maps.delete(f);
      this.#emit("summary", { file: f });
    }
    if (now.state === "failed" && before?.state !== "failed") this.say(`${now.title}: ${now.error}`);
    if (now.changed && !before?.changed) {
      this.#offerReload(f, now);
    }
    this.#maps.get(f)?.update(now);
  }

  /** A file was written to. */
  #offerReload(f, { title, changed }) {
    const reload = async () => {
      try {
        await this.source.reload(f);
        location.reload();
      } catch (e) {
        this.fail(e);
      }
    };
    this.say(
      `${title}: ${changed} What is shown may be of before and after. `,
      h("button", { type: "button", onclick: reload }, "Open it anew"),
    );
  }

  /** Shows what the address says; what a view cannot do is told. */
  async #route() {
    try {
      await this.#show();
    } catch (e) {
      this.fail(e);
    }
  }

  async #show() {
    const [id, query] = decodeHash();
    const params = Object.fromEntries(query);
    for (const name of Object.keys(params)) if (NUMBERS.has(name)) params[name] = Number(params[name]);
    const view = this.#views.find((v) => v.id === id) ?? this.#views[0];
    const file = this.files[params.file] ? params.file : 0;
    if (file !== this.file) {
      this.file = file;
      this.selection = { page: null, trees: null, kinds: null };
      this.#summary = null;
      this.#emit("file");
      this.#drawTitle();
    }
    if (!this.#open.has(view.id)) this.#open.set(view.id, view.create(this));
    const next = this.#open.get(view.id);
    if (this.#shown !== next) {
      this.#shown?.hide?.();
      this.#shown = next;
      fill(document.getElementById("main"), next.element);
    }
    this.#drawTabs(view.id);
    document.title = `${view.title}: ${this.files[file].title}`;
    this.#drawDamage();
    await next.show(params);
  }

  #drawTitle() {
    const file = this.files[this.file];
    if (!file) return;
    const title = document.getElementById("title");
    // A list that is open stays as it is.
    if (title.contains(document.activeElement)) return;
    const name = this.files.length === 1 ? file.title : this.#fileChooser();
    const size = file.pages ? plural(file.pages, "page") : "";
    fill(
      title,
      h("h1", { title: file.path }, name),
      h("small", null, [size, stateOf(file)].filter(Boolean).join(" · ")),
    );
  }

  #fileChooser() {
    const options = this.files.map((f, i) => h("option", { value: i, selected: i === this.file }, f.title));
    const chosen = (e) => {
      const f = Number(e.target.value);
      e.target.blur();
      this.go(decodeHash()[0] || this.#views[0].id, { file: f });
    };
    return h("select", { "aria-label": "File", onchange: chosen }, options);
  }

  #drawTabs(id = decodeHash()[0]) {
    const tabs = document.getElementById("tabs");
    const wanted = this.#views.filter((v) => v.wanted?.(this) ?? true);
    const current = wanted.some((v) => v.id === id) ? id : wanted[0]?.id;
    const focused = document.activeElement?.parentElement === tabs ? document.activeElement.dataset.id : null;
    const number = (v) => (this.#summary && v.number?.(this.#summary)) || 0;
    fill(
      tabs,
      wanted.map((v) =>
        h(
          "a",
          { href: this.href(v.id), dataset: { id: v.id, title: v.title }, "aria-current": v.id === current && "page" },
          v.title,
          number(v) > 0 && h("span", { class: "number" }, count(number(v))),
        ),
      ),
    );
    if (focused) tabs.querySelector(`[data-id="${focused}"]`)?.focus();
    tabs.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Says above every view but Problems that the file is damaged, and how much on that view's tab. */
  async #drawDamage() {
    const f = this.file;
    const summary = await this.summary(f).catch(() => null);
    if (f !== this.file) return;
    const isNew = summary !== this.#summary;
    this.#summary = summary;
    if (isNew) this.#drawTabs();
    const n = summary?.problem_count ?? 0;
    const listed = decodeHash()[0] === "problems";
    const sofar = summary?.scanned ? "" : " so far";
    const found = `${capital(plural(n, "problem"))} ${n === 1 ? "was" : "were"} found${sofar}.`;
    fill(
      document.getElementById("damage"),
      n > 0 &&
        !listed && [
          h("strong", null, "⚠ This file is damaged."),
          h("span", null, found),
          h("a", { href: this.href("problems") }, "What is wrong"),
        ],
    );
  }

  /** The button for light and dark. */
  #drawTools() {
    const root = document.documentElement;
    const kept = remembered("theme");
    if (kept === "light" || kept === "dark") root.dataset.theme = kept;
    const button = h("button", { type: "button", class: "icon" });
    const draw = () => {
      const other = this.dark ? "light" : "dark";
      button.textContent = this.dark ? "☀" : "☾";
      button.title = `Make the page ${other}`;
      button.setAttribute("aria-label", button.title);
    };
    button.addEventListener("click", () => {
      root.dataset.theme = this.dark ? "light" : "dark";
      remember("theme", root.dataset.theme);
      this.#emit("theme");
    });
    this.on("theme", draw);
    draw();
    document.getElementById("tools").append(button);
  }
}

/** How far a file is, in words; nothing when it is ready. */
function stateOf({ state, done = 0, total = 0, error }) {
  const share = total > 0 ? ` ${percent(done / total)}` : "";
  if (state === "scanning") return `reading every page:${share || " 0 %"}`;
  if (state === "copying") return `being copied:${share}`;
  return state === "failed" ? `failed: ${error}` : "";
}

function decodeHash() {
  const [id, query = ""] = location.hash.slice(1).split("?", 2);
  return [id, new URLSearchParams(query)];
}

/** What this browser was told to remember; saved pages may not be allowed to. */
export function remembered(name) {
  try {
    return localStorage.getItem(`hpsqlite-viz-${name}`);
  } catch {
    return null;
  }
}

/** Remembers a text for this page's next time. */
export function remember(name, value) {
  try {
    localStorage.setItem(`hpsqlite-viz-${name}`, value);
  } catch {
    // It is a comfort only.
  }
}

/** Starts the page with a source; a view whose module cannot be loaded is left out, and that is told. */
export async function start(source) {
  const modules = await Promise.allSettled(VIEWS.map((id) => import(`viz/${id}/view.js`)));
  const views = modules.flatMap((m) => (m.status === "fulfilled" ? [m.value.view] : []));
  const app = new App(source, views);
  await app.start();
  for (const m of modules) if (m.status === "rejected") app.fail(m.reason);
  return app;
}
