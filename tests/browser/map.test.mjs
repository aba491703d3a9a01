// The Map view: every page in its place, zoomed, filtered, reached by keys.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { look, NARROW, settled, until } from "./lib/browser.mjs";
import { kinds, shop } from "./lib/databases.mjs";
import { mapOf } from "./lib/model.mjs";
import { serve } from "./lib/program.mjs";
import { coloursOf, imprintOf } from "./lib/sight.mjs";

let server, map, other;
before(async () => {
  server = await serve(await kinds());
  map = await until(
    "the scan",
    () => mapOf(server.address),
    ({ of }) => of("unknown page").length === 0,
  );
  other = await serve(await shop());
});
after(async () => {
  await server?.end();
  await other?.end();
});
const address = () => server.address;

const canvas = (page) => page.locator(".map-canvas canvas").first();
const panel = (page) => page.getByRole("region", { name: "The selected page" });
const legend = (page) => page.getByRole("region", { name: "Legend" });
const entry = (page, name) => legend(page).getByRole("button", { name: new RegExp(`^${name}\\s*[\\d,]`) });
const drawn = async (page) => {
  await settled(page);
  return until("a drawing at rest", async () => {
    const one = await imprintOf(canvas(page));
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 60)));
    return one === (await imprintOf(canvas(page))) && one;
  });
};
const selected = async (page) => Number((await panel(page).locator("h2 .page-link").textContent()).replaceAll(",", ""));

look(
  "each b-tree and kind is in the legend, with its pages, and in the picture",
  address,
  async (page) => {
    await drawn(page);
    for (const { name } of map.summary.trees) {
      const text = await entry(page, name).innerText();
      assert.ok(text.replaceAll(",", "").includes(String(map.inTree(name).length)), `${name}: ${text}`);
    }
    const present = map.summary.kinds.filter(({ name }) => map.of(name).length > 0);
    assert.ok(present.length >= 7, "the database has nearly all kinds of pages");
    for (const { name } of present)
      assert.ok((await entry(page, name).innerText()).replaceAll(",", "").includes(String(map.of(name).length)));
    assert.ok(Object.keys(await coloursOf(canvas(page))).length > map.summary.trees.length, "each has a colour");
  },
  { view: "map" },
);

look(
  "the legend filters: one, one more, all again",
  address,
  async (page) => {
    const all = await drawn(page);
    await entry(page, "plain").click();
    const one = await until(
      "one b-tree alone",
      () => imprintOf(canvas(page)),
      (now) => now !== all,
    );
    assert.equal(await entry(page, "plain").getAttribute("aria-pressed"), "true");
    await entry(page, "big").click({ modifiers: ["Control"] });
    await until(
      "two",
      () => imprintOf(canvas(page)),
      (now) => now !== one && now !== all,
    );
    await page.getByRole("button", { name: "show all" }).click();
    await until(
      "all",
      () => imprintOf(canvas(page)),
      (now) => now === all,
    );
    await entry(page, "overflow page").click();
    await until(
      "one kind",
      () => imprintOf(canvas(page)),
      (now) => now !== all,
    );
  },
  { view: "map" },
);

look(
  "the wheel zooms to one page and back to the whole",
  address,
  async (page) => {
    const whole = await drawn(page);
    const { x, y, width, height } = await page.locator(".map-canvas").boundingBox();
    await page.mouse.move(x + width / 3, y + height / 3);
    for (let i = 0; i < 30; i++) await page.mouse.wheel(0, -240);
    const close = await drawn(page);
    assert.notEqual(close, whole);
    await page.mouse.click(x + width / 3, y + height / 3);
    const n = await until(
      "a page",
      () => selected(page),
      (number) => number > 0,
    );
    // So large that the page is still under a pointer far away.
    await page.mouse.click(x + width / 3 + 60, y + height / 3 + 10);
    assert.ok(Math.abs((await selected(page)) - n) <= 1);
    for (let i = 0; i < 40; i++) await page.mouse.wheel(0, 240);
    await page.getByRole("button", { name: "Whole file" }).click();
    await drawn(page);
  },
  { view: "map" },
);

