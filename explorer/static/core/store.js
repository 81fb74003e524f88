/**
 * The state of the page.
 *
 * The page is drawn from this state. A listener names parts of the state and is called once for each update that
 * changes any of them.
 *
 * @import { Batch, BatchKind, Outcome } from "../launch/variants.js"
 * @import { ComparisonDocument, Draft, InspectionDocument, Lineage, Target, GalleryRow, LanguageFacts, MeasureKind, MetricTitles,
 *   PaneKind, Problem, StageKind } from "./types.js"
 * @import { Result } from "./result.js"
 * @import { RunForm } from "../runs/form_state.js"
 * @import { RunResult } from "../runs/run_result.js"
 * @import { Runs } from "../runs/runner.js"
 */
import { freshDraft } from "./fresh_draft.js";

/**
 * @typedef {object} Run a compilation in progress
 * @property {Result} result the received part of it
 * @property {boolean} promoted whether the panes show it
 * @property {boolean} isShown whether the page says that it compiles; typing starts compilations that end before
 *   anybody could read the message
 *
 * @typedef {object} State
 * @property {PaneKind[]} paneKinds
 * @property {StageKind[]} stageKinds
 * @property {Record<string, LanguageFacts>} languages by name
 * @property {Record<string, MetricTitles>} metrics by name
 * @property {MeasureKind[]} measures the measures of a run, in the order of the form
 * @property {Target[]} targets
 * @property {{versions: string[], default: string}} tritons
 * @property {GalleryRow[]} gallery
 * @property {string} firstExample the example that a first visit opens
 * @property {string} defaultTarget the target until the user chooses one
 * @property {string[]} argumentTypes the types that the page offers
 * @property {string} typePattern a regular expression for an argument in a signature
 * @property {import("../editor/added_files.js").Limits} sourceLimits the server's limits for a source
 * @property {number} mostCells the server's limit for the compilations of a matrix
 * @property {Draft} draft
 * @property {string} openFile the path of the file of the draft that the editor shows; "": the script
 * @property {InspectionDocument | null} inspection the inspection of the draft's source
 * @property {Problem | null} inspectionProblem why the source could not be inspected
 * @property {Map<string, Outcome>} outcomes the outcome of each request of this page, by `requestKey`
 * @property {Partial<Record<BatchKind, Batch>>} batches the current or last batch of variants of each kind
 * @property {Result | null} result the result that the panes show
 * @property {Run | null} run
 * @property {boolean} isAlone the connection was lost during a compilation; the browser retries
 * @property {boolean} sending the server has not answered a request yet
 * @property {boolean} isBusy the server was overloaded; the request is repeated
 * @property {Result | null} failure the last compilation, which failed, while the panes show an earlier result
 * @property {Result | null} earlier the last complete result, while the panes show a compilation that failed
 * @property {boolean} live the draft is compiled while it is typed
 * @property {boolean} isTyping a live compilation of the draft is due or under way
 * @property {Result | null} liveFailure the last live compilation, which failed; the panes still show `result`
 * @property {Result | null} settled the finished result whose findings are requested: `result`, or while a source is
 *   typed an earlier one; null until a module has settled it, which is loaded with the first result
 * @property {Result | null} before the complete result of the same kernel that was settled before
 * @property {{id: string, words: string} | null} found the number of findings of a result, in words;
 *   null: no result is checked
 * @property {Problem | null} problem the server's last refusal
 * @property {boolean} edited the draft differs from the request of `result`
 * @property {Set<number>} linked the known source lines of the operations of `result`
 * @property {number[]} hovered source lines under the mouse
 * @property {number[]} pinned source lines that stay highlighted
 * @property {{line: number}} shown the source line that every pane was last asked to scroll to; 0: none yet
 * @property {{stage: string, line: number} | null} cursor the stage line that the cursor was last put on
 * @property {{stage: string, line: number} | null} secondCursor the line of another stage that a step of a tour shows
 *   with the cursor; the next cursor drops it
 * @property {{document: Lineage, lines: Map<string, Set<number>>, touched: Set<number>} | null} lineage of an
 *   operation of `result`: its lines in each stage, and the passes that touched it
 * @property {string | null} origin the pane that caused the last change of `hovered`, `pinned`, `shown` or `cursor`
 * @property {boolean} reading the source is read-only
 * @property {string} lesson the step of a tour or the exercise that is shown, as the address has it: "tour=…"; "": none
 * @property {boolean} withSource the frame also shows the source
 * @property {ComparisonDocument | null} comparison the comparison that the page shows
 * @property {Record<string, string>} workers addresses of the scripts of web workers, by name
 * @property {string[]} visible the states of the stage panes that can be seen
 * @property {string[]} inFront the names of the panes that can be seen
 * @property {Runs | null} runs the runs of `result` and the devices that can run it; null: not known
 * @property {Map<string, RunResult>} runResults the runs that the page has opened, by ID
 * @property {RunResult | null} runUnderWay the run that was last started on this page, until it ends
 * @property {boolean} startingRun the page has requested a run, and the server has not answered yet
 * @property {Problem | null} runProblem why the last run was refused
 * @property {RunResult | null} shownRun the run of `result` that a pane shows
 * @property {boolean} withHeat samples are drawn beside the lines
 * @property {import("./types.js").HeatDocument | null} heat the samples of a run of `result` by line
 * @property {(heat: import("./types.js").LineHeat & {sharing?: number}) => string} heatWords describes the samples of a
 *   line; it is loaded before the first samples are
 * @property {RunForm} runForm the input of the Run pane
 */

