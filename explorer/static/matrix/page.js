/**
 * Start the page of a matrix: fetch it, and fetch it again as long as the server compiles its cells.
 *
 * @import { MatrixDocument } from "../core/types.js"
 * @import { MatrixTable } from "./table.js"
 */
import { ApiError, api, pause } from "../core/api.js";
import { register, startKeys } from "../core/commands.js";
import { byId, make, toast } from "../core/dom.js";
import { plural } from "../core/format.js";
import { visible } from "../core/visible.js";
import { startPageCommands } from "../menus/page_commands.js";
import "./table.js";

const ASK_AGAIN_MS = 700;
/** The share of the time in which the server answers this page: a large matrix takes it part of a second. */
const BUSY_SHARE = 0.1;

const id = location.pathname.split("/").at(-1) ?? "";
const table = /** @type {MatrixTable} */ (document.querySelector("matrix-table"));
let isFollowing = false;

function start() {
  startKeys();
  startPageCommands([["Click", "Sort by a column, open a result, choose two to compare"]]);
  register([
    { name: "copy-link", title: "Copy the link", group: "Page", run: () => void copyLink() },
    { name: "cancel", title: "Cancel the compilations", group: "Page", run: () => void cancel() },
  ]);
  byId("copy-button").addEventListener("click", () => void copyLink());
  table.addEventListener("matrix-cancel", () => void cancel());
  table.addEventListener("matrix-compile", () => void compile());
  void follow();
}

/** Show the matrix until all of it is compiled. */
async function follow() {
  if (isFollowing) return;
  isFollowing = true;
  try {
    for (;;) {
      const asked = performance.now();
      const matrix = await api.matrix(id);
      const taken = performance.now() - asked;
      table.matrix = matrix;
      drawSubject(matrix);
      if (!matrix.is_at_work) return;
      await pause(Math.max(ASK_AGAIN_MS, taken / BUSY_SHARE));
    }
  } catch (error) {
    report(error);
  } finally {
    isFollowing = false;
  }
}

async function compile() {
  try {
    await api.compileMatrix(id);
    await follow();
  } catch (error) {
    report(error);
  }
}

async function cancel() {
  try {
    if (await api.cancelMatrix(id))
      toast("The compilations continue: a different page or program follows them.");
  } catch (error) {
    report(error);
  }
}

/** @param {unknown} error */
function report(error) {
  if (!(error instanceof ApiError)) throw error;
  table.problem = error.problem;
}

/** @param {MatrixDocument} matrix */
function drawSubject({ kernel, configurations, targets, tritons }) {
  const words = [
    plural(configurations.length, "configuration"),
    plural(targets.length, "target"),
    plural(tritons.length, "Triton version"),
  ].join(" × ");
  byId("subject").replaceChildren(make("b", {}, kernel ?? "Matrix"), ` ${words}`);
  document.title = visible(`${kernel ?? "Matrix"} · ${words} · triton·explorer`);
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    toast("Link to this matrix copied.");
  } catch {
    // Without permission for the clipboard the address bar has it.
    toast("The address bar has the link to this matrix.");
  }
}

start();
