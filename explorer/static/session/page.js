/**
 * Start the page of a session: fetch it, and fetch it again until all of it is compiled.
 *
 * @import { SessionTable } from "./table.js"
 */
import { ApiError, api, pause } from "../core/api.js";
import { register, startKeys } from "../core/commands.js";
import { byId, make, toast } from "../core/dom.js";
import { isOver } from "../core/status.js";
import { store } from "../core/store.js";
import { visible } from "../core/visible.js";
import { startPageCommands } from "../menus/page_commands.js";
import "./table.js";

const ASK_AGAIN_MS = 2000;
/** The share of the time in which the server answers this page: a large session takes it seconds. */
const BUSY_SHARE = 0.1;

async function start() {
  startKeys();
  startPageCommands([["Click", "Sort by a column, open a kernel"]]);
  register([{ name: "copy-link", title: "Copy the link", group: "Page", run: () => void copyLink() }]);
  byId("copy-button").addEventListener("click", () => void copyLink());
  const table = /** @type {SessionTable} */ (document.querySelector("session-table"));
  const id = location.pathname.split("/").at(-1) ?? "";
  try {
    store.update({ metrics: (await api.page()).metrics });
    for (;;) {
      const asked = performance.now();
      const session = await api.session(id);
      const duration = performance.now() - asked;
      table.session = session;
      drawSubject(session.title);
      if (session.kernels.every((row) => isOver(row) && row.agreement !== "waiting")) return;
      await pause(Math.max(ASK_AGAIN_MS, duration / BUSY_SHARE));
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    table.problem = error.problem;
  }
}

/** @param {string} title */
function drawSubject(title) {
  byId("subject").replaceChildren(make("b", {}, title));
  document.title = visible(`${title} · triton·explorer`);
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    toast("Link to this session copied.");
  } catch {
    // Without permission for the clipboard the address bar has it.
    toast("The address bar has the link to this session.");
  }
}

void start();
