// A file that is written to while somebody looks at it.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { join } from "node:path";
import { look, until } from "./lib/browser.mjs";
import { database } from "./lib/databases.mjs";
import { run, serve, settings } from "./lib/program.mjs";

let server;
let file;
before(async () => {
  file = await database("changing", "CREATE TABLE first(a); INSERT INTO first VALUES(1);");
  server = await serve(file);
});
after(() => server?.end());

look(
  "a file that was written to can be opened anew",
  () => server.address,
  async (page) => {
    const title = page.locator("#title");
    await until(
      "the title",
      () => title.innerText(),
      (text) => text.includes("2 pages"),
    );
    const notice = page.locator("#notice");
    assert.equal(await notice.innerText(), "");
    const shell = join(settings.dist, "bin/sqlite3");
    const done = await run(shell, ["-batch", file], { input: "CREATE TABLE second(b);" });
    assert.equal(done.status, 0, done.err);
    const button = notice.getByRole("button", { name: "Open it anew" });
    await button.click();
    await until(
      "the title",
      () => title.innerText(),
      (text) => text.includes("3 pages"),
    );
    assert.equal(await notice.innerText(), "");
  },
);
