// A page in chromium with a guard: whatever the page complains of, whatever it asks of anybody but its
// server, fails the test that looked at it. Each test leaves a picture of what it last saw.

import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { settings } from "./program.mjs";

const { chromium } = createRequire(join(settings.modules, "package.json"))("playwright-core");

/** Milliseconds that a test waits for something to show. */
export const PATIENCE = Number(process.env.VIZ_PATIENCE ?? 20_000);
export const WIDE = { width: 1280, height: 900 };
export const NARROW = { width: 400, height: 800 };

const COMPLAINED = "the page complained, or asked for what it must not";

/** What gets into a text where a program takes nothing for something. */
const NONSENSE = /\bundefined\b|\bNaN\b|\bInfinity\b|\[object |is not a function|of null/;

let browser;
before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    // Its sandbox does not work for root, and only there is it left out.
    chromiumSandbox: process.getuid() !== 0,
    // No name but the loopback's is looked up, whatever a page or the browser itself asks for.
    args: ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"],
    timeout: 60_000,
  });
});
after(() => browser?.close());

/** What a page said and asked for that it should not. */
class Guard {
  complaints = [];
  allowed = [];
  /** Requests that have not been answered yet. */
  open = new Set();

  constructor(page, origin) {
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.complain(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.complain(`error: ${error.stack ?? error}`));
    for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => this.open.delete(request));
    page.on("request", (request) => {
      this.open.add(request);
      const url = request.url();
      if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) this.complain(`asked for ${url}`);
    });
    page.on("response", (response) => {
      if (response.status() >= 400) this.complain(`${response.status()} for ${response.url()}`);
    });
    page.on("dialog", (dialog) => {
      this.complain(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
  }

  complain(text) {
    this.complaints.push(text);
  }

  /** Complaints that belong to what a test does on purpose. */
  allow(pattern) {
    this.allowed.push(pattern);
  }

  /** Complaints that no test allowed. */
  left() {
    return [...new Set(this.complaints)].filter((text) => !this.allowed.some((pattern) => pattern.test(text)));
  }

  check() {
    if (this.left().length > 0) assert.fail(`${COMPLAINED}:\n${this.left().join("\n")}`);
  }
}

const guards = new WeakMap();

/**
 * A test that looks at a page.
 * @param {string} name also of its picture
 * @param {() => string} address where the page is, known when the test runs
 * @param {(page, guard: Guard) => Promise<void>} body
 * @param {object} options `view`: part of the address after `#`; the rest are the browser context's:
 *   viewport, colorScheme, reducedMotion
 */
export function look(name, address, body, { view = "", ...options } = {}) {
  test(name, { timeout: 3 * PATIENCE }, async () => {
    const url = address();
    const context = await browser.newContext({ viewport: WIDE, acceptDownloads: true, ...options });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    const guard = new Guard(page, url);
    guards.set(page, guard);
    try {
      await page.goto(url + (view && `#${view}`), { timeout: PATIENCE });
      await body(page, guard);
      assert.doesNotMatch(
        await page.evaluate(() => document.body?.innerText ?? ""),
        NONSENSE,
        "the page shows what no person should read",
      );
      guard.check();
    } catch (error) {
      // What the page complained of before is often the cause.
      if (!error.message.includes(COMPLAINED) && guard.left().length > 0)
        error.message += `\n${guard.left().join("\n")}`;
      throw error;
    } finally {
      await picture(page, name).catch(() => {});
      await context.close();
    }
  });
}

/** Waits until `probe`, run again and again, gives what `good` accepts; returns it. */
export async function until(what, probe, good = Boolean, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    const found = await probe();
    if (good(found)) return found;
    assert.ok(Date.now() < end, `${what}: not in ${patience} ms; last: ${JSON.stringify(found)?.slice(0, 500)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until the files are read, nothing is being loaded, and all has been drawn. */
export async function settled(page) {
  const text = () => page.locator("body").innerText();
  await until("the files are read", text, (t) => /\d pages?\n/.test(t) && !/reading every page/i.test(t));
  await until("nothing is being loaded", async () => {
    const { open } = guards.get(page);
    if (open.size > 0) return false;
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    return open.size === 0;
  });
}

/** Keeps a picture of what a page shows. */
export async function picture(page, name) {
  // A picture without a page around it cannot be taken.
  if (!(await page.evaluate(() => document.body !== null && document.body !== undefined))) return;
  const file = `${name.replace(/[^A-Za-z0-9]+/g, "-").slice(0, 100)}.png`;
  await page.screenshot({ path: join(settings.pictures, file), fullPage: true, animations: "disabled" });
}
