/** The Map view: every page of the file in its place. */
import { h } from "viz/dom.js";

export const view = {
  id: "map",
  title: "Map",
  create(app) {
    const element = h("div", { class: "view" }, "Map");
    return { element, show() {} };
  },
};
