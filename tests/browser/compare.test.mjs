// The Compare view: two files, or a file and a copy of it, side by side.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { look, settled, until } from "./lib/browser.mjs";
import { kinds, shop } from "./lib/databases.mjs";
import { json } from "./lib/model.mjs";
import { serve } from "./lib/program.mjs";
import { coloursOf, imprintOf } from "./lib/sight.mjs";

let two, vacuumed, alone;
before(async () => {
  two = await serve(await shop(), await kinds());
  vacuumed = await serve(await shop(), "--vacuumed");
  alone = await serve(await shop());
});
after(async () => {
  for (const server of [two, vacuumed, alone]) await server?.end();
});
const main = (page) => page.getByRole("main");
const maps = (page) => main(page).locator(".map-canvas");
const text = (page) => main(page).innerText();

look(
  "two files: both maps, their numbers and what differs",
  () => two.address,
  async (page) => {
    await settled(page);
    await until(
      "two maps",
      () => maps(page).count(),
      (n) => n === 2,
    );
    for (const map of await maps(page).all()) {
      await until(
        "colours",
        async () => Object.keys(await coloursOf(map.locator("canvas").first())).length,
        (n) => n > 3,
      );
    }
    const words = await until(
      "the numbers",
      () => text(page),
      (t) => /Numbers of the files/.test(t) && /Schema/.test(t),
    );
    for (const name of ["sale", "plain", "600", "1,088"]) assert.ok(words.includes(name), `${name} in it`);
  },
  { view: "compare" },
);

look(
  "the maps move together",
  () => two.address,
  async (page) => {
    await settled(page);
    await until(
      "two maps",
      () => maps(page).count(),
      (n) => n === 2,
    );
    const [left, right] = [maps(page).nth(0).locator("canvas").first(), maps(page).nth(1).locator("canvas").first()];
    const before = [await imprintOf(left), await imprintOf(right)];
    await maps(page)
      .nth(0)
      .hover({ position: { x: 60, y: 60 } });
    for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -240);
    await until(
      "both closer",
      async () => [await imprintOf(left), await imprintOf(right)],
      ([a, b]) => a !== before[0] && b !== before[1],
    );
  },
  { view: "compare" },
);

look(
  "--vacuumed: the scattered file beside its copy in order",
  () => vacuumed.address,
  async (page) => {
    await until(
      "the copy",
      () => json(vacuumed.address, "api/files"),
      (files) => files.length === 2 && files[1].state === "ready",
    );
    await page.reload();
    await until(
      "what became different",
      () => page.locator(".words").innerText(),
      (t) => /scatter|order|jump/i.test(t),
    );
    const [before, after] = await Promise.all([0, 1].map((f) => json(vacuumed.address, `api/${f}/summary`)));
    assert.ok(before.whole.scatter > 10 * after.whole.scatter, `${before.whole.scatter} and ${after.whole.scatter}`);
  },
  { view: "compare" },
);

look(
  "a copy is made from the page, by VACUUM and by a library",
  () => alone.address,
  async (page) => {
    for (const name of [/VACUUM/i, /HP|High Performance/i]) {
      await main(page).getByRole("button", { name }).first().click();
      await until(
        "the copy beside the file",
        () => maps(page).count(),
        (n) => n === 2,
      );
      await until(
        "its numbers",
        () => text(page),
        (t) => /Numbers of the files/.test(t),
      );
    }
    assert.ok((await json(alone.address, "api/files")).length >= 3);
  },
  { view: "compare" },
);

look(
  "how long reading takes on the right is a share, or a multiple, or of nothing at all",
  () => two.address,
  async (page) => {
    await settled(page);
    const told = await page.evaluate(async () => {
      const { sentences } = await import("viz/compare/words.js");
      const file = (cold_scan) => ({
        pages: 1,
        page_size: 4096,
        trees: [{ name: "t", role: "table", numbers: { cold_scan } }],
        whole: { free_pages: 0, reserved_pages: 0 },
      });
      const words = (a, b) =>
        sentences({ files: [{}, {}] }, { left: file(a), right: file(b), all: [], f: 0, g: 1 })
          .map((p) => p.textContent)
          .join("\n");
      return [words(0, 2), words(0.1, 2), words(2, 1), words(2, 2.5)].join("\n");
    });
    assert.match(told, /nothing cached would take about 2 s;/);
    assert.match(told, /2 s instead of 100 ms: 20 times as long\./);
    assert.match(told, /1 s instead of 2 s: 50 % less\./);
    assert.match(told, /2.5 s instead of 2 s: 25 % more\./);
    assert.doesNotMatch(told, /NaN|Infinity|∞/);
  },
  { view: "compare" },
);

look(
  "what is paled as the same has no pattern either, and what a filter pales stays so",
  () => two.address,
  async (page) => {
    await settled(page);
    const wanted = await page.evaluate(async () => {
      const { DifferencePainter } = await import("viz/compare/maps.js");
      const filter = { isWanted: (_, n) => n !== 2 };
      const painter = new DifferencePainter(filter, { marks: Uint8Array.of(1, 1, 0, 0), done: 3 }, false);
      return [1, 2, 3, 4].map((n) => painter.isWanted(null, n));
    });
    assert.deepEqual(wanted, [true, false, false, true]);
  },
  { view: "compare" },
);

look(
  "each mark is looked at once, however many pieces a comparison has",
  () => two.address,
  async (page) => {
    await settled(page);
    const { reads, hidden } = await page.evaluate(async () => {
      const { CompareMaps } = await import("viz/compare/maps.js");
      const PAGES = 10_000;
      let reads = 0;
      const marks = new Proxy(new Uint8Array(PAGES), {
        get: (array, key) => {
          if (key === "length") return array.length;
          reads++;
          return array[key];
        },
      });
      const maps = new CompareMaps({ on: () => {} });
      for (let done = 100; done <= PAGES; done += 100) maps.mark(marks, done);
      return { reads, hidden: maps.onlyLabel.hidden };
    });
    assert.equal(reads, 10_000);
    assert.equal(hidden, false);
  },
  { view: "compare" },
);

look(
  "statements that are folded away are compared when they are unfolded",
  () => two.address,
  async (page) => {
    await settled(page);
    const found = await page.evaluate(async () => {
      const { Schema } = await import("viz/compare/schema.js");
      const app = { href: () => "#", summary: () => new Promise(() => {}) };
      const tree = (sql) => ({ t: 0, tree: { name: "t", role: "table", sql } });
      const all = Array.from({ length: 30 }, (_, i) => ({
        name: `t${i}`,
        left: tree(`CREATE TABLE t${i}(a)`),
        right: tree(`CREATE TABLE t${i}(b)`),
      }));
      const schema = new Schema(app);
      document.body.append(schema.element);
      const counts = [];
      const count = () =>
        counts.push([
          schema.element.querySelectorAll("article").length,
          schema.element.querySelectorAll("mark").length,
        ]);
      schema.update({ all, f: 0, g: 1 });
      count();
      const unfold = new Promise((resolve) =>
        schema.element.querySelector("details").addEventListener("toggle", resolve),
      );
      schema.element.querySelector("summary").click();
      await unfold;
      count();
      schema.update({ all, f: 0, g: 1 });
      count();
      schema.element.remove();
      return counts;
    });
    assert.deepEqual(found, [
      [20, 40],
      [30, 60],
      [30, 60],
    ]);
  },
  { view: "compare" },
);
