/**
 * The choice of a graph pane: a stage or the module after a pass, the whole or a part, with or without constants.
 *
 * @import { GraphDocument, PassRow } from "../../core/types.js"
 */
import { stageTitle } from "../../core/stages.js";
import { html } from "../../core/template.js";

const CONSTANTS = "constants";
const ADDRESSES = "addresses";

/**
 * @typedef {object} Choice
 * @property {string} stage
 * @property {number | null} pass after which pass; null: the stage itself
 * @property {string} part a function, loop or region; "": all
 * @property {boolean} constants whether operations that only make constants are drawn
 * @property {boolean} addresses whether each operation of address arithmetic is drawn; otherwise one node per access
 */

/**
 * @param {string} state "STAGE.PART.constants.addresses;pass=INDEX", of which all but the stage may be left out
 * @returns {Choice}
 */
export function parseChoice(state) {
  const [text = "", ...more] = state.split(";");
  const [stage = "", ...rest] = text.split(".");
  const pass = more.map((each) => /^pass=(\d+)$/.exec(each)?.[1]).find((index) => index !== undefined);
  return {
    stage,
    pass: pass === undefined ? null : Number(pass),
    part: rest.find((each) => each !== CONSTANTS && each !== ADDRESSES) ?? "",
    constants: rest.includes(CONSTANTS),
    addresses: rest.includes(ADDRESSES),
  };
}

/** @param {Choice} choice */
export function formatChoice({ stage, pass, part, constants, addresses }) {
  const parts = [stage, part, constants && CONSTANTS, addresses && ADDRESSES];
  return parts.filter(Boolean).join(".") + (pass === null ? "" : `;pass=${pass}`);
}

/**
 * Return the title of a text: of a stage, or of the pass before a module.
 * @param {string} stage
 * @param {number | null} pass
 * @param {PassRow[]} passes
 */
export function textTitle(stage, pass, passes) {
  const row = passes.find(({ index }) => index === pass);
  return pass === null
    ? stageTitle(stage)
    : row
      ? `${stageTitle(row.stage)} after ${row.name}`
      : `pass ${pass}`;
}

/**
 * The options of the text to draw: the stages, then the modules after each pass that changed something.
 * @param {string[]} drawable names of stages
 * @param {PassRow[]} passes
 * @param {Choice} choice
 */
export function textOptions(drawable, passes, choice) {
  const selected = formatChoice({ ...choice, part: "", constants: false, addresses: false });
  const option = (/** @type {string} */ value, /** @type {string} */ title) =>
    html`<option value=${value} .selected=${value === selected}>${title}</option>`;
  const listed = passes.filter(({ changed, index }) => changed || index === choice.pass);
  const stages = [...new Set(listed.map(({ stage }) => stage))];
  return html`${drawable.map((name) => option(name, stageTitle(name)))}${stages.map(
    (stage) =>
      html`<optgroup label="Lowering to ${stageTitle(stage)}">${listed
        .filter((row) => row.stage === stage)
        .map(({ index, name }) => option(`${stage};pass=${index}`, `after ${name}`))}</optgroup>`,
  )}`;
}

/**
 * The options of the part to draw, indented by depth.
 * @param {GraphDocument} document
 */
export function partOptions({ kind, parts, part }) {
  /** @type {Map<string, number>} */
  const depths = new Map();
  for (const { id, parent } of parts) depths.set(id, (depths.get(parent ?? "") ?? -1) + 1);
  const all = kind === "data flow" ? "Whole module" : "All functions";
  return [{ id: "", label: all }, ...parts].map(
    ({ id, label }) =>
      html`<option value=${id} .selected=${id === part}
        >${"\u2003".repeat(depths.get(id) ?? 0)}${label}</option>`,
  );
}
