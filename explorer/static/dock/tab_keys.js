/**
 * Keys on the tabs that dockview does not handle, or handles without regard to hidden tabs.
 *
 * @import { Dock } from "./dock.js"
 */

/** The keys by which dockview moves the focus along the tabs, hidden tabs included, or closes a tab. */
const STEPS = /** @type {Record<string, number>} */ ({
  ArrowLeft: -1,
  ArrowRight: 1,
  Home: -Infinity,
  End: Infinity,
  Delete: 0,
  Backspace: 0,
});

/** @param {Dock} dock */
export function startTabKeys({ element, api }) {
  element.addEventListener("keydown", keepFocusOnTabs);
  // Enter on the tab of the pane in front keeps the pane. Dockview brings another pane to the front afterwards.
  const keep = (/** @type {KeyboardEvent} */ { key, target }) => {
    if (key !== "Enter") return;
    const inFront = api.groups.map(({ activePanel }) => activePanel);
    const panel = inFront.find((each) => each?.view.tab.element.parentElement === target);
    panel?.api.updateParameters({ isPreview: false });
  };
  element.addEventListener("keydown", keep, true);
}

/** Keep the focus on a visible tab, after dockview has handled a key. @param {KeyboardEvent} event */
function keepFocusOnTabs(event) {
  const { key, target } = event;
  const step = STEPS[key];
  if (step === undefined || !(target instanceof HTMLElement) || target.role !== "tab") return;
  // The tab itself may be closed.
  const list = event.composedPath().find((each) => each instanceof HTMLElement && each.role === "tablist");
  const all = [.../** @type {HTMLElement} */ (list).querySelectorAll("[role=tab]")].map(
    (tab) => /** @type {HTMLElement} */ (tab),
  );
  const tabs = all.filter((tab) => tab.checkVisibility());
  const at = tabs.indexOf(target);
  const next =
    at < 0
      ? (tabs.find((tab) => tab === document.activeElement) ??
        tabs.find((tab) => tab.ariaSelected === "true"))
      : tabs[Math.max(0, Math.min(tabs.length - 1, at + step))];
  for (const tab of all) tab.tabIndex = tab === next ? 0 : -1;
  next?.focus();
}
