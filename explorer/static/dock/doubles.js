/**
 * Panes of a group that show the same stage: the first stage of a result may stand for others. One of them has a tab.
 *
 * @import { IDockviewPanel } from "dockview-core"
 */
import { addressOf, kindOf, panelParams, shows } from "./pane_address.js";

/** The keys by which dockview moves the focus along the tabs, hidden tabs included, or closes a tab. */
const STEPS = /** @type {Record<string, number>} */ ({
  ArrowLeft: -1,
  ArrowRight: 1,
  Home: -Infinity,
  End: Infinity,
  Delete: 0,
  Backspace: 0,
});

/**
 * Return the panes of a group that have a tab: of the panes that show the same stage, the pane in front or the first.
 * @param {{panels: IDockviewPanel[], activePanel?: IDockviewPanel | undefined}} group
 */
export function panelsWithTab({ panels, activePanel }) {
  const inOrder = activePanel ? [activePanel, ...panels] : panels;
  return panels.filter((panel) => {
    const params = panelParams(panel);
    return (
      !kindOf(params.name)?.per_stage || inOrder.find((each) => shows(each, addressOf(params))) === panel
    );
  });
}

/** Keep the focus on a visible tab, after dockview has handled a key. @param {KeyboardEvent} event */
export function keepFocusOnTabs(event) {
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
