/**
 * Which source lines are lit.
 *
 * A pane asks here and is told through the store, as every other pane is; none knows of another.
 */
import { store } from "./store.js";

/** The origin of a selection that moved with its lines: nothing is to be scrolled to it. */
export const IN_PLACE = "in place";
/** The origin of what a step of a tour selects. */
export const TOUR = "tour";

/**
 * Light source lines while the mouse or the cursor is on something that comes from them.
 * @param {number[]} lines
 * @param {string} origin the pane that asks
 */
export function hover(lines, origin) {
  if (same(lines, store.state.hovered)) return;
  store.update({ hovered: lines, origin });
}

/**
 * Keep source lines lit and show what comes from them everywhere else; the same lines again: let them go.
 * @param {number[]} lines
 * @param {string} origin
 * @param {boolean} [add] to those that are lit already
 */
export function pin(lines, origin, add = false) {
  const { pinned } = store.state;
  if (lines.length === 0) return;
  const wanted = add ? [...new Set([...pinned, ...lines])].sort((one, other) => one - other) : lines;
  store.update({ pinned: same(wanted, pinned) ? [] : wanted, origin });
}

/**
 * Pin source lines and have every pane scroll to what comes from them, in sight or not.
 * @param {number[]} lines
 * @param {string} origin
 */
export function show(lines, origin) {
  const [line] = lines;
  if (line !== undefined) store.update({ pinned: lines, shown: { line }, origin });
}

/**
 * Say which line of a stage the cursor is on, for the address and for other panes with the same stage.
 * @param {string} stage
 * @param {number} line
 * @param {string} origin
 * @param {{stage: string, line: number} | null} [secondCursor] a line of another stage
 */
export function putCursor(stage, line, origin, secondCursor = null) {
  const { cursor, secondCursor: before } = store.state;
  if (cursor?.stage !== stage || cursor.line !== line || secondCursor !== before)
    store.update({ cursor: { stage, line }, secondCursor, origin });
}

/** Let all pinned lines go. */
export function unpin() {
  if (store.state.pinned.length) store.update({ pinned: [], origin: null });
}

/** @param {number[]} one @param {number[]} other */
function same(one, other) {
  return one.length === other.length && one.every((line, index) => line === other[index]);
}
