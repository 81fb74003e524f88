/**
 * The server's API, typed.
 *
 * @import { CompilationDocument, CompilationRequest, ComparisonDocument, DiffDocument, GalleryExample, GalleryRow, GraphDocument, InspectionDocument, Locations,
 *   OccupancyDocument, PaneKind, Problem, StageKind, Target, TextLine } from "./types.js"
 * @import { HeatDocument, RooflineDocument } from "./roofline/documents.js"
 * @import { ProfileFiles, Run, RunDocument, RunsDocument } from "./run/documents.js"
 */

const BASE = "/api/v1";
/** How often a question is put again to a server that has too much to do, and after how long. */
const MOST_RETRIES = 3;
const RETRY_MS = 3000;

/** What is said while an event stream waits for a server that has gone. */
export const NO_ANSWER = "the server does not answer, trying again";

/** The server refused, or could not be reached; `problem` says why and what to do. */
export class ApiError extends Error {
  /** @param {Problem} problem @param {number} status 0: not reached */
  constructor(problem, status) {
    super(problem.title);
    this.problem = problem;
    this.status = status;
  }
}

/** Who answers: the server. @type {(url: string, options?: RequestInit) => Promise<Response>} */
let answer = (url, options) => fetch(url, options);

/** Let somebody else answer, where there is no server. @param {typeof answer} other */
export function answerBy(other) {
  answer = other;
}

/**
 * @param {string} url
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 */
async function request(url, options) {
  let response;
  try {
    response = await answer(url, options);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(
      { title: "The server cannot be reached", kind: "unreachable", detail: "Check that it runs, then try again." },
      0,
    );
  }
  if (response.ok) return response;
  const document = await response.json().catch(() => ({}));
  throw new ApiError(
    {
      title: document.error ?? `The server answered ${response.status}`,
      kind: document.kind ?? "unknown",
      detail: document.detail ?? "Try again in a moment.",
    },
    response.status,
  );
}

