/**
 * What a graph pane draws: a stage, or the module after a pass of it, whole or a part, with or without constants.
 *
 * @import { PassRow } from "../types.js"
 */
import { make } from "../dom.js";
import { stageTitle } from "../stages.js";

const CONSTANTS = "constants";

/**
 * @typedef {object} Choice
 * @property {string} stage
 * @property {number | null} pass after which pass; null: the stage itself
 * @property {string} part a function, loop or region; "": all
 * @property {boolean} constants whether operations that only make constants are drawn
 */

/** @param {string} state "STAGE.PART.constants;pass=INDEX", of which all but the stage may be left out @returns {Choice} */
export function parseChoice(state) {
  const [text = "", ...more] = state.split(";");
  const [stage = "", ...rest] = text.split(".");
  const pass = more.map((each) => /^pass=(\d+)$/.exec(each)?.[1]).find((index) => index !== undefined);
  return { stage, pass: pass === undefined ? null : Number(pass), part: rest.find((each) => each !== CONSTANTS) ?? "", constants: rest.includes(CONSTANTS) };
}

/** @param {Choice} choice */
export function formatChoice({ stage, pass, part, constants }) {
  return [stage, part, constants && CONSTANTS].filter(Boolean).join(".") + (pass === null ? "" : `;pass=${pass}`);
}

/** What a text is called: a stage by its title, a module by the pass that it comes after. @param {string} stage @param {number | null} pass @param {PassRow[]} passes */
export function textTitle(stage, pass, passes) {
  const row = passes.find(({ index }) => index === pass);
  return pass === null ? stageTitle(stage) : row ? `${stageTitle(row.stage)} after ${row.name}` : `pass ${pass}`;
}

/** The choice of a text: the stages that can be drawn, then the modules after each pass that changed something. @param {string[]} drawable @param {PassRow[]} passes @param {number | null} chosen the pass that is drawn */
export function textOptions(drawable, passes, chosen) {
  const shown = passes.filter(({ changed, index }) => changed || index === chosen);
  const stages = [...new Set(shown.map(({ stage }) => stage))];
  return [
    ...drawable.map((name) => make("option", { value: name }, stageTitle(name))),
    ...stages.map((stage) => make("optgroup", { label: `On the way to ${stageTitle(stage)}` },
      ...shown.filter((row) => row.stage === stage).map(({ index, name }) => make("option", { value: `${stage};pass=${index}` }, `after ${name}`)))),
  ];
}
