/**
 * The server's API, typed.
 *
 * @import { AnalysisAnswer, CompilationDocument, CompilationRequest, ComparisonDocument } from "./types.js"
 * @import { DiffDocument, GalleryExample, GalleryRow, GraphDocument, InspectionDocument } from "./types.js"
 * @import { LanguageFacts, Locations, MeasureKind, MetricTitles, OccupancyDocument, PaneKind, Problem } from "./types.js"
 * @import { StageKind, Target, TextLine } from "./types.js"
 * @import { HeatDocument, RooflineDocument } from "./types.js"
 * @import { MatrixDocument, MatrixRequest, MatrixTicket } from "./types.js"
 * @import { ProfileFiles, Run, RunDocument, RunsDocument } from "./types.js"
 */

import { deletionToken } from "./deletion_token.js";
import { freshKey } from "./privacy.js";
import { kept, keep } from "./storage.js";

const BASE = "/api/v1";
/** Interval between requests to an overloaded server that names no interval. */
const MOST_RETRIES = 60;
const LONGEST_WAIT_SECONDS = 30;
/** The rate limits of a client count whole minutes, rounded up. */
const LONGEST_WAIT_OF_LIMIT_SECONDS = 61;
/** RFC 9218: other requests are more urgent. */
const BATCH = { Priority: "u=5" };
const FOLLOWER_KEY = "follower";

/** The message while an event stream waits for a server that is gone. */
export const NO_ANSWER = "the server does not answer, trying again";

/** The message while a server is overloaded. */
export const BUSY = "the server is busy, trying again";

/**
 * @typedef {object} Sending the options of a request
 * @property {AbortSignal} [signal] ends the request
 * @property {AbortSignal} [patience] ends only the wait for an overloaded server
 * @property {() => void} [onBusy] called before each wait
 * @property {boolean} [isBatch] the request is one of many, and the user does not wait for it
 * @property {boolean} [isLive] the request follows from typing: a later request may replace it soon
 */

/** The server refused, or could not be reached; `problem` says why and what to do. */
export class ApiError extends Error {
  /** @param {Problem} problem @param {number} status 0: not reached */
  constructor(problem, status) {
    super(problem.title);
    this.problem = problem;
    this.status = status;
  }

  /** Whether the server was overloaded. */
  get isBusy() {
    return this.status === 429 || this.status === 503;
  }
}

/**
 * The function that answers requests: by default, the server answers.
 * @type {(url: string, options?: RequestInit) => Promise<Response>}
 */
let answer = (url, options) => fetch(url, options);

/** Replace the function that answers requests, for pages without a server. @param {typeof answer} other */
export function answerBy(other) {
  answer = other;
}

/**
 * Send a request. Repeat it while the server is overloaded.
 * @param {string} url
 * @param {RequestInit} [options]
 * @param {Sending} [sending]
 * @returns {Promise<Response>}
 */
async function request(url, options, { signal, patience, onBusy } = {}) {
  for (let left = MOST_RETRIES; ; left -= 1) {
    const response = await answer(url, { ...options, signal }).catch((error) => {
      throw isAbort(error) ? error : unreachable();
    });
    if (response.ok) return response;
    const error = await refusal(response);
    const seconds = Number(response.headers.get("Retry-After"));
    const longest = error.status === 429 ? LONGEST_WAIT_OF_LIMIT_SECONDS : LONGEST_WAIT_SECONDS;
    if (!error.isBusy || !(seconds > 0 && seconds <= longest) || left === 0) throw error;
    onBusy?.();
    // The random delay spreads the requests of pages that the server refused at the same moment.
    await pause(1000 * seconds * (1 + Math.random() / 4), signal ?? patience);
  }
}

/**
 * Wait for the body of a response. The connection may be lost in the middle of it.
 * @template Body
 * @param {Promise<Body>} body
 */
function whole(body) {
  return body.catch((error) => {
    throw error instanceof TypeError ? unreachable() : error;
  });
}

const unreachable = () =>
  new ApiError(
    {
      title: "The server cannot be reached",
      kind: "unreachable",
      detail: "Check that it runs, then try again.",
    },
    0,
  );

/** @param {Response} response */
async function refusal(response) {
  const document = await response.json().catch(() => ({}));
  return new ApiError(
    {
      title: document.error ?? `The server answered ${response.status}`,
      kind: document.kind ?? "unknown",
      detail: document.detail ?? "Try again in a moment.",
    },
    response.status,
  );
}

