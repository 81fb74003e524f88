/**
 * Panes of a group that show the same stage: the first stage of a result may stand for others. One of them has a tab.
 *
 * @import { IDockviewPanel } from "dockview-core"
 */
import { addressOf, kindOf, panelParams, shows } from "./pane_address.js";

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
