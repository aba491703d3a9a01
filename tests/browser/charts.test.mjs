// Charts of `hpsqlite compare`, in windows of three widths, light and dark: read by people, so that their
// letters must not shrink with the window.

import { before } from "node:test";
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { look, picture } from "./lib/browser.mjs";
import { shop } from "./lib/databases.mjs";
import { run, settings } from "./lib/program.mjs";
import { paleTexts, tooWide } from "./lib/sight.mjs";

const SQL = [
  "SELECT customer, sum(amount), count(*), min(note) FROM sale GROUP BY customer",
  "SELECT count(*) FROM sale WHERE note LIKE '%9%'",
  "SELECT name FROM customer WHERE id = 77",
];

let address;
before(async () => {
  const file = join(settings.work, "compare.html");
  const done = await run(settings.program, ["compare", await shop(), ...SQL, "--runs", "5", "--html", file]);
  assert.ok(done.status <= 1, done.err);
  address = pathToFileURL(file).href;
});

for (const width of [1400, 800, 400]) {
  look(
    `charts are legible at ${width} pixels`,
    () => address,
    async (page) => {
      const charts = page.locator("svg:visible");
      assert.equal(await charts.count(), 2, "of each chart one layout");
      const sizes = await charts.evaluateAll((all) =>
        all.flatMap((svg) => {
          const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
          return [...svg.querySelectorAll("text")].map((text) => parseFloat(getComputedStyle(text).fontSize) * scale);
        }),
      );
      assert.ok(sizes.length > 10);
      assert.ok(Math.min(...sizes) >= 9.5, `letters of ${Math.min(...sizes)} pixels`);
      const outside = await charts.evaluateAll((all) =>
        all.flatMap((svg) => {
          const { left, right } = svg.getBoundingClientRect();
          return [...svg.querySelectorAll("text")]
            .filter((t) => t.getBoundingClientRect().left < left - 1 || t.getBoundingClientRect().right > right + 1)
            .map((t) => t.textContent);
        }),
      );
      assert.deepEqual(outside, [], "no text is cut off by the edge");
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        assert.equal(await tooWide(page), "");
        assert.deepEqual(await paleTexts(page), []);
        await picture(page, `compare ${width} ${colorScheme}`);
      }
    },
    { viewport: { width, height: 900 } },
  );
}

look(
  "HP SQLite is green and SQLite grey, and settings are folded away",
  () => address,
  async (page) => {
    const colours = await page
      .locator("svg:visible")
      .nth(1)
      .evaluate((svg) => ["stock", "ours"].map((engine) => getComputedStyle(svg.querySelector(`rect.${engine}`)).fill));
    assert.deepEqual(colours, ["rgb(138, 151, 164)", "rgb(31, 122, 92)"]);
    const settings = page.getByText("libsqlite3-stock.so");
    assert.equal(await settings.isVisible(), false);
    await page.getByText("Libraries, settings, database and machine").click();
    assert.equal(await settings.isVisible(), true);
  },
);
