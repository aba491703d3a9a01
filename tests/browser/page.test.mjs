// The Page view: one page byte by byte.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { openSync, readSync, closeSync } from "node:fs";
import { look, NARROW, until } from "./lib/browser.mjs";
import { kinds, wide } from "./lib/databases.mjs";
import { mapOf } from "./lib/model.mjs";
import { serve } from "./lib/program.mjs";
import { coloursOf, imprintOf, paleTexts, tooWide } from "./lib/sight.mjs";

const SIZE = 1024;
let file, server, map, broad;
before(async () => {
  broad = await serve(await wide());
  file = await kinds();
  server = await serve(file);
  map = await until(
    "the scan",
    () => mapOf(server.address),
    ({ of }) => of("unknown page").length === 0,
  );
});
after(async () => {
  for (const one of [server, broad]) await one?.end();
});
const address = () => server.address;

/** The bytes that the file has for a page. */
function bytesOf(n) {
  const bytes = Buffer.alloc(SIZE);
  const handle = openSync(file, "r");
  readSync(handle, bytes, 0, SIZE, (n - 1) * SIZE);
  closeSync(handle);
  return bytes;
}

const title = (page) => page.getByRole("main").getByRole("heading", { level: 2 }).first();
const hex = (page) => page.getByRole("region", { name: "All bytes of the page" });
const cells = (page) => page.getByRole("region", { name: "Cells of the page" });
const open = async (page, n) => {
  await until(
    "the first page",
    () => title(page).textContent(),
    (text) => text !== "",
  );
  await page.getByRole("textbox", { name: "Page number" }).fill(String(n));
  await page.keyboard.press("Enter");
  await until(
    `page ${n}`,
    () => title(page).textContent(),
    (text) => text.startsWith(`Page ${n.toLocaleString("en")}:`),
  );
};

/** All bytes that the dump shows, scrolled through to its end. */
async function dumped(page) {
  const found = new Map();
  await until(
    "the whole dump",
    async () => {
      const rows = await hex(page).evaluate((element) => {
        const rows = [...element.querySelectorAll(".hex-row")].map((row) => [
          parseInt(row.querySelector(".hex-at").textContent, 16),
          row.querySelector(".hex-digits").textContent,
        ]);
        const end = element.scrollTop + element.clientHeight >= element.scrollHeight - 1;
        element.scrollTop = end ? 0 : element.scrollTop + element.clientHeight / 2;
        return rows;
      });
      for (const [at, digits] of rows)
        digits
          .trim()
          .split(/\s+/)
          .forEach((digit, i) => found.set(at + i, digit));
      return found.size;
    },
    (size) => size >= SIZE,
  );
  return Buffer.from(Array.from({ length: SIZE }, (_, i) => parseInt(found.get(i), 16)));
}

for (const [kind, cellsToo] of [
  ["table leaf", true],
  ["interior page of a table", true],
  ["index leaf", true],
  ["interior page of an index", true],
  ["overflow page", false],
  ["trunk of the free list", false],
  ["free page", false],
  ["pointer map", false],
]) {
  look(
    `a page of kind ${kind} is shown to the byte`,
    address,
    async (page) => {
      const numbers = map.of(kind);
      assert.ok(numbers.length > 0, `the database has such a page; it has ${map.summary.kinds.map((k) => k.name)}`);
      const n = numbers[Math.floor(numbers.length / 2)];
      await open(page, n);
      assert.match(await title(page).textContent(), new RegExp(kind, "i"));
      assert.deepEqual(await dumped(page), bytesOf(n));
      assert.equal(await cells(page).isVisible(), cellsToo);
      const canvas = page.getByRole("main").locator("canvas").first();
      if (await canvas.count())
        assert.ok(Object.keys(await coloursOf(canvas)).length > 1, "the picture shows something");
      assert.deepEqual(await paleTexts(page), []);
    },
    { view: "page" },
  );
}

look(
  "page 1 begins with the header of the database",
  address,
  async (page) => {
    await open(page, 1);
    assert.match(await hex(page).innerText(), /SQLite format 3/);
    assert.match(await page.getByRole("main").innerText(), /page size/i);
    assert.deepEqual(await dumped(page), bytesOf(1));
  },
  { view: "page?page=1" },
);

