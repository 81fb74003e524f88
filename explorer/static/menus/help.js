/** The help sheet: every command that has keys, and what mouse and keys do inside the panes. */
import { allCommands, caps } from "../core/commands.js";
import { byId } from "../core/dom.js";
import { html, render } from "../core/template.js";

/** @import { Gestures } from "./page_commands.js" */

/** The keys that depend on the place of the focus or the mouse. @type {Gestures} */
const GESTURES = [
  ["Click", "Pin a line; with Ctrl beside a name, one more"],
  ["Double click", "Pin the line and scroll every pane to it"],
  ["↑ ↓", "Move along the lines of a stage or the list of passes"],
  ["Enter", "Pin the line; with Shift, one more"],
  ["← →", "Follow the names in the line under the cursor; so does a click"],
  ["F2", "Go to the definition; so does Ctrl and a click on the name"],
  ["F3", "Go to the next occurrence; with Shift, the one before"],
  [
    "L",
    "Show the layout of the name that is followed; so does a click on #mma, and Alt with a click on a value",
  ],
  ["I", "Explain the line under the cursor and show its source lines, as pointing at it does"],
  ["O", "Show what made the operation under the cursor, what became of it, and its instructions"],
  ["[ ]", "Fold or unfold the region around the cursor"],
  ["{ }", "Fold everything inside of functions, unfold everything"],
  ["/", "Search the text that has the focus"],
  ["Ctrl F", "Search the source, or the text that has the focus"],
  ["Delete", "Close the tab that has the focus"],
];

/** @param {Gestures} [gestures] */
export function openHelp(gestures = GESTURES) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("help"));
  if (dialog.open) return;
  const commands = allCommands().filter(({ keys }) => keys?.length);
  const groups = [...new Set(commands.map(({ group }) => group))];
  render(
    html`<h2 id="help-title">Keyboard and mouse</h2>
      <div class="help-sections" tabindex="0" role="region" aria-labelledby="help-title"><div class="help-columns">
        ${groups.map((group) =>
          section(
            group,
            commands
              .filter((each) => each.group === group)
              .map(({ keys, title }) => [keys?.[0] ?? "", title]),
          ),
        )}
        ${section("Inside a pane", gestures)}
      </div></div>
      <form method="dialog">
        <span class="hint">The palette has every command.</span><button class="button primary">Close</button>
      </form>`,
    dialog,
  );
  dialog.onclick = ({ target }) => {
    if (target === dialog) dialog.close();
  };
  dialog.showModal();
}

/** @param {string} title @param {Gestures} rows */
function section(title, rows) {
  return html`<section>
    <h3>${title}</h3>
    <dl>${rows.map(
      ([keys, words]) => html`<dt>${caps(keys).map((cap) => html`<kbd>${cap}</kbd>`)}</dt><dd>${words}</dd>`,
    )}</dl>
  </section>`;
}