/** Whether a request was aborted. @param {unknown} error */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Wait; reject if the signal ends it. @param {number} milliseconds @param {AbortSignal} [signal] @returns {Promise<void>} */
export function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort);
  });
}

/**
 * Return the document in the answer to a request; null: the answer is empty.
 * @param {string} url @param {RequestInit} [options] @param {Sending} [sending]
 */
async function send(url, options, sending) {
  const response = await request(url, options, sending);
  return response.status === 204 ? null : whole(response.json());
}

/** A document of the API. @param {string} path @param {AbortSignal} [signal] */
export const get = (path, signal) => send(BASE + path, {}, { signal });

/** A text of the API. @param {string} path @returns {Promise<string>} */
const text = async (path) => whole((await request(BASE + path)).text());

/** @param {string} path @param {unknown} body @param {Sending} [sending] */
function post(path, body, sending = {}) {
  const options = {
    method: "POST",
    headers: { "Content-Type": "application/json", ...ownership(), ...(sending.isBatch ? BATCH : {}) },
    body: JSON.stringify(body),
  };
  return send(BASE + path, options, sending);
}

/** The header with the token that allows this browser to delete its submissions. */
const ownership = () => ({ "Deletion-Token": deletionToken() });

let follower = "";

/** Return a path with the name of this tab, so that other tabs do not cancel its jobs. @param {string} path */
function following(path) {
  follower ||= kept(FOLLOWER_KEY, "sessionStorage") ?? Math.random().toString(36).slice(2);
  keep(FOLLOWER_KEY, follower, "sessionStorage");
  return `${path}?follower=${encodeURIComponent(follower)}`;
}

/** @param {string} path with a query @param {boolean} [isLive] */
function urgent(path, isLive) {
  return isLive ? `${path}&live=1` : path;
}

/**
 * Cancel a job, also while the page is being closed. Return whether the job continues because it has other followers.
 * @param {string} path
 */
async function cancel(path) {
  return (await request(BASE + following(path), { method: "DELETE", keepalive: true })).status === 202;
}

/** @param {string} id */
const compilationPath = (id) => `/compilations/${encodeURIComponent(id)}`;
/** @param {string} id */
const runPath = (id) => `/runs/${encodeURIComponent(id)}`;
/** @param {string} id */
const matrixPath = (id) => `/matrices/${encodeURIComponent(id)}`;

