/**
 * Keep the tab in front in sight where its bar gets narrower: by a moved border, or by the button for the
 * tabs that do not
 * fit, which dockview shows only after it has scrolled.
 */
import { scrollSideways } from "../core/dom.js";

const sizes = new ResizeObserver((entries) => {
  for (const { target: bar } of entries) {
    const tab = bar.querySelector(".dv-active-tab");
    if (tab) scrollSideways(bar, tab);
  }
});

/** @param {HTMLElement} group of dockview's */
export function keepTabInSight(group) {
  const bar = group.querySelector(".dv-tabs-container");
  if (bar) sizes.observe(bar);
}
