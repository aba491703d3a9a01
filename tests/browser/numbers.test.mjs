// The Numbers view: a line a b-tree, sorted, explained, as CSV; the file and advice.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { look, settled, until } from "./lib/browser.mjs";
import { shop } from "./lib/databases.mjs";
import { mapOf } from "./lib/model.mjs";
import { serve } from "./lib/program.mjs";

let server, map;
before(async () => {
  server = await serve(await shop());
  map = await until(
    "the scan",
    () => mapOf(server.address),
    ({ of }) => of("unknown page").length === 0,
  );
});
after(() => server?.end());
const address = () => server.address;

const box = (page) => page.getByRole("region", { name: "Numbers of each b-tree" });
const head = (page, name) =>
  box(page)
    .locator("thead")
    .getByRole("button", { name: new RegExp(`^${name}\\b`) });
/** Column titles, and the cells of each line. */
const table = async (page) => {
  await box(page).waitFor();
  const titles = (await box(page).locator("thead th").allInnerTexts()).map((t) => t.replace(/[▾▴\s]+$/, ""));
  const rows = await box(page)
    .locator("tbody tr")
    .evaluateAll((all) => all.map((row) => [...row.cells].map((c) => c.innerText.trim())));
  return { titles, rows, column: (title) => rows.map((row) => row[titles.indexOf(title)]) };
};
const number = (text) => Number(text.replaceAll(",", ""));

look(
  "each b-tree has its line, with what SQL counts",
  address,
  async (page) => {
    const { rows, column } = await table(page);
    const entries = Object.fromEntries(rows.map((row, i) => [row[0], number(column("Entries")[i])]));
    assert.deepEqual(entries, { sale: 12000, customer: 4000, sale_customer: 12000, sqlite_schema: 4 });
    assert.equal(
      column("Pages")
        .map(number)
        .reduce((a, b) => a + b),
      map.pages,
      "every page is of one of them",
    );
    for (const [i, row] of rows.entries()) assert.equal(number(column("Pages")[i]), map.inTree(row[0]).length);
  },
  { view: "numbers" },
);

look(
  "a click on a column sorts by it, another the other way",
  address,
  async (page) => {
    for (const [title, first] of [
      ["Pages", "descending"],
      ["Scatter", "descending"],
    ]) {
      await head(page, title).click();
      await until(
        first,
        () => box(page).locator("thead th[aria-sort]").getAttribute("aria-sort"),
        (sort) => sort === first,
      );
      const { column } = await table(page);
      const down = column(title)
        .map(number)
        .filter((n) => !Number.isNaN(n));
      assert.deepEqual(
        down,
        [...down].sort((a, b) => b - a),
      );
      await head(page, title).click();
      const up = (await table(page))
        .column(title)
        .map(number)
        .filter((n) => !Number.isNaN(n));
      assert.deepEqual(
        up,
        [...up].sort((a, b) => a - b),
      );
    }
  },
  { view: "numbers" },
);

look(
  "tables that grew together are scattered, and it is said so and why",
  address,
  async (page) => {
    const { rows, column } = await table(page);
    const scatter = Object.fromEntries(rows.map((row, i) => [row[0], number(column("Scatter")[i])]));
    assert.ok(scatter.sale > 0.1 && scatter.customer > 0.9, JSON.stringify(scatter));
    const words = await page.getByRole("main").innerText();
    assert.match(words, /VACUUM/);
    assert.match(words, /customer/);
  },
  { view: "numbers" },
);

look(
  "each column is explained",
  address,
  async (page) => {
    await settled(page);
    const told = new Set();
    for (const button of await box(page).locator("thead th button").all()) {
      await button.hover();
      const title = (await button.innerText()).trim();
      if (title.startsWith("b-tree")) continue;
      const tip = await until(
        `the explanation of ${title}`,
        () => page.getByRole("tooltip").innerText(),
        (t) => t.length > 10 && !told.has(t),
      );
      told.add(tip);
    }
    assert.ok(told.size > 5);
  },
  { view: "numbers" },
);

look(
  "the names are filtered",
  address,
  async (page) => {
    await page.getByRole("searchbox", { name: /Filter by the name/ }).fill("cust");
    await until(
      "two lines",
      () => table(page),
      ({ rows }) => rows.length === 2,
    );
  },
  { view: "numbers" },
);

look(
  "a b-tree is opened: runs, levels, what a scan takes",
  address,
  async (page) => {
    await box(page).getByRole("link", { name: "sale", exact: true }).click();
    const card = page.getByRole("region", { name: "Numbers of sale" });
    const text = await until(
      "its card",
      () => card.innerText(),
      (t) => t.includes("Runs by their length"),
    );
    assert.match(text, /12,000 rows/);
    assert.match(text, /CREATE TABLE sale|How it was made/);
    const runs = await card
      .locator("table.runs tbody tr")
      .evaluateAll((rows) => rows.map((row) => Number(row.cells[2].innerText.replaceAll(",", ""))));
    const said = Number(/([\d,]+) runs? of leaves/.exec(text)[1].replaceAll(",", ""));
    assert.equal(
      runs.reduce((a, b) => a + b),
      said,
    );
  },
  { view: "numbers" },
);

look(
  "the estimate follows the device",
  address,
  async (page) => {
    const scans = async () => (await table(page)).column("Cold scan").join();
    const before = await scans();
    await page.getByRole("combobox", { name: /Cold scans are estimated/ }).selectOption("a hard disk");
    await until("other times", scans, (now) => now !== before);
  },
  { view: "numbers" },
);

look(
  "the numbers are downloaded as CSV",
  address,
  async (page) => {
    await settled(page);
    const waiting = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download as CSV" }).click();
    const text = readFileSync(await (await waiting).path(), "utf8");
    const lines = text
      .trimEnd()
      .split("\r\n")
      .map((line) => line.split(","));
    assert.equal(lines.length, 1 + 4);
    const [titles, ...rows] = lines;
    const sale = Object.fromEntries(rows.find((row) => row[0] === "sale").map((value, i) => [titles[i], value]));
    assert.equal(sale.entries, "12000");
    assert.equal(Number(sale.pages), map.inTree("sale").length);
    assert.ok(Number(sale.scatter) > 0 && Number(sale.cold_scan) > 0);
  },
  { view: "numbers" },
);
