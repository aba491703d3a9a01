// How the map of a file gets to the page while the file is scanned.

import { test } from "node:test";
import assert from "node:assert/strict";

const { MapLoader } = await import(new URL("../../crates/hpsqlite/src/viz/web/map/data.js", import.meta.url));

/** A source that has so many pages, and the questions it was asked. */
function source(pages) {
  const asked = [];
  const map = async (file, from, count) => {
    asked.push([from, from + count - 1]);
    const n = Math.max(0, Math.min(count, pages - from + 1));
    return { owners: new Uint16Array(n), kinds: new Uint8Array(n), fills: new Uint8Array(n) };
  };
  return { map, asked };
}

test("while a file is scanned only what was scanned since is asked for, also where some never comes", async () => {
  const { map, asked } = source(900);
  const loader = new MapLoader({ map }, 0, 1000, () => {}, assert.fail);
  for (const done of [100, 300, 300]) await loader.update({ state: "scanning", done });
  assert.deepEqual(asked, [
    [1, 1000],
    [101, 300],
    [901, 1000],
    [901, 1000],
  ]);
  asked.length = 0;
  for (let i = 0; i < 3; i++) await loader.update({ state: "ready", done: 1000 });
  assert.deepEqual(asked, [[1, 1000]], "the whole of it once when the scan is over");
  assert.equal(loader.data.complete, true);
});
