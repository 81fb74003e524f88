/** The sheet of keyboard shortcuts. */
import { byId, make } from "./dom.js";

const SHORTCUTS = [
  ["Ctrl Enter", "Compile now"],
  ["Alt 1 … 6", "Show a stage"],
  ["Esc", "Let pinned lines go"],
  ["↑ ↓", "Move along the lines of a stage or the list of passes"],
  ["Enter", "Pin the line; with Shift, one more"],
  ["Click", "Pin a line; with Ctrl, one more"],
  ["← →", "Follow the names in the line under the cursor; so does a click"],
  ["F2", "Go to the definition; so does a double click"],
  ["F3", "Go to the next occurrence; with Shift, the one before"],
  ["/", "Search the stage"],
  ["Ctrl F", "Search the source, or the stage that has the focus"],
  ["Ctrl ] Ctrl [", "Next and previous tab of a group"],
  ["F6", "Next group of panes"],
  ["Delete", "Close the tab that has the focus"],
  ["?", "This sheet"],
];

export function startHelp() {
  const dialog = /** @type {HTMLDialogElement} */ (byId("help"));
  dialog.append(
    make("h2", { id: "help-title" }, "Keyboard and mouse"),
    make("dl", {}, ...SHORTCUTS.flatMap(([keys = "", words = ""]) => [
      make("dt", {}, ...keys.split(" ").map((key) => (/^(…|,)$/.test(key) ? ` ${key} ` : make("kbd", {}, key)))),
      make("dd", {}, words),
    ])),
    make("form", { method: "dialog" }, make("button", { class: "button primary" }, "Close")),
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  byId("help-button").addEventListener("click", () => dialog.showModal());
}
