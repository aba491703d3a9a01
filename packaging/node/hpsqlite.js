#!/usr/bin/env node
'use strict';
// Builds better-sqlite3 or sqlite3 of the current project on the SQLite of this package, and puts
// back the one that was there. The build is made and tried in a copy: the project changes at the end,
// by renaming one file.
const { spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const USAGE = `usage: npx hpsqlite build PACKAGE     build PACKAGE of this project on hpsqlite
       npx hpsqlite restore PACKAGE   put back the SQLite that it came with
       npx hpsqlite status PACKAGE    say on which SQLite it runs

PACKAGE is better-sqlite3 or sqlite3, and is installed in this project. A build needs
what node-gyp needs: Python, make and a C++ compiler. CFLAGS and CXXFLAGS count.`;

const SOURCE = path.join(__dirname, 'sqlite');
const KEPT = 'hpsqlite-stock.node';

// Of each package: its compiled file, npm's script for node-gyp, what brings our SQLite in, and a
// program that prints hp_version(), or nothing on another SQLite.
const PACKAGES = {
  'better-sqlite3': {
    file: 'build/Release/better_sqlite3.node',
    script: 'build-release',
    bring(folder, scratch) {
      // A custom SQLite gets none of the package's own options. Without them foreign keys would be
      // off, and more: so they go to the top of the file.
      const text = fs.readFileSync(path.join(folder, 'deps', 'defines.gypi'), 'utf8');
      const options = [...text.matchAll(/^ *'(\w+)(?:=([^']*))?',?$/gm)];
      if (options.length < 5) fail(`deps/defines.gypi of ${folder} is not as expected: this release is too new or too old`);
      const defines = options.map(([, name, value]) => `#ifndef ${name}\n# define ${name} ${value ?? 1}\n#endif\n`);
      amalgamation(scratch, defines.join(''));
      return [`--sqlite3=${scratch}`];
    },
    probe: `const db = new (require(process.argv[1]))(':memory:');
      try { console.log(db.prepare('SELECT hp_version()').pluck().get()); } catch (error) {
        if (!/no such function/.test(error.message)) throw error;
      }`,
  },
  sqlite3: {
    file: 'build/Release/node_sqlite3.node',
    script: 'rebuild',
    bring(folder, scratch) {
      // It compiles what it unpacks from an archive of this name, with its own options.
      const name = 'sqlite-autoconf-hpsqlite';
      fs.mkdirSync(path.join(scratch, name));
      amalgamation(path.join(scratch, name), '');
      const archive = path.join(folder, 'deps', `${name}.tar.gz`);
      run('tar', ['czf', archive, '-C', scratch, name], { cwd: scratch }, 'the sources could not be packed');
      return ['--sqlite=internal', '--sqlite_version=hpsqlite'];
    },
    probe: `new (require(process.argv[1]).Database)(':memory:').get('SELECT hp_version() AS v', (error, row) => {
        if (error && !/no such function/.test(error.message)) throw error;
        if (row) console.log(row.v);
      })`,
  },
};

class Failure extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}
function fail(message, status = 1) {
  throw new Failure(message, status);
}

// Writes sqlite3.c and sqlite3.h with options at the top, in place of those of the system's library.
function amalgamation(folder, defines) {
  const top = `#define HP_NO_DEFAULT_OPTIONS 1\n${defines}#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#endif\n`;
  fs.writeFileSync(path.join(folder, 'sqlite3.c'), top + fs.readFileSync(path.join(SOURCE, 'sqlite3.c'), 'utf8'));
  for (const file of ['sqlite3.h', 'sqlite3ext.h']) fs.copyFileSync(path.join(SOURCE, file), path.join(folder, file));
}

function run(program, args, options, what) {
  const result = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28, ...options });
  return judge(program, result, what);
}

// What a program said if it succeeded; else the line that says why, and a file with the rest
function judge(program, result, what) {
  if (result.error) fail(`${what}: cannot run ${program} (${result.error.code})`);
  if (result.status === 0) return result.stdout;
  const said = `${result.stdout}\n${result.stderr}`.split('\n');
  const cause = said.find((line) => /(\berror: |gyp ERR! stack|Error: )/.test(line)) ?? (result.signal ? `ended by ${result.signal}` : `exit status ${result.status}`);
  let where = '';
  if (said.length > 30) {
    const log = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'hpsqlite-log-')), 'log');
    fs.writeFileSync(log, said.join('\n'));
    where = `; the whole output is in ${log}`;
  }
  fail(`${what} (${cause.trim().slice(0, 200)})${where}`);
}

// What node-gyp's make says of a file when it begins with it
const STEP = /^\s*(CC|CXX|SOLINK_MODULE|SOLINK)\((?:target|host)\) (?:.*\/)?([^/\s]+?)(?:\.o)?\s*$/;

