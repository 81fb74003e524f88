/**
 * The modules before and after a pass, and how their lines are aligned.
 *
 * @import { Texts } from "../../compare/diff.js"
 * @import { PassRow } from "../../core/types.js"
 */
import { api } from "../../core/api.js";
import { StageContent } from "../../core/result.js";

/** The module after a pass. Its lines are fetched in pieces, like the lines of a stage. */
export class PassContent extends StageContent {
  /** @param {string} id @param {number} index @param {number} lines */
  constructor(id, index, lines) {
    super(id, {
      name: String(index),
      title: "",
      language: "mlir",
      lines,
      bytes: 0,
      milliseconds: 0,
      url: "",
    });
    this.index = index;
  }

  /** @param {number} from @param {number} to @override */
  fetchLines(from, to) {
    return api.passLines(this.id, this.index, from, to);
  }
}

/**
 * Fetch the change of a pass.
 * @param {string} id of the compilation
 * @param {number} index of the pass
 * @param {PassRow[]} passes of the compilation
 * @returns {Promise<Texts>} without a text before, if the module before the pass was not recorded
 */
export async function loadPassTexts(id, index, passes) {
  const diff = await api.passAlignment(id, index);
  const lines = (/** @type {"before_lines" | "after_lines"} */ side) =>
    diff.runs.reduce((sum, run) => sum + run[side], 0);
  const hasEarlier = passes.some((pass) => pass.index === index - 1);
  return {
    title: passes.find((pass) => pass.index === index)?.name ?? "",
    diff,
    before: hasEarlier ? new PassContent(id, index - 1, lines("before_lines")) : null,
    after: new PassContent(id, index, lines("after_lines")),
  };
}
