// What a person sees: colours of a canvas, contrast of text, what does not fit into the window.

/** The colours of a canvas as "#rrggbb", with how many pixels have each. */
export const coloursOf = (canvas) =>
  canvas.evaluate((element) => {
    const copy = document.createElement("canvas");
    copy.width = element.width;
    copy.height = element.height;
    const context = copy.getContext("2d");
    context.drawImage(element, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    const count = new Map();
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] < 255) continue;
      const colour = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
      count.set(colour, (count.get(colour) ?? 0) + 1);
    }
    return Object.fromEntries([...count].map(([n, times]) => [`#${n.toString(16).padStart(6, "0")}`, times]));
  });

/** A short text that is another one where a canvas shows anything else. */
export const imprintOf = (canvas) =>
  canvas.evaluate(async (element) => {
    const blob = await new Promise((resolve) => element.toBlob(resolve));
    const hash = await crypto.subtle.digest("SHA-256", await blob.arrayBuffer());
    return Array.from(new Uint8Array(hash, 0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
  });

/** Visible text with less contrast than WCAG's AA asks for: 4.5, or 3 where it is large. */
export const paleTexts = (page) =>
  page.evaluate(() => {
    const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    // Any CSS colour as [red, green, blue, alpha].
    const parse = (text) => {
      probe.clearRect(0, 0, 1, 1);
      probe.fillStyle = text;
      probe.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = probe.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    };
    const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
    const light = (colour) => {
      const [r, g, b] = colour.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
      const layers = [];
      for (let at = element; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
      const base = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
      return layers.reverse().reduce((below, layer) => over(layer, below), base);
    };
    const pale = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode.data.trim();
      const element = texts.currentNode.parentElement;
      if (!text || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      if (element.closest("script, style, noscript, [aria-hidden=true], :disabled, option")) continue;
      const style = getComputedStyle(element);
      const ground = behind(element);
      const ink = over(parse(style.color), ground);
      const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      const size = parseFloat(style.fontSize);
      const enough = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
      if (ratio < enough)
        pale.push(`${text.slice(0, 40)} (${element.tagName}.${element.className}): ${ratio.toFixed(2)}`);
    }
    return [...new Set(pale)];
  });

/** How many pixels the page is wider than its window, and what sticks out. */
export const tooWide = (page) =>
  page.evaluate(() => {
    const room = document.documentElement.clientWidth;
    const over = document.documentElement.scrollWidth - room;
    if (over <= 0) return "";
    const out = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > room + 1);
    return `${over} pixels too wide: ${out
      .slice(0, 6)
      .map((e) => `${e.tagName}.${e.className}#${e.id}`)
      .join(" ")}`;
  });
