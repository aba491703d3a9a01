// The databases that the tests look at. Each is made from SQL, by the shell that `make` built on the
// library named, in a folder of the process's own; a name is made once a process.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readSync, writeSync, closeSync, existsSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { settings, run, within } from "./program.mjs";

const made = new Map();
// Not named by the process: numbers of processes come back while a run lasts.
const folder = mkdtempSync(join(settings.work, "databases-"));

/**
 * The file of a database, made where it is not there yet.
 * @param {string} name of the file, without its ending
 * @param {string} sql what the shell is given
 */
export function database(name, sql) {
  if (!made.has(name)) made.set(name, make(name, sql));
  return made.get(name);
}

async function make(name, sql) {
  const file = join(folder, `${name}.db`);
  const shell = await run(join(settings.dist, "bin/sqlite3"), ["-batch", "-bail", file], {
    // Files are those that people have, whose pages SQLite has placed.
    input: `PRAGMA hp_extent=off;\n${sql}`,
  });
  if (shell.status !== 0 || shell.err || !existsSync(file)) {
    throw new Error(`cannot make ${name}: ${shell.err || shell.status}`);
  }
  return file;
}

/** Two tables that grow together, so that each is scattered over the file; an index; rows deleted. */
export const shop = () =>
  database(
    "shop",
    `CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, city TEXT);
     CREATE TABLE sale(id INTEGER PRIMARY KEY, customer INT, amount REAL, note TEXT);
     CREATE INDEX sale_customer ON sale(customer);
     CREATE TRIGGER buys AFTER INSERT ON customer BEGIN
       INSERT INTO sale(customer, amount, note)
         SELECT new.id, new.id * 1.25 + value, 'note ' || new.id || ' ' || hex(zeroblob(60))
         FROM generate_series(1, 3);
     END;
     INSERT INTO customer
       SELECT value, 'customer ' || value || ' ' || hex(zeroblob(40)), 'city ' || value % 100
       FROM generate_series(1, 4000);`,
  );

/**
 * Leaves with far more than a few of their own overflow pages between them, and with the pages of another
 * table, in pages of 512 bytes; and a table in order, with interior pages between its leaves.
 */
export const wideRows = () =>
  database(
    "wide-rows",
    `PRAGMA page_size = 512;
     CREATE TABLE alone(id INTEGER PRIMARY KEY, body BLOB);
     CREATE TABLE one(id INTEGER PRIMARY KEY, body BLOB);
     CREATE TABLE two(id INTEGER PRIMARY KEY, body BLOB);
     CREATE TABLE plain(id INTEGER PRIMARY KEY, body BLOB);
     CREATE TRIGGER grows AFTER INSERT ON one BEGIN INSERT INTO two VALUES(new.id, new.body); END;
     INSERT INTO alone SELECT value, zeroblob(20000) FROM generate_series(1, 80);
     INSERT INTO one SELECT value, zeroblob(900 + value) FROM generate_series(1, 300);
     INSERT INTO plain SELECT value, zeroblob(200) FROM generate_series(1, 3000);`,
  );

/** A page of every kind, in pages of 1,024 bytes. */
export const kinds = () =>
  database(
    "kinds",
    `PRAGMA page_size = 1024; PRAGMA auto_vacuum = incremental;
     CREATE TABLE plain(id INTEGER PRIMARY KEY, word TEXT, number REAL, empty, bytes BLOB);
     CREATE INDEX plain_word ON plain(word);
     CREATE TABLE keyed(a TEXT, b INT, c TEXT, PRIMARY KEY(a, b)) WITHOUT ROWID;
     CREATE TABLE big(id INTEGER PRIMARY KEY, body TEXT);
     CREATE TABLE gone(id INTEGER PRIMARY KEY, body TEXT);
     INSERT INTO plain SELECT value, 'word ' || (value * 7919 % 3000), value / 8.0, NULL, x'00ff10'
       FROM generate_series(1, 3000);
     INSERT INTO keyed SELECT 'key ' || (value % 50), value, hex(zeroblob(20)) FROM generate_series(1, 1500);
     INSERT INTO big SELECT value, printf('%.*c', 3000 + value * 10, 'x') FROM generate_series(1, 40);
     INSERT INTO gone SELECT value, hex(zeroblob(300)) FROM generate_series(1, 700);
     DELETE FROM gone;`,
  );

/** Names that would be HTML, a script or an attribute, if anybody took them for that. */
export const HOSTILE = [
  `<img src=x onerror="window.hurt=1">`,
  `</script><script>window.hurt=2</script>`,
  `"'\`&lt;&amp;;--`,
  `\u202Egnp.elbat \u0627\u0644\u062C\u062F\u0648\u0644`,
  `a very long name ${"of a table that somebody made ".repeat(20)}`,
  `--></style>\${window.hurt=3}{{nonce}}`,
];

