/** Tables that may be wider than the pane. */
import { make } from "../dom.js";

/** A table that scrolls by itself, by keyboard as well. @param {string} label @param {...HTMLElement} parts of the table */
export function scrolled(label, ...parts) {
  return make("div", { class: "run-scroll", tabindex: "0", role: "group", "aria-label": label }, make("table", { "aria-label": label }, ...parts));
}
