// A file that is damaged: what can be read is shown, and what is wrong is listed page by page.

import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { look, settled, until } from "./lib/browser.mjs";
import { corrupt, shop } from "./lib/databases.mjs";
import { serve, viz } from "./lib/program.mjs";

let server;
before(async () => (server = await serve(await corrupt())));
after(() => server?.end());
const address = () => server.address;
const main = (page) => page.getByRole("main");

look("problems are listed with their pages, by table", address, async (page) => {
  const text = await until("the problems", () => main(page).innerText(), (t) => /problems? were found|problem was found/i.test(t));
  assert.match(text, /page 2\D.*4000000/);
  assert.match(text, /page 21\D/);
  assert.match(text, /item/);
  await main(page).getByRole("link", { name: "21", exact: true }).first().click();
  await until("the page with what is wrong", () => main(page).innerText(), (t) => /Page 21/.test(t) && /wrong with this page/.test(t));
}, { view: "problems" });

look("problems are filtered by their page", address, async (page) => {
  const filter = page.getByRole("searchbox", { name: /Filter by page/ });
  await filter.fill("21");
  await until("those of page 21", () => main(page).locator("li a.page-link").allTextContents(), (all) => all.length > 0 && all.every((t) => t === "21"));
}, { view: "problems" });

for (const view of ["map", "tree", "numbers", "query"]) {
  look(`${view} of the damaged file shows what can be read`, address, async (page) => {
    await settled(page);
    await until("what it shows", () => main(page).innerText(), (text) => text.length > 50);
  }, { view });
}

look("a file with nothing wrong says so, and what was looked at", () => sound.address, async (page) => {
  await until("the sentence", () => main(page).innerText(), (t) => t.includes("Nothing is wrong"));
}, { view: "problems" });
let sound;
before(async () => (sound = await serve(await shop())));
after(() => sound?.end());

test("the same on the terminal, with exit status 1", async () => {
  const { status, out } = await viz(await corrupt(), "--check");
  assert.equal(status, 1);
  assert.match(out, /page 21/);
  assert.equal((await viz(await shop(), "--check")).status, 0);
});