/** Tables, indexes, columns and values with such names. */
export const hostile = () => {
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const string = (text) => `'${text.replaceAll("'", "''")}'`;
  return database(
    "hostile",
    HOSTILE.map(
      (name) =>
        `CREATE TABLE ${quoted(name)}(id INTEGER PRIMARY KEY, ${quoted(name + " column")} TEXT);
         CREATE INDEX ${quoted(name + " index")} ON ${quoted(name)}(${quoted(name + " column")});
         INSERT INTO ${quoted(name)} SELECT value, ${string(name)} || value FROM generate_series(1, 400);`,
    ).join("\n"),
  );
};

/** A file that was written over: a leaf page in the middle, and a child's number in a root. */
export const corrupt = async () => {
  const sql = `CREATE TABLE item(id INTEGER PRIMARY KEY, body TEXT);
    CREATE INDEX item_body ON item(body);
    INSERT INTO item SELECT value, 'body ' || value || hex(zeroblob(50)) FROM generate_series(1, 3000);`;
  const file = await database("corrupt", sql);
  const handle = openSync(file, "r+");
  const page = Buffer.alloc(4096);
  // The root of the table is page 2: a child of it far beyond the end of the file.
  readSync(handle, page, 0, 4096, 4096);
  page.writeUInt32BE(4_000_000, page.readUInt16BE(12));
  writeSync(handle, page, 0, 4096, 4096);
  writeSync(handle, Buffer.alloc(4096, 0xa5), 0, 4096, 20 * 4096);
  closeSync(handle);
  return file;
};

/** One page with all the columns that SQLite allows, in as many rows as fit. */
export const wide = () =>
  database(
    "wide",
    `PRAGMA page_size = 65536;
     CREATE TABLE wide(${Array.from({ length: 2000 }, (_, i) => `c${i + 1}`).join(", ")});
     INSERT INTO wide SELECT ${Array.from({ length: 2000 }, (_, i) => i % 2).join(", ")} FROM generate_series(1, 25);`,
  );

/** A table of five rows in one page, the first of which cannot be read: its pointer leads out of the page. */
export const brokenCell = async () => {
  const file = await database(
    "broken",
    "CREATE TABLE item(id INTEGER PRIMARY KEY, body TEXT); " +
      "INSERT INTO item SELECT value, 'body' FROM generate_series(1, 5);",
  );
  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.from([0xff, 0xff]), 0, 2, 4096 + 8);
  closeSync(handle);
  return file;
};

/** A file whose last writer was killed: its log was never copied back, and its last transaction never ended. */
export const killedWriter = async () => {
  const file = await database(
    "killed",
    `PRAGMA journal_mode = wal;
     CREATE TABLE event(id INTEGER PRIMARY KEY, what TEXT);
     INSERT INTO event SELECT value, 'old ' || hex(zeroblob(80)) FROM generate_series(1, 2000);`,
  );
  const shell = spawn(join(settings.dist, "bin/sqlite3"), ["-batch", file], { stdio: ["pipe", "pipe", "inherit"] });
  const ready = new Promise((resolve) => {
    let text = "";
    shell.stdout.on("data", (bytes) => {
      text += bytes;
      if (text.includes("ready")) resolve();
    });
  });
  shell.stdin.write(`PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 4; PRAGMA cache_spill = 1;
    UPDATE event SET what = 'first ' || id WHERE id <= 300;
    UPDATE event SET what = 'second ' || id WHERE id BETWEEN 200 AND 700;
    INSERT INTO event SELECT value, 'third ' || hex(zeroblob(80)) FROM generate_series(2001, 2400);
    BEGIN; UPDATE event SET what = 'never ' || id; SELECT 'ready';\n`);
  try {
    await within(20_000, "the writer", ready);
  } finally {
    shell.kill("SIGKILL");
    await once(shell, "close");
  }
  return file;
};

/** A little more than a million pages of 512 bytes, of three tables that grew together. */
export const million = () =>
  database(
    "million",
    `PRAGMA page_size = 512; PRAGMA journal_mode = off; PRAGMA synchronous = off;
     PRAGMA cache_size = -100000; PRAGMA locking_mode = exclusive;
     CREATE TABLE part(id INTEGER PRIMARY KEY, body BLOB);
     CREATE TABLE note(id INTEGER PRIMARY KEY, body BLOB);
     CREATE TABLE log(id INTEGER PRIMARY KEY, body BLOB);
     CREATE TRIGGER grows AFTER INSERT ON part BEGIN
       INSERT INTO note SELECT new.id, zeroblob(460) WHERE new.id % 2 = 0;
       INSERT INTO log SELECT new.id, zeroblob(460) WHERE new.id % 5 = 0;
     END;
     BEGIN;
     INSERT INTO part SELECT value, zeroblob(460) FROM generate_series(1, 590000);
     COMMIT;`,
  );