// As run(), for a program that takes minutes: a line for each file that it compiles or links
function runTelling(program, args, options, what) {
  const result = { stdout: '', stderr: '', status: null, signal: null };
  let line = '';
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    child.stdout.setEncoding('utf8').on('data', (text) => {
      result.stdout += text;
      const lines = (line + text).split('\n');
      line = lines.pop();
      for (const [, tool, file] of lines.map((one) => STEP.exec(one)).filter(Boolean)) {
        console.log(`  ${tool.startsWith('SOLINK') ? 'linking' : 'compiling'} ${file}`);
      }
    });
    child.stderr.setEncoding('utf8').on('data', (text) => (result.stderr += text));
    child.on('error', (error) => (result.error = error));
    child.on('close', (status, signal) => {
      try {
        resolve(judge(program, Object.assign(result, { status, signal }), what));
      } catch (error) {
        reject(error);
      }
    });
  });
}

// Where the project has the package
function installed(name) {
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    const found = path.join(folder, 'node_modules', name);
    if (fs.existsSync(path.join(found, 'package.json'))) return fs.realpathSync(found);
    if (folder === path.dirname(folder)) fail(`${name} is not installed in this project: run npm install ${name} first`);
  }
}

// hp_version() of the package in a folder, '' on another SQLite
function version(name, folder) {
  return run(process.execPath, ['-e', PACKAGES[name].probe, folder], {}, `${name} cannot be loaded`).trim();
}

// Ours is known by its SQL function: the name is in the file.
const isOurs = (file) => fs.readFileSync(file).includes('hp_version');

// The headers that came with this node, so that none are fetched
function headers() {
  const prefix = path.dirname(path.dirname(fs.realpathSync(process.execPath)));
  try {
    const text = fs.readFileSync(path.join(prefix, 'include', 'node', 'node_version.h'), 'utf8');
    const number = (part) => text.match(new RegExp(`#define NODE_${part}_VERSION (\\d+)`))[1];
    if (['MAJOR', 'MINOR', 'PATCH'].map(number).join('.') === process.versions.node) return [`--nodedir=${prefix}`];
  } catch {
    // node-gyp knows how to get them.
  }
  return [];
}

// Puts a file in a place by way of a temporary name
function place(from, to) {
  fs.mkdirSync(path.dirname(to), { recursive: true });
  const temporary = `${to}.hpsqlite-new`;
  fs.copyFileSync(from, temporary);
  fs.renameSync(temporary, to);
}

async function build(name) {
  const { file, script, bring } = PACKAGES[name];
  const folder = installed(name);
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'hpsqlite-build-'));
  // Below node_modules, where it finds the packages that it needs
  const copy = path.join(path.dirname(folder), `.hpsqlite-${process.pid}`, name);
  try {
    fs.cpSync(folder, copy, { recursive: true, filter: (from) => from !== path.join(folder, 'build') });
    console.log(`building ${name} on hpsqlite; this takes some minutes`);
    const options = [...bring(copy, scratch), ...headers()];
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    await runTelling(npm, ['run', script, '--', ...options], { cwd: copy }, `${name} could not be built, nothing was changed`);
    const found = version(name, copy);
    if (!found) fail(`${name} was built, but has no hp_version(): nothing was changed`);
    const target = path.join(folder, file);
    const kept = path.join(folder, KEPT);
    const before = fs.existsSync(target);
    if (before && !isOurs(target)) place(target, kept);
    place(path.join(copy, file), target);
    const did = before ? 'replaced' : 'made';
    console.log(`${name} now runs on hpsqlite ${found}: ${did} ${target}; to go back: npx hpsqlite restore ${name}`);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
    fs.rmSync(path.dirname(copy), { recursive: true, force: true });
  }
}

function restore(name) {
  const folder = installed(name);
  const target = path.join(folder, PACKAGES[name].file);
  const kept = path.join(folder, KEPT);
  if (!fs.existsSync(target) || !isOurs(target)) {
    console.log(`${name} is not on hpsqlite: nothing was changed`);
    return;
  }
  const nothing = !fs.existsSync(kept);
  if (nothing) fs.rmSync(target);
  else fs.renameSync(kept, target);
  const left = nothing ? `removed ${target}, which was not there before` : `put back ${target}`;
  let found;
  try {
    found = version(name, folder);
  } catch {
    // As it was: installed without a compiled file
    console.log(`${left}; ${name} is not compiled now, as before: npm rebuild ${name} does it`);
    return;
  }
  if (found) fail(`${name} still has hp_version(): run npm rebuild ${name}`);
  console.log(`${name} runs on its own SQLite again: ${left}`);
}

function status(name) {
  const found = version(name, installed(name));
  console.log(found ? `${name} runs on hpsqlite ${found}` : `${name} runs on its own SQLite`);
}

async function main([command, name, ...more]) {
  if (!command || ['help', '--help', '-h'].includes(command)) {
    console.log(USAGE);
    return;
  }
  const commands = { build, restore, status };
  if (!Object.hasOwn(commands, command)) fail(`there is no command ${command}: there are build, restore and status`, 2);
  if (!Object.hasOwn(PACKAGES, name ?? '') || more.length > 0) {
    fail(`name one package, better-sqlite3 or sqlite3: npx hpsqlite ${command} better-sqlite3`, 2);
  }
  await commands[command](name);
}

// Ctrl-C ends the compiler, and what was begun is then cleared away as after any failure.
process.on('SIGINT', () => {});
main(process.argv.slice(2)).catch((error) => {
  if (!(error instanceof Failure) && !error.code) throw error;
  console.error(`hpsqlite: ${error.message}`);
  process.exitCode = error.status ?? 1;
});
