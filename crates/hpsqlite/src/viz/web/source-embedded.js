/**
 * The data of a page that was saved with `hpsqlite viz --html`: they are in the page itself.
 *
 * The same questions as in source.js. Answers of the server are kept by their addresses, one after
 * another in blocks that are decompressed when something in them is asked for:
 *
 *   <script type="text/plain" id="index">      address -> [block, offset, length]
 *   <script type="text/plain" id="block-0">    answers
 *
 * What needs the program itself (statements, keys, copies) is not there, and says so.
 */
import { u32s } from "viz/source.js";

/** Blocks that are kept decompressed; those of pages are some MB at most. */
const KEPT = 8;
/** Pages of the map in one answer. */
const MAP = 1 << 20;

/** The bytes that a text in base 64 stands for. */
function decoded(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const plain = atob(text);
  const bytes = new Uint8Array(plain.length);
  for (let i = 0; i < plain.length; i++) bytes[i] = plain.charCodeAt(i);
  return bytes;
}

/** The bytes of a script element that holds compressed data as text. */
async function unpacked(id) {
  const text = document.getElementById(id)?.textContent;
  if (text === undefined) throw new Error("A part of this saved page is missing.");
  const stream = new Blob([decoded(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function parsed(bytes) {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** Numbers that were kept as how much larger each is than the one before. */
function sums(numbers) {
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) numbers[i] = sum = (sum + numbers[i]) >>> 0;
  return numbers;
}

function notHere(what) {
  return Promise.reject(new Error(`${what} needs the program: the foot of this saved page says how to start it.`));
}

/** What is inside the page. */
export class EmbeddedSource {
  can = { query: false, copy: false, bytes: false, follow: false };
  #index = null;
  #blocks = new Map();

  /** Reads what is inside; to be awaited before anything is asked. */
  async open() {
    this.#index = parsed(await unpacked("index"));
    this.can.bytes = Object.keys(this.#index).some((path) => path.endsWith("/bytes"));
    return this;
  }

  async files() {
    return (await this.#json("api/files")).map(({ changed, ...file }) => file);
  }

  summary(f) {
    return this.#json(`api/${f}/summary`);
  }

  overview(f) {
    return this.#json(`api/${f}/overview`);
  }

  log() {
    return notHere("Following the log");
  }

  logFrames() {
    return notHere("Following the log");
  }

  async map(f, from, count) {
    const owners = new Uint16Array(count);
    const [kinds, fills] = [new Uint8Array(count), new Uint8Array(count)];
    let got = 0;
    while (got < count) {
      const first = from + got;
      const start = Math.floor((first - 1) / MAP) * MAP;
      const path = `api/${f}/map?from=${start + 1}&count=${MAP}`;
      if (!this.#has(path)) break;
      const bytes = await this.#answer(path);
      const pages = bytes.length / 4;
      const skip = first - 1 - start;
      const n = Math.min(count - got, pages - skip);
      if (n <= 0) break;
      for (let i = 0; i < n; i++) owners[got + i] = bytes[2 * (skip + i)] | (bytes[2 * (skip + i) + 1] << 8);
      kinds.set(bytes.subarray(2 * pages + skip, 2 * pages + skip + n), got);
      fills.set(bytes.subarray(3 * pages + skip, 3 * pages + skip + n), got);
      got += n;
    }
    return { owners: owners.subarray(0, got), kinds: kinds.subarray(0, got), fills: fills.subarray(0, got) };
  }

  async page(f, n, version = {}) {
    return parsed(await this.#ofPage(f, n, version, ""));
  }

  async bytes(f, n, version = {}) {
    return this.#ofPage(f, n, version, "/bytes");
  }

  async level(f, t, l) {
    return sums(u32s((await this.#answer(`api/${f}/tree/${t}/level/${l}`)).buffer));
  }

  async fan(f, t, l) {
    const path = `api/${f}/tree/${t}/level/${l}/fan`;
    // Leaves lead to no page.
    return this.#has(path)
      ? u32s((await this.#answer(path)).buffer)
      : new Uint32Array((await this.level(f, t, l)).length);
  }

  tree(f, t) {
    return this.#json(`api/${f}/tree/${t}`);
  }

  /** The way to a page, by the levels; that to a row if the pages on it are inside. */
  async path(f, t, { rowid, page, key }) {
    if (page !== undefined) return this.#wayToPage(f, t, page);
    if (key !== undefined) return notHere("Looking for a key");
    return this.#wayToRow(f, t, rowid);
  }

  /** The chain of overflow pages, or of trunks of the free list, that a page is in. */
  async chain(f, n) {
    const { kind } = await this.page(f, n);
    const pages = [n];
    const seen = new Set(pages);
    for (const [side, add] of [
      ["before", "unshift"],
      ["after", "push"],
    ]) {
      let at = n;
      for (;;) {
        at = (await this.page(f, at)).around[side];
        if (!at || seen.has(at) || (await this.page(f, at)).kind !== kind) break;
        seen.add(at);
        pages[add](at);
      }
    }
    return { pages, more: false };
  }

  /** Pages by their numbers and b-trees by their names; rows if their pages are inside. */
  async find(f, text) {
    const { pages, trees } = await this.summary(f);
    const found = [];
    const words = text.trim();
    const number = /^(?:page\s+)?(\d[\d,]*)$/i.exec(words)?.[1].replaceAll(",", "");
    if (number > 0 && number <= pages) {
      found.push({ what: "page", label: `page ${Number(number).toLocaleString("en")}`, page: Number(number) });
    }
    const row = /^(.*?)\s*(?:rowid\s+)?(-?\d+)$/i.exec(words);
    const owner = row ? trees.findIndex((tree) => tree.name.toLowerCase() === row[1].toLowerCase()) : -1;
    if (owner >= 0) {
      const way = await this.#wayToRow(f, owner, row[2]).catch(() => null);
      if (way && way.cell !== null) {
        found.push({
          what: "row",
          label: `row ${row[2]} of ${trees[owner].name}`,
          page: way.pages.at(-1),
          tree: owner,
          cell: way.cell,
        });
      }
    }
    const part = words.toLowerCase();
    trees.forEach(({ name, root }, tree) => {
      if (part && found.length < 50 && name.toLowerCase().includes(part)) {
        found.push({ what: "tree", label: name, tree, page: root });
      }
    });
    return found;
  }

  async wal(f) {
    return u32s((await this.#answer(`api/${f}/wal`)).buffer);
  }

  problems(f) {
    return this.#json(`api/${f}/problems`);
  }

  /** The same both ways. */
  async differs(f, g, from) {
    const path = `api/${Math.min(f, g)}/differs/${Math.max(f, g)}`;
    if (!this.#has(path)) return notHere("Comparing so many pages");
    return (await this.#answer(path)).subarray(from - 1);
  }

  query() {
    return notHere("A statement");
  }

  reads() {
    return notHere("A statement");
  }

  stop() {
    return notHere("A statement");
  }

  copy() {
    return notHere("A copy");
  }

  async #wayToPage(f, t, n) {
    const { levels } = await this.tree(f, t);
    const pages = [n];
    const cells = [];
    let at = -1;
    for (let l = levels.length - 1; l >= 0; l--) {
      const level = await this.level(f, t, l);
      if (at < 0) {
        at = level.indexOf(n);
        continue;
      }
      // The page above is the one whose children include the at-th of this level.
      const fan = await this.fan(f, t, l);
      let above = 0;
      while (above < fan.length - 1 && at >= fan[above]) at -= fan[above++];
      pages.unshift(level[above]);
      cells.unshift(at);
      at = above;
    }
    if (at < 0) throw new Error(`Page ${n} is on no level of this b-tree.`);
    return { pages, cells, cell: null };
  }

  async #wayToRow(f, t, rowid) {
    const wanted = BigInt(rowid);
    const way = { pages: [], cells: [], cell: null };
    let n = (await this.summary(f)).trees[t].root;
    for (let depth = 0; depth < 64; depth++) {
      const page = await this.page(f, n);
      way.pages.push(n);
      const cells = page.cells ?? [];
      if (!page.around.children?.length) {
        // Its number is that of its pointer: cells that cannot be read are left out of the list.
        way.cell = cells.find((cell) => cell.rowid !== null && BigInt(cell.rowid) === wanted)?.index ?? null;
        if (way.cell !== null) way.cells.push(way.cell);
        return way;
      }
      const place = cells.findIndex((cell) => cell.rowid !== null && wanted <= BigInt(cell.rowid));
      const below = place < 0 ? cells.length : place;
      way.cells.push(below);
      n = page.around.children[below];
    }
    return way;
  }

  async #ofPage(f, n, { frame, file }, what) {
    const path = `api/${f}/page/${n}${what}`;
    if (frame !== undefined || file) return notHere("An older version of a page");
    if (!this.#has(path)) {
      throw new Error(
        `What is in page ${n.toLocaleString("en")} is not inside this saved page: its foot says how to see it.`,
      );
    }
    return this.#answer(path);
  }

  #has(path) {
    return Object.hasOwn(this.#index, path);
  }

  async #json(path) {
    return parsed(await this.#answer(path));
  }

  async #answer(path) {
    if (!this.#has(path)) throw new Error("This is not inside the saved page.");
    const [block, at, length] = this.#index[path];
    const bytes = await this.#block(block);
    // A copy, which has a buffer of its own.
    return bytes.slice(at, at + length);
  }

  /** A block; those asked for last are kept. */
  #block(block) {
    const kept = this.#blocks.get(block) ?? unpacked(`block-${block}`);
    this.#blocks.delete(block);
    this.#blocks.set(block, kept);
    if (this.#blocks.size > KEPT) this.#blocks.delete(this.#blocks.keys().next().value);
    return kept;
  }
}
