/** What the drawing of a b-tree says in sentences. */
import { plural } from "viz/dom.js";

/** Sentences, by what they are about. */
export const WORDS = {
  drawing:
    "Drawing of the b-tree. Arrow keys move, plus and minus zoom, 0 shows all, Enter opens the page in the " +
    "middle.",
  unordered: (why) => `How its keys are ordered is not known, so no key can be looked for: ${why}.`,
  depth: (depth, leaves) =>
    `to find a row ${plural(depth, "page")} are read, from the root down to one of ` +
    `${plural(leaves, "leaf", "leaves")}. `,
  widths:
    "Below, each page is as wide as the leaves it leads to, in the order of keys. The strip under the leaves is " +
    "filled where ",
  jump:
    " to the next leaf: it does not follow in the file, nor with only interior and overflow pages of the same " +
    "b-tree between. The dots show where in the file each leaf is.",
  keys: "Click a page to open it. Drag to move; the wheel zooms once the drawing has been clicked, or with Ctrl.",
};
