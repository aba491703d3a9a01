// What all views share: tabs and addresses, the search, light and dark, narrow windows, the keyboard.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { look, NARROW, picture, settled, until, WIDE } from "./lib/browser.mjs";
import { killedWriter, shop } from "./lib/databases.mjs";
import { serve } from "./lib/program.mjs";
import { paleTexts, tooWide } from "./lib/sight.mjs";

// Two files, one with a log: so every view has something to show.
let server;
before(async () => (server = await serve(await killedWriter(), await shop())));
after(() => server?.end());
const address = () => server.address;

const VIEWS = ["Overview", "Map", "Page", "Tree", "Numbers", "Compare", "Query", "WAL", "Problems"];
const tabs = (page) => page.getByRole("navigation", { name: "Views" });
const current = (page) => tabs(page).locator("[aria-current=page]");
const search = (page) => page.getByRole("combobox", { name: "Search" });
const found = (page) => page.getByRole("listbox", { name: "Found" }).getByRole("option");

look("every view has a tab, and the title says which is shown of which file", address, async (page) => {
  const names = () => tabs(page).getByRole("link").allTextContents();
  assert.deepEqual(await until("the tabs", names, (all) => all.length > 0), VIEWS);
  for (const name of VIEWS) {
    await tabs(page).getByRole("link", { name, exact: true }).click();
    await until(
      `the tab of ${name}`,
      () => current(page).textContent(),
      (text) => text === name,
    );
    assert.match(await page.title(), new RegExp(`^${name}: .*killed\\.db`));
    await until(
      `${name} shows something`,
      () => page.getByRole("main").innerText(),
      (text) => text.trim() !== "",
    );
  }
  await page.goBack();
  await until(
    "the view before",
    () => current(page).textContent(),
    (text) => text === VIEWS.at(-2),
  );
  await page.reload();
  await until(
    "the same view again",
    () => current(page).textContent(),
    (text) => text === VIEWS.at(-2),
  );
});

look("an error that no view expects is told", address, async (page, guard) => {
  await settled(page);
  guard.allow(/nobody awaits this|nobody shows this/);
  const told = (text) =>
    until(
      text,
      () => page.locator("#notice").innerText(),
      (now) => now.includes(text),
    );
  await page.evaluate(() => setTimeout(() => Promise.reject(new Error("nobody awaits this"))));
  await told("nobody awaits this");
  await page.evaluate(async () => {
    const { App } = await import("viz/app.js");
    const create = () => ({
      element: document.createElement("div"),
      show: async () => {
        throw new Error("nobody shows this");
      },
    });
    const app = new App(
      { files: async () => [{ title: "x", pages: 1, state: "ready" }], summary: async () => ({ problem_count: 0 }) },
      [{ id: "map", title: "x", create }],
    );
    await app.start();
  });
  await told("nobody shows this");
});

look("the other file is chosen in the title", address, async (page) => {
  await page.getByRole("combobox", { name: "File" }).selectOption({ index: 1 });
  await until(
    "its name",
    () => page.title(),
    (title) => title.includes("shop.db"),
  );
  await search(page).fill("customer");
  await until(
    "its tables",
    () => found(page).allTextContents(),
    (texts) => texts.some((t) => t.includes("sale_customer")),
  );
});

for (const [text, label] of [
  ["12", /12/],
  ["event", /event.*table/],
  ["event rowid 5", /row.*5/i],
  ["even", /event/],
]) {
  look(`the search finds ${text}`, address, async (page) => {
    await page.keyboard.press("/");
    await search(page).fill(text);
    await until(
      "what is found",
      () => found(page).allTextContents(),
      (texts) => texts.some((t) => label.test(t)),
    );
    await page.keyboard.press("Enter");
    await until(
      "the map",
      () => page.url(),
      (url) => url.includes("#map") && /[?&](page|tree)=\d/.test(url),
    );
  });
}

look("the search says what it did not find", address, async (page) => {
  await search(page).fill("nobody is called that <b>");
  await until(
    "a sentence",
    () => page.getByRole("listbox").innerText(),
    (text) => text.includes("nobody is called that <b>"),
  );
});

look("the button makes the page dark, and that is remembered", address, async (page) => {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.getByRole("button", { name: "Make the page dark" }).click();
  const dark = await paper();
  assert.notEqual(dark, light);
  await page.reload();
  await page.getByRole("button", { name: "Make the page light" }).waitFor();
  assert.equal(await paper(), dark);
  await page.getByRole("button", { name: "Make the page light" }).click();
  assert.equal(await paper(), light);
});

look("everything in the frame is reached by the keyboard, and shows that it has the focus", address, async (page) => {
  await settled(page);
  const wanted = [...VIEWS, "Search", "Make the page dark"];
  const reached = new Set();
  for (let i = 0; i < 60 && wanted.some((name) => !reached.has(name)); i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const element = document.activeElement;
      const style = getComputedStyle(element);
      const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
      return { name: (element.getAttribute("aria-label") || element.innerText || element.tagName).trim(), seen };
    });
    reached.add(at.name);
    assert.ok(at.seen || at.name === "BODY", `${at.name} shows that it has the focus`);
  }
  for (const name of wanted) assert.ok(reached.has(name), `${name} in ${[...reached]}`);
});

look("a view is opened by the keyboard alone", address, async (page) => {
  await tabs(page).getByRole("link", { name: "Numbers" }).focus();
  await page.keyboard.press("Enter");
  await until(
    "Numbers",
    () => current(page).textContent(),
    (text) => text === "Numbers",
  );
});

for (const view of VIEWS) {
  look(
    `${view} fits and can be read, wide and narrow, light and dark`,
    address,
    async (page) => {
      await settled(page);
      for (const [size, viewport] of [
        ["wide", WIDE],
        ["narrow", NARROW],
      ]) {
        await page.setViewportSize(viewport);
        for (const colorScheme of ["light", "dark"]) {
          await page.emulateMedia({ colorScheme });
          await settled(page);
          assert.deepEqual(await paleTexts(page), [], `text has the contrast that AA asks for, ${colorScheme}`);
          assert.equal(await tooWide(page), "", `the page needs no scroll bar to the side, ${size}`);
          await picture(page, `${view} ${size} ${colorScheme}`);
        }
      }
    },
    { view: view.toLowerCase() },
  );
  look(
    `${view}: nothing jumps while it comes`,
    address,
    async (page) => {
      await settled(page);
      const jumped = await page.evaluate(
        () =>
          new Promise((resolve) => {
            let sum = 0;
            const what = [];
            new PerformanceObserver((list) => {
              for (const { value, hadRecentInput, sources } of list.getEntries()) {
                if (hadRecentInput) continue;
                sum += value;
                for (const { node, previousRect, currentRect } of sources) {
                  what.push(
                    `${node?.nodeName}.${node?.className}#${node?.id} from ${previousRect.y} ` +
                      `to ${currentRect.y}, ${currentRect.height} high`,
                  );
                }
              }
            }).observe({ type: "layout-shift", buffered: true });
            requestAnimationFrame(() => requestAnimationFrame(() => resolve({ sum, what })));
          }),
      );
      assert.ok(
        jumped.sum < 0.1,
        `a layout shift of ${jumped.sum}; 0.1 is what people do not mind:\n${jumped.what.join("\n")}`,
      );
    },
    { view: view.toLowerCase() },
  );
}
