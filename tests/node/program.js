'use strict';
// node program.js PACKAGE FOLDER: prints which library answers, the plan of the first query, and all
// answers. FOLDER has setup.sql and queries.sql.
const fs = require('node:fs');
const [name, folder] = process.argv.slice(2);
const lines = (file) => fs.readFileSync(`${folder}/${file}`, 'utf8').trim().split('\n');

// Of each package: a function that runs a statement, and one that asks a query
function open() {
  const sqlite = require(name);
  if (name === 'better-sqlite3') {
    const db = new sqlite(':memory:');
    return { run: (sql) => db.exec(sql), all: (sql) => db.prepare(sql).all() };
  }
  const db = new sqlite.Database(':memory:');
  const ask = (method) => (sql) =>
    new Promise((resolve, reject) => db[method](sql, (error, rows) => (error ? reject(error) : resolve(rows))));
  return { run: ask('exec'), all: ask('all') };
}

(async () => {
  const { run, all } = open();
  for (const statement of lines('setup.sql')) await run(statement);
  let version = 'stock';
  try {
    version = (await all('SELECT hp_version() AS detail'))[0].detail;
  } catch {
    // Only ours has the function.
  }
  console.log(`library\t${version}`);
  const queries = lines('queries.sql');
  for (const { detail } of await all(`EXPLAIN QUERY PLAN ${queries[0]}`)) console.log(`plan\t${detail}`);
  for (const query of queries) for (const { detail } of await all(query)) console.log(`answer\t${detail}`);
  // How many queries ran in the executor, which a plan alone does not show
  if (version === 'stock') return;
  const { count = 0 } = (await all('PRAGMA hp_stats')).find(({ what }) => what === 'run') ?? {};
  console.log(`run\t${count}`);
})();
