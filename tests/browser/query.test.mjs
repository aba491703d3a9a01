// The Query view: a statement's plan, the pages that it read in their order; only reading is possible.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { look, NARROW, settled, until } from "./lib/browser.mjs";
import { killedWriter, shop } from "./lib/databases.mjs";
import { mapOf } from "./lib/model.mjs";
import { serve } from "./lib/program.mjs";
import { imprintOf, paleTexts, tooWide } from "./lib/sight.mjs";

let file, server, logged, map;
before(async () => {
  file = await shop();
  logged = await serve(await killedWriter());
  server = await serve(file);
  map = await until(
    "the scan",
    () => mapOf(server.address),
    ({ of }) => of("unknown page").length === 0,
  );
});
after(async () => {
  await server?.end();
  await logged?.end();
});
const address = () => server.address;

const main = (page) => page.getByRole("main");
const slider = (page) => page.getByRole("slider", { name: "Reads done" });
const said = (page) => page.locator(".query-said").innerText();
const result = (page) => page.locator(".query-result").innerText();

const write = async (page, sql) => {
  await settled(page);
  await until("an example", () => page.getByRole("textbox", { name: "A statement that reads" }).inputValue());
  await page.getByRole("textbox", { name: "A statement that reads" }).fill(sql);
};
const run = async (page, sql, library) => {
  await write(page, sql);
  if (library) await page.getByRole("radio", { name: library, exact: true }).check();
  await page.getByRole("button", { name: "Run", exact: true }).click();
};
const done = (page) =>
  until(
    "its end",
    () => result(page),
    (text) => /\bPlan\b/.test(text) && /\bRows\b/.test(text),
  );

look(
  "a scan reads each leaf of the table, and says how many were adjacent",
  address,
  async (page) => {
    await run(page, "SELECT count(*), sum(amount) FROM sale", "SQLite");
    const text = await done(page);
    assert.match(text, /SCAN sale/);
    assert.match(text, /\b12000\b/, "the answer");
    const reads = Number(await slider(page).getAttribute("max"));
    assert.ok(
      reads >= map.inTree("sale").length && reads <= map.inTree("sale").length + 3,
      `${reads} reads of ${map.inTree("sale").length} pages`,
    );
    assert.match(await main(page).innerText(), /adjacent/);
  },
  { view: "query" },
);

look(
  "pages from the log are no pages side by side on the disk",
  () => logged.address,
  async (page) => {
    await run(page, "SELECT sum(length(what)) FROM event", "SQLite");
    await done(page);
    assert.match(await said(page), /pages came from the write-ahead log/);
    assert.doesNotMatch(await said(page), /fastest/);
  },
  { view: "query" },
);

look(
  "a look-up by rowid reads one page a level, in this order",
  address,
  async (page) => {
    await run(page, "SELECT note FROM sale WHERE id = 6000", "SQLite");
    await done(page);
    const reads = Number(await slider(page).getAttribute("max"));
    assert.ok(reads >= 2 && reads <= 5, `${reads} reads`);
    const pages = [];
    for (let i = 1; i <= reads; i++) {
      await slider(page).fill(String(i));
      pages.push(
        await until(
          "the read",
          () => page.locator(".query-line").innerText(),
          (t) => new RegExp(`\\b${i}\\b`).test(t),
        ),
      );
    }
    assert.match(pages.at(-1), /table leaf of sale/);
  },
  { view: "query" },
);

look(
  "the slider plays what was read",
  address,
  async (page) => {
    await run(page, "SELECT * FROM customer ORDER BY id", "SQLite");
    await done(page);
    const canvas = page.locator(".query-pictures canvas").first();
    const all = await imprintOf(canvas);
    await slider(page).fill("1");
    const one = await until(
      "the first read",
      () => imprintOf(canvas),
      (now) => now !== all,
    );
    await page.getByRole("button", { name: "One read forward" }).click();
    await until(
      "the second",
      () => slider(page).inputValue(),
      (value) => value === "2",
    );
    await page.getByRole("button", { name: "Play" }).click();
    await until(
      "that it plays",
      () => slider(page).inputValue(),
      (value) => Number(value) > 10,
    );
    await page.getByRole("button", { name: "Pause" }).click();
    await until(
      "another picture",
      () => imprintOf(canvas),
      (now) => now !== one && now !== all,
    );
  },
  { view: "query" },
);

look(
  "the pictures of the reads are used with keys",
  address,
  async (page) => {
    await run(page, "SELECT * FROM customer ORDER BY id", "SQLite");
    await done(page);
    const chart = page.getByRole("slider", { name: "Chart: which page was read when" });
    const last = Number(await slider(page).inputValue());
    await chart.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    assert.equal(await slider(page).inputValue(), "2");
    assert.equal(await chart.getAttribute("aria-valuenow"), "2");
    assert.match(await chart.getAttribute("aria-valuetext"), /^Read 2: page [\d,]+, .* of customer$/);
    await page.keyboard.press("End");
    assert.equal(await slider(page).inputValue(), String(last));
    const grid = page.getByRole("application", { name: /^Map: which pages/ });
    await grid.focus();
    const before = await imprintOf(grid);
    const wide = await grid.evaluate((c) => c.clientWidth);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    assert.match(
      await page
        .getByRole("status")
        .filter({ hasText: /^Page 2, / })
        .innerText(),
      /^Page 2, /,
    );
    await until(
      "its frame",
      () => imprintOf(grid),
      (now) => now !== before,
    );
    await page.setViewportSize({ width: 1100, height: 800 });
    await until(
      "the map laid out anew",
      () => grid.evaluate((c) => c.clientWidth),
      (now) => now !== wide,
    );
    await page.keyboard.press("Enter");
    await until(
      "the page",
      () => page.url(),
      (url) => /#page\?.*page=2\b/.test(url),
    );
  },
  { view: "query" },
);

