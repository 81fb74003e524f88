/**
 * Keep the tab in front visible when its bar gets narrower: because a border moves, or because dockview adds the button
 * for hidden tabs after it has scrolled.
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