/** @param {string} path @param {AbortSignal} [signal] */
async function get(path, signal) {
  for (let left = MOST_RETRIES; ; left -= 1) {
    try {
      return await (await request(BASE + path, { signal })).json();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 503 || left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** @param {string} path @param {unknown} body @param {AbortSignal} [signal] */
async function post(path, body, signal) {
  const response = await request(BASE + path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  return response.json();
}

/** @param {string} id */
const compilationPath = (id) => `/compilations/${encodeURIComponent(id)}`;
/** @param {string} id */
const runPath = (id) => `/runs/${encodeURIComponent(id)}`;

export const api = {
  /** @returns {Promise<{panes: PaneKind[], stages: StageKind[], workers: Record<string, string>, first_example: string, default_target: string,
   *   argument_types: string[], type_pattern: string}>} */
  page: async () => (await request("/page.json")).json(),
  /** A script that works beside the page. @param {string} address @returns {Promise<Blob>} */
  script: async (address) => new Blob([await (await request(address)).blob()], { type: "text/javascript" }),
  /** @returns {Promise<Target[]>} */
  targets: () => get("/targets"),
  /** @returns {Promise<{versions: string[], default: string}>} */
  tritons: () => get("/tritons"),
  /** @returns {Promise<GalleryRow[]>} */
  gallery: () => get("/gallery"),
  /** @param {string} name @param {AbortSignal} signal @returns {Promise<GalleryExample>} */
  example: (name, signal) => get(`/gallery/${encodeURIComponent(name)}`, signal),
  /** @param {Partial<CompilationRequest>} body @param {AbortSignal} signal @returns {Promise<InspectionDocument>} */
  inspect: (body, signal) => post("/inspect", body, signal),
  /** @param {CompilationRequest} body @param {AbortSignal} [signal] @returns {Promise<{id: string, status: string}>} */
  compile: (body, signal) => post("/compilations", body, signal),
  /** @param {string} id @returns {Promise<CompilationDocument>} */
  compilation: (id) => get(compilationPath(id)),
  /** @param {string} id */
  cancel: (id) => request(BASE + compilationPath(id), { method: "DELETE" }),
  /** @param {string} id @param {string} stage @param {number} from @param {number} to
   * @returns {Promise<{lines: TextLine[], total: number}>} */
  lines: (id, stage, from, to) => get(`${compilationPath(id)}/stages/${stage}/lines?from=${from}&to=${to}`),
  /** @param {string} id @param {string} stage @returns {Promise<Locations>} */
  locations: (id, stage) => get(`${compilationPath(id)}/stages/${stage}/locations`),
  /** @param {string} id @param {string} stage @returns {Promise<string>} */
  stageText: async (id, stage) => (await request(`${BASE}${compilationPath(id)}/stages/${stage}`)).text(),
  /** @param {string} id @param {number} index @param {number} from @param {number} to @returns {Promise<{lines: TextLine[], total: number}>} */
  passLines: (id, index, from, to) => get(`${compilationPath(id)}/passes/${index}/lines?from=${from}&to=${to}`),
  /** @param {string} id @param {number} index @returns {Promise<DiffDocument>} */
  passAlignment: (id, index) => get(`${compilationPath(id)}/passes/${index}/alignment`),
  /** @param {string} id @returns {Promise<{id: string, status: string}>} */
  llvmPasses: (id) => post(`${compilationPath(id)}/llvm-passes`, {}),
  /** @param {string} vocabulary @returns {Promise<Record<string, string>>} */
  explanations: (vocabulary) => get(`/explanations/${vocabulary}`),
  /** What can be found out about a compilation. @param {string} id @param {string} name of the analysis @param {Record<string, string | number>} [parameters] @returns {Promise<unknown>} */
  analysis: (id, name, parameters = {}) => {
    const query = Object.entries(parameters).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
    return get(`${compilationPath(id)}/${name}${query && `?${query}`}`);
  },
  /** @param {string} id @param {Record<string, string>} parameters @returns {Promise<OccupancyDocument>} */
  occupancy: (id, parameters) => get(`${compilationPath(id)}/occupancy?${new URLSearchParams(parameters)}`),
  /** @param {string} id @param {Record<string, string>} parameters @returns {Promise<GraphDocument>} */
  graph: (id, parameters) => get(`${compilationPath(id)}/graph?${new URLSearchParams(parameters)}`),
  /** @param {string} id @param {number | null} pass null: of TTGIR @returns {Promise<import("./layouts/document.js").LayoutsDocument>} */
  layouts: (id, pass) => get(`${compilationPath(id)}/layouts${pass === null ? "" : `?pass=${pass}`}`),
  /** @param {string} id @param {string} path "": its index */
  url: (id, path) => `${BASE}${compilationPath(id)}${path && `/${path}`}`,
  /** The runs of a compilation, recordings of its kernel, and what it can be run on. @param {string} id @returns {Promise<RunsDocument>} */
  runs: (id) => get(`${compilationPath(id)}/runs`),
  /** @param {string} compilation @param {Run} run @returns {Promise<{id: string, status: string}>} */
  startRun: (compilation, run) => post("/runs", { compilation, run }),
  /** @param {string} id @param {string} compilation what it is looked at with @returns {Promise<RunDocument>} */
  run: (id, compilation) => get(`${runPath(id)}?compilation=${encodeURIComponent(compilation)}`),
  /** @param {string} id @param {string} name @returns {Promise<unknown>} */
  measurement: (id, name) => get(`${runPath(id)}/measurements/${encodeURIComponent(name)}`),
  /** How far a run is from the limits of its GPU. @param {string} id @param {string} compilation what it is looked at with @returns {Promise<RooflineDocument>} */
  roofline: (id, compilation) => get(`${runPath(id)}/roofline?compilation=${encodeURIComponent(compilation)}`),
  /** Where the time of a run goes. @param {string} id @param {string} compilation what it is looked at with @returns {Promise<HeatDocument>} */
  heat: (id, compilation) => get(`${runPath(id)}/heat?compilation=${encodeURIComponent(compilation)}`),
  /** What files the profilers have made. @param {string} id @returns {Promise<ProfileFiles>} */
  runFiles: (id) => get(`${runPath(id)}/files`),
  /** @param {string} id */
  cancelRun: (id) => request(BASE + runPath(id), { method: "DELETE" }),
  /** @param {string} id @param {string} path */
  runUrl: (id, path) => `${BASE}${runPath(id)}/${path}`,
  /** @param {string} id @param {number} from @param {number} to @returns {Promise<{lines: TextLine[], total: number}>} */
  sourceLines: (id, from, to) => get(`${compilationPath(id)}/source/lines?from=${from}&to=${to}`),
  /** @param {string} before @param {string} after @returns {Promise<ComparisonDocument>} */
  comparison: (before, after) => get(`${compilationPath(before)}/compare/${encodeURIComponent(after)}`),
  /** @param {string} before @param {string} after @param {string} path below the comparison @returns {Promise<DiffDocument>} */
  diff: (before, after, path) => get(`${compilationPath(before)}/compare/${encodeURIComponent(after)}/${path}`),
};
