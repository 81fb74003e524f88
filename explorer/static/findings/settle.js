/**
 * The result whose findings are requested, and their number for the status bar.
 *
 * To find them takes as long as to compile a small kernel. Results of typing therefore wait for a pause in it.
 *
 * @import { AnalysisAnswer } from "../core/types.js"
 */
import { ApiError, api } from "../core/api.js";
import { debounce } from "../core/dom.js";
import { plural } from "../core/format.js";
import { store } from "../core/store.js";

/** Nobody types if no key is pressed for so long. */
const QUIET_MS = 700;

/** The complete result that was settled last. @type {import("../core/result.js").Result | null} */
let last = null;
let isQuiet = true;

/** Settle each finished result that is shown, and count its findings. */
export function startSettling() {
  const rest = debounce(() => {
    isQuiet = true;
    settle();
  }, QUIET_MS);
  store.watch(["draft"], () => {
    isQuiet = false;
    rest();
  });
  store.watch(["result"], settle);
}

function settle() {
  const { result, settled } = store.state;
  if (!result?.finished || result === settled || (result.isLive && !isQuiet)) return;
  store.update({ settled: result });
  if (result.document.status === "complete") void count(result);
}

/** The number of findings, and of the checks that were not possible. @param {AnalysisAnswer<"findings">} answer */
function wordsOf({ findings, checked }) {
  const left = checked.filter(({ reason }) => reason).length;
  const words = findings.length ? plural(findings.length, "finding") : "no findings";
  return left ? `${words}, ${left} of ${checked.length} not checked` : words;
}

/** @param {import("../core/result.js").Result} result */
async function count(result) {
  const { id, document } = result;
  if (last) store.update({ before: last.document.kernel === document.kernel ? last : null });
  last = result;
  const tell = (/** @type {import("../core/store.js").State["found"]} */ found) => {
    if (store.state.result?.id === id) store.update({ found });
  };
  tell({ id, words: "checking …" });
  try {
    tell({ id, words: wordsOf(await api.analysis(id, "findings")) });
  } catch (error) {
    tell(null);
    // The pane says why there is no answer.
    if (!(error instanceof ApiError)) throw error;
  }
}
