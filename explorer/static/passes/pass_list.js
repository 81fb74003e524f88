/**
 * The list of passes: grouped by the stage that they lead to, each with its time and its changed lines.
 *
 * @import { PassRow } from "../types.js"
 */
import { make } from "../dom.js";
import { duration } from "../format.js";
import { hueClass, stageTitle } from "../stages.js";

/**
 * @param {string} id of the list
 * @param {PassRow[]} passes
 * @param {PassRow | null} chosen
 * @param {(pass: PassRow) => void} choose
 * @returns {HTMLElement[]} a group for each stage
 */
export function passGroups(id, passes, chosen, choose) {
  const slowest = Math.max(...passes.map(({ milliseconds }) => milliseconds), 0.001);
  const stages = [...new Set(passes.map(({ stage }) => stage))];
  return stages.map((stage) => {
    const members = passes.filter((pass) => pass.stage === stage);
    return make(
      "div",
      { class: `pass-group ${hueClass(stage)}`, role: "group", "aria-label": `to ${stageTitle(stage)}` },
      make("h4", { class: "pass-stage", "aria-hidden": "true" }, `to ${stageTitle(stage)}`),
      ...members.map((pass) => passRow(id, pass, slowest, pass === chosen, () => choose(pass))),
    );
  });
}

/** @param {string} id @param {PassRow} pass @param {number} slowest ms @param {boolean} isChosen @param {() => void} choose */
function passRow(id, pass, slowest, isChosen, choose) {
  const bar = make("span", { class: "bar" });
  bar.style.setProperty("--share", `${Math.max(2, (100 * pass.milliseconds) / slowest)}%`);
  const hasCounts = pass.changed && pass.lines_added !== null;
  return make(
    "div",
    { class: `pass${pass.changed ? "" : " is-idle"}`, role: "option", id: `${id}-${pass.index}`, "aria-selected": String(isChosen), title: pass.title, onclick: choose },
    make("span", { class: "pass-name" }, pass.name),
    make(
      "span",
      { class: "pass-facts" },
      pass.milliseconds > 0 && make("span", { class: "track" }, bar),
      pass.milliseconds > 0 && make("span", { class: "time" }, duration(pass.milliseconds)),
      pass.failed ? make("span", { class: "failed" }, "failed here") : !pass.changed && make("span", { class: "idle" }, "no change"),
      hasCounts && make("span", { class: "added" }, `+${pass.lines_added}`),
      hasCounts && make("span", { class: "removed" }, `−${pass.lines_removed}`),
    ),
  );
}
