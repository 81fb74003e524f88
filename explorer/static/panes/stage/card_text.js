/**
 * The text of the card of a line: the explanation of its operation, and its source lines.
 *
 * @import { FrameRow, Locations } from "../../core/types.js"
 * @import { Board } from "./control_code.js"
 */
import { plural, stripeOfLine } from "../../core/format.js";
import { languageFacts } from "../../core/languages.js";
import { sourceFiles } from "../../core/source_files.js";
import { store } from "../../core/store.js";
import { html, nothing, prose, styles } from "../../core/template.js";
import { controlFields } from "./control_code.js";
import { explain } from "./explanation.js";
import { laneOperands } from "./lane_operands.js";
import { distinctChains } from "./places.js";

const MOST_LOCATIONS = 8;

/**
 * Explain the operation of a line, and below it the modifiers and the operands for lanes.
 * @param {string} line
 * @param {string} language
 * @param {Map<string, string>} words the vocabulary of the language
 */
export function explanation(line, language, words) {
  const { word } = languageFacts(language);
  const opcode = word && new RegExp(word).exec(line)?.[1];
  const known = opcode ? explain(opcode, words) : [];
  if (known.length === 0) return nothing;
  const found = [...known, ...laneOperands(line, language)];
  return html`<dl class="explanation">${found.map(
    ({ word: term, text }) => html`<dt>${term}</dt><dd>${prose(text)}</dd>`,
  )}</dl>`;
}

/**
 * The fields of the control code of a line of SASS.
 * @param {string[]} lines the whole text
 * @param {number} line
 * @param {string} language
 * @param {Board | null} board null: the waits are not known
 */
export function controlCode(lines, line, language, board) {
  const fields = language === "sass" ? controlFields(lines, line, board) : [];
  if (fields.length === 0) return nothing;
  return html`<dl class="control-code">${fields.map(
    ({ name, text }) => html`<dt>${name}</dt><dd>${text}</dd>`,
  )}</dl>`;
}

/**
 * The source lines, with the calls that were inlined.
 * @param {Locations} locations
 * @param {number} line
 */
export function places(locations, line) {
  const chains = distinctChains(locations, line);
  if (chains.length === 0) return nothing;
  const more = chains.length - MOST_LOCATIONS;
  return html`${
    chains.length > 1 ? html`<p class="hint">This line comes from ${chains.length} places</p>` : nothing
  }${chains
    .slice(0, MOST_LOCATIONS)
    .map(
      (frames) => html`<ol>${frames.map((frame, depth) => callFrame(frame, depth, locations.files))}</ol>`,
    )}${more > 0 ? html`<p class="hint">and ${plural(more, "other place")}</p>` : nothing}`;
}

/** @param {FrameRow} frame @param {number} depth @param {string[]} files */
function callFrame([file, line, , name], depth, files) {
  const path = files[file] ?? "";
  const own = ownFile(path);
  const place = path ? `${own ? path : path.split("/").at(-1)}:${line}` : `line ${line}`;
  return html`<li><span class="where"
      >${depth ? "called from " : ""}${place}${name ? ` in ${name}` : ""}</span
    >${
      own
        ? html`<span class="stripe" ${styles({ "--stripe": stripeOfLine(own.first + line - 1) })}></span
            ><code>${(own.texts[line - 1] ?? "").trim()}</code>`
        : nothing
    }</li>`;
}

/** The script or the file beside it with this path; undefined: another file. @param {string} path */
function ownFile(path) {
  const request = store.state.result?.document.request;
  return request && sourceFiles(request).find((file) => file.path === path.replace(/^\.\//, ""));
}
