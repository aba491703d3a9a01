// The overview: what a person is told of a file first.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { look, NARROW, settled, until } from "./lib/browser.mjs";
import { corrupt, database } from "./lib/databases.mjs";
import { serve } from "./lib/program.mjs";
import { paleTexts, tooWide } from "./lib/sight.mjs";

/** An index that repeats another one, a foreign key without one, statistics of before most rows came. */
const untidy = () =>
  database(
    "untidy",
    `CREATE TABLE supplier(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
     CREATE TABLE lineitem(l_order INT, l_number INT, supplier REFERENCES supplier, note TEXT,
       PRIMARY KEY(l_order, l_number));
     CREATE INDEX by_note ON lineitem(note);
     CREATE INDEX by_note_and_order ON lineitem(note, l_order);
     INSERT INTO supplier SELECT value, 'supplier ' || value FROM generate_series(1, 100);
     INSERT INTO lineitem SELECT value, 1, value % 100, 'note ' || value FROM generate_series(1, 500);
     ANALYZE;
     INSERT INTO lineitem SELECT value, 2, value % 100, 'note ' || value FROM generate_series(1, 9000);
     CREATE TABLE gone(body TEXT);
     INSERT INTO gone SELECT hex(zeroblob(500)) FROM generate_series(1, 2000);
     DROP TABLE gone;`,
  );

const tidy = () =>
  database(
    "tidy",
    `CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);
     CREATE INDEX t_a ON t(a);
     INSERT INTO t SELECT value, printf('%06d', value) FROM generate_series(1, 5000);
     ANALYZE;`,
  );

let server, other, damaged;
before(async () => {
  server = await serve(await untidy());
  other = await serve(await tidy());
  damaged = await serve(await corrupt());
});
after(() => Promise.all([server?.end(), other?.end(), damaged?.end()]));
const address = () => server.address;
const card = (page, name) => page.getByRole("main").getByRole("region", { name });
/** Links of b-trees are boxes, which begin lines of their own in an element's text. */
const textOf = async (place) => (await place.innerText()).replace(/\s+/g, " ");
const told = (page, name, pattern) =>
  until(
    `${name}: ${pattern}`,
    () => textOf(card(page, name)),
    (text) => pattern.test(text),
  );

look("it is what the page opens with", address, async (page) => {
  await until(
    "the tab",
    () => page.locator("nav [aria-current=page]").textContent(),
    (text) => text === "Overview",
  );
  assert.match(await page.title(), /^Overview: /);
  await told(page, "Size", /\d\.\d+ MB/);
  await told(page, "Size", /[\d.]+ MB in [\d,]+ free pages, \d+ % of the file/);
  await told(page, "Health", /Nothing is wrong/);
  await told(page, "Health", /scattered: \d+ % of the steps from leaf to leaf jump/);
});

look("indexes are called what they are for", address, async (page) => {
  await told(page, "Largest tables and indexes", /primary key of lineitem/);
  assert.doesNotMatch(await page.getByRole("main").innerText(), /sqlite_autoindex/);
});

look("it says which index is redundant, and which is missing", address, async (page) => {
  await told(page, "4 indexes", /by_note .*the beginning of by_note_and_order/s);
  await told(page, "4 indexes", /no index begins with supplier, which refers to supplier/);
  await told(page, "4 indexes", /CREATE INDEX lineitem_supplier ON lineitem\(supplier\);/);
});

look("it says that ANALYZE counted other rows", address, async (page) => {
  await told(page, "Statistics", /lineitem: 500 rows then, 9,500 now/);
});

look("three pieces of advice, what saves most first; the rest is folded away", address, async (page) => {
  const items = card(page, "Advice").locator("li:visible");
  await until(
    "advice",
    () => items.count(),
    (n) => n === 3,
  );
  assert.match(await textOf(items.nth(0)), /No index of lineitem begins with its foreign key \(supplier\)/);
  await card(page, "Advice").getByText("more sentence").click();
  const all = (await textOf(card(page, "Advice"))).replace(/.*What matters most/, "");
  const places = [
    /No index of lineitem/,
    /The statistics are stale: lineitem/,
    /VACUUM would give back/,
    /The index by_note/,
  ].map((pattern) => all.search(pattern));
  assert.ok(places[0] >= 0 && places.every((place, i) => i === 0 || place > places[i - 1]), `${places}: ${all}`);
  assert.match(await textOf(items.nth(-1)), /The index by_note is the beginning of by_note_and_order/);
});

