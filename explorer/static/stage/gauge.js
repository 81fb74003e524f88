/**
 * A bar beside each line of machine code: how many registers are alive there.
 *
 * The compiler's tools are asked when a stage that has bars is looked at, and only then.
 *
 * @import { RegistersDocument } from "../registers/documents.js"
 * @import { StagePane } from "../panes/stage.js"
 */
import { ApiError, api } from "../api.js";
import { plural } from "../format.js";
import { store } from "../store.js";
import { FILTERS, isOn } from "./filters.js";

/** @typedef {{share: number, isMost: boolean, words: string}} Reading of one line; the share is of the most */

const FILTER = /** @type {import("./filters.js").Filter} */ (FILTERS.find(({ name }) => name === "registers"));

export class Gauge {
  /** @type {Map<number, Reading>} by line */
  readings = new Map();
  /** the compilation that was asked about */
  asked = "";

  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
  }

  /** Have the bars of what is looked at; called often. */
  choose() {
    const { content, view, text } = this.pane;
    const isWanted = content && FILTER.families?.some((family) => family === content.row.language) && isOn(FILTER, view);
    if (!isWanted) return this.show("", new Map());
    if (this.asked !== content.id) this.show("", new Map());
    const isLookedAt = store.state.result?.finished && text.scroller.clientHeight > 0;
    if (isLookedAt && this.asked !== content.id) void this.load(content.id);
  }

  /** @param {string} id */
  async load(id) {
    this.asked = id;
    try {
      const document = /** @type {RegistersDocument} */ (await api.analysis(id, "registers"));
      if (this.asked === id) this.show(id, readingsOf(document));
    } catch (error) {
      // Without bars it is the text that it was; the pane of the registers says why there are none.
      if (!(error instanceof ApiError)) throw error;
    }
  }

  /** @param {string} id @param {Map<number, Reading>} readings */
  show(id, readings) {
    this.asked = id;
    if (this.readings.size === 0 && readings.size === 0) return;
    this.readings = readings;
    this.pane.classList.toggle("has-gauge", readings.size > 0);
    this.pane.text.redraw();
  }

  /** @param {HTMLElement} element @param {number} line */
  draw(element, line) {
    const reading = this.readings.get(line);
    element.title = reading?.words ?? "";
    element.classList.toggle("is-most", reading?.isMost ?? false);
    element.style.setProperty("--share", `${Math.round((reading?.share ?? 0) * 100)}%`);
  }

  /** What the bar of a line says. @param {number} line */
  words(line) {
    return this.readings.get(line)?.words ?? "";
  }
}

/** @param {RegistersDocument} document @returns {Map<number, Reading>} */
function readingsOf({ instructions, most_general: most }) {
  return new Map(most ? instructions.map(({ line, general, spill }) => [line, {
    share: general / most,
    isMost: general === most,
    words: `${plural(general, "live register")}${general === most ? ", the most" : ""}${spill ? `, spill ${spill}` : ""}`,
  }]) : []);
}
