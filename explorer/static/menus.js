/**
 * The menus of the gallery and of the panes.
 *
 * @import { DockviewGroupPanel } from "dockview-core"
 * @import { Dock } from "./dock.js"
 */
import { make } from "./dom.js";
import { openExample } from "./edit.js";
import { hueClass, stageTitle } from "./stages.js";
import { pathOf } from "./pipeline.js";
import { menu, place } from "./popover.js";
import { PRESETS } from "./presets.js";
import { store } from "./store.js";

/** @param {Dock} dock */
export function startMenus(dock) {
  const gallery = menu("gallery-menu", "gallery-button");
  store.watch(["gallery"], () => {
    gallery.replaceChildren(
      ...store.state.gallery.map(({ name, title, summary }) =>
        make("button", { type: "button", class: "card", onclick: () => { gallery.hidePopover(); void openExample(name); } }, make("b", {}, title), make("span", {}, firstSentence(summary)))),
    );
  });

  const panes = menu("pane-menu", null);
  document.addEventListener("pane-menu", (event) => {
    const { group, anchor } = /** @type {CustomEvent<{group: DockviewGroupPanel, anchor: HTMLElement}>} */ (event).detail;
    const entry = (/** @type {string} */ title, /** @type {string} */ summary, /** @type {string} */ hue, /** @type {() => void} */ act) =>
      make("button", { type: "button", class: `entry ${hue}`, title: summary, onclick: () => { panes.hidePopover(); act(); } }, make("span", {}, title));
    const { paneKinds, result } = store.state;
    panes.replaceChildren(
      ...paneKinds.flatMap(({ name, title, summary, per_stage }) =>
        per_stage
          ? [...pathOf(result).map((stage) => entry(stageTitle(stage), summary, hueClass(stage), () => dock.addTo(group, `${name}:${stage}`))), make("hr")]
          : [entry(title, summary, "", () => dock.addTo(group, name))]),
      make("hr"),
      entry("Split to the right", "", "", () => dock.split(group, "right")),
      entry("Split below", "", "", () => dock.split(group, "below")),
      make("hr"),
      ...PRESETS.map((preset) => entry(`Arrange: ${preset.title}`, "In place of all panes", "", () => dock.arrange(preset))),
    );
    place(panes, anchor);
    panes.showPopover();
  });
}

/** @param {string} text */
function firstSentence(text) {
  const plain = text.replace(/\s+/g, " ").trim();
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, ".") ?? plain;
}
