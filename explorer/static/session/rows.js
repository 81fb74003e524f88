/**
 * The columns of the table of a session, and its rows in an order.
 *
 * @import { SessionRow } from "../core/types.js"
 * @import { Order } from "../launch/variant_rows.js"
 *
 * `isText`: the values are compared as texts; numbers are on the right.
 * @typedef {{name: string, title?: string, words?: string, read: (row: SessionRow) => number | string | null,
 *   show: (value: number) => string, isText?: boolean, warn?: (value: number) => boolean}} SessionColumn
 */
import { literal, short } from "../core/format.js";
import { RESULT_COLUMNS, sortedBy } from "../launch/variant_rows.js";

const AGREEMENTS = {
  equal: { title: "binary equal", words: "The compilation gives the binary that the program ran." },
  "equal code": {
    title: "code equal",
    words: "The machine code equals the program's. The debug information names other files.",
  },
  different: {
    title: "differs",
    words: "The compilation gives different machine code than the program ran.",
  },
  waiting: { title: "compiling", words: "The kernel is being compiled here." },
  unknown: { title: "–", words: "There is no binary to compare with." },
  "only here": { title: "only here", words: "Only the server compiled it: the import has no binary." },
};

/** @type {SessionColumn[]} */
export const COLUMNS = [
  {
    name: "launches",
    title: "launches",
    words: "Launches of the program",
    read: ({ launches }) => launches,
    show: short,
  },
  resultColumn("registers"),
  resultColumn("spills"),
  resultColumn("shared_bytes"),
  {
    name: "warps",
    title: "warps",
    words: "Warps per block",
    read: ({ resources, options }) => resources?.warps ?? numberOf(options.num_warps),
    show: String,
  },
  {
    ...resultColumn("compile_milliseconds"),
    words: "Time to compile in the program; none if Triton's cache had the kernel",
  },
];

/** A column that tables of variants have, too. @param {string} name @returns {SessionColumn} */
function resultColumn(name) {
  const column = RESULT_COLUMNS.find((each) => each.name === name);
  if (!column) throw new Error(`There is no column ${name}.`);
  return column;
}

/** @param {unknown} value */
function numberOf(value) {
  return typeof value === "number" ? value : null;
}

/** Compare the compilation with the binary of the program. @param {SessionRow} row */
export function agreementOf({ agreement, triton, again }) {
  const { title, words } = AGREEMENTS[agreement];
  return agreement === "unknown" && !again
    ? { title, words: `It is not compiled here. The program has Triton ${triton}.` }
    : { title, words };
}

/** The arguments in short: constants by name, tensors by their shapes. @param {SessionRow} row */
export function configurationOf({ arguments: given, options }) {
  const constants = given
    .filter(({ type, specialization }) => type === "constexpr" && specialization === "constexpr")
    .filter(({ value }) => value !== null)
    .map(({ name, value }) => `${name}=${literal(value)}`);
  const shapes = given.flatMap(({ type, shape }) => (shape ? [`${type.slice(1)}[${shape.join("×")}]`] : []));
  const stages = options.num_stages;
  return [...shapes, ...constants, ...(typeof stages === "number" ? [`num_stages=${stages}`] : [])].join(" ");
}

/**
 * The rows in an order, with unknown values last.
 * @param {SessionRow[]} rows
 * @param {Order} order
 */
export function inOrder(rows, order) {
  if (!order) return rows;
  const column = COLUMNS.find(({ name }) => name === order.name);
  return sortedBy(rows, order, (row) =>
    column
      ? column.read(row)
      : order.name === "agreement"
        ? agreementOf(row).title
        : `${row.kernel} ${configurationOf(row)}`,
  );
}
