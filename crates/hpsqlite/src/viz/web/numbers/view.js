/**
 * The Numbers view: the file, advice, the device that cold scans are estimated for, and a table with
 * a line a b-tree, of which one can be opened (numbers/tree.js).
 */
import {
  bytes,
  capital,
  count,
  css,
  fill,
  h,
  number,
  percent,
  plural,
  seconds,
  swatch,
  tip,
  treeLink,
} from "viz/dom.js";
import { COLUMNS } from "viz/numbers/columns.js";
import { NumbersTable } from "viz/numbers/table.js";
import { treeNumbers } from "viz/numbers/tree.js";
import { WORDS } from "viz/numbers/words.js";

/** Devices that one may ask for: bytes a second, and seconds a jump. */
const DEVICES = [
  { name: "an ordinary SSD", throughput: 500e6, latency: 100e-6 },
  { name: "a fast NVMe SSD", throughput: 3e9, latency: 60e-6 },
  { name: "a cloud volume", throughput: 250e6, latency: 500e-6 },
  { name: "a hard disk", throughput: 150e6, latency: 8e-3 },
];

export const view = { id: "numbers", title: "Numbers", create: (app) => new NumbersView(app) };

class NumbersView {
  #app;
  #summary = null;
  #file = null;
  #tree = null;
  #device = null;
  #table = null;
  #parts = {};

