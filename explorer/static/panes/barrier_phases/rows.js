/**
 * The rows of the picture of mbarriers: what each thread, each unit and each mbarrier does in which steps.
 *
 * @import { BarrierDocument, BarrierPhasesDocument, PhaseLine } from "../../core/types.js"
 */
import { grouped, plural, size } from "../../core/format.js";

/**
 * @typedef {object} Cell steps from `first` to before `end`
 * @property {number} first
 * @property {number} end
 * @property {string} label what fits into one step
 * @property {string} words all of it
 * @property {number} line of TTGIR; 0: none
 * @property {string} kind "run", "wait", "endless", "flight", "even" or "odd"
 * @property {number} [phase] of an mbarrier
 */
/** @typedef {{title: string, note: string, line: number, cells: Cell[]}} Row */
/** @typedef {{title: string, rows: Row[]}} Group */

/** Operations in one word. @type {Record<string, string>} */
const LABELS = {
  "ttng.async_tma_copy_global_to_local": "copy",
  "ttng.async_tma_gather": "copy",
  "ttng.async_copy_mbarrier_arrive": "copies",
  "ttng.async_tma_copy_local_to_global": "store",
  "ttng.barrier_expect": "expect",
  "ttng.arrive_barrier": "arrive",
  "ttng.wait_barrier": "wait",
  "ttng.tc_gen5_mma": "mma",
  "ttng.tc_gen5_mma_scaled": "mma",
  "ttng.tc_gen5_commit": "commit",
  "ttng.warp_group_dot": "dot",
  "ttng.warp_group_dot_wait": "dot wait",
  "ttg.warp_specialize": "join",
};

/** An operation in one word. @param {string} name */
export function shortLabel(name) {
  return LABELS[name] ?? name.slice(name.indexOf(".") + 1).replace(/^(?:local|tmem)_/, "");
}

/** @param {BarrierPhasesDocument} document @returns {Map<number, PhaseLine>} */
export function linesOf({ lines }) {
  return new Map(lines.map((each) => [each.line, each]));
}

/**
 * All rows in groups: threads, units, and the mbarriers of each array.
 * @param {BarrierPhasesDocument} document
 * @returns {Group[]}
 */
export function groupsOf(document) {
  const lines = linesOf(document);
  const operation = (/** @type {number} */ line) => lines.get(line)?.operation ?? "";
  const { barriers } = document;
  const threads = document.threads.map((thread) => ({
    title: thread.title,
    note: plural(thread.num_warps, "warp"),
    line: thread.line,
    cells: thread.spans.map((span) => {
      const label = shortLabel(operation(span.line));
      const barrier = span.barrier === null ? undefined : barriers[span.barrier];
      const waits = span.end - span.first > 1 || span.is_endless;
      const about = barrier ? ` ${span.parity === null ? "at" : "for"} ${barrier.name}` : "";
      const parity = span.parity === null ? "" : ` with parity ${span.parity}`;
      return {
        first: span.first,
        end: span.end,
        label: waits && barrier ? `${label} ${barrier.name}` : label,
        words: `${thread.title}, ${stepsWords(span)}: ${label}${about}${parity}${
          span.is_endless
            ? ", without end"
            : waits
              ? `, held for ${plural(span.end - 1 - span.first, "step")}`
              : ""
        }`,
        line: span.line,
        kind: span.is_endless ? "endless" : waits ? "wait" : "run",
      };
    }),
  }));
  return [
    { title: "Threads", rows: threads },
    ...unitsOf(document),
    ...arraysOf(barriers).map((array) => ({
      title: rolesOf(array),
      rows: array.map((each) => barrierRow(each, document.recorded_steps, operation)),
    })),
  ];
}

/** Whether anything waits for an mbarrier or arrives there. @param {BarrierDocument} barrier */
export const isUsed = ({ arrivers, waiters }) => arrivers.length + waiters.length > 0;

/** The used mbarriers of each array. @param {BarrierDocument[]} barriers @returns {BarrierDocument[][]} */
function arraysOf(barriers) {
  /** @type {Map<number, BarrierDocument[]>} */
  const arrays = new Map();
  for (const barrier of barriers.filter(isUsed)) {
    arrays.set(barrier.allocation, [...(arrays.get(barrier.allocation) ?? []), barrier]);
  }
  return [...arrays.values()];
}

