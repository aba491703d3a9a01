// A file of a million pages. How quick it is depends on the machine: it is printed, and only what no
// person would wait for is a failure.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { look, settled, until } from "./lib/browser.mjs";
import { million } from "./lib/databases.mjs";
import { json } from "./lib/model.mjs";
import { serve } from "./lib/program.mjs";
import { coloursOf } from "./lib/sight.mjs";

let server;
before(async () => (server = await serve(await million())));
after(() => server?.end());
const address = () => server.address;

/** Milliseconds between frames while something is done. */
async function frames(page, action) {
  await page.evaluate(() => {
    window.times = [];
    const tick = (now) => {
      if (!window.times) return;
      window.times.push(now);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  await action();
  const times = await page.evaluate(() => {
    const all = window.times;
    window.times = null;
    return all;
  });
  const between = times
    .slice(1)
    .map((t, i) => t - times[i])
    .sort((a, b) => a - b);
  return { median: between[between.length >> 1], most: between.at(-1), count: between.length };
}

look(
  "the map of a million pages is there, and moves",
  address,
  async (page) => {
    const begun = performance.now();
    await page.locator(".map-canvas").waitFor();
    await until(
      "three tables in the legend",
      () => page.getByRole("region", { name: "Legend" }).innerText(),
      (t) => ["part", "note", "log"].every((name) => t.includes(name)),
    );
    console.log(`the map showed after ${Math.round(performance.now() - begun)} ms`);
    await until(
      "the scan",
      () => json(server.address, "api/files"),
      ([{ state }]) => state === "ready",
      60_000,
    );
    await settled(page);
    assert.ok((await json(server.address, "api/files"))[0].pages > 1_000_000);
    assert.ok(Object.keys(await coloursOf(page.locator(".map-canvas canvas").first())).length >= 3);
    assert.ok((await page.locator("*").count()) < 2000, "no element for each page");
    const { x, y, width, height } = await page.locator(".map-canvas").boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    const zoomed = await frames(page, async () => {
      for (let i = 0; i < 40; i++) await page.mouse.wheel(0, -100);
    });
    const panned = await frames(page, async () => {
      await page.mouse.down();
      for (let i = 0; i < 40; i++) await page.mouse.move(x + width / 2 - i * 5, y + height / 2 - i * 3);
      await page.mouse.up();
    });
    for (const [what, { median, most, count }] of Object.entries({ zoomed, panned })) {
      console.log(`${what}: ${count} frames, median ${median.toFixed(1)} ms, longest ${most.toFixed(1)} ms`);
      assert.ok(most < 5000, `${what}: a frame took ${most} ms`);
    }
    await page.getByRole("region", { name: "Legend" }).getByRole("button", { name: /^log/ }).click();
    await page.getByRole("button", { name: "show all" }).waitFor();
  },
  { view: "map" },
);

for (const view of ["tree", "numbers", "query"]) {
  look(
    `${view} of a million pages`,
    address,
    async (page) => {
      await settled(page);
      await until(
        "what it shows",
        () => page.getByRole("main").innerText(),
        (t) => t.length > 100,
      );
      assert.ok((await page.locator("*").count()) < 3000, "no element for each page");
    },
    { view },
  );
}

look(
  "a page in the middle of a million is found and opened",
  address,
  async (page) => {
    await page.getByRole("combobox", { name: "Search" }).fill("part rowid 300000");
    await until("the row", () => page.getByRole("listbox", { name: "Found" }).getByRole("option").count());
    await page.keyboard.press("Enter");
    await until(
      "its page on the map",
      () => page.url(),
      (url) => /#map.*page=\d+/.test(url),
    );
    await page.getByRole("link", { name: "Look inside" }).click();
    await until(
      "the row",
      () => page.getByRole("region", { name: "Cells of the page" }).innerText(),
      (t) => t.includes("300,000"),
    );
  },
  { view: "map" },
);