/** @type {State} */
const state = {
  paneKinds: [],
  stageKinds: [],
  languages: {},
  metrics: {},
  measures: [],
  targets: [],
  tritons: { versions: [], default: "" },
  gallery: [],
  firstExample: "",
  defaultTarget: "",
  argumentTypes: [],
  typePattern: "",
  sourceLimits: { files: 0, bytes: 0 },
  mostCells: 0,
  draft: freshDraft("", ""),
  openFile: "",
  inspection: null,
  inspectionProblem: null,
  outcomes: new Map(),
  batches: {},
  result: null,
  run: null,
  isAlone: false,
  sending: false,
  isBusy: false,
  failure: null,
  earlier: null,
  live: true,
  isTyping: false,
  liveFailure: null,
  settled: null,
  before: null,
  found: null,
  problem: null,
  edited: false,
  linked: new Set(),
  hovered: [],
  pinned: [],
  shown: { line: 0 },
  cursor: null,
  secondCursor: null,
  lineage: null,
  origin: null,
  reading: false,
  lesson: "",
  withSource: false,
  comparison: null,
  workers: {},
  visible: [],
  inFront: [],
  runs: null,
  runResults: new Map(),
  runUnderWay: null,
  startingRun: false,
  runProblem: null,
  shownRun: null,
  withHeat: true,
  heat: null,
  heatWords: () => "",
  runForm: {
    device: null,
    measures: null,
    what: null,
    inputs: [],
    sizes: "",
    benchmarkSizes: "",
    grid: "",
    reference: "",
    seed: "0",
    repeats: "50",
    sweepSize: "",
    sweepValues: "",
  },
};

/** @type {Set<{keys: (keyof State)[], listener: () => void}>} */
const listeners = new Set();

export const store = {
  /** @type {Readonly<State>} */
  state,

  /**
   * Change parts of the state and notify their listeners. A part that is named with an unchanged value has changed
   * inside.
   * @param {Partial<State>} changes
   */
  update(changes) {
    Object.assign(state, changes);
    for (const { keys, listener } of [...listeners]) {
      if (keys.some((key) => key in changes)) listener();
    }
  },

  /**
   * Call `listener` now and after every change of a part named in `keys`.
   * @param {(keyof State)[]} keys
   * @param {() => void} listener
   * @returns {() => void} ends it
   */
  watch(keys, listener) {
    const entry = { keys, listener };
    listeners.add(entry);
    listener();
    return () => void listeners.delete(entry);
  },
};
