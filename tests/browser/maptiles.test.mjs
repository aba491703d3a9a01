// The tiles of a map that is too large for all of them to be kept: each is painted once all the same.

import { test } from "node:test";
import assert from "node:assert/strict";

const web = new URL("../../crates/hpsqlite/src/viz/web/", import.meta.url);
let clock = 0;
let painted = 0;

/** As much of a browser as tiles need; painting one takes five milliseconds of a clock of our own. */
function stub() {
  const context = { clearRect() {}, drawImage() {}, putImageData: () => void ((clock += 5), painted++) };
  const globals = {
    document: { createElement: () => ({ getContext: () => context }) },
    ImageData: class {},
    performance: { now: () => clock },
  };
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true });
  return context;
}

/** Draws until all is there: how many frames that takes. */
function frames(tiles, context, at) {
  for (let n = 1; n <= 2000; n++) {
    clock += 16;
    if (tiles.draw(context, at)) return n;
  }
  return assert.fail("it is never all there");
}

// 17 million pages have more tiles than are kept; 90 million have so many above the lowest level alone.
for (const pages of [1_000_000, 20_000_000, 90_000_000]) {
  test(`a map of ${pages} pages is painted once`, async () => {
    const context = stub();
    const { MapTiles } = await import(new URL("map/tiles.js", web));
    const columns = Math.ceil(Math.sqrt(pages));
    const tiles = new MapTiles({ pages }, columns);
    tiles.setPainter({ paint() {} });
    painted = 0;
    const whole = { x: 0, y: 0, scale: 240 / columns, width: 240, height: 240 };
    frames(tiles, context, whole);
    assert.equal(painted, Math.ceil(columns / 256) * Math.ceil(tiles.rows / 256), "tiles painted");
    assert.equal(frames(tiles, context, whole), 1, "the picture is kept");
    // From close by, pages that are in view stay painted as well.
    const close = { x: 100, y: 100, scale: 1, width: 3840, height: 2160 };
    frames(tiles, context, close);
    painted = 0;
    assert.equal(frames(tiles, context, close), 1);
    assert.equal(painted, 0, "tiles in view are kept");
  });
}