look(
  "the same statement on both libraries, side by side",
  address,
  async (page) => {
    await run(page, "SELECT sum(amount) FROM sale", "SQLite");
    await done(page);
    await page.getByRole("button", { name: /^Run it with HP SQLite too/ }).click();
    await until(
      "both",
      () => page.getByRole("group", { name: "Whose reads are shown" }).getByRole("button").count(),
      (n) => n === 2,
    );
  },
  { view: "query" },
);

const REFUSED = [
  "DELETE FROM sale",
  "INSERT INTO customer(name) VALUES('x')",
  "CREATE TABLE extra(a)",
  "DROP TABLE sale",
  "PRAGMA user_version = 7",
  "PRAGMA journal_mode = wal",
  "ATTACH 'other.db' AS other",
  "VACUUM",
  "VACUUM INTO 'copy.db'",
  "SELECT 1; DELETE FROM sale",
  "WITH gone AS (SELECT 1) DELETE FROM sale",
  "SELECT load_extension('x')",
  "SELECT writefile('x', 'y')",
];
look(
  "what does not only read is refused, and changes nothing",
  address,
  async (page) => {
    const before = statSync(file);
    await settled(page);
    for (const sql of REFUSED) {
      await run(page, sql);
      const text = await until(
        `the refusal of ${sql}`,
        () => said(page),
        (t) => t !== "" && !/It runs|Type a SELECT/.test(t),
      );
      assert.match(text, /not|only|cannot|no such|author|one is run at a time/i, sql);
      assert.equal(await result(page), "");
      // So that the next one's answer is told from this one's.
      await run(page, "SELECT 1");
      await done(page);
    }
    const after = statSync(file);
    assert.deepEqual([after.size, after.mtimeMs], [before.size, before.mtimeMs]);
  },
  { view: "query" },
);

look(
  "an error says where in the statement it is",
  address,
  async (page) => {
    await run(page, "SELECT *\nFROM nowhere");
    await until(
      "the error",
      () => said(page),
      (t) => /no such table: nowhere/i.test(t),
    );
    await run(page, "SELECT 1 FRUM sale x y");
    await until(
      "its place",
      () => said(page),
      (t) => /line 1, column \d+/.test(t),
    );
  },
  { view: "query" },
);

look(
  "a statement that does not end is stopped",
  address,
  async (page) => {
    await run(page, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n, sale");
    await until(
      "that it runs",
      () => said(page),
      (t) => /It runs/.test(t),
    );
    await page.getByRole("button", { name: "Stop" }).click();
    await until(
      "that it was stopped",
      () => main(page).innerText(),
      (t) => /stopped|interrupted/i.test(t),
    );
    await page.getByRole("textbox", { name: "A statement that reads" }).fill("SELECT 7 * 6");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await until(
      "another answer",
      () => result(page),
      (t) => t.includes("42"),
    );
  },
  { view: "query" },
);

look(
  "what a value holds is text",
  address,
  async (page) => {
    await run(page, `SELECT '<img src=x onerror="window.hurt=1">' AS "<b>bold</b>", x'00ff', NULL, 1e999, -0.5`);
    const text = await done(page);
    assert.ok(text.includes(`<img src=x onerror="window.hurt=1">`) && text.includes("<b>bold</b>"), text);
    assert.equal(await page.evaluate(() => window.hurt), undefined);
  },
  { view: "query" },
);

look(
  "the examples run",
  address,
  async (page) => {
    await settled(page);
    const examples = page.getByRole("combobox", { name: "Examples" });
    const all = await until(
      "examples",
      () => examples.locator("option").evaluateAll((options) => options.map((o) => o.value)),
      (values) => values.length > 4,
    );
    for (const sql of all.filter(Boolean)) {
      await run(page, sql);
      await until("its end", () => page.getByRole("button", { name: "Run", exact: true }).isEnabled());
      await done(page);
      assert.doesNotMatch(await said(page), /error|no such/i);
    }
  },
  { view: "query" },
);

look(
  "Ctrl+Enter runs it, and the result fits a narrow window",
  address,
  async (page) => {
    await write(page, "SELECT * FROM sale LIMIT 50");
    await page.keyboard.press("Control+Enter");
    await done(page);
    assert.equal(await tooWide(page), "");
    assert.deepEqual(await paleTexts(page), []);
  },
  { view: "query", viewport: NARROW },
);

look(
  "the libraries have the colours that they have in every chart",
  address,
  async (page) => {
    const colour = (library) =>
      page
        .locator(`.engine.${library}`)
        .first()
        .evaluate((e) => getComputedStyle(e).backgroundColor);
    const seen = {};
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      seen[colorScheme] = [await colour("hp"), await colour("stock")];
    }
    // Those of crates/hpsqlite-compare/src/chart/engines.rs.
    assert.deepEqual(seen, {
      light: ["rgb(31, 122, 92)", "rgb(138, 151, 164)"],
      dark: ["rgb(63, 182, 139)", "rgb(125, 138, 151)"],
    });
  },
  { view: "query" },
);
