/**
 * The selection, for the page around this frame: a notebook, or a different site.
 *
 * That page sends the message `CONNECT` with a port. Through the port, it gets a `Selection` after each change, and
 * sends one to have it selected. Nothing is sent to a page that sends no port.
 *
 * @typedef {{stage?: string | null, line?: number | null, source_lines?: number[] | null}} Selection a line of a
 *   stage; pinned source lines. Without `source_lines`, the source lines of the stage line are pinned.
 */
import { debounce } from "../core/dom.js";
import { canCompile } from "../core/host.js";
import { store } from "../core/store.js";

/** `notebook/widget.js` sends the same. */
const CONNECT = "triton-explorer:selection";
/** The origin of selections by the page around the frame. */
const ORIGIN = "frame";
/** A click puts the cursor, then pins; a key that is held moves the cursor many times. */
const PAUSE_MS = 50;

/** @type {MessagePort | null} */
let port = null;
let isStarted = false;
/** The latest request to select something. @type {Selection | null} */
let wanted = null;
/** Who has put the cursor, and who has last changed the selection. @type {string | null} */
let placedBy = null;
/** @type {string | null} */
let selectedBy = null;
let told = "";

// The page around sends its port as soon as the frame is loaded, which is before the result is shown.
if (!canCompile && parent !== window)
  addEventListener("message", ({ data, source, ports: [sent] }) => {
    if (source !== parent || data !== CONNECT || !sent) return;
    port?.close();
    port = sent;
    if (isStarted) listen();
  });

/** Start when the result has arrived. Earlier messages wait in the port. */
export function startFrameSelection() {
  isStarted = true;
  store.watch(["cursor"], () => {
    placedBy = selectedBy = store.state.origin;
    tellSoon();
  });
  store.watch(["pinned"], () => {
    selectedBy = store.state.origin;
    tellSoon();
  });
  told = JSON.stringify(selection());
  listen();
}

function listen() {
  if (port) port.onmessage = ({ data }) => void select(data);
}

/** The current selection. It contains the cursor unless a later selection was made elsewhere. */
function selection() {
  const { cursor, pinned } = store.state;
  const isPlaced = cursor !== null && placedBy === selectedBy;
  return {
    stage: isPlaced ? cursor.stage : null,
    line: isPlaced ? cursor.line : null,
    source_lines: pinned,
  };
}

const tellSoon = debounce(() => {
  const now = selection();
  if (JSON.stringify(now) === told) return;
  told = JSON.stringify(now);
  port?.postMessage(now);
}, PAUSE_MS);

/** @param {Selection} request */
async function select(request) {
  wanted = request;
  const { stage, line, source_lines: sourceLines } = request;
  const content = stage ? (store.state.result?.content(stage) ?? null) : null;
  const cursor = content && stage && line && line <= content.row.lines ? { stage, line } : null;
  if (cursor) await content?.loadLocations();
  if (wanted !== request) return;
  const pinned = sourceLines ?? (cursor && content ? content.sourceLines(cursor.line) : []);
  const [first] = pinned;
  // Before the cursor is put: a pane that opens goes to it.
  if (cursor) document.dispatchEvent(new CustomEvent("pane-open", { detail: `stage:${cursor.stage}` }));
  store.update({ cursor, pinned, ...(first ? { shown: { line: first } } : {}), origin: ORIGIN });
}
