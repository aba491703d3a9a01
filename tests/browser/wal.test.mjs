// The WAL view: the log of a writer that was killed.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { look, until } from "./lib/browser.mjs";
import { database, killedWriter, shop } from "./lib/databases.mjs";
import { json } from "./lib/model.mjs";
import { serve, settings } from "./lib/program.mjs";
import { coloursOf } from "./lib/sight.mjs";

let server, plain, wal;
before(async () => {
  server = await serve(await killedWriter());
  plain = await serve(await shop());
  wal = (await json(server.address, "api/0/summary")).wal;
});
after(async () => {
  await server?.end();
  await plain?.end();
});
const address = () => server.address;
const main = (page) => page.getByRole("main");

look(
  "commits, frames and what a checkpoint would write",
  address,
  async (page) => {
    assert.equal(wal.commits, 3, "three transactions were committed");
    const text = await until(
      "the log",
      () => main(page).innerText(),
      (t) => /checkpoint/i.test(t) && /commits?/.test(t),
    );
    assert.ok(text.includes(`${wal.committed} in 3 commits`), text);
    assert.ok(
      text.includes(`${wal.frames - wal.committed}: a transaction is under way, or was cut off`),
      "the last never ended",
    );
    const rows = await main(page)
      .locator("table tbody tr")
      .evaluateAll((all) => all.map((row) => [...row.cells].map((c) => Number(c.innerText.replaceAll(",", "")))));
    assert.deepEqual(
      rows.map((row) => row[0]),
      [3, 2, 1],
    );
    assert.equal(
      rows.reduce((sum, row) => sum + row[1], 0),
      wal.committed,
      "the frames of the commits together",
    );
  },
  { view: "wal" },
);

look(
  "frames and pages are drawn, with what becomes of them",
  address,
  async (page) => {
    const canvases = main(page).locator("canvas");
    await until(
      "two pictures",
      () => canvases.count(),
      (n) => n === 2,
    );
    for (const canvas of await canvases.all()) {
      await until(
        "several colours",
        async () => Object.keys(await coloursOf(canvas)).length,
        (n) => n >= 2,
      );
    }
  },
  { view: "wal" },
);

look(
  "a commit is chosen, then a page of it, then that version of the page",
  address,
  async (page) => {
    await main(page).locator("table tbody").getByRole("link", { name: "2", exact: true }).click();
    await until(
      "the commit",
      () => main(page).innerText(),
      (t) => /Commit 2\b/.test(t) && /frames?, from/.test(t),
    );
    await main(page).locator(".numbers-list").getByRole("link").first().click();
    await until(
      "the versions of the page",
      () => main(page).innerText(),
      (t) => /versions? of it, the newest first/.test(t),
    );
    await main(page)
      .getByRole("link", { name: /^frame \d+/ })
      .last()
      .click();
    const version = page.getByRole("combobox", { name: "Which version of the page" });
    await until(
      "the version",
      () => version.locator("option:checked").textContent(),
      (t) => /frame \d+/.test(t),
    );
    const bytes = page.getByRole("region", { name: "All bytes of the page" });
    const logged = await until(
      "its bytes",
      () => bytes.innerText(),
      (t) => t.length > 100,
    );
    await version.selectOption({ label: "in the database file" });
    await until(
      "the bytes of the file",
      () => bytes.innerText(),
      (t) => t.length > 100 && t !== logged,
    );
  },
  { view: "wal" },
);

look(
  "a file without a log says so",
  () => plain.address,
  async (page) => {
    await until(
      "a sentence",
      () => main(page).innerText(),
      (t) => /not in WAL mode/.test(t),
    );
  },
  { view: "wal" },
);

/** A database with a log, and a writer of it that stays open: `write(sql)`, `end()`. */
async function writer() {
  const file = await database("live", "PRAGMA journal_mode = wal; CREATE TABLE event(id INTEGER PRIMARY KEY, what);");
  const shell = spawn(join(settings.dist, "bin/sqlite3"), ["-batch", "-bail", file], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  const closed = once(shell, "close");
  return {
    file,
    write: (sql) => shell.stdin.write(`${sql}\n`),
    end: async () => {
      shell.stdin.end();
      await closed;
    },
  };
}

let live, following;
before(async () => {
  live = await writer();
  live.write("PRAGMA wal_autocheckpoint = 0; INSERT INTO event VALUES(1, 'first');");
  const { stat } = await import("node:fs/promises");
  await until("a log", async () => (await stat(`${live.file}-wal`).catch(() => ({ size: 0 }))).size > 0);
  following = await serve(live.file);
});
after(async () => {
  await live?.end();
  await following?.end();
});

look(
  "the view follows the log while another process writes",
  () => following.address,
  async (page) => {
    const commits = () => main(page).locator("table tbody tr th").allInnerTexts();
    const has = (what, ...wanted) => until(what, commits, (now) => now.join() === wanted.join());
    await has("the commit that was there", "1");
    live.write("INSERT INTO event VALUES(2, 'second');");
    await has("a commit that came while it was looked at", "2", "1");
    live.write("INSERT INTO event VALUES(3, 'third');");
    await has("another one", "3", "2", "1");
    await main(page).getByRole("button", { name: "Pause" }).click();
    live.write("INSERT INTO event VALUES(4, 'fourth');");
    const asked = await json(following.address, "api/0/log");
    await until(
      "the writer",
      () => json(following.address, "api/0/log"),
      (now) => now.facts.commits === 4 || now.tag !== asked.tag,
    );
    assert.equal((await commits()).length, 3, "what is paused stays");
    await main(page).getByRole("button", { name: "Follow" }).click();
    await has("what was missed", "4", "3", "2", "1");
    live.write("PRAGMA wal_checkpoint(PASSIVE);");
    await until(
      "a checkpoint that another process ran",
      () => main(page).innerText(),
      (text) => /copied/i.test(text) && /Nothing|nothing|all/i.test(text),
    );
  },
  { view: "wal" },
);
