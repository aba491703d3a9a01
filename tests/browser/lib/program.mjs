// Starts `hpsqlite viz` and reads from its output where its page is.

import { spawn } from "node:child_process";
import { once } from "node:events";

/** What the suite's `run` says; read there what each is. */
export const settings = {
  program: process.env.VIZ_PROGRAM,
  dist: process.env.VIZ_DIST,
  work: process.env.VIZ_WORK,
  modules: process.env.VIZ_MODULES,
  pictures: process.env.VIZ_PICTURES,
};
for (const [name, value] of Object.entries(settings)) {
  if (!value) throw new Error(`there is no setting ${name}: start the tests with tests/browser/run`);
}

const PATIENCE = 30_000;

/** A promise that fails, naming what was awaited, where it takes too long. */
export function within(milliseconds, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing in ${milliseconds} ms`)), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Runs a program to its end: `{ status, out, err }`. */
export async function run(file, args, { input = "", env = {}, cwd = settings.work } = {}) {
  const child = spawn(file, args, { cwd, env: { ...process.env, ...env }, stdio: "pipe" });
  const out = collect(child.stdout);
  const err = collect(child.stderr);
  child.stdin.on("error", () => {}).end(input);
  try {
    const [status] = await within(PATIENCE, `${file} ${args.join(" ")}`, once(child, "close"));
    return { status, out: out.text, err: err.text };
  } finally {
    child.kill("SIGKILL");
  }
}

/** `hpsqlite viz ARGUMENTS` to its end. */
export const viz = (...args) => run(settings.program, ["viz", ...args]);

/**
 * A server of the page: `await using`, or call `end()`.
 * @param {string[]} args what comes after `viz`
 */
export async function serve(...args) {
  const child = spawn(settings.program, ["viz", ...args, "--no-browser"], {
    cwd: settings.work,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const err = collect(child.stderr);
  const closed = once(child, "close");
  const address = new Promise((resolve, reject) => {
    const out = collect(child.stdout, (text) => {
      const found = /http:\/\/127\.0\.0\.1:\d+\/[^/\s]+\//.exec(text);
      if (found) resolve(found[0]);
    });
    closed.then(([status]) =>
      reject(new Error(`hpsqlite viz ended with ${status} and gave no address: ${out.text}${err.text}`)),
    );
  });
  const server = {
    pid: child.pid,
    get errors() {
      return err.text;
    },
    /** Asks it to end as Ctrl-C does; a server that does not is an error. */
    async end() {
      child.kill("SIGINT");
      try {
        return (await within(PATIENCE, "the server's end", closed))[0];
      } finally {
        child.kill("SIGKILL");
      }
    },
  };
  try {
    server.address = await within(PATIENCE, "the server's address", address);
    return server;
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

function collect(stream, grown = () => {}) {
  const collected = { text: "" };
  stream.setEncoding("utf8");
  stream.on("data", (text) => {
    collected.text += text;
    grown(collected.text);
  });
  return collected;
}
