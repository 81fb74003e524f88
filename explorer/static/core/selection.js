/**
 * The highlighted source lines.
 *
 * A pane changes the selection here, and all panes receive the change through the store.
 */
import { store } from "./store.js";

/** The origin of a selection that moved with its lines: no pane scrolls to it. */
export const IN_PLACE = "in place";
/** The origin of a selection by a step of a tour. */
export const TOUR = "tour";

/**
 * Highlight source lines while the mouse or the cursor is on a line or an item that comes from them.
 * @param {number[]} lines
 * @param {string} origin the pane that calls
 */
export function hover(lines, origin) {
  if (same(lines, store.state.hovered)) return;
  store.update({ hovered: lines, origin });
}

/**
 * Pin source lines. If the same lines are already pinned, unpin them.
 * @param {number[]} lines
 * @param {string} origin
 * @param {boolean} [add] to the lines that are already pinned
 */
export function pin(lines, origin, add = false) {
  const { pinned } = store.state;
  if (lines.length === 0) return;
  const wanted = add ? [...new Set([...pinned, ...lines])].sort((one, other) => one - other) : lines;
  store.update({ pinned: same(wanted, pinned) ? [] : wanted, origin });
}

/**
 * Pin source lines, and scroll every pane to the lines that come from them, even if such lines are already visible.
 * @param {number[]} lines
 * @param {string} origin
 */
export function show(lines, origin) {
  const [line] = lines;
  if (line !== undefined) store.update({ pinned: lines, shown: { line }, origin });
}

/**
 * Set the stage line of the cursor, for the address and for other panes with the same stage.
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

/** Unpin all lines. */
export function unpin() {
  if (store.state.pinned.length) store.update({ pinned: [], origin: null });
}

/** @param {number[]} one @param {number[]} other */
function same(one, other) {
  return one.length === other.length && one.every((line, index) => line === other[index]);
}
