/**
 * A server whose kernels are named by the changes that were taken: "k", "k-warps", and so on.
 */
import { answerBy } from "../../../explorer/static/core/api.js";

const WARPS = { text: "8 warps", options: { num_warps: 8 }, constants: {}, edits: [] };
const LOOP = { text: "Line 2", options: {}, constants: {}, edits: [{ line: 2, text: "b" }] };
const CHANGES = { warps: WARPS, loop: LOOP };
/** The medians of the kernels in nanoseconds. @type {Record<string, number>} */
const TIMES = { k: 20_000, "k-warps": 30_000, "k-loop": 4_000, "k-loop-warps": 3_000 };

/** @param {string} id */
export const documentOf = (id) => ({
  id,
  target: { name: "cuda:80" },
  request: { source: id.includes("loop") ? "a\nb" : "a\nB", config: null, options: {}, constants: {} },
  resources: { registers: 32 },
});

/**
 * Answer requests. Return the addresses of the requests that start or cancel work.
 * @param {object} facts
 * @param {boolean} [facts.hasGpu]
 * @param {string[]} [facts.wrong] kernels with other results
 * @param {string[]} [facts.tried] kernels whose trials are stored
 * @param {string} [facts.equal] a change that makes no difference to the time
 * @param {string} [facts.rounded] a change that rounds the results otherwise
 * @param {string} [facts.correction] a change without which the kernel is wrong
 * @param {string} [facts.fails] the address of requests that fail
 * @param {string} [facts.runStatus]
 */
export function serve({
  hasGpu = false,
  wrong = [],
  tried = [],
  equal = "",
  rounded = "",
  correction = "",
  fails = "",
  runStatus = "complete",
}) {
  /** @type {string[]} */
  const started = [];
  const stored = new Set(tried);
  /** Fields of runs by their IDs. @type {Map<string, any>} */
  const runs = new Map();
  const namesOf = (/** @type {string} */ id) =>
    /** @type {(keyof typeof CHANGES)[]} */ (["warps", "loop"]).filter((name) => !id.includes(name));
  /** The matrix of the trials of a kernel has the ID of the kernel. @param {string} id */
  const matrixOf = (id) => ({
    id,
    is_at_work: false,
    cells: ["", ...namesOf(id)].map((name, configuration) => ({
      configuration,
      state: "complete",
      id: name ? `${id}-${name}` : id,
      metrics: null,
    })),
  });
  /** @param {string} path @param {any} body @returns {unknown} */
  const answer = (path, body) => {
    const [kind, id = "", part, other] = path.split("/");
    if (kind === "runs" && body) {
      const run = `${body.compilation}:${body.run.device}`;
      started.push(body.original === "k" ? run : `${run} as ${body.original}`);
      runs.set(run, { compilation: body.compilation, ...body.run });
      return { id: run };
    }
    if (kind === "runs" && other === "check")
      return { outputs: [{ name: "y", shape: [64, 32], relative_error: 0.0001, tolerance: 0.01 }] };
    if (kind === "runs" && part === "measurements") {
      const median = /** @type {number} */ (TIMES[id.split(":")[0] ?? ""]);
      const timing = { cache: "cold", median_ns: median, low_ns: median - 100, high_ns: median + 100 };
      return { timings: [timing] };
    }
    if (kind === "runs")
      return {
        id,
        status: runStatus,
        matches: !wrong.includes(id.split(":")[0] ?? ""),
        not_compared: "",
        measurements: [{ name: "check" }, ...(id.endsWith("gpu") ? [{ name: "timings" }] : [])],
      };
    if (kind === "matrices") return matrixOf(id);
    if (part === "trials" && body) {
      started.push(path);
      stored.add(id);
      return { id };
    }
    if (part === "trials") return stored.has(id) ? matrixOf(id) : null;
    if (part === "findings")
      return {
        findings: namesOf(id).map((name) => ({
          rule: name,
          changes: [
            {
              ...{ ...CHANGES[name], may_be_faster: name !== equal, is_exact: name !== rounded },
              is_correction: name === correction,
            },
          ],
        })),
      };
    if (part === "compare") {
      const added = (other ?? "").slice(id.length + 1);
      return {
        verdicts: namesOf(id).map((name) => ({ is_proven: name === added, text: "proven in the compiler" })),
      };
    }
    if (part === "runs") return { devices: { gpu: { available: hasGpu, target: "cuda:80" } }, runs: [] };
    return documentOf(id);
  };
  answerBy(async (url, options) => {
    const path = decodeURIComponent(new URL(url, "http://localhost").pathname).replace("/api/v1/", "");
    if (path === fails) return Response.json({ detail: "The server is full." }, { status: 503 });
    if (options?.method === "DELETE") {
      started.push(`cancel ${path}`);
      return new Response(null, { status: 204 });
    }
    const found = answer(path, options?.body && JSON.parse(String(options.body)));
    return found === null ? new Response(null, { status: 204 }) : Response.json(found);
  });
  return started;
}
