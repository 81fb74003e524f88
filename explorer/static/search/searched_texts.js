/**
 * The texts of a result that a search goes through: the source, the stages, and the modules after passes.
 *
 * @import { Result } from "../core/result.js"
 */
import { api } from "../core/api.js";
import { putCursor, show } from "../core/selection.js";
import { sourceFiles } from "../core/source_files.js";
import { hueClass, stageTitle } from "../core/stages.js";

const ORIGIN = "search";

/**
 * @typedef {object} SearchedText
 * @property {string} key unique on this page
 * @property {string} title
 * @property {string} hue the class of its color
 * @property {boolean} isPass
 * @property {() => Promise<string[] | null>} read returns the lines; null: they cannot be fetched
 * @property {(line: number) => string} paneOf returns the address of the pane with a line; "": the editor shows it
 * @property {(line: number) => void} go selects a line, after the pane is open
 */

/** @param {Result} result @param {boolean} withPasses @returns {SearchedText[]} */
export function searchedTexts(result, withPasses) {
  const { id, document } = result;
  /** @type {SearchedText[]} */
  const sources = sourceFiles(document.request).map(({ path, first, texts }) => ({
    key: `${id} source ${path}`,
    title: path || "Python source",
    hue: "hue-none",
    isPass: false,
    read: async () => texts,
    paneOf: () => "",
    go: (line) => show([first + line - 1], ORIGIN),
  }));
  /** @type {SearchedText[]} */
  const stages = document.stages.map(({ name }) => ({
    key: `${id} stage ${name}`,
    title: stageTitle(name),
    hue: hueClass(name),
    isPass: false,
    read: async () => (await result.content(name)?.text()) ?? null,
    paneOf: () => `stage:${name}`,
    go: (line) => putCursor(name, line, ORIGIN),
  }));
  const changed = withPasses ? document.passes.filter(({ changed: isChanged }) => isChanged) : [];
  /** @type {SearchedText[]} */
  const passes = changed.map(({ index, name, stage }) => ({
    key: `${id} pass ${index}`,
    title: `after ${name}`,
    hue: hueClass(stage),
    isPass: true,
    read: () =>
      api.passText(id, index).then(
        (text) => text.split("\n"),
        () => null,
      ),
    paneOf: (line) => `passes:${stage}.${index}.t.l${line}`,
    go: () => {},
  }));
  return [...sources, ...stages, ...passes];
}
