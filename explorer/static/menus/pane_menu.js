/**
 * The menu of a group of panes: panes to add, and arrangements.
 *
 * @import { DockviewGroupPanel } from "dockview-core"
 * @import { Dock } from "../dock/dock.js"
 */
import { PRESETS } from "../dock/presets.js";
import { html, nothing, render } from "../core/template.js";
import { pathOf } from "../page/pipeline.js";
import { hueClass, stageTitle } from "../core/stages.js";
import { store } from "../core/store.js";

/** @param {HTMLElement} popover @param {Dock} dock @param {DockviewGroupPanel} group */
export function draw(popover, dock, group) {
  const entry = (
    /** @type {string} */ title,
    /** @type {() => void} */ act,
    /** @type {string} */ summary = "",
    /** @type {string} */ hue = "",
  ) => {
    const choose = () => {
      popover.hidePopover();
      act();
    };
    return html`<button type="button" class="entry ${hue}" title=${summary || nothing} @click=${choose}>
      <span>${title}</span>
    </button>`;
  };
  const { paneKinds, result } = store.state;
  const panes = paneKinds.map(({ name, title, summary, per_stage }) => {
    if (!per_stage) return entry(title, () => dock.addTo(group, name), summary);
    const stages = pathOf(result).map((stage) =>
      entry(
        stageTitle(stage),
        () => dock.addTo(group, `${name}:${stage}`),
        summary,
        `of-stage ${hueClass(stage)}`,
      ),
    );
    return [...stages, html`<hr />`];
  });
  const presets = PRESETS.map((preset) =>
    entry(`Arrange: ${preset.title}`, () => dock.arrange(preset), "Replaces all panes"),
  );
  render(
    html`${panes}
      <hr />
      ${entry("Split to the right", () => dock.split(group, "right"))}
      ${entry("Split below", () => dock.split(group, "below"))}
      <hr />
      ${presets}`,
    popover,
  );
}