look(
  "keys select, zoom, go to the ends, and open a page",
  address,
  async (page) => {
    await drawn(page);
    await page.locator(".map-canvas").focus();
    await page.keyboard.press("Home");
    await until(
      "page 1",
      () => selected(page),
      (n) => n === 1,
    );
    await page.keyboard.press("ArrowRight");
    await until(
      "page 2",
      () => selected(page),
      (n) => n === 2,
    );
    await page.keyboard.press("End");
    await until(
      "the last page",
      () => selected(page),
      (n) => n === map.pages,
    );
    const far = await drawn(page);
    for (let i = 0; i < 6; i++) await page.keyboard.press("+");
    const near = await until(
      "closer",
      () => drawn(page),
      (now) => now !== far,
    );
    await page.keyboard.press("0");
    await until(
      "the whole",
      () => drawn(page),
      (now) => now !== near,
    );
    const before = await selected(page);
    await page.keyboard.press("p");
    const same = await until(
      "another of the same b-tree",
      () => selected(page),
      (n) => n !== before,
    );
    assert.equal(map.tree(same), map.tree(before));
    await page.keyboard.press("Enter");
    await until(
      "it byte by byte",
      () => page.url(),
      (url) => url.includes(`#page?`) && url.includes(`page=${same}`),
    );
  },
  { view: "map" },
);

look(
  "the panel says what a page is, and leads on",
  address,
  async (page) => {
    const leaf = map.of("table leaf").filter((n) => map.tree(n) === "plain")[2];
    await page.evaluate((n) => (location.hash = `#map?page=${n}`), leaf);
    await until(
      "the page",
      () => selected(page),
      (n) => n === leaf,
    );
    const text = await until(
      "what is around it",
      () => panel(page).innerText(),
      (t) => t.includes("Way from the root"),
    );
    assert.match(text, /Table leaf/);
    assert.match(text, /plain/);
    await panel(page).getByRole("link", { name: "Look inside" }).click();
    await until(
      "the page",
      () => page.getByRole("heading", { level: 2 }).first().textContent(),
      (t) => t.startsWith(`Page ${leaf}:`),
    );
  },
  { view: "map" },
);

look(
  "pointing at a page says what it is",
  address,
  async (page) => {
    await drawn(page);
    const { x, y, width, height } = await page.locator(".map-canvas").boundingBox();
    await page.mouse.move(x + width / 4, y + height / 4);
    await until(
      "a tip",
      () => page.getByRole("tooltip").innerText(),
      (t) => /^Page [\d,]+: .+ full/.test(t),
    );
  },
  { view: "map" },
);

look(
  "colours tell whose, how full, what kind, what order",
  () => other.address,
  async (page) => {
    const seen = new Set([await drawn(page)]);
    const choice = page.getByRole("combobox", { name: "Colour" });
    for (const label of ["How full it is", "What kind it is", "Place in the order of keys"]) {
      await choice.selectOption({ label });
      seen.add(
        await until(
          label,
          () => drawn(page),
          (now) => !seen.has(now),
        ),
      );
    }
  },
  { view: "map" },
);

look(
  "dark colours are others, and follow the system",
  address,
  async (page) => {
    const light = await drawn(page);
    await page.emulateMedia({ colorScheme: "dark" });
    await until(
      "the dark map",
      () => drawn(page),
      (now) => now !== light,
    );
  },
  { view: "map" },
);

look(
  "the map fits a narrow window",
  address,
  async (page) => {
    await drawn(page);
    const { width, height } = await page.locator(".map-canvas").boundingBox();
    assert.ok(width > 300 && width <= 400 && height > 200, `${width} x ${height}`);
  },
  { view: "map", viewport: NARROW },
);
