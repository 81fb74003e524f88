/**
 * The cells of a matrix: their values, how these are written, and which are the best and the worst.
 *
 * @import { MatrixCell, MatrixColumn, MatrixDocument } from "../core/types.js"
 *
 * `share` is the position of a value between the best (0) and the worst (1) of the compared values.
 * @typedef {{share: number, isBest: boolean, isWorst: boolean}} Standing
 */
import { duration, size } from "../core/format.js";
import { time as timeText } from "../core/numbers.js";

/** The column of the measured time, which has its own document. @type {MatrixColumn} */
export const TIME = {
  name: "time",
  title: "Measured time",
  unit: "ns",
  better: "lower",
  is_goal: true,
};

/** The column that says where and at which sizes the times were measured. It has no numbers. */
export const PLACE = { name: "place", title: "Measured at" };

/** The columns of a matrix: its metrics, and the time if one was measured. @param {MatrixDocument} matrix */
export function columnsOf({ columns, cells }) {
  return cells.some(({ time }) => time) ? [...columns, TIME] : columns;
}

/** @param {MatrixCell} cell @param {MatrixColumn} column @returns {number | null} */
export function numberOf(cell, { name }) {
  if (name === TIME.name) return cell.time?.nanoseconds ?? null;
  const value = /** @type {Record<string, number | null> | null} */ (cell.metrics)?.[name];
  return value ?? null;
}

/** The sizes and the GPU of a measured time; null: there is none. @param {MatrixCell} cell */
export function placeOf({ time }) {
  return time && [time.sizes, time.gpu && `on ${time.gpu}`].filter(Boolean).join(" ");
}

/** The places of all measured times, each once. @param {MatrixCell[]} cells */
export function placesOf(cells) {
  return [...new Set(cells.map(placeOf))].filter((place) => place !== null);
}

/** @param {number} value @param {MatrixColumn} column */
export function show(value, { name, unit }) {
  if (name === "occupancy") return `${Math.round(value * 100)} %`;
  if (unit === "bytes") return value ? size(value) : "0";
  if (unit === "ms") return duration(value);
  if (unit === "ns") return timeText(value);
  return value.toLocaleString("en");
}

/**
 * Rank the values of a column among the values of the same target, or among all values if no target has two cells.
 * Times are ranked among the times of the same launch on the same GPU. Equal values have no rank. In a column that is no
 * goal, no value is the best; the share goes from the least to the most.
 * @param {MatrixCell[]} cells @param {MatrixColumn} column @returns {Map<MatrixCell, Standing>}
 */
export function standings(cells, column) {
  const targets = new Set(cells.map(({ target }) => target));
  const isOfOneTarget = targets.size < cells.length;
  /** @type {Map<string, [MatrixCell, number][]>} */
  const groups = new Map();
  for (const cell of cells) {
    const value = numberOf(cell, column);
    const group = JSON.stringify([isOfOneTarget && cell.target, column.name === TIME.name && placeOf(cell)]);
    if (value !== null) groups.set(group, [...(groups.get(group) ?? []), [cell, value]]);
  }
  /** @type {Map<MatrixCell, Standing>} */
  const found = new Map();
  for (const group of groups.values()) {
    const values = group.map(([, value]) => value);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    if (least === most) continue;
    const [best, worst] = column.is_goal && column.better === "higher" ? [most, least] : [least, most];
    for (const [cell, value] of group)
      found.set(cell, {
        share: (value - best) / (worst - best),
        isBest: column.is_goal && value === best,
        isWorst: column.is_goal && value === worst,
      });
  }
  return found;
}

/**
 * Return the text of a cell without metrics, and the reason.
 * @param {MatrixCell} cell
 * @returns {{text: string, reason: string}}
 */
export function stateOf({ state, stage, message, metrics }) {
  switch (state) {
    case "complete":
      return metrics
        ? { text: "–", reason: "not reported" }
        : { text: "…", reason: "its metrics are being counted" };
    case "waiting":
      return { text: "·", reason: "waits for its turn" };
    case "compiling":
      return { text: "…", reason: stage ? `compiling, reached ${stage}` : "compiling" };
    case "failed":
      return { text: "failed", reason: message };
    case "kernels_found":
      return { text: "kernels found", reason: message };
    case "refused":
      return { text: "not taken", reason: message };
    default:
      return { text: "–", reason: "not compiled: canceled, or removed from the server" };
  }
}

/** What there is of a matrix, in a line. @param {MatrixDocument} matrix */
export function progressWords({ cells, is_at_work: isAtWork }) {
  const count = (/** @type {string[]} */ ...states) =>
    cells.filter(({ state }) => states.includes(state)).length;
  const [failed, missing] = [count("failed", "refused"), count("missing")];
  const [complete, programs] = [count("complete"), count("kernels_found")];
  return [
    complete === cells.length
      ? `${cells.length} compiled`
      : `${complete + failed} of ${cells.length} compiled`,
    ...(programs ? [`${programs} with kernels of torch.compile`] : []),
    ...(failed ? [`${failed} failed`] : []),
    ...(missing && !isAtWork ? [`${missing} not compiled`] : []),
  ].join(" · ");
}

/** Whether the server has something to compile or to count. @param {MatrixDocument} matrix */
export function isIncomplete({ cells }) {
  return cells.some((cell) => !cell.is_final || (cell.state === "complete" && !cell.metrics));
}
