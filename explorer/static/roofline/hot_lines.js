/**
 * The source lines at which warps were found most often, and what they waited for there.
 *
 * @import { HeatDocument, LineHeat } from "./documents.js"
 */
import { make, prose } from "../dom.js";
import { plural } from "../format.js";
import { scrolled } from "../run/scroller.js";
import { stallBars } from "./measured.js";
import { sampleShare, stallWords } from "./stall_words.js";

/**
 * @param {HeatDocument} heat @param {string[]} source its lines
 * @param {(line: number) => void} show goes to a source line, and to its hottest instruction @param {() => void} toggle draws it in the gutters, or not
 * @param {boolean} isShown in the gutters
 */
export function hotLines(heat, source, show, toggle, isShown) {
  if (heat.reason) return [make("p", {}, ...prose(heat.reason))];
  const most = heat.top[0]?.share ?? 1;
  const row = (/** @type {LineHeat} */ each) => {
    const inside = make("span", { class: "bar" });
    inside.style.setProperty("--share", `${(100 * each.share) / most}%`);
    return make("tr", {},
      make("th", { scope: "row" }, make("button", { type: "button", class: "link", onclick: () => show(each.line) }, `line ${each.line}`)),
      make("td", {}, make("span", { class: "roofline-share" }, make("span", { class: "track", "aria-hidden": "true" }, inside), sampleShare(each.share))),
      make("td", {}, make("code", {}, (source[each.line - 1] ?? "").trim()), make("span", { class: "hint" }, stallWords(each))));
  };
  const unplaced = heat.unplaced ? ` ${plural(heat.unplaced, "sample")} at no instruction of it.` : "";
  const box = make("input", { type: "checkbox", onchange: toggle });
  box.checked = isShown;
  return [
    make("label", { class: "check" }, box, "Show the samples beside the source and in the stages"),
    make("div", { class: "roofline-hot-lines" }, scrolled("Hottest source lines",
      make("thead", {}, make("tr", {}, ...["source", "samples", "waiting for"].map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, ...heat.top.map(row)))),
    make("h3", {}, "Waiting for, in all"),
    stallBars(heat.stalls),
    make("p", { class: "source" }, `${plural(heat.samples, "sample")} of the program counter by ${heat.tool}.${unplaced}`),
  ].filter((each) => each !== null);
}