look(
  "a file in order has nothing to be done",
  () => other.address,
  async (page) => {
    await told(page, "Statistics", /✓ ANALYZE counted/);
    await told(page, "1 index", /There are no foreign keys, and one index/);
    assert.doesNotMatch(await card(page, "1 index").innerText(), /Every foreign key/);
    await told(page, "Advice", /Nothing is worth doing/);
    await told(page, "Health", /of no account in so small a file/);
  },
  { viewport: NARROW, colorScheme: "dark" },
);

look(
  "a damaged file is not called in order",
  () => damaged.address,
  async (page) => {
    await settled(page);
    await told(page, "Health", /problems? (was|were) found/);
    assert.doesNotMatch(await card(page, "Health").innerText(), /Nothing is wrong/);
    await told(page, "Advice", /What to do first.*Restore the last backup that is whole/);
    await told(page, "Advice", /\.recover/);
    assert.equal(await card(page, "Advice").locator("li").count(), 1);
    assert.equal(await card(page, "Statistics").count(), 0, "no index and no ANALYZE until it is whole");
    assert.doesNotMatch(await page.getByRole("main").innerText(), /Nothing is worth doing|VACUUM would/);
  },
);

const slow = (page) => card(page, "Paste your slow query");
const run = async (page, sql) => {
  await settled(page);
  await slow(page).getByRole("textbox", { name: "Your slow query" }).fill(sql);
  await slow(page).getByRole("button", { name: "Run it with both" }).click();
};
const part = (page, name) => slow(page).getByRole("region", { name });
const answer = (page, name, pattern) =>
  until(
    `${name}: ${pattern}`,
    () => textOf(part(page, name)),
    (text) => pattern.test(text),
  );

for (const [width, colorScheme] of [
  [1400, "light"],
  [800, "dark"],
  [400, "light"],
])
  look(
    `a slow query is measured with both libraries, and an index is suggested, at ${width} pixels`,
    address,
    async (page) => {
      await run(page, "SELECT count(*), sum(length(note)) FROM lineitem WHERE supplier = 7");
      await answer(page, "Times", /HP SQLite .*\d (ms|µs|s) .*SQLite .*\d (ms|µs|s)/);
      await until(
        "the verdict",
        () => textOf(slow(page).getByRole("status")),
        (text) => /times as fast|the same time/.test(text),
      );
      await answer(page, "Accelerated?", /It is accelerated\.|is not accelerated|was not accelerated/);
      await answer(page, "An index that would help", /CREATE INDEX lineitem_supplier ON lineitem\(supplier\);/);
      await answer(page, "An index that would help", /SEARCH lineitem USING INDEX lineitem_supplier \(supplier=\?\)/);
      await answer(page, "Plan", /SCAN lineitem/);
      assert.equal(await tooWide(page), "");
      assert.deepEqual(await paleTexts(page), []);
    },
    { viewport: { width, height: 900 }, colorScheme },
  );

look("what keeps a query from being accelerated is said, and names that SQLite made are not", address, async (page) => {
  await run(page, "SELECT * FROM lineitem WHERE l_order = 77");
  await answer(page, "Accelerated?", /It is not accelerated.*leads to its rows/);
  await answer(page, "An index that would help", /scans no table/);
  await answer(page, "Plan", /Finds entries in the index “primary key of lineitem”/);
  await run(page, "SELECT count(*) FROM lineitem WHERE abs(random()) >= 0 AND length(note) > 3");
  await answer(page, "Accelerated?", /such as random\(\)/);
});

look("a slow query can only read", address, async (page) => {
  const status = () => textOf(slow(page).getByRole("status"));
  for (const [sql, why] of [
    ["ATTACH 'other.db' AS other", /Only reading is allowed here, not ATTACH/],
    ["DELETE FROM lineitem", /Only reading is allowed here, not DELETE/],
    ["SELECT load_extension('x')", /Not authorized to use function: load_extension/],
    ["SELECT 1; DELETE FROM lineitem", /more than one statement/],
    ["SELECT nowhere FROM lineitem", /No such column: nowhere/],
    [" ", /There is no statement/],
  ]) {
    await run(page, sql);
    await until(`the refusal of ${sql}`, status, (text) => why.test(text));
    assert.equal(await slow(page).getByRole("region").count(), 0, sql);
  }
});

look("a slow query that does not end is stopped", address, async (page) => {
  await run(page, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n, lineitem");
  const status = () => textOf(slow(page).getByRole("status"));
  await until("that it runs", status, (text) => /It runs with HP SQLite/.test(text));
  await slow(page).getByRole("button", { name: "Stop" }).click();
  await until("that it was stopped", status, (text) => /It was stopped/.test(text));
  await run(page, "SELECT 7 * 6");
  await answer(page, "Accelerated?", /It reads no table/);
});
