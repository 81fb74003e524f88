/**
 * Previews: the tabs of panes that were only looked at. The next pane that opens in their group replaces them.
 *
 * @import { IDockviewPanel } from "dockview-core"
 */
import { panelParams } from "./pane_address.js";

/** The keys that leave a pane, or do nothing by themselves. */
const OTHER_KEYS = new Set(["Alt", "Control", "Escape", "Meta", "Shift", "Tab"]);

/** Return the preview of a group. @param {IDockviewPanel[]} panels */
export function previewOf(panels) {
  return panels.find((panel) => panelParams(panel).isPreview);
}

/** Return whether a key that is pressed in a pane uses the pane. @param {KeyboardEvent} event */
export function isUse({ key, ctrlKey, altKey, metaKey }) {
  return !(ctrlKey || altKey || metaKey || OTHER_KEYS.has(key));
}