export const api = {
  /**
   * @returns {Promise<{panes: PaneKind[], stages: StageKind[], languages: Record<string, LanguageFacts>,
   *   metrics: Record<string, MetricTitles>, measures: MeasureKind[], workers: Record<string, string>,
   *   first_example: string, default_target: string, most_cells: number,
   *   argument_types: string[], type_pattern: string, source_limits: {files: number, bytes: number}}>}
   */
  page: () => send("/page.json"),
  /** Fetch the script of a web worker. @param {string} address @returns {Promise<Blob>} */
  script: async (address) =>
    new Blob([await whole((await request(address)).blob())], { type: "text/javascript" }),
  /** @returns {Promise<Target[]>} */
  targets: () => get("/targets"),
  /** @returns {Promise<{versions: string[], default: string}>} */
  tritons: () => get("/tritons"),
  /** @returns {Promise<GalleryRow[]>} */
  gallery: () => get("/gallery"),
  /** @param {string} name @param {AbortSignal} signal @returns {Promise<GalleryExample>} */
  example: (name, signal) => get(`/gallery/${encodeURIComponent(name)}`, signal),
  /**
   * @param {Partial<CompilationRequest>} body
   * @param {AbortSignal} signal
   * @returns {Promise<InspectionDocument>}
   */
  inspect: (body, signal) => post("/inspect", body, { signal }),
  /**
   * @param {CompilationRequest} body
   * @param {Sending} [sending]
   * @returns {Promise<{id: string, status: string}>}
   */
  compile: (body, sending) => post(urgent(following("/compilations"), sending?.isLive), body, sending),
  /**
   * @param {string} id
   * @param {boolean} [isLive] nobody has opened the result
   * @returns {Promise<CompilationDocument>}
   */
  compilation: (id, isLive) =>
    get(isLive ? urgent(following(compilationPath(id)), isLive) : compilationPath(id)),
  /** @param {string} id */
  cancel: (id) => cancel(compilationPath(id)),
  /**
   * Delete a result that was submitted from this browser, with its runs and queries.
   * @param {string} id
   * @returns {Promise<import("openapi").DeletionDocument>}
   */
  remove: (id) =>
    send(`${BASE}/results/${encodeURIComponent(id)}`, { method: "DELETE", headers: ownership() }),
  /**
   * Ask the server to retain shared results. Their links also work without this request.
   * @param {string[]} ids
   */
  retain: (...ids) =>
    Promise.allSettled(
      ids.map((id) => request(`${BASE}${compilationPath(id)}/retention`, { method: "PUT" })),
    ),
  /** @param {string} id @param {string} stage @param {number} from @param {number} to
   * @returns {Promise<{lines: TextLine[], total: number}>} */
  lines: (id, stage, from, to) => get(`${compilationPath(id)}/stages/${stage}/lines?from=${from}&to=${to}`),
  /** @param {string} id @param {string} stage @returns {Promise<Locations>} */
  locations: (id, stage) => get(`${compilationPath(id)}/stages/${stage}/locations`),
  /** @param {string} id @param {string} stage @returns {Promise<string>} */
  stageText: (id, stage) => text(`${compilationPath(id)}/stages/${stage}`),
  /** The module after a pass. @param {string} id @param {number} index @returns {Promise<string>} */
  passText: (id, index) => text(`${compilationPath(id)}/passes/${index}`),
  /**
   * @param {string} id
   * @param {number} index
   * @param {number} from
   * @param {number} to
   * @returns {Promise<{lines: TextLine[], total: number}>}
   */
  passLines: (id, index, from, to) =>
    get(`${compilationPath(id)}/passes/${index}/lines?from=${from}&to=${to}`),
  /** @param {string} id @param {number} index @returns {Promise<DiffDocument>} */
  passAlignment: (id, index) => get(`${compilationPath(id)}/passes/${index}/alignment`),
  /** @param {string} id @param {string} text @returns {Promise<import("./types.js").PassMatches[]>} */
  passSearch: (id, text) => get(`${compilationPath(id)}/passes/search?text=${encodeURIComponent(text)}`),
  /** @param {string} id @returns {Promise<{id: string, status: import("./types.js").Status}>} */
  llvmPasses: (id) => post(following(`${compilationPath(id)}/llvm-passes`), {}),
  /** @param {string} id @returns {Promise<import("./types.js").FewerStagesDocument>} */
  fewerStages: (id) => post(`${compilationPath(id)}/fewer_stages`, {}),
  /** @param {string} vocabulary @returns {Promise<Record<string, string>>} */
  explanations: (vocabulary) => get(`/explanations/${vocabulary}`),
  /**
   * Request a query of a compilation. The name determines the type of the answer.
   * @template {string} Name
   * @param {string} id
   * @param {Name} name
   * @param {Record<string, string | number>} [parameters]
   * @returns {Promise<AnalysisAnswer<Name>>}
   */
  analysis: (id, name, parameters = {}) => {
    const query = Object.entries(parameters)
      .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
      .join("&");
    return get(`${compilationPath(id)}/${name}${query && `?${query}`}`);
  },
  /** @param {string} id @param {Record<string, string>} parameters @returns {Promise<OccupancyDocument>} */
  occupancy: (id, parameters) => get(`${compilationPath(id)}/occupancy?${new URLSearchParams(parameters)}`),
  /** @param {string} id @param {Record<string, string>} parameters @returns {Promise<GraphDocument>} */
  graph: (id, parameters) => get(`${compilationPath(id)}/graph?${new URLSearchParams(parameters)}`),
  /**
   * @param {string} id
   * @param {number | null} pass null: of TTGIR
   * @returns {Promise<import("./types.js").LayoutsDocument>}
   */
  layouts: (id, pass) => get(`${compilationPath(id)}/layouts${pass === null ? "" : `?pass=${pass}`}`),
  /** @param {string} id @param {string} path "": its index */
  url: (id, path) => `${BASE}${compilationPath(id)}${path && `/${path}`}`,
  /** The address of the event stream of a compilation. @param {string} id @param {boolean} [isLive] */
  events: (id, isLive) => urgent(following(`${BASE}${compilationPath(id)}/events`), isLive),
  /**
   * The document of a job that this tab goes on to follow, without a stream.
   * @param {string} events the address of its event stream
   * @returns {Promise<{status: import("./types.js").Status}>}
   */
  followed: (events) => send(events.replace("/events?", "?")),
  /**
   * Fetch the runs of a compilation, the profiles of its kernel, and the devices that can run it.
   * @param {string} id
   * @returns {Promise<RunsDocument>}
   */
  runs: (id) => get(`${compilationPath(id)}/runs`),
  /**
   * @param {string} compilation
   * @param {Run} run
   * @param {Sending} sending
   * @param {string | null} [original] a compilation whose kernel must write the same
   * @returns {Promise<{id: string, status: string}>}
   */
  startRun: (compilation, run, sending, original = null) =>
    post(following("/runs"), { compilation, run, original }, sending),
  /**
   * @param {string} id
   * @param {string} compilation what it is looked at with
   * @returns {Promise<RunDocument>}
   */
  run: (id, compilation) => get(`${runPath(id)}?compilation=${encodeURIComponent(compilation)}`),
  /** @param {string} id @param {string} name @returns {Promise<unknown>} */
  measurement: (id, name) => get(`${runPath(id)}/measurements/${encodeURIComponent(name)}`),
  /**
   * Fetch the roofline of a run.
   * @param {string} id
   * @param {string} compilation what it is looked at with
   * @returns {Promise<RooflineDocument>}
   */
  roofline: (id, compilation) =>
    get(`${runPath(id)}/roofline?compilation=${encodeURIComponent(compilation)}`),
  /**
   * Fetch the samples of a run by line.
   * @param {string} id
   * @param {string} compilation what it is looked at with
   * @returns {Promise<HeatDocument>}
   */
  heat: (id, compilation) => get(`${runPath(id)}/heat?compilation=${encodeURIComponent(compilation)}`),
  /**
   * Fetch the list of the files that the profilers have written.
   * @param {string} id
   * @returns {Promise<ProfileFiles>}
   */
  runFiles: (id) => get(`${runPath(id)}/files`),
  /** @param {string} id */
  cancelRun: (id) => cancel(runPath(id)),
  /** The address of the event stream of a run. @param {string} id */
  runEvents: (id) => following(`${BASE}${runPath(id)}/events`),
  /** @param {string} id @param {string} path */
  runUrl: (id, path) => `${BASE}${runPath(id)}/${path}`,
  /**
   * @param {string} id
   * @param {number} from
   * @param {number} to
   * @returns {Promise<{lines: TextLine[], total: number}>}
   */
  sourceLines: (id, from, to) => get(`${compilationPath(id)}/source/lines?from=${from}&to=${to}`),
  /** @param {string} id @returns {Promise<import("./types.js").SessionDocument>} */
  session: (id) => get(`/sessions/${encodeURIComponent(id)}`),
  /** @param {string} id @returns {Promise<MatrixDocument>} */
  matrix: (id) => get(following(matrixPath(id))),
  /** @param {MatrixRequest} body @param {Sending} [sending] @returns {Promise<MatrixTicket>} */
  createMatrix: (body, sending) => post(following("/matrices"), body, sending),
  /** Compile the cells of a matrix that have no result. @param {string} id @returns {Promise<MatrixTicket>} */
  compileMatrix: (id) => post(following(matrixPath(id)), {}),
  /** @param {string} id */
  cancelMatrix: (id) => cancel(matrixPath(id)),
  /**
   * Send a file of a capture or of another tool.
   * @param {string} name @param {Blob} file @returns {Promise<import("./types.js").ImportDocument>}
   */
  importFile: (name, file) => {
    const headers = { "Content-Type": "application/octet-stream", ...ownership(), ...BATCH };
    const path = `${following("/imports")}&name=${encodeURIComponent(name)}&private=${encodeURIComponent(freshKey())}`;
    return send(BASE + path, { method: "POST", headers, body: file });
  },
  /** Compile the changes that the findings of a compilation propose. @param {string} id @returns {Promise<MatrixTicket>} */
  startTrials: (id) => post(following(`${compilationPath(id)}/trials`), {}),
  /** The matrix of these changes; null: nobody has tried them. @param {string} id @returns {Promise<MatrixDocument | null>} */
  trials: (id) => get(`${compilationPath(id)}/trials`),
  /** @param {unknown} body @returns {Promise<{url: string}>} */
  createSession: (body) => post("/sessions", body),
  /** @param {string} before @param {string} after @returns {Promise<ComparisonDocument>} */
  comparison: (before, after) => get(`${compilationPath(before)}/compare/${encodeURIComponent(after)}`),
  /**
   * The findings that vanished and appeared between two compilations.
   * @param {string} before @param {string} after
   * @returns {Promise<import("./types.js").FindingChanges>}
   */
  findingChanges: (before, after) =>
    get(`${compilationPath(before)}/compare/${encodeURIComponent(after)}/findings`),
  /**
   * @param {string} before
   * @param {string} after
   * @param {string} path below the comparison
   * @returns {Promise<DiffDocument>}
   */
  diff: (before, after, path) =>
    get(`${compilationPath(before)}/compare/${encodeURIComponent(after)}/${path}`),
};