/** Who arrives at the mbarriers of an array, and who waits for them. @param {BarrierDocument[]} barriers */
function rolesOf(barriers) {
  const all = (/** @type {(each: BarrierDocument) => string[]} */ names) => [
    ...new Set(barriers.flatMap(names)),
  ];
  const buffers = all(({ filled }) => filled.map((name) => name.replace(/\[.*/, "")));
  const arrivers = all((each) => each.arrivers).map((each) => (each === "products" ? "Products" : each));
  const from = buffers.length ? `Copies of ${buffers.join(", ")}` : arrivers.join(", ") || "Nobody";
  return `${from} → ${all((each) => each.waiters).join(", ") || "nobody"}`;
}

/**
 * The phases of an mbarrier, with what each still expects.
 * @param {BarrierDocument} barrier @param {number} steps @param {(line: number) => string} operation
 * @returns {Row}
 */
function barrierRow(barrier, steps, operation) {
  const end = Math.min(barrier.end ?? steps, steps);
  const { states } = barrier;
  return {
    title: barrier.name,
    note: `${grouped(barrier.completed_phases)} done`,
    line: barrier.line,
    cells: states.flatMap((state, index) => {
      const last = Math.min(states[index + 1]?.step ?? end, end);
      if (last <= state.step) return [];
      const left = [
        state.pending ? plural(state.pending, "arrival") : "",
        state.bytes ? size(state.bytes) : "",
      ].filter(Boolean);
      return [
        {
          first: state.step,
          end: last,
          label: state.bytes ? size(state.bytes) : `${state.pending} due`,
          words: `${barrier.name}, ${stepsWords({ first: state.step, end: last })}: phase ${state.phase}, parity ${
            state.phase % 2
          }, ${left.join(" and ") || "nothing"} due, since ${shortLabel(operation(state.line))} of ${state.by}`,
          line: state.line,
          kind: state.phase % 2 ? "odd" : "even",
          phase: state.phase,
        },
      ];
    }),
  };
}

/**
 * The units, with how many of their operations are under way.
 * @param {BarrierPhasesDocument} document
 * @returns {Group[]}
 */
function unitsOf({ in_flight: all, recorded_steps: steps, barriers }) {
  const rows = ["copies", "products"].flatMap((unit) => {
    const own = all.filter((each) => each.unit === unit);
    if (!own.length) return [];
    const marks = [...new Set(own.flatMap(({ first, end }) => [first, Math.min(end, steps)]))];
    marks.sort((one, other) => one - other);
    const cells = marks.flatMap((first, index) => {
      const end = marks[index + 1];
      const running = own.filter((each) => each.first <= first && each.end > first);
      if (end === undefined || !running.length) return [];
      const bytes = running.reduce((sum, each) => sum + each.bytes, 0);
      const names = running.map((each) =>
        each.barrier === null ? "" : (barriers[each.barrier]?.name ?? ""),
      );
      const at = [...new Set(names.filter(Boolean))];
      return [
        {
          first,
          end,
          label: String(running.length),
          words: `${unit}, ${stepsWords({ first, end })}: ${running.length} under way${
            bytes ? `, ${size(bytes)}` : ""
          }${at.length ? `, which arrive at ${at.join(", ")}` : ""}`,
          line: running[0]?.line ?? 0,
          kind: "flight",
        },
      ];
    });
    return [{ title: unit, note: "", line: 0, cells }];
  });
  return rows.length ? [{ title: "Under way", rows }] : [];
}

/** @param {{first: number, end: number}} span */
const stepsWords = ({ first, end }) => (end - first > 1 ? `steps ${first} to ${end - 1}` : `step ${first}`);

/**
 * The cells of a row from step `from` to before `to`, clipped, with gaps between them as null.
 * @param {Cell[]} cells @param {number} from @param {number} to
 * @returns {{first: number, end: number, cell: Cell | null}[]}
 */
export function inWindow(cells, from, to) {
  const found = [];
  let at = from;
  for (const cell of cells) {
    const first = Math.max(cell.first, at);
    const end = Math.min(cell.end, to);
    if (end <= first) continue;
    if (first > at) found.push({ first: at, end: first, cell: null });
    found.push({ first, end, cell });
    at = end;
  }
  if (at < to) found.push({ first: at, end: to, cell: null });
  return found;
}
