// A file that is damaged: what can be read is shown, and what is wrong is listed page by page.

import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { look, NARROW, picture, settled, until } from "./lib/browser.mjs";
import { corrupt, shop } from "./lib/databases.mjs";
import { serve, viz } from "./lib/program.mjs";
import { coloursOf, paleTexts, tooWide } from "./lib/sight.mjs";

let server;
before(async () => (server = await serve(await corrupt())));
after(() => server?.end());
const address = () => server.address;
const main = (page) => page.getByRole("main");

look(
  "problems are listed with their pages, by table",
  address,
  async (page) => {
    const text = await until(
      "the problems",
      () => main(page).innerText(),
      (t) => /problems? were found|problem was found/i.test(t),
    );
    assert.match(text, /page 2\D.*4000000/);
    assert.match(text, /page 21\D/);
    assert.match(text, /item/);
    await main(page).getByRole("link", { name: "21", exact: true }).first().click();
    await until(
      "the page with what is wrong",
      () => main(page).innerText(),
      (t) => /Page 21/.test(t) && /wrong with this page/.test(t),
    );
  },
  { view: "problems" },
);

look(
  "problems are filtered by their page",
  address,
  async (page) => {
    const filter = page.getByRole("searchbox", { name: /Filter by page/ });
    await filter.fill("21");
    await until(
      "those of page 21",
      () => main(page).locator("li a.page-link").allTextContents(),
      (all) => all.length > 0 && all.every((t) => t === "21"),
    );
  },
  { view: "problems" },
);

/** The line above the views. */
const banner = (page) => page.locator("#damage");
/** How many pixels of the map have the colour of what is wrong, in light. */
const wrongPixels = async (page) => (await coloursOf(main(page).locator(".map-canvas canvas").first()))["#b3261e"] ?? 0;
const tab = (page) => page.getByRole("navigation", { name: "Views" }).locator('[data-id="problems"]');

for (const [window, options] of [
  ["wide", {}],
  ["dark", { colorScheme: "dark" }],
  ["narrow", { viewport: NARROW }],
]) {
  look(
    `the first view says that the file is damaged, ${window}`,
    address,
    async (page) => {
      await settled(page);
      const text = await until(
        "the line",
        () => banner(page).innerText(),
        (t) => /were found\./.test(t),
      );
      assert.match(text, /This file is damaged\./);
      const [, n] = text.match(/([\d,]+) problems were found/);
      assert.equal((await tab(page).textContent()).trim(), `Problems${n}`);
      assert.deepEqual(await paleTexts(page), [], "text has the contrast that AA asks for");
      assert.equal(await tooWide(page), "");
      await picture(page, `the map of a damaged file ${window}`);
      await banner(page).getByRole("link", { name: "What is wrong" }).click();
      await until(
        "what is wrong",
        () => main(page).innerText(),
        (t) => t.includes(`${n} problems were found`),
      );
      // There it would say the same twice.
      await until(
        "no line",
        () => banner(page).innerText(),
        (t) => t === "",
      );
      await page.getByRole("link", { name: "Map", exact: true }).click();
      await until(
        "the line again",
        () => banner(page).innerText(),
        (t) => t.includes("damaged"),
      );
    },
    options,
  );
}

look(
  "damaged pages are crossed out on the map, and told when they are selected",
  address,
  async (page) => {
    await settled(page);
    const crosses = main(page).getByRole("checkbox", { name: /^\d+ damaged pages \(crosses\)$/ });
    await until(
      "the crosses",
      () => wrongPixels(page),
      (n) => n > 50,
    );
    await crosses.uncheck();
    await until(
      "no crosses",
      () => wrongPixels(page),
      (n) => n === 0,
    );
    await crosses.check();
    await until(
      "the crosses again",
      () => wrongPixels(page),
      (n) => n > 50,
    );
    const list = main(page).locator(".map-wrong");
    await until(
      "what is wrong with the page",
      () => list.innerText(),
      (t) => t.length > 10,
    );
  },
  { view: "map?page=21" },
);

look(
  "of a sound file nothing is marked",
  () => sound.address,
  async (page) => {
    await settled(page);
    assert.equal(await banner(page).innerText(), "");
    assert.equal((await tab(page).textContent()).trim(), "Problems");
    assert.equal(await wrongPixels(page), 0);
    assert.equal(
      await main(page)
        .getByRole("checkbox", { name: /damaged/ })
        .count(),
      0,
    );
  },
  { view: "map" },
);

for (const view of ["map", "tree", "numbers", "query"]) {
  look(
    `${view} of the damaged file shows what can be read`,
    address,
    async (page) => {
      await settled(page);
      await until(
        "what it shows",
        () => main(page).innerText(),
        (text) => text.length > 50,
      );
    },
    { view },
  );
}

look(
  "a file with nothing wrong says so, and what was looked at",
  () => sound.address,
  async (page) => {
    await until(
      "the sentence",
      () => main(page).innerText(),
      (t) => t.includes("Nothing is wrong"),
    );
  },
  { view: "problems" },
);
let sound;
before(async () => (sound = await serve(await shop())));
after(() => sound?.end());

test("the same on the terminal, with exit status 1", async () => {
  const { status, out } = await viz(await corrupt(), "--check");
  assert.equal(status, 1);
  assert.match(out, /page 21/);
  assert.equal((await viz(await shop(), "--check")).status, 0);
});
