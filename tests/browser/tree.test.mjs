// The Tree view: a b-tree level by level, and the way to a key.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { look, settled, until } from "./lib/browser.mjs";
import { kinds, wideRows } from "./lib/databases.mjs";
import { json, mapOf } from "./lib/model.mjs";
import { serve } from "./lib/program.mjs";
import { imprintOf } from "./lib/sight.mjs";

let server, far, map;
before(async () => {
  server = await serve(await kinds());
  far = await serve(await wideRows());
  map = await until(
    "the scan",
    () => mapOf(server.address),
    ({ of }) => of("unknown page").length === 0,
  );
});
after(() => Promise.all([server?.end(), far?.end()]));
const address = () => server.address;

const choose = async (page, name) => {
  const choice = page.getByRole("combobox", { name: "Table or index" });
  const label = await until(
    `${name} among the b-trees`,
    () => choice.locator("option").allTextContents(),
    (all) => all.some((t) => t.startsWith(`${name} (`)),
  );
  await choice.selectOption({ label: label.find((t) => t.startsWith(`${name} (`)) });
  await until(
    name,
    () => page.getByRole("heading", { level: 2 }).first().textContent(),
    (text) => text === name,
  );
};
const way = (page) => page.locator(".tree-steps");
const ask = async (page, text) => {
  await page.locator("#tree-key").fill(text);
  await page.keyboard.press("Enter");
};

look(
  "each level has as many pages as the b-tree has there",
  address,
  async (page) => {
    await settled(page);
    await choose(page, "plain");
    const rows = await until(
      "the levels",
      () => page.locator(".tree-levels tbody tr").allInnerTexts(),
      (all) => all.length > 1,
    );
    const pages = rows.map((row) => Number(row.split("\t")[1].replaceAll(",", "")));
    assert.equal(pages[0], 1, "one root");
    assert.equal(pages.at(-1), map.inTree("plain").filter((n) => map.kind(n) === "table leaf").length);
    assert.equal(
      pages.reduce((sum, n) => sum + n),
      map.inTree("plain").length,
    );
    assert.match(rows.at(-1), /3,000/, "the leaves have a cell for each row");
  },
  { view: "tree" },
);

look(
  "the way to a rowid leads from the root to its leaf",
  address,
  async (page) => {
    await choose(page, "plain");
    await ask(page, "1234");
    const text = await until(
      "the way",
      () => way(page).innerText(),
      (t) => t.includes("The way to it"),
    );
    assert.match(text, /Root, page \d+/);
    assert.match(text, /Leaf, page \d+: cell \d+ of \d+: rowid 1234/);
    await way(page).getByRole("link", { name: /^cell/ }).last().click();
    await until(
      "the row on its page",
      () => page.getByRole("region", { name: "Cells of the page" }).locator("tr.pinned").innerText(),
      (t) => t.includes("1,234"),
    );
  },
  { view: "tree" },
);

look(
  "the way to what is not there says so",
  address,
  async (page) => {
    await choose(page, "plain");
    await ask(page, "999999");
    await until(
      "the answer",
      () => way(page).innerText(),
      (t) => /not in this b-tree/.test(t) && /where it would be/.test(t),
    );
  },
  { view: "tree" },
);

look(
  "the way to a key of an index, and of a table without rowid",
  address,
  async (page) => {
    await choose(page, "plain_word");
    await ask(page, "'word 77'");
    await until(
      "the word",
      () => way(page).innerText(),
      (t) => t.includes("word 77") && t.includes("The way to it"),
    );
    await choose(page, "keyed");
    await ask(page, "'key 7', 107");
    await until(
      "the key",
      () => way(page).innerText(),
      (t) => t.includes("key 7") && t.includes("107") && t.includes("The way to it"),
    );
  },
  { view: "tree" },
);

look(
  "what is no rowid is refused in a sentence",
  address,
  async (page) => {
    await choose(page, "plain");
    await ask(page, "seven");
    await until(
      "a sentence",
      () => way(page).innerText(),
      (t) => t.includes("whole number"),
    );
  },
  { view: "tree" },
);

/** The jumps of each b-tree as the drawing counts them, by name. */
const drawnJumps = async () => {
  const [{ HttpSource }, { MapLoader }, { Steps, TreeData }] = await Promise.all(
    ["source", "map/data", "tree/data"].map((name) => import(`viz/${name}.js`)),
  );
  const source = new HttpSource();
  const [{ trees, kinds }, [file]] = await Promise.all([source.summary(0), source.files()]);
  const loader = new MapLoader(
    source,
    0,
    file.pages,
    () => {},
    (e) => console.error(e),
  );
  await loader.update(file);
  const found = {};
  for (const [t, { name, depth }] of trees.entries()) {
    const steps = new Steps(
      await TreeData.load(source, 0, t, depth),
      loader.data,
      kinds.map((kind) => kind.letter),
    );
    found[name] = 0;
    for (let i = 0; i < trees[t].numbers.leaf_pages; i++) found[name] += steps.jumps(i);
  }
  return found;
};

for (const [name, at] of [
  ["a page of every kind", address],
  ["wide rows", () => far.address],
]) {
  look(
    `as many jumps are drawn as are counted: ${name}`,
    at,
    async (page) => {
      await settled(page);
      const { trees } = await until(
        "the numbers",
        () => json(at(), "api/0/summary"),
        ({ trees }) => trees[0].numbers,
      );
      const counted = Object.fromEntries(
        trees.map(({ name, numbers: n }) => [name, n.forward_jumps + n.backward_jumps]),
      );
      assert.deepEqual(await page.evaluate(drawnJumps), counted);
      if (at === address) return;
      // So that the rule matters: steps that go on over many pages, and some that do not.
      const { alone, plain, one } = Object.fromEntries(trees.map(({ name, numbers }) => [name, numbers]));
      assert.ok(alone.steps_over > 5 && alone.overflow_pages > 64 * alone.leaf_pages, "wide rows between leaves");
      assert.ok(plain.steps_over > 0 && plain.overflow_pages === 0, "interior pages between leaves");
      assert.ok(counted.one > one.steps / 2, "pages of another table between leaves");
    },
    { view: "tree" },
  );
}

look(
  "the drawing zooms by keys and by buttons, and back",
  address,
  async (page) => {
    await settled(page);
    await choose(page, "plain");
    const canvas = page.locator(".tree-canvas canvas");
    const whole = await until("the drawing", () => imprintOf(canvas));
    await canvas.focus();
    await page.keyboard.press("+");
    const close = await until(
      "a closer look",
      () => imprintOf(canvas),
      (now) => now !== whole,
    );
    await page.keyboard.press("ArrowRight");
    await until(
      "another place",
      () => imprintOf(canvas),
      (now) => now !== close,
    );
    await page.keyboard.press("0");
    await until(
      "all of it",
      () => imprintOf(canvas),
      (now) => now === whole,
    );
    await page.getByRole("button", { name: "Zoom in" }).click();
    await until(
      "a closer look",
      () => imprintOf(canvas),
      (now) => now !== whole,
    );
    await page.getByRole("button", { name: "All" }).click();
    await until(
      "all of it",
      () => imprintOf(canvas),
      (now) => now === whole,
    );
  },
  { view: "tree" },
);
