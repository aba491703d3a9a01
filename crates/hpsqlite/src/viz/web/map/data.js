/**
 * What is known of every page of a file, four bytes each, and how it gets here: in chunks, again as
 * the scan goes on.
 */

/** Pages that are asked for at once. */
const CHUNK = 1 << 20;

/** No b-tree owns the page. */
export const NOBODY = 0xffff;

/** Owner, kind and fill of every page. Pages are numbered from 1. */
export class MapData {
  constructor(pages) {
    this.pages = pages;
    /** Number of the b-tree in the summary, or NOBODY; of page n at n - 1. */
    this.owners = new Uint16Array(pages).fill(NOBODY);
    /** Number of the kind in the summary. */
    this.kinds = new Uint8Array(pages);
    /** How full it is, 0 to 255. */
    this.fills = new Uint8Array(pages);
    /** Pages that have come at least once. */
    this.loaded = 0;
    /** Everything is here, and the scan is over. */
    this.complete = false;
  }

  /** Whether there is a page `n`. */
  has(n) {
    return Number.isInteger(n) && n >= 1 && n <= this.pages;
  }

  owner(n) {
    return this.owners[n - 1];
  }

  kind(n) {
    return this.kinds[n - 1];
  }

  fill(n) {
    return this.fills[n - 1];
  }
}

/** Keeps the `MapData` of one file up to date with the source. */
export class MapLoader {
  #source;
  #file;
  #changed;
  #failed;
  /** The scan was at this page when pages up to there were asked for last. */
  #scanned = 0;
  #whole = false;
  #busy = false;
  #again = null;

  /** `changed(from, count)` is called when pages have come, `failed(error)` when none can. */
  constructor(source, file, pages, changed, failed) {
    this.#source = source;
    this.#file = file;
    this.#changed = changed;
    this.#failed = failed;
    this.data = new MapData(pages);
  }

  /** Loads what has changed since the last call; `status` is the file's entry of `files()`. */
  async update(status) {
    if (this.#busy) {
      this.#again = status;
      return;
    }
    this.#busy = true;
    try {
      const ready = status.state === "ready";
      const done = status.done ?? 0;
      const { loaded, pages } = this.data;
      if (ready && !this.#whole) {
        await this.#load(1, pages);
      } else if (!this.#whole) {
        // Of what came before, that which has been scanned since; and what has not come at all.
        await this.#load(this.#scanned + 1, Math.min(done, loaded));
        await this.#load(loaded + 1, pages);
      }
      this.#scanned = done;
      if (ready && !this.#whole) {
        this.#whole = true;
        this.data.complete = true;
        this.#changed(1, 0);
      }
    } catch (e) {
      this.#failed(e);
    } finally {
      this.#busy = false;
    }
    const again = this.#again;
    this.#again = null;
    if (again) await this.update(again);
  }

  async #load(from, to) {
    for (let at = from; at <= to; at += CHUNK) {
      const want = Math.min(CHUNK, to - at + 1);
      const { owners, kinds, fills } = await this.#source.map(this.#file, at, want);
      const got = Math.min(want, kinds.length);
      this.data.owners.set(owners.subarray(0, got), at - 1);
      this.data.kinds.set(kinds.subarray(0, got), at - 1);
      this.data.fills.set(fills.subarray(0, got), at - 1);
      this.data.loaded = Math.max(this.data.loaded, at + got - 1);
      this.#changed(at, got);
      if (got < want) break;
    }
  }
}
