/** The help sheet: every command that has keys, and what mouse and keys do inside the panes. */
import { allCommands, caps } from "./commands.js";
import { byId, make } from "./dom.js";

/** @import { Gestures } from "./page_commands.js" */

/** What depends on where the focus or the mouse is. @type {Gestures} */
const GESTURES = [
  ["Click", "Pin a line; with Ctrl beside a name, one more"],
  ["Double click", "Pin the line and scroll every pane to it"],
  ["↑ ↓", "Move along the lines of a stage or the list of passes"],
  ["Enter", "Pin the line; with Shift, one more"],
  ["← →", "Follow the names in the line under the cursor; so does a click"],
  ["F2", "Go to the definition; so does Ctrl and a click on the name"],
  ["F3", "Go to the next occurrence; with Shift, the one before"],
  ["L", "Show the layout of the name that is followed; so does a click on #mma, and Alt and a click on a value or a variable"],
  ["I", "Show what the line under the cursor does and where it comes from; so does the mouse"],
  ["[ ]", "Fold what the cursor is in, unfold what is folded there"],
  ["{ }", "Fold everything inside of functions, unfold everything"],
  ["/", "Search the stage that has the focus"],
  ["Ctrl F", "Search the source, or the stage that has the focus"],
  ["Delete", "Close the tab that has the focus"],
];

/** @param {Gestures} [gestures] */
export function openHelp(gestures = GESTURES) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("help"));
  if (dialog.open) return;
  const commands = allCommands().filter(({ keys }) => keys?.length);
  const groups = [...new Set(commands.map(({ group }) => group))];
  /** @param {string} title @param {Gestures} rows */
  const section = (title, rows) =>
    make(
      "section",
      {},
      make("h3", {}, title),
      make("dl", {}, ...rows.flatMap(([keys, words]) => [
        make("dt", {}, ...caps(keys).map((cap) => make("kbd", {}, cap))),
        make("dd", {}, words),
      ])),
    );
  dialog.replaceChildren(
    make("h2", { id: "help-title" }, "Keyboard and mouse"),
    make(
      "div",
      { class: "help-sections", tabindex: "0", role: "region", "aria-labelledby": "help-title" },
      ...groups.map((group) =>
        section(group, commands.filter((each) => each.group === group).map(({ keys, title }) => /** @type {const} */ ([keys?.[0] ?? "", title])))),
      section("Inside a pane", gestures),
    ),
    make("form", { method: "dialog" }, make("span", { class: "hint" }, "The palette has every command."), make("button", { class: "button primary" }, "Close")),
  );
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close();
  };
  dialog.showModal();
}
