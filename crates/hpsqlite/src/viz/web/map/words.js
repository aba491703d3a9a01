/** What the map says in sentences. */
import { count } from "viz/dom.js";

/** What colours can tell, by the name of the painter's `by`. */
export const COLOURINGS = {
  owner: ["Whose a page is", "Each table and index has a colour of its own; the fuller a page, the stronger it is."],
  fill: ["How full it is", "The darker (in the dark: the brighter) a page, the fuller it is."],
  kind: ["What kind it is", "Leaves, interior pages, overflow, free: one colour for each kind."],
  order: [
    "Place in the order of keys",
    "A smooth run of colours is a table or index in order; noise is one that is scattered over the file.",
  ],
};

/** How the map is read and moved. */
export const EXPLANATION = [
  "Each cell is one page of the database file, a few kilobytes, in the order of the file: from left to right, " +
    "then from the top to the bottom.",
  "Its colour is that of the table or index that owns it; pale ones are nearly empty. One table in one block " +
    "is quick to read; many colours mixed mean that tables grew at the same time, and a scan of one jumps all " +
    "over the file.",
  "Turn the wheel or pinch to zoom, drag to move. A page that is large enough shows its kind, then its number, " +
    "then the rows inside. Double click opens it byte by byte.",
];

export const KEYS =
  "Keys: arrows go from page to page, with Shift they move the map; + and − zoom, 0 shows all, Home and End go " +
  "to the first and last page, n and p to the next and previous page of the same table or index, Enter opens " +
  "the page, / searches.";

/** Sentences, by what they are about. */
export const WORDS = {
  largest: (some, all) =>
    ` Only the ${count(some)} largest of ${count(all)} tables and indexes are coloured, the others are grey.`,
};
