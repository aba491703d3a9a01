// A page in chromium with a guard: whatever the page complains of, whatever it asks of anybody but its
// server, fails the test that looked at it. Each test leaves a picture of what it last saw.

import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { settings } from "./program.mjs";

const { chromium } = createRequire(join(settings.modules, "package.json"))("playwright-core");

/** Milliseconds that a test waits for something to show. */
export const PATIENCE = 20_000;
export const WIDE = { width: 1280, height: 900 };
export const NARROW = { width: 400, height: 800 };

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

  constructor(page, origin) {
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.complain(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.complain(`error: ${error.stack ?? error}`));
    page.on("request", (request) => {
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

  check() {
    const left = this.complaints.filter((text) => !this.allowed.some((pattern) => pattern.test(text)));
    assert.deepEqual(left, [], "the page complained, or asked for what it must not");
  }
}

/**
 * A test that looks at a page.
 * @param {string} name also of its picture
 * @param {() => string} address where the page is, known when the test runs
 * @param {(page, guard: Guard) => Promise<void>} body
 * @param {object} options `view`: part of the address after `#`; the rest are the browser context's:
 *   viewport, colorScheme, reducedMotion
 */
export function look(name, address, body, { view = "", ...options } = {}) {
  test(name, async () => {
    const url = address();
    const context = await browser.newContext({ viewport: WIDE, acceptDownloads: true, ...options });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    const guard = new Guard(page, url);
    try {
      await page.goto(url + (view && `#${view}`), { timeout: PATIENCE });
      await body(page, guard);
      guard.check();
    } finally {
      const file = name.replace(/[^A-Za-z0-9]+/g, "-").slice(0, 100);
      await page.screenshot({ path: join(settings.pictures, `${file}.png`), animations: "disabled" }).catch(() => {});
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
