// The Tree view: a b-tree level by level, and the way to a key.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { look, settled, until } from "./lib/browser.mjs";
import { kinds } from "./lib/databases.mjs";
import { mapOf } from "./lib/model.mjs";
import { serve } from "./lib/program.mjs";
import { imprintOf } from "./lib/sight.mjs";

let server, map;
before(async () => {
  server = await serve(await kinds());
  map = await until("the scan", () => mapOf(server.address), ({ of }) => of("unknown page").length === 0);
});
after(() => server?.end());
const address = () => server.address;

const choose = async (page, name) => {
  const choice = page.getByRole("combobox", { name: "Table or index" });
  const label = await until(`${name} among the b-trees`, () => choice.locator("option").allTextContents(), (all) => all.some((t) => t.startsWith(`${name} (`)));
  await choice.selectOption({ label: label.find((t) => t.startsWith(`${name} (`)) });
  await until(name, () => page.getByRole("heading", { level: 2 }).first().textContent(), (text) => text === name);
};
const way = (page) => page.locator(".tree-steps");
const ask = async (page, text) => {
  await page.locator("#tree-key").fill(text);
  await page.keyboard.press("Enter");
};

look("each level has as many pages as the b-tree has there", address, async (page) => {
  await settled(page);
  await choose(page, "plain");
  const rows = await until("the levels", () => page.locator(".tree-levels tbody tr").allInnerTexts(), (all) => all.length > 1);
  const pages = rows.map((row) => Number(row.split("\t")[1].replaceAll(",", "")));
  assert.equal(pages[0], 1, "one root");
  assert.equal(pages.at(-1), map.inTree("plain").filter((n) => map.kind(n) === "table leaf").length);
  assert.equal(pages.reduce((sum, n) => sum + n), map.inTree("plain").length);
  assert.match(rows.at(-1), /3,000/, "the leaves have a cell for each row");
}, { view: "tree" });

look("the way to a rowid leads from the root to its leaf", address, async (page) => {
  await choose(page, "plain");
  await ask(page, "1234");
  const text = await until("the way", () => way(page).innerText(), (t) => t.includes("The way to it"));
  assert.match(text, /Root, page \d+/);
  assert.match(text, /Leaf, page \d+: cell \d+ of \d+: rowid 1234/);
  await way(page).getByRole("link", { name: /^cell/ }).last().click();
  await until("the row on its page", () => page.getByRole("region", { name: "Cells of the page" }).locator("tr.pinned").innerText(), (t) => t.includes("1,234"));
}, { view: "tree" });

look("the way to what is not there says so", address, async (page) => {
  await choose(page, "plain");
  await ask(page, "999999");
  await until("the answer", () => way(page).innerText(), (t) => /not in this b-tree/.test(t) && /where it would be/.test(t));
}, { view: "tree" });

look("the way to a key of an index, and of a table without rowid", address, async (page) => {
  await choose(page, "plain_word");
  await ask(page, "'word 77'");
  await until("the word", () => way(page).innerText(), (t) => t.includes("word 77") && t.includes("The way to it"));
  await choose(page, "keyed");
  await ask(page, "'key 7', 107");
  await until("the key", () => way(page).innerText(), (t) => t.includes("key 7") && t.includes("107") && t.includes("The way to it"));
}, { view: "tree" });

look("what is no rowid is refused in a sentence", address, async (page) => {
  await choose(page, "plain");
  await ask(page, "seven");
  await until("a sentence", () => way(page).innerText(), (t) => t.includes("whole number"));
}, { view: "tree" });

look("the drawing zooms by keys and by buttons, and back", address, async (page) => {
  await settled(page);
  await choose(page, "plain");
  const canvas = page.locator(".tree-canvas canvas");
  const whole = await until("the drawing", () => imprintOf(canvas));
  await canvas.focus();
  await page.keyboard.press("+");
  const close = await until("a closer look", () => imprintOf(canvas), (now) => now !== whole);
  await page.keyboard.press("ArrowRight");
  await until("another place", () => imprintOf(canvas), (now) => now !== close);
  await page.keyboard.press("0");
  await until("all of it", () => imprintOf(canvas), (now) => now === whole);
  await page.getByRole("button", { name: "Zoom in" }).click();
  await until("a closer look", () => imprintOf(canvas), (now) => now !== whole);
  await page.getByRole("button", { name: "All" }).click();
  await until("all of it", () => imprintOf(canvas), (now) => now === whole);
}, { view: "tree" });
