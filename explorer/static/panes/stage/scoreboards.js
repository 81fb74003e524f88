/**
 * The scoreboards of SASS beside its lines: lines from the instruction that sets a scoreboard to the instructions that
 * wait for it, for the line under the mouse or the cursor.
 *
 * @import { Rail } from "./control_code.js"
 * @import { StagePane } from "../stage.js"
 */
import { makeSvg } from "../../charts/svg.js";
import { api } from "../../core/api.js";
import { Loaded } from "../../core/pane.js";
import { LINE_HEIGHT_PX } from "../../text/virtual_text.js";

/** As wide as the margin of the code in stage.css. */
const LANE_PX = 30;
const MOST_STEP_PX = 5;
const CORNER_PX = 3;
const ARROW_PX = 4;
/** The distance beyond the visible part to which lines are drawn. */
const BEYOND_PX = 400;

export class Scoreboards {
  svg = makeSvg("svg", { class: "scoreboard-lines", "aria-hidden": "true" });

  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
    pane.text.space.append(this.svg);
    this.loaded = new Loaded(
      pane,
      () => {
        const { content, text } = pane;
        const isLookedAt =
          content && pane.shows("scoreboards") && pane.isFinished && text.scroller.clientHeight > 0;
        return isLookedAt ? [content.id] : null;
      },
      async (id) => {
        const [{ Board }, { waits }] = await Promise.all([
          import("./control_code.js"),
          api.analysis(id, "scoreboards"),
        ]);
        return new Board(waits);
      },
    );
  }

  /** The waits of the text; null: they are not known, or not shown. */
  get board() {
    return this.loaded.answer;
  }

  /** Draw the scoreboards of the line under the mouse, or of the line of the cursor. */
  draw() {
    const { pointed, text } = this.pane;
    const rails = this.board?.rails(pointed || text.cursor) ?? [];
    const code = [...text.rows.values()][0]?.querySelector(".code");
    if (rails.length === 0 || !(code instanceof HTMLElement)) {
      this.svg.replaceChildren();
      return;
    }
    const top = Math.max(0, text.scrollTop - BEYOND_PX);
    const height = Math.min(
      text.map.count * LINE_HEIGHT_PX - top,
      text.scroller.clientHeight + 2 * BEYOND_PX,
    );
    this.svg.setAttribute("width", String(LANE_PX));
    this.svg.setAttribute("height", String(height));
    this.svg.style.top = `${top}px`;
    this.svg.style.left = `${code.offsetLeft - LANE_PX}px`;
    const y = (/** @type {number} */ line) => {
      const middle = (text.map.rowOf(line) - 0.5) * LINE_HEIGHT_PX - top;
      return Math.max(-BEYOND_PX, Math.min(height + BEYOND_PX, middle));
    };
    const step = Math.min(MOST_STEP_PX, (LANE_PX - 8) / rails.length);
    this.svg.replaceChildren(
      ...rails.flatMap((rail, index) => drawRail(rail, LANE_PX - 8 - index * step, y)),
    );
  }
}

/** @param {Rail} rail @param {number} x of its vertical part @param {(line: number) => number} y */
function drawRail({ scoreboard, ends, isWait }, x, y) {
  const kind = isWait ? "is-wait" : "is-set";
  return ends.flatMap(({ from, to, isNearest }) => {
    const [start, end] = [y(from), y(to)];
    const isBack = from >= to;
    const classes = ["scoreboard-line", kind, isNearest && "is-nearest", isBack && "is-back"];
    return [
      makeSvg("path", {
        class: classes.filter(Boolean).join(" "),
        "data-scoreboard": scoreboard,
        "data-from": String(from),
        "data-to": String(to),
        d: path(x, start, end),
      }),
      makeSvg("circle", { class: `scoreboard-dot ${kind}`, cx: LANE_PX - 3, cy: start, r: 2 }),
      makeSvg("path", {
        class: `scoreboard-dot ${kind}`,
        d: `M${LANE_PX} ${end}l${-ARROW_PX - 1} ${-ARROW_PX + 0.5}v${2 * ARROW_PX - 1}z`,
      }),
    ];
  });
}

/** From a line to the left, along the rail, and to another line. @param {number} x @param {number} start @param {number} end */
function path(x, start, end) {
  const right = LANE_PX - 3;
  const turn = Math.min(CORNER_PX, Math.abs(end - start) / 2) * Math.sign(end - start);
  const corner = Math.abs(turn);
  return `M${right} ${start}H${x + corner}Q${x} ${start} ${x} ${start + turn}V${end - turn}Q${x} ${end} ${x + corner} ${end}H${right}`;
}
