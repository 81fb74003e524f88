/**
 * The rows of a table of variants: their columns, and their order.
 *
 * @import { Resources } from "../core/types.js"
 * @import { Outcome, Variant } from "./variants.js"
 *
 * @typedef {object} Column
 * @property {string} name
 * @property {string} title short enough for the head of a column
 * @property {string} words the same for tips and screen readers
 * @property {boolean} [isText] not a number
 *
 * `title` is shown in the row, `words` is read out.
 * @typedef {Variant & {title: string, words: string, cells: Record<string, string | number>, isShown: boolean,
 *   open: () => void}} Row
 *
 * @typedef {{name: string, read: (outcome: Pick<Outcome, "resources" | "milliseconds">) => number | null,
 *   show: (value: number) => string, warn?: (value: number) => boolean}} ResultColumn
 *
 * @typedef {{name: string, isDescending: boolean} | null} Order null: the order in which the rows came
 */
import { duration, size } from "../core/format.js";
import { metric } from "../core/metrics.js";

/** The metrics of a result, by their names. @type {ResultColumn[]} */
export const RESULT_COLUMNS = [
  { name: "registers", read: of("registers"), show: String },
  {
    name: "spills",
    read: spills,
    show: (value) => (value ? size(value) : "0"),
    warn: (value) => value > 0,
  },
  { name: "shared_bytes", read: of("shared_bytes"), show: size },
  {
    name: "occupancy",
    read: of("occupancy"),
    show: (value) => `${Math.round(value * 100)} %`,
    warn: (value) => value < 0.125,
  },
  {
    name: "compile_milliseconds",
    read: ({ milliseconds }) => milliseconds,
    show: duration,
  },
];

/** The title of a column in its head, and in tips. @param {Partial<Column> & {name: string}} column */
export function headOf({ name, title = metric(name).short, words = metric(name).title }) {
  return { name, title, words };
}

/** @param {keyof Resources} name @returns {ResultColumn["read"]} */
function of(name) {
  return ({ resources }) => {
    const value = resources?.[name];
    return typeof value === "number" ? value : null;
  };
}

/** @param {Pick<Outcome, "resources">} outcome */
function spills({ resources }) {
  if (typeof resources?.spill_stores_bytes !== "number") return null;
  return resources.spill_stores_bytes + Number(resources.spill_loads_bytes ?? 0);
}

/** The order after a click on the head of a column: up, down, as the rows came. @param {Order} order @param {string} name @returns {Order} */
export function nextOrder(order, name) {
  if (order?.name !== name) return { name, isDescending: false };
  return order.isDescending ? null : { name, isDescending: true };
}

/**
 * The rows in an order of their values. Rows whose value is unknown are last.
 * @template T
 * @param {T[]} rows @param {NonNullable<Order>} order @param {(row: T) => unknown} read
 */
export function sortedBy(rows, { isDescending }, read) {
  const sign = isDescending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [left, right] = [read(one), read(other)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    if (typeof left === "number" && typeof right === "number") return sign * (left - right);
    return sign * String(left).localeCompare(String(right), "en", { numeric: true });
  });
}

/** The rows in an order. @param {Row[]} rows @param {Order} order @param {Map<string, Outcome>} outcomes */
export function sortedRows(rows, order, outcomes) {
  if (!order) return rows;
  const column = RESULT_COLUMNS.find(({ name }) => name === order.name);
  return sortedBy(rows, order, ({ key, cells }) => {
    const outcome = outcomes.get(key);
    return column ? (outcome ? column.read(outcome) : null) : (cells[order.name] ?? null);
  });
}

/** The keys of the two rows that were ticked last. @param {string[]} ticked @param {string} key @param {boolean} isOn */
export function tick(ticked, key, isOn) {
  return [...ticked.filter((each) => each !== key), ...(isOn ? [key] : [])].slice(-2);
}
