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

look("two files: both maps, their numbers and what differs", () => two.address, async (page) => {
  await settled(page);
  await until("two maps", () => maps(page).count(), (n) => n === 2);
  for (const map of await maps(page).all()) {
    await until("colours", async () => Object.keys(await coloursOf(map.locator("canvas").first())).length, (n) => n > 3);
  }
  const words = await until("the numbers", () => text(page), (t) => /Numbers of the files/.test(t) && /Schema/.test(t));
  for (const name of ["sale", "plain", "600", "1,088"]) assert.ok(words.includes(name), `${name} in it`);
}, { view: "compare" });

look("the maps move together", () => two.address, async (page) => {
  await settled(page);
  await until("two maps", () => maps(page).count(), (n) => n === 2);
  const [left, right] = [maps(page).nth(0).locator("canvas").first(), maps(page).nth(1).locator("canvas").first()];
  const before = [await imprintOf(left), await imprintOf(right)];
  await maps(page).nth(0).hover({ position: { x: 60, y: 60 } });
  for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -240);
  await until("both closer", async () => [await imprintOf(left), await imprintOf(right)], ([a, b]) => a !== before[0] && b !== before[1]);
}, { view: "compare" });

look("--vacuumed: the scattered file beside its copy in order", () => vacuumed.address, async (page) => {
  await until("the copy", () => json(vacuumed.address, "api/files"), (files) => files.length === 2 && files[1].state === "ready");
  await page.reload();
  await until("what became different", () => page.locator(".words").innerText(), (t) => /scatter|order|jump/i.test(t));
  const [before, after] = await Promise.all([0, 1].map((f) => json(vacuumed.address, `api/${f}/summary`)));
  assert.ok(before.whole.scatter > 10 * after.whole.scatter, `${before.whole.scatter} and ${after.whole.scatter}`);
}, { view: "compare" });

look("a copy is made from the page, by VACUUM and by a library", () => alone.address, async (page) => {
  for (const name of [/VACUUM/i, /HP|High Performance/i]) {
    await main(page).getByRole("button", { name }).first().click();
    await until("the copy beside the file", () => maps(page).count(), (n) => n === 2);
    await until("its numbers", () => text(page), (t) => /Numbers of the files/.test(t));
  }
  assert.ok((await json(alone.address, "api/files")).length >= 3);
}, { view: "compare" });