look(
  "the records of a leaf are decoded, with the names of their columns",
  address,
  async (page) => {
    const leaf = map.of("table leaf").find((n) => map.tree(n) === "plain");
    await open(page, leaf);
    const text = await cells(page).innerText();
    for (const part of ["rowid", "word", "number", "empty", "bytes", "NULL", "x'00ff10'", "0.125", "word "]) {
      assert.ok(text.includes(part), `${part} is in ${text.slice(0, 400)}`);
    }
    const keyed = map.inTree("keyed").find((n) => map.kind(n) === "index leaf");
    await open(page, keyed);
    await until(
      "the key of a table without rowid",
      () => cells(page).innerText(),
      (t) => /key \d+/.test(t),
    );
  },
  { view: "page" },
);

look(
  "pointing at a value marks its bytes, and says what they are",
  address,
  async (page) => {
    const leaf = map.of("table leaf").find((n) => map.tree(n) === "plain");
    await open(page, leaf);
    await cells(page)
      .getByRole("cell", { name: /^word \d+/ })
      .first()
      .click();
    await until(
      "the bytes that are marked",
      () => hex(page).locator(".hex-text .pinned").allTextContents(),
      (texts) => texts.join("").includes("word"),
    );
  },
  { view: "page" },
);

look(
  "links lead to the parent, the child, the neighbour and the chain",
  address,
  async (page) => {
    const leaf = map.of("table leaf").filter((n) => map.tree(n) === "plain")[3];
    await open(page, leaf);
    const facts = page.locator(".page-links");
    const heading = () => title(page).textContent();
    await facts.getByRole("link").filter({ hasText: /^\d/ }).first().click();
    await until("the root", heading, (text) => /interior page of a table of plain/i.test(text));
    await page.goBack();
    await until("the leaf again", heading, (text) => /table leaf of plain/i.test(text));
    const overflow = map.of("overflow page")[0];
    await open(page, overflow);
    await until(
      "its chain",
      () => facts.innerText(),
      (text) => /of \d+ pages/.test(text),
    );
    const free = map.of("trunk of the free list")[0];
    await open(page, free);
    assert.match(await facts.innerText(), /Lists\s*\d+ page/);
  },
  { view: "page" },
);

look(
  "keys go to the pages before and after",
  address,
  async (page) => {
    await open(page, 5);
    await page.getByRole("main").focus();
    await page.keyboard.press("]");
    await until(
      "page 6",
      () => title(page).textContent(),
      (text) => text.startsWith("Page 6:"),
    );
    await page.keyboard.press("[");
    await until(
      "page 5",
      () => title(page).textContent(),
      (text) => text.startsWith("Page 5:"),
    );
    await page.evaluate(() => {
      for (let i = 0; i < 3; i++) dispatchEvent(new KeyboardEvent("keydown", { key: "]" }));
    });
    await until(
      "three pages further",
      () => title(page).textContent(),
      (text) => text.startsWith("Page 8:"),
    );
  },
  { view: "page" },
);

look(
  "a page that is not there is not shown",
  address,
  async (page) => {
    await until(
      "the last page",
      () => title(page).textContent(),
      (text) => text.startsWith(`Page ${map.pages.toLocaleString("en")}`),
    );
  },
  { view: "page?page=99999999" },
);

look(
  "on a narrow window the page is still whole",
  address,
  async (page) => {
    const n = map.of("index leaf")[0];
    await open(page, n);
    assert.equal(await tooWide(page), "");
    assert.deepEqual(await dumped(page), bytesOf(n));
  },
  { view: "page", viewport: NARROW },
);

look(
  "the picture is another one for another page",
  address,
  async (page) => {
    const canvas = page.getByRole("main").locator("canvas").first();
    await open(page, map.of("table leaf")[0]);
    const one = await imprintOf(canvas);
    await open(page, map.of("index leaf")[5]);
    assert.notEqual(await imprintOf(canvas), one);
  },
  { view: "page" },
);

look(
  "of records with 2,000 values fifty are shown, and more when asked for",
  () => broad.address,
  async (page) => {
    await open(page, 2);
    const values = cells(page).locator("td.value");
    assert.equal(await values.count(), 25 * 50);
    await values.nth(1).hover();
    await until(
      "how the value is stored",
      () => page.getByRole("tooltip").innerText(),
      (t) => /in no byte|constant|1/.test(t),
    );
    await page.mouse.move(2, 2);
    await until("that the tip is gone", async () => !(await page.getByRole("tooltip").isVisible()));
    const more = page.getByRole("button", { name: "Show 50 more of 1,950" });
    await more.click();
    assert.equal(await values.count(), 25 * 100);
    assert.ok((await cells(page).innerText()).includes("c100"));
    await page.getByRole("button", { name: "Show 50 more of 1,900" }).waitFor();
  },
  { view: "page" },
);
