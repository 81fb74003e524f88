/** Preset arrangements of panes. */
import { parseLayout } from "../core/view.js";

/**
 * @typedef {{name: string, title: string, layout: import("../core/view.js").Layout, reading: boolean}} Preset
 */

/**
 * @param {string} name
 * @param {string} title
 * @param {string} layout
 * @param {boolean} [reading]
 * @returns {Preset}
 */
const preset = (name, title, layout, reading = false) => ({
  name,
  title,
  layout: /** @type {import("../core/view.js").Layout} */ (parseLayout(layout)),
  reading,
});

export const LOWERING = preset(
  "lowering",
  "Lowering",
  "stage:ttir,stage:ttgir*,stage:llir,passes@52+findings*,stage:sass,stage:ptx,resources,log@48",
);

/** `reading`: the source is read-only, and the launch panel is hidden. */
export const PRESETS = [
  LOWERING,
  preset("two_stages", "Two stages", "stage:ttgir@50+stage:sass@50"),
  preset("speed", "Speed", "roofline*,run@52+stage:sass*,stage:ttgir@48"),
  preset(
    "read_only",
    "Read only",
    "stage:ttir,stage:ttgir*,stage:llir,stage:ptx,stage:sass,passes,resources@100",
    true,
  ),
];
