// The overview: what a person is told of a file first.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { look, NARROW, settled, until } from "./lib/browser.mjs";
import { corrupt, database } from "./lib/databases.mjs";
import { serve } from "./lib/program.mjs";

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

look("three pieces of advice, what matters most first; the rest is folded away", address, async (page) => {
  const items = card(page, "Advice").locator("li:visible");
  await until(
    "advice",
    () => items.count(),
    (n) => n === 3,
  );
  assert.match(await textOf(items.nth(0)), /No index of lineitem begins with its foreign key \(supplier\)/);
  assert.match(await textOf(items.nth(1)), /VACUUM would give back/);
  await card(page, "Advice").getByText("more sentence").click();
  assert.match(await textOf(items.nth(-1)), /The index by_note is the beginning of by_note_and_order/);
});

look(
  "a file in order has nothing to be done",
  () => other.address,
  async (page) => {
    await told(page, "Statistics", /✓ ANALYZE counted/);
    await told(page, "1 index", /No index repeats another/);
    await told(page, "1 index", /Every foreign key has an index/);
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
  },
);
