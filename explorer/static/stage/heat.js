/**
 * Samples beside the lines of a stage: the share of each as a bar in the gutter, the reasons on its card.
 *
 * @import { StagePane } from "../panes/stage.js"
 * @import { LineHeat } from "../roofline/documents.js"
 */
import { LEAST_SHARE, heatLabel, heatWords } from "../roofline/stall_words.js";
import { store } from "../store.js";

/** Lines with less are not worth a mark beside the scroll bar. */
const LEAST_MARKED = 0.01;

export class Heat {
  /** @type {Map<number, LineHeat & {sharing?: number}>} by line */
  lines = new Map();
  /** the largest share, which fills the gutter */
  most = 1;
  /** what the lines are from @type {unknown} */
  source = null;

  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
  }

  /** Take the samples of the stage that is shown, if there are some. */
  choose() {
    const { heat } = store.state;
    const { content } = this.pane;
    const name = content?.row.name ?? "";
    const source = name === "sass" ? heat?.instructions : heat?.stages.find(({ stage }) => stage === name)?.lines;
    if (this.source === (source ?? null)) return;
    this.source = source ?? null;
    this.lines = new Map((source ?? []).filter(({ samples }) => samples > 0).map((each) => [each.line, each]));
    this.most = Math.max(0, ...[...this.lines.values()].map(({ share }) => share));
    this.pane.classList.toggle("has-heat", this.lines.size > 0);
    this.pane.text.redraw();
    this.pane.links.drawMarks();
  }

  /** @param {HTMLElement} number the number of the line, which has the bar in front of it @param {number} line */
  draw(number, line) {
    const heat = this.lines.get(line);
    if (heat && heat.share >= LEAST_SHARE) {
      number.dataset.heat = heatLabel(heat.share);
      number.style.setProperty("--heat-share", `${Math.round((100 * heat.share) / this.most)}%`);
    } else if (number.dataset.heat !== undefined) {
      delete number.dataset.heat;
      number.style.removeProperty("--heat-share");
    }
  }

  /** @param {number} line @returns {string} "": nothing was sampled there */
  words(line) {
    const heat = this.lines.get(line);
    return heat ? heatWords(heat) : "";
  }

  /** The lines to mark beside the scroll bar, in their order. */
  marked() {
    return [...this.lines.values()].filter(({ share }) => share >= LEAST_MARKED).map(({ line }) => line).sort((one, other) => one - other);
  }
}
