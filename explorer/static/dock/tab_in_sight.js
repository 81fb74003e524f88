/**
 * Keep the tab in front in sight where its bar gets narrower: by a moved border, or by the button for the tabs that do not
 * fit, which dockview shows only after it has scrolled.
 */
const sizes = new ResizeObserver((entries) => {
  for (const { target: bar } of entries) {
    const tab = bar.querySelector(".dv-active-tab")?.getBoundingClientRect();
    if (!tab) continue;
    const { left, right } = bar.getBoundingClientRect();
    // Not by `scrollIntoView`: that moves the page, too.
    if (tab.right > right) bar.scrollLeft += tab.right - right;
    else if (tab.left < left) bar.scrollLeft -= left - tab.left;
  }
});

/** @param {HTMLElement} group of dockview's */
export function keepTabInSight(group) {
  const bar = group.querySelector(".dv-tabs-container");
  if (bar) sizes.observe(bar);
}
