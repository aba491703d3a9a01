/**
 * Where the page's data come from: the server that serves the page.
 *
 * Every view asks a source, never the network. `EmbeddedSource` (source-embedded.js) has the same methods
 * for a page that was saved with its data. All methods return promises; what went wrong is an Error
 * with a sentence as its message.
 */

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Little-endian 32-bit numbers of an answer, an ArrayBuffer. */
export function u32s(buffer) {
  if (LITTLE_ENDIAN) return new Uint32Array(buffer);
  const view = new DataView(buffer);
  return Uint32Array.from({ length: buffer.byteLength >> 2 }, (_, i) => view.getUint32(i * 4, true));
}

/** Little-endian 16-bit numbers of the first `count * 2` bytes of an answer. */
function u16s(buffer, count) {
  if (LITTLE_ENDIAN) return new Uint16Array(buffer, 0, count);
  const view = new DataView(buffer);
  return Uint16Array.from({ length: count }, (_, i) => view.getUint16(i * 2, true));
}

/** The server's answers. */
export class HttpSource {
  /** What can be asked for: a saved page has less. */
  can = { query: true, copy: true, bytes: true, follow: true };

  /** All files that are looked at, and how far their scan is. */
  files() {
    return this.#json("api/files");
  }

  /** Opens file `f` anew, as it is now. */
  reload(f) {
    return this.#post(`api/${f}/reload`, {});
  }

  /** What is known of file `f`: header, b-trees with their colours and numbers, advice. */
  summary(f) {
    return this.#json(`api/${f}/summary`);
  }

  /** What matters most: advice, indexes, statistics; null while the file is read. */
  overview(f) {
    return this.#json(`api/${f}/overview`);
  }

  /** Owners, kinds and fills of `count` pages from page `from` on. */
  async map(f, from, count) {
    const buffer = await this.#binary(`api/${f}/map?from=${from}&count=${count}`);
    const n = buffer.byteLength / 4;
    return {
      owners: u16s(buffer, n),
      kinds: new Uint8Array(buffer, n * 2, n),
      fills: new Uint8Array(buffer, n * 3, n),
    };
  }

  /**
   * All of page `n`: parts, cells with their records, neighbours. `version` is {frame} for that frame of
   * the log, {file: true} for the file's own; nothing: as it counts.
   */
  page(f, n, version) {
    return this.#json(`api/${f}/page/${n}${which(version)}`);
  }

  /** The bytes of page `n`, of the same version. */
  async bytes(f, n, version) {
    return new Uint8Array(await this.#binary(`api/${f}/page/${n}/bytes${which(version)}`));
  }

  /** The pages of level `l` of b-tree `t` in the order of keys; level 0 is the root's. */
  async level(f, t, l) {
    return u32s(await this.#binary(`api/${f}/tree/${t}/level/${l}`));
  }

  /** How many pages each page of that level leads to. */
  async fan(f, t, l) {
    return u32s(await this.#binary(`api/${f}/tree/${t}/level/${l}/fan`));
  }

  /** B-tree `t` with its levels' numbers and the columns of its records. */
  tree(f, t) {
    return this.#json(`api/${f}/tree/${t}`);
  }

  /** The way down b-tree `t` to `{key: […]}`, `{rowid}` or `{page}`. */
  path(f, t, { key, rowid, page }) {
    const query = new URLSearchParams();
    if (key !== undefined) query.set("key", JSON.stringify(key));
    if (rowid !== undefined) query.set("rowid", rowid);
    if (page !== undefined) query.set("page", page);
    return this.#json(`api/${f}/tree/${t}/path?${query}`);
  }

  /** The pages of the chain that page `n` is in. */
  chain(f, n) {
    return this.#json(`api/${f}/chain/${n}`);
  }

  /** What a text in the search box may mean. */
  find(f, text) {
    return this.#json(`api/${f}/find?${new URLSearchParams({ text })}`);
  }

  /** Frames of the write-ahead log: three numbers each, page, commit, pages after the commit. */
  async wal(f) {
    return u32s(await this.#binary(`api/${f}/wal`));
  }

  /** The log as it is now: `{tag, facts, pages, same}`; `tag` is another one whenever it changed. */
  log(f) {
    return this.#json(`api/${f}/log`);
  }

  /** Its frames, as `wal` gives those of the log that was there when the file was opened. */
  async logFrames(f) {
    return u32s(await this.#binary(`api/${f}/log/frames`));
  }

  /** What is wrong with the file. */
  problems(f) {
    return this.#json(`api/${f}/problems`);
  }

  /** Measures the device that file `f` is on. */
  device(f) {
    return this.#post(`api/${f}/device`, {});
  }

  /**
   * Runs a SELECT with `library` ("hp" or "stock") as query `id`; `signal` gives it up. With `measure` it
   * runs several times, and its reads are not watched.
   */
  query(f, sql, library, { id, signal, measure = false } = {}) {
    return this.#post(`api/${f}/query`, { sql, library, id, measure }, signal);
  }

  /** The pages that query `id` has read so far, in their order, from read `from` (0 is the first) on. */
  async reads(id, { from = 0 } = {}) {
    return u32s(await this.#binary(`api/query/${encodeURIComponent(id)}/reads?from=${from}`));
  }

  /** Stops query `id`. */
  async stop(id) {
    const answer = await this.#answer(`api/query/${encodeURIComponent(id)}`, { method: "DELETE" });
    // An answer that nobody takes keeps its connection.
    await answer.arrayBuffer();
  }

  /** Makes a copy ("vacuumed", "stock" or "hp") of file `f`, which becomes a file of its own. */
  copy(f, kind) {
    return this.#post("api/copy", { of: f, kind });
  }

  /** Stops the making of copy `f`. */
  async stopCopy(f) {
    await this.#answer(`api/copy/${f}`, { method: "DELETE" });
  }

  /**
   * A byte a page of `f` from page `from` up, 1 if file `g` has other bytes there: of as many pages as
   * are answered at once.
   */
  async differs(f, g, from) {
    return new Uint8Array(await this.#binary(`api/${f}/differs/${g}?from=${from}`));
  }

  async #json(path) {
    return (await this.#answer(path)).json();
  }

  async #binary(path) {
    return (await this.#answer(path)).arrayBuffer();
  }

  async #post(path, body, signal) {
    const headers = { "Content-Type": "application/json" };
    const answer = await this.#answer(path, { method: "POST", headers, body: JSON.stringify(body), signal });
    return answer.json();
  }

  async #answer(path, options) {
    let answer;
    try {
      answer = await fetch(path, { cache: "no-store", credentials: "omit", ...options });
    } catch (e) {
      if (e.name === "AbortError") throw e;
      throw new SourceGone();
    }
    if (!answer.ok) throw new Error(await reason(answer));
    return answer;
  }
}

/** The part of an address that says which version of a page is asked for. */
function which({ frame, file } = {}) {
  if (frame !== undefined) return `?frame=${frame}`;
  return file ? "?file=1" : "";
}

/** The program that served the page does not answer. */
export class SourceGone extends Error {
  constructor() {
    super("The program that serves this page does not answer: it has ended, or was stopped.");
  }
}

/** Why a request failed, as the server says it. */
async function reason(answer) {
  const text = (await answer.text()).trim();
  try {
    const { error } = JSON.parse(text);
    if (error) return error;
  } catch {
    // It is no JSON: the text itself is the reason.
  }
  return text || `The request failed with status ${answer.status}.`;
}
