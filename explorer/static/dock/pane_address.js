/**
 * The names of a pane: "NAME:STATE" in the address of the page, its name and state in dockview, and its title on the
 * tab.
 *
 * @import { IDockviewPanel } from "dockview-core"
 * @import { Layout } from "../core/view.js"
 */
import { shownStage, stageTitle } from "../core/stages.js";
import { store } from "../core/store.js";

/** Split a pane's address in two. @param {string} address */
export function parse(address) {
  const [name = "", state = ""] = address.split(":", 2);
  return { name, state };
}

/** @param {string} name */
export function kindOf(name) {
  return store.state.paneKinds.find((kind) => kind.name === name);
}

/** @param {string} name @param {string} state */
export function titleOf(name, state) {
  const kind = kindOf(name);
  return kind?.per_stage ? stageTitle(shownStage(state)) : (kind?.title ?? name);
}

/** @param {IDockviewPanel} panel @returns {{name: string, state: string, isPreview?: boolean}} */
export function panelParams(panel) {
  return /** @type {{name: string, state: string, isPreview?: boolean}} */ (
    panel.params ?? { name: "", state: "" }
  );
}

/**
 * Return whether a panel shows the pane of an address. For panes that exist once for each stage, the stage must be
 * equal, too.
 * @param {IDockviewPanel} panel
 * @param {string} address
 */
export function shows(panel, address) {
  const { name, state } = parse(address);
  const params = panelParams(panel);
  return params.name === name && (!kindOf(name)?.per_stage || shownStage(params.state) === shownStage(state));
}

/** @param {{name?: string, state?: string} | undefined} params */
export function addressOf(params) {
  return params?.state ? `${params.name}:${params.state}` : (params?.name ?? "");
}

/**
 * Return a layout without the panes and stages that this server does not know; null if nothing is left.
 * @param {Layout | null} layout
 * @returns {Layout | null}
 */
export function known(layout) {
  if (!layout) return null;
  if ("panes" in layout) {
    const panes = layout.panes.filter((address) => kindOf(parse(address).name));
    return panes.length ? { ...layout, panes, active: Math.min(layout.active, panes.length - 1) } : null;
  }
  const children = layout.children.map(known).filter((child) => child !== null);
  if (children.length > 1) return { ...layout, children };
  return children[0] ? { ...children[0], share: layout.share } : null;
}