  constructor(app) {
    this.#app = app;
    const part = (name, attributes = {}) => (this.#parts[name] = h("div", attributes));
    this.element = h(
      "div",
      { class: "view numbers" },
      part("file"),
      part("advice"),
      part("device", { class: "card device" }),
      part("tree"),
      part("table"),
      part("words"),
    );
    app.on("summary", ({ file } = {}) => file === this.#file && this.#load());
  }

  show({ tree }) {
    const opened = tree !== this.#tree && tree !== undefined;
    this.#tree = tree;
    if (this.#file !== this.#app.file) {
      this.#file = this.#app.file;
      this.#device = null;
      this.#load(opened);
    } else if (this.#summary) {
      this.#drawTree(opened);
    }
  }

  async #load(opened = false) {
    const file = this.#file;
    const summary = await this.#app.summary(file).catch(() => null); // The app has told why.
    if (!summary || file !== this.#file) return;
    this.#summary = summary;
    this.#device ??= { name: NAMES[summary.device.origin] ?? "a device", ...summary.device };
    fill(this.#parts.file, fileFacts(this.#app, summary));
    fill(this.#parts.advice, advice(this.#app, summary));
    this.#parts.words.replaceChildren(summary.whole ? words() : "");
    this.#drawDevice();
    this.#drawTable();
    this.#drawTree(opened);
  }

  #drawTable() {
    const { whole } = this.#summary;
    this.#parts.device.hidden = !whole;
    if (!whole) return fill(this.#parts.table, h("p", { class: "empty" }, WORDS.beingRead));
    this.#table ??= new NumbersTable(this.#app);
    this.#table.update(this.#summary, this.#device);
    if (!this.#table.element.isConnected) fill(this.#parts.table, this.#table.element);
  }

  #drawTree(opened) {
    const tree = this.#summary.trees[this.#tree];
    if (!tree?.numbers) return this.#parts.tree.replaceChildren();
    fill(this.#parts.tree, treeNumbers(this.#app, this.#summary, this.#tree, this.#device));
    if (opened) {
      this.#parts.tree.scrollIntoView({ block: "start" });
      this.#parts.tree.querySelector("h2").focus({ preventScroll: true });
    }
  }

  /** What cold scans are estimated for, and the ways to change it. */
  #drawDevice(said = "") {
    const device = this.#device;
    const known = DEVICES.some((d) => d.name === device.name);
    const options = [...(known ? [] : [device]), ...DEVICES].map((d) =>
      h("option", { selected: d.name === device.name }, d.name),
    );
    const choose = h(
      "select",
      {
        id: "numbers-device",
        onchange: (e) => this.#setDevice(DEVICES.find((d) => d.name === e.target.value) ?? device),
      },
      options,
    );
    const measure = h("button", { type: "button", onclick: (e) => this.#measure(e.target) }, "Measure this device");
    tip(measure, () => WORDS.measure);
    fill(
      this.#parts.device,
      h(
        "div",
        { class: "row" },
        h("label", { for: "numbers-device" }, "Cold scans are estimated for"),
        choose,
        h("span", null, figures(device)),
        this.#app.source.device && measure,
      ),
      h("p", { class: "small faint", role: "status" }, said || WORDS.coldScan),
    );
  }

  #setDevice(device, said) {
    this.#device = device;
    this.#drawDevice(said);
    this.#drawTable();
    this.#drawTree(false);
  }

  async #measure(button) {
    button.disabled = true;
    const file = this.#file;
    try {
      const found = await this.#app.source.device(file);
      if (file !== this.#file) return;
      const how = found.direct ? "past the cache" : "where nothing was cached";
      const said = WORDS.measured(found, how);
      this.#setDevice({ name: "this device, as measured", ...found.device }, said);
    } catch (e) {
      if (file === this.#file) this.#drawDevice(`It cannot be measured. ${e.message}`);
    }
  }
}

const NAMES = { assumed: DEVICES[0].name, given: "the device that was given", measured: "this device, as measured" };

/** "500 MB/s, 100 µs a jump" */
function figures({ throughput, latency }) {
  const rate = throughput >= 1e9 ? `${number(throughput / 1e9)} GB/s` : `${number(throughput / 1e6)} MB/s`;
  return `(${rate}, ${seconds(latency)} a jump)`;
}

/** A card with facts; those that are null are left out. */
function facts(title, ...pairs) {
  const shown = pairs.filter(Boolean);
  return h(
    "section",
    { class: "card" },
    h("h3", null, title),
    h(
      "dl",
      { class: "facts" },
      shown.map(([name, value, why]) => [h("dt", null, explained(name, why)), h("dd", null, value)]),
    ),
  );
}

function explained(text, why) {
  return why ? tip(h("span", { class: "term", tabindex: "0" }, text), () => why) : text;
}

/** What can be said of the file as a whole. */
function fileFacts(app, summary) {
  const { whole, header, notes } = summary;
  const cards = [
    facts(
      "Size",
      ["The file", bytes(summary.bytes)],
      ["Pages", count(summary.pages)],
      ["Page size", plural(summary.page_size, "byte")],
      whole && [
        "Free pages",
        whole.free_pages > 0 ? `${count(whole.free_pages)}, ${bytes(whole.free_pages * summary.page_size)}` : "none",
        "Pages that hold nothing. New rows use them before the file grows.",
      ],
      whole?.reserved_pages > 0 && ["Reserved of these", count(whole.reserved_pages), WORDS.reserved],
      whole && [
        "VACUUM gives back",
        whole.vacuum_gives_back > 0 ? `about ${bytes(whole.vacuum_gives_back)}` : "nothing",
        "An estimate: free pages go, and half-empty pages are filled.",
      ],
    ),
    whole &&
      facts(
        "What is in the pages",
        ["Payload", share(whole.payload, whole.bytes), "The bytes of the rows and entries themselves."],
        [
          "Unused within pages",
          share(whole.unused, whole.bytes),
          "Bytes of pages in use that hold nothing yet, or nothing any more.",
        ],
        ["Free pages", share(whole.free_pages * summary.page_size, whole.bytes)],
        [
          "Structure",
          share(
            Math.max(0, whole.bytes - whole.payload - whole.unused - whole.free_pages * summary.page_size),
            whole.bytes,
          ),
          WORDS.structure,
        ],
      ),
    whole &&
      facts(
        "Order in the file",
        ["Scatter", score(whole), WORDS.scatterOfAll],
        ["Runs of leaves", count(whole.runs), "Pieces of leaves that follow each other in the file."],
        ["Median run", plural(whole.median_run, "leaf", "leaves"), "Half of the runs are at least this long."],
        ["Longest run", plural(whole.longest_run, "leaf", "leaves")],
      ),
    whole && kindFacts(summary),
    facts(
      "Header",
      ["Written last by", version(header.sqlite_version), "The version of the SQLite library, as the header has it."],
      ["Text encoding", header.encoding],
      ["Journal", header.write_version === 2 ? "WAL" : "rollback journal", WORDS.journal],
      ["auto_vacuum", autoVacuum(header), WORDS.autoVacuum],
      ["user_version", count(header.user_version), WORDS.userVersion],
      [
        "application_id",
        applicationId(header.application_id),
        "A number that says which application the file belongs to, if any.",
      ],
      [
        "Change counter",
        count(header.change_counter),
        "Counts commits with a rollback journal; in WAL mode it counts little.",
      ],
      ["Schema cookie", count(header.schema_cookie), "Counts changes of the schema."],
      ["Schema format", header.schema_format],
      header.reserved > 0 && [
        "Reserved in each page",
        plural(header.reserved, "byte"),
        "Left to extensions, as those that encrypt.",
      ],
    ),
  ];
  return [
    h("h2", null, "The file"),
    notes.map((note) => h("p", { class: "warn" }, note)),
    h("div", { class: "cards" }, cards),
    whole && ownersBar(app, summary),
  ];
}

/** A number of bytes and its share of all. */
function share(n, all) {
  return `${bytes(n)}, ${percent(n / Math.max(1, all))}`;
}

/** Scatter with three digits; there is none where no leaf follows another. */
export function score({ steps, scatter }) {
  return steps > 0 ? scatter.toFixed(3) : "–";
}

function version(n) {
  return n ? `SQLite ${Math.floor(n / 1e6)}.${Math.floor(n / 1e3) % 1e3}.${n % 1e3}` : "not said";
}

function autoVacuum(header) {
  if (header.largest_root === 0) return "none";
  return header.incremental_vacuum ? "incremental" : "full";
}

/** Four letters where they are, as SQLite's own list has them. */
function applicationId(id) {
  if (id === 0) return "none";
  const letters = [24, 16, 8, 0].map((shift) => String.fromCharCode((id >>> shift) & 255)).join("");
  const hex = `0x${id.toString(16).padStart(8, "0")}`;
  return /^[ -~]{4}$/.test(letters) ? `${hex} (“${letters}”)` : hex;
}

/** How many pages are of what kind. */
function kindFacts({ whole, kinds, pages }) {
  const named = whole.kinds.map(([id, n]) => [n, capital(kinds[KIND_IDS.indexOf(id)]?.name ?? id)]);
  named.sort(([a], [b]) => b - a);
  return facts("Pages by kind", ...named.map(([n, name]) => [name, `${count(n)}, ${percent(n / Math.max(1, pages))}`]));
}

/** The kinds by their numbers in the map. */
const KIND_IDS = [
  "unknown",
  "table-leaf",
  "table-interior",
  "index-leaf",
  "index-interior",
  "overflow",
  "free-trunk",
  "free-leaf",
  "reserved",
  "pointer-map",
  "lock-byte",
  "orphan",
];

/** B-trees that have a part of the bar of their own. */
const PARTS = 12;

/** Who has the pages: a bar, and the same in words. */
function ownersBar(app, { trees, whole, kinds }) {
  const owned = trees.map(({ numbers: n, colour, title }, t) => ({ t, colour, pages: n?.pages ?? 0, name: title }));
  owned.sort((a, b) => b.pages - a.pages);
  const parts = owned.slice(0, PARTS).filter((p) => p.pages > 0);
  const rest = owned.slice(PARTS).reduce((sum, p) => sum + p.pages, 0);
  if (rest > 0)
    parts.push({
      pages: rest,
      name: `${plural(owned.length - PARTS, "more table or index", "more tables and indexes")}`,
    });
  const of = (...ids) => whole.kinds.reduce((sum, [id, n]) => sum + (ids.includes(id) ? n : 0), 0);
  for (const [name, kind, ...ids] of [
    ["free", "free-leaf", "free-leaf", "free-trunk", "reserved"],
    ["of nobody", "orphan", "orphan"],
    ["pointer maps and lock-byte page", "pointer-map", "pointer-map", "lock-byte"],
  ]) {
    const pages = of(...ids);
    if (pages > 0) parts.push({ pages, name, colour: kinds[KIND_IDS.indexOf(kind)]?.colour });
  }
  const paint = ({ colour }) => ({
    "--light": css(colour?.light ?? [187, 195, 204]),
    "--dark": css(colour?.dark ?? [90, 100, 112]),
  });
  const words = (p) => ` ${count(p.pages)}, ${percent(p.pages / Math.max(1, whole.pages))}`;
  return h(
    "section",
    { class: "owners" },
    h("h3", null, "Whose pages they are"),
    h(
      "div",
      { class: "bar", "aria-hidden": "true" },
      parts.map((p) => h("span", { style: { "flex-grow": p.pages, ...paint(p) } })),
    ),
    h(
      "ul",
      { class: "legend" },
      parts.map((p) =>
        h(
          "li",
          null,
          p.t === undefined
            ? [
                swatch({ light: css(p.colour?.light ?? [187, 195, 204]), dark: css(p.colour?.dark ?? [90, 100, 112]) }),
                h("span", null, p.name),
              ]
            : treeLink(app, p.t, { text: p.name, view: "numbers" }),
          h("span", { class: "faint" }, words(p)),
        ),
      ),
    ),
  );
}

/** What may be done, each a sentence with links to the b-trees that it names. */
function advice(app, { advice: list, whole, problem_count: problems }) {
  if (!whole) return null;
  const items = list.map((parts) =>
    h(
      "li",
      null,
      parts.map((part) =>
        typeof part === "string" ? part : treeLink(app, part.tree, { text: part.name, view: "numbers" }),
      ),
    ),
  );
  return [
    h("h2", null, "Advice"),
    problems > 0 &&
      h(
        "p",
        { class: "wrong" },
        "The file is damaged, so these numbers may be wrong: ",
        h("a", { href: app.href("problems") }, plural(problems, "problem")),
        ".",
      ),
    items.length > 0
      ? h("ul", { class: "advice" }, items)
      : h("p", null, "Nothing is worth doing: the pages are full, and in order."),
  ];
}

/** All columns explained, for reading. */
function words() {
  const known = COLUMNS.filter((c) => c.why);
  return h(
    "details",
    null,
    h("summary", null, "What the columns mean"),
    h(
      "dl",
      { class: "words" },
      known.map((c) => [h("dt", null, c.title), h("dd", null, c.why)]),
    ),
  );
}
