// Names and values that would be HTML or a script are text, wherever they are shown.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { look, NARROW, settled, until, WIDE } from "./lib/browser.mjs";
import { HOSTILE, hostile, shop } from "./lib/databases.mjs";
import { serve } from "./lib/program.mjs";
import { paleTexts, tooWide } from "./lib/sight.mjs";

let server;
before(async () => (server = await serve(await hostile(), await shop())));
after(() => server?.end());
const address = () => server.address;
const main = (page) => page.getByRole("main");

/** Nothing of a name has become part of the page. */
async function harmless(page) {
  assert.equal(await page.evaluate(() => window.hurt), undefined, "no script of a name ran");
  assert.equal(await page.locator("img[src=x]").count(), 0, "no name became an element");
  assert.equal(await page.locator("script:not([src]):not([type=importmap])").count(), 0);
}

for (const view of ["overview", "map", "page", "tree", "numbers", "compare", "query", "problems"]) {
  look(
    `hostile names in ${view}`,
    address,
    async (page) => {
      for (const viewport of [WIDE, NARROW]) {
        await page.setViewportSize(viewport);
        await settled(page);
        await harmless(page);
        assert.equal(await tooWide(page), "");
        assert.deepEqual(await paleTexts(page), []);
      }
    },
    { view: view === "compare" ? "compare?with=1" : view },
  );
}

look(
  "each name is shown as it is",
  address,
  async (page) => {
    const text = await until(
      "the table",
      () => main(page).innerText(),
      (t) => t.includes("onerror"),
    );
    const plain = text.replace(/\s+/g, " ");
    for (const name of HOSTILE)
      assert.ok(plain.includes(name.trim().slice(0, 60)), `${name} in ${plain.slice(0, 1000)}`);
    await harmless(page);
  },
  { view: "numbers" },
);

look("each name is found, shown on the map, and opened", address, async (page) => {
  const search = page.getByRole("combobox", { name: "Search" });
  for (const name of HOSTILE) {
    await search.fill(name.slice(0, 40));
    const found = page.getByRole("listbox", { name: "Found" }).getByRole("option");
    await until(
      "it is found",
      () => found.allTextContents(),
      (all) => all.some((t) => t.includes(name.slice(0, 20))),
    );
    await page.keyboard.press("Enter");
    const url = await until(
      "the map",
      () => page.url(),
      (now) => /#map.*[?&]tree=\d+/.test(now),
    );
    await page.locator(".map-canvas").hover();
    await harmless(page);
    const tree = /[?&]tree=(\d+)/.exec(url)[1];
    for (const [view, text] of [
      ["tree", name.slice(0, 20)],
      ["numbers", "Runs by their length"],
    ]) {
      await page.evaluate((hash) => (location.hash = hash), `#${view}?tree=${tree}`);
      await until(
        `it in ${view}`,
        () => main(page).innerText(),
        (t) => t.includes(text),
      );
      await harmless(page);
    }
  }
});

look(
  "hostile values are text in the cells of a page",
  address,
  async (page) => {
    const cells = page.getByRole("region", { name: "Cells of the page" });
    for (const n of [2, 3, 4]) {
      await page.evaluate((page) => (location.hash = `#page?page=${page}`), n);
      await until(
        `page ${n}`,
        () => main(page).getByRole("heading", { level: 2 }).first().textContent(),
        (t) => t.startsWith(`Page ${n}:`),
      );
      assert.ok((await cells.innerText()).length > 10);
      await harmless(page);
    }
  },
  { view: "page" },
);

look(
  "the examples quote hostile names",
  address,
  async (page) => {
    const examples = page.getByRole("combobox", { name: "Examples" });
    const all = await until(
      "examples",
      () => examples.locator("option").evaluateAll((options) => options.map((o) => o.value)),
      (values) => values.length > 4,
    );
    await page.getByRole("textbox", { name: "A statement that reads" }).fill(all[1]);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await until(
      "its rows",
      () => page.locator(".query-result").innerText(),
      (text) => /\bRows\b/.test(text),
    );
    await harmless(page);
  },
  { view: "query" },
);
