// Who is answered: asked from outside, as no page of our own would ask.

import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import http from "node:http";
import { shop } from "./lib/databases.mjs";
import { serve, settings, viz, within } from "./lib/program.mjs";

let server;
let token;
before(async () => {
  server = await serve(await shop());
  token = new URL(server.address).pathname;
});
after(() => server?.end());

/** Sends a path exactly as it is written: `{ status, headers, text }`. */
function ask(path, { method = "GET", headers = {}, body } = {}) {
  const { port } = new URL(server.address);
  const answer = new Promise((resolve, reject) => {
    const request = http.request({ host: "127.0.0.1", port, path, method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    request.on("error", reject);
    request.end(body);
  });
  return within(10_000, `the answer to ${path}`, answer);
}

test("the page is there, and lets nothing be loaded from elsewhere", async () => {
  const { status, headers, text } = await ask(token);
  assert.equal(status, 200);
  assert.match(headers["content-type"], /^text\/html/);
  const policy = headers["content-security-policy"];
  for (const part of ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
    assert.ok(policy.includes(part), `${part} is in ${policy}`);
  }
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["referrer-policy"], "no-referrer");
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["access-control-allow-origin"], undefined);
  assert.doesNotMatch(text, /\b(?:src|href)="(?:https?:)?\/\//);
});

test("two pages have two nonces, and two servers two tokens", async () => {
  const nonce = async () => /'nonce-([^']+)'/.exec((await ask(token)).headers["content-security-policy"])[1];
  assert.notEqual(await nonce(), await nonce());
  const other = await serve(await shop());
  try {
    assert.notEqual(new URL(other.address).pathname, token);
  } finally {
    await other.end();
  }
});

for (const [what, path] of [
  ["no token", () => "/"],
  ["no token before the questions", () => "/api/files"],
  ["another token", () => `/${"0".repeat(32)}/api/files`],
  ["the token's first half", () => `${token.slice(0, 17)}/api/files`],
  ["the token with more behind it", () => `${token.slice(0, -1)}0/api/files`],
  ["a token in capitals", () => `${token.toUpperCase()}api/files`],
  ["a way up", () => `${token}web/../../../../../../etc/passwd`],
  ["a way up in code", () => `${token}web/%2e%2e%2f%2e%2e%2fetc%2fpasswd`],
  ["a way up in a Windows way", () => `${token}web/..\\..\\Cargo.toml`],
  ["an absolute path", () => `${token}web//etc/passwd`],
  ["a source file beside the page's", () => `${token}web/../mod.rs`],
  ["a source file above a view's folder", () => `${token}web/map/..%2f..%2fmod.rs`],
  ["a folder", () => `${token}web/map/`],
  ["a zero byte", () => `${token}web/app.js%00.css`],
]) {
  test(`nothing is found with ${what}`, async () => {
    const { status, text } = await ask(path());
    assert.equal(status, 404, text);
    assert.ok(!text.includes(token.slice(1, -1)), "the token is not told");
  });
}

for (const host of ["example.com", "127.0.0.1", "127.0.0.1.example.com:80", "localhost.evil.example"]) {
  test(`it answers to no other name: ${host}`, async () => {
    assert.equal((await ask(token, { headers: { host } })).status, 403);
  });
}

for (const [what, headers] of [
  ["another site", { origin: "http://example.com", "content-type": "application/json" }],
  ["another port of this machine", { origin: "http://127.0.0.1:1", "content-type": "application/json" }],
  ["a page without origin", { origin: "null", "content-type": "application/json" }],
  ["a form", { "content-type": "application/x-www-form-urlencoded" }],
  ["plain text", { "content-type": "text/plain" }],
]) {
  test(`a query from ${what} is refused`, async () => {
    const body = JSON.stringify({ sql: "SELECT 1", library: "stock" });
    const { status } = await ask(`${token}api/0/query`, { method: "POST", headers, body });
    assert.ok([403, 415].includes(status), `status ${status}`);
  });
}

test("a query from the page itself is not", async () => {
  const { origin } = new URL(server.address);
  const headers = { origin, "content-type": "application/json" };
  const body = JSON.stringify({ sql: "SELECT 1", library: "stock" });
  const { status } = await ask(`${token}api/0/query`, { method: "POST", headers, body });
  assert.ok(![403, 415].includes(status), `status ${status}`);
});

test("questions that make no sense are refused in a sentence", async () => {
  for (const path of [
    "api/9/summary",
    "api/-1/summary",
    "api/0/page/0",
    "api/0/page/99999999",
    "api/0/page/x",
    "api/0/map?from=0",
    "api/0/map?count=99999999",
    "api/0/tree/999",
    "api/0/chain/0",
    "api/nothing",
  ]) {
    const { status, text } = await ask(token + path);
    assert.ok(status >= 400 && status < 500, `${path}: ${status}`);
    assert.ok(JSON.parse(text).error.length > 5, `${path}: ${text}`);
  }
});

test("it listens on the loopback only", async () => {
  const port = Number(new URL(server.address).port).toString(16).toUpperCase().padStart(4, "0");
  const listening = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter((f) => f[3] === "0A"),
  );
  const own = listening.map((f) => f[1]).filter((address) => address.endsWith(`:${port}`));
  assert.deepEqual(own, [`0100007F:${port}`]);
});

test("looking leaves nothing beside the file, and Ctrl-C ends it", async () => {
  const before = readdirSync(settings.work).sort();
  const other = await serve(await shop());
  const files = await (await fetch(`${other.address}api/files`)).json();
  assert.equal(files.length, 1);
  const status = await other.end();
  assert.ok([0, 130].includes(status), `it ended with ${status}`);
  assert.equal(other.errors, "");
  assert.deepEqual(readdirSync(settings.work).sort(), before);
});

test("what is no database is told in one line", async () => {
  const { status, err, out } = await viz(new URL(import.meta.url).pathname, "--no-browser");
  assert.equal(status, 2);
  assert.equal(out, "");
  assert.match(err, /^[^\n]+\n$/);
});
