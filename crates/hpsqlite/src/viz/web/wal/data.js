/**
 * The frames of a write-ahead log: what each became, the commits, and all versions of a page.
 * Frames are numbered from 0 here, and from 1 where people read them.
 */

/** What became of a frame. */
export const FATE = { write: 0, copied: 1, older: 2, open: 3 };

/** In words, by the number of FATE. */
export const FATES = [
  { name: "to be written", what: "The newest version of its page. A checkpoint would write it to the database." },
  { name: "copied", what: "A checkpoint has copied the log up to here to the database already." },
  {
    name: "overtaken",
    what: "A later commit has a newer version of the page, so nobody needs this one but readers that began before.",
  },
  {
    name: "not committed",
    what: "Written by a transaction that has not committed: it is under way, or was cut off. Readers do not see it.",
  },
];

export class WalData {
  /** `words`: page, commit, pages after the commit, of each frame; `facts` as the summary has them. */
  constructor(words, facts, pages) {
    this.words = words;
    this.facts = facts;
    this.frames = words.length / 3;
    this.committed = facts.committed;
    this.pages = pages;
    this.#order();
    this.#findCommits();
    this.#judge();
  }

  page(frame) {
    return this.words[3 * frame];
  }

  /** The number of its commit, from 1; 0 if it is not committed. */
  commit(frame) {
    return this.words[3 * frame + 1];
  }

  /** Frames of page `n`, the oldest first. */
  versions(n) {
    let [low, high] = [0, this.frames];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.page(this.byPage[middle]) < n) low = middle + 1;
      else high = middle;
    }
    let end = low;
    while (end < this.frames && this.page(this.byPage[end]) === n) end++;
    return this.byPage.subarray(low, end);
  }

  /** Frames of commit number `k`: first and one after the last; null if there is no such commit. */
  framesOf(k) {
    if (!(k >= 1 && k <= this.ends.length)) return null;
    return [k === 1 ? 0 : this.ends[k - 2], this.ends[k - 1]];
  }

  /** Pages of the database after commit `k`. */
  sizeAfter(k) {
    return this.words[3 * (this.ends[k - 1] - 1) + 2];
  }

  /** Pages of commit `k`, in the order of the file, each once. */
  pagesOf(k) {
    const [from, to] = this.framesOf(k);
    const pages = Uint32Array.from({ length: to - from }, (_, i) => this.page(from + i)).sort();
    return pages.filter((n, i) => i === 0 || pages[i - 1] !== n);
  }

  /** All frames in the order of their pages, and of one page in their own. */
  #order() {
    const key = new Float64Array(this.frames);
    for (let i = 0; i < this.frames; i++) key[i] = this.page(i) * 2 ** 21 + i;
    if (this.frames >= 2 ** 21) {
      this.byPage = Uint32Array.from({ length: this.frames }, (_, i) => i);
      this.byPage.sort((a, b) => this.page(a) - this.page(b) || a - b);
      return;
    }
    key.sort();
    this.byPage = Uint32Array.from(key, (k) => k % 2 ** 21);
  }

  #findCommits() {
    const ends = [];
    for (let i = 0; i < this.committed; i++) if (this.words[3 * i + 2] > 0) ends.push(i + 1);
    this.ends = Uint32Array.from(ends);
  }

  /** What became of each frame; which pages have a committed version, and which would be written. */
  #judge() {
    const { copied } = this.facts;
    const size = this.ends.length > 0 ? this.sizeAfter(this.ends.length) : 0;
    this.fates = new Uint8Array(this.frames);
    this.newest = [];
    for (let i = 0; i < this.frames; i++) {
      const frame = this.byPage[i];
      const next = i + 1 < this.frames ? this.byPage[i + 1] : this.frames;
      const overtaken = next < this.committed && this.page(next) === this.page(frame);
      if (frame >= this.committed) this.fates[frame] = FATE.open;
      else if (frame < copied) this.fates[frame] = FATE.copied;
      // A database that became smaller has no room for pages after its end.
      else if (overtaken || this.page(frame) > size) this.fates[frame] = FATE.older;
      if (frame < this.committed && !overtaken) this.newest.push(frame);
    }
  }
}
