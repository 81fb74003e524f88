/**
 * Samples beside the lines of a stage: the share of each as a bar in the gutter, the reasons on its card.
 *
 * @import { HeatDocument, LineHeat } from "../../core/types.js"
 */
import { store } from "../../core/store.js";
import { heatLabel, LEAST_SHARE } from "../../runs/samples.js";

/** Lines with a smaller share have no mark beside the scroll bar. */
const LEAST_MARKED = 0.01;

/** @typedef {LineHeat & {sharing?: number}} Sampled a line with its samples */

/**
 * The samples of a stage; null: there are none.
 * @param {HeatDocument | null} heat
 * @param {string} stage
 * @returns {Sampled[] | null}
 */
export function samplesOf(heat, stage) {
  const lines = heat?.stages.find((each) => each.stage === stage)?.lines;
  return (stage === "sass" ? heat?.instructions : lines) ?? null;
}

export class Heat {
  /** @param {Sampled[]} samples */
  constructor(samples) {
    /** @type {Map<number, Sampled>} by line */
    this.lines = new Map(samples.filter((each) => each.samples > 0).map((each) => [each.line, each]));
    /** The largest share, which fills the gutter. */
    this.most = Math.max(0, ...[...this.lines.values()].map(({ share }) => share));
  }

  /**
   * @param {HTMLElement} number the number of the line, which has the bar in front of it
   * @param {number} line
   */
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

  /** @param {number} line @returns {string} "": the line has no samples */
  words(line) {
    const heat = this.lines.get(line);
    return heat ? store.state.heatWords(heat) : "";
  }

  /** The lines to mark beside the scroll bar, in their order. */
  marked() {
    return [...this.lines.values()]
      .filter(({ share }) => share >= LEAST_MARKED)
      .map(({ line }) => line)
      .sort((one, other) => one - other);
  }
}
