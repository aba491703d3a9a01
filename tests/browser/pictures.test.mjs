// What the command writes into files: the page in one file, opened without a server, and pictures.

import { before, test } from "node:test";
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { look, NARROW, settled, until, WIDE } from "./lib/browser.mjs";
import { brokenCell, HOSTILE, hostile, killedWriter, kinds, shop } from "./lib/databases.mjs";
import { settings, viz } from "./lib/program.mjs";
import { paleTexts, tooWide } from "./lib/sight.mjs";

/** Runs the command, which has to write a file of this name; gives its address. */
async function written(name, ...args) {
  const file = join(settings.work, name);
  const { status, err } = await viz(...args, file);
  assert.equal(status, 0, err);
  return pathToFileURL(file).href;
}
const saved = {};
before(async () => {
  saved.shop = await written("shop.html", await shop(), "--html");
  saved.kinds = await written("kinds.html", await kinds(), "--html");
  saved.part = await written("part.html", await shop(), "--only", "customer", "--html");
  saved.log = await written("log.html", await killedWriter(), "--html");
  saved.two = await written("two.html", await shop(), await kinds(), "--html");
  saved.broken = await written("broken.html", await brokenCell(), "--html");
  saved.hostile = await written("hostile.html", await hostile(), "--html");
});
const main = (page) => page.getByRole("main");
const tabs = (page) => page.getByRole("navigation", { name: "Views" }).getByRole("link");

for (const name of ["shop", "kinds", "log", "two", "hostile"]) {
  look(
    `saved page of ${name}: each view it has works without a server`,
    () => saved[name],
    async (page) => {
      for (const [viewport, colorScheme] of [
        [WIDE, "light"],
        [NARROW, "dark"],
      ]) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await settled(page);
        const names = await tabs(page).allTextContents();
        for (const view of ["Overview", "Map", "Page", "Tree", "Numbers", "Problems"])
          assert.ok(names.includes(view), `${view} in ${names}`);
        assert.ok(!names.includes("Query"), "nothing can be run without the program");
        for (const view of names) {
          await tabs(page)
            .filter({ hasText: new RegExp(`^${view}$`) })
            .click();
          await until(
            `${view} shows something`,
            () => main(page).innerText(),
            (text) => text.trim().length > 40,
          );
          assert.equal(await tooWide(page), "", view);
          assert.deepEqual(await paleTexts(page), [], view);
        }
      }
      assert.equal(await page.evaluate(() => window.hurt), undefined);
    },
  );
}

look(
  "a saved page says of pages that are not inside that they are not, and shows no boxes for them",
  () => saved.part,
  async (page) => {
    const boxes = page.getByRole("region", { name: "All bytes of the page" });
    await page.evaluate(() => (location.hash = "#page?file=0&page=2"));
    await until("a page of customer", () => boxes.isVisible());
    await page.evaluate(() => (location.hash = "#page?file=0&page=3"));
    await until(
      "a sentence",
      () => main(page).innerText(),
      (text) => text.includes("What is in page 3 is not inside this saved page"),
    );
    assert.equal(await page.locator(".page-grid").isVisible(), false);
    await page.evaluate(() => (location.hash = "#page?file=0&page=2"));
    await until("a page of customer again", () => boxes.isVisible());
  },
  { view: "page" },
);

look(
  "a saved page has the records and the bytes of a small file",
  () => saved.shop,
  async (page) => {
    await page.getByRole("combobox", { name: "Search" }).fill("customer rowid 77");
    await until("the row", () => page.getByRole("listbox", { name: "Found" }).getByRole("option").count());
    await page.keyboard.press("Enter");
    await until(
      "its page",
      () => page.url(),
      (url) => /[?&]page=\d/.test(url),
    );
    await tabs(page)
      .filter({ hasText: /^Page$/ })
      .click();
    await until(
      "its cells",
      () => page.getByRole("region", { name: "Cells of the page" }).innerText(),
      (t) => t.includes("customer 77 "),
    );
    await until(
      "its bytes",
      () => page.getByRole("region", { name: "All bytes of the page" }).innerText(),
      (t) => t.includes("00"),
    );
  },
);

look(
  "a row of a saved page is found behind a cell that cannot be read",
  () => saved.broken,
  async (page) => {
    await settled(page);
    await page.getByRole("combobox", { name: "Search" }).fill("item rowid 4");
    await page.getByRole("listbox", { name: "Found" }).getByRole("option", { name: "row 4 of item" }).waitFor();
    await page.keyboard.press("Enter");
    await until(
      "its place, the fourth pointer of the page",
      () => page.url(),
      (url) => /[?&]cell=3\b/.test(url),
    );
    await page.evaluate(() => (location.hash = "tree?file=0&tree=1&rowid=4"));
    await until(
      "the way there",
      () => main(page).innerText(),
      (t) => /cell 3 of 4: rowid 4/.test(t),
    );
  },
);

look(
  "a saved page has the log",
  () => saved.log,
  async (page) => {
    await until(
      "its commits",
      () => main(page).innerText(),
      (text) => /in 3 commits/.test(text),
    );
  },
  { view: "wal" },
);

for (const [what, args] of [
  ["a file", async () => [await shop()]],
  ["two files", async () => [await shop(), await kinds()]],
  ["hostile names", async () => [await hostile()]],
  ["some tables", async () => [await shop(), "--only", "sale"]],
  ["some pages, dark", async () => [await kinds(), "--pages", "1-200", "--dark"]],
]) {
  let svg, png;
  before(async () => {
    const name = what.replace(/\W+/g, "-");
    svg = await written(`${name}.svg`, ...(await args()), "--svg");
    png = await written(`${name}.png`, ...(await args()), "--png");
    copyFileSync(new URL(png), join(settings.pictures, `written-${name}.png`));
  });
  look(
    `SVG of ${what} is a picture with its names, and without scripts`,
    () => svg,
    async (page) => {
      const active = await page.evaluate(
        () =>
          [...document.querySelectorAll("*")].filter(
            (element) =>
              ["script", "foreignObject", "image", "a", "use"].includes(element.localName) ||
              [...element.attributes].some(({ name }) => name.startsWith("on")),
          ).length,
      );
      assert.equal(active, 0, "nothing in it acts, or asks for anything");
      const { width, height } = await page.locator("svg").first().boundingBox();
      assert.ok(width > 200 && height > 100);
      const words = await page
        .locator("svg")
        .first()
        .evaluate((element) => element.textContent);
      if (what === "hostile names") assert.ok(words.includes(HOSTILE[0]), words.slice(0, 500));
      if (what === "a file") for (const name of ["customer", "sale", "sale_customer"]) assert.ok(words.includes(name));
    },
  );
  look(
    `PNG of ${what} is a picture`,
    () => png,
    async (page) => {
      const size = await page.locator("img").evaluate((img) => [img.naturalWidth, img.naturalHeight]);
      assert.ok(size[0] > 200 && size[1] > 100, String(size));
    },
  );
}

test("an HTML file that cannot be written is told, and none is left", async () => {
  const { status, err } = await viz(await shop(), "--html", join(settings.work, "no", "such", "folder.html"));
  assert.equal(status, 2);
  assert.match(err, /folder\.html/);
});
