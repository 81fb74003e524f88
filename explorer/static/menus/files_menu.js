/** The menu of the files of the script: the commands of their group. */
import { allCommands, caps } from "../core/commands.js";
import { html, nothing, render } from "../core/template.js";

/** @param {HTMLElement} popover */
export function draw(popover) {
  const entries = allCommands()
    .filter(({ group }) => group === "Files")
    .map(({ title, keys, run }) => {
      const choose = () => {
        popover.hidePopover();
        run();
      };
      const combination = keys?.[0] ? caps(keys[0]).join(" ") : nothing;
      return html`<button type="button" class="entry" title=${combination} @click=${choose}>
        <span>${title}</span>
      </button>`;
    });
  render(
    html`${entries}
      <p class="hint">
        Files and folders can also be dropped on the editor. Captures, Triton's cache, dumps, traces and logs of
        torch.compile open as a session.
      </p>`,
    popover,
  );
}
