/**
 * The menus of the page: their buttons and commands. The content of each menu is in a separate module.
 *
 * @import { DockviewGroupPanel } from "dockview-core"
 * @import { Dock } from "../dock/dock.js"
 */
import { register } from "../core/commands.js";
import { byId } from "../core/dom.js";
import { canCompile, isEmbedded } from "../core/host.js";
import { startHistory } from "./expected_results.js";
import { menu, place, popover } from "./popover.js";
import { startShareCommands } from "./share.js";

/** @param {Dock} dock */
export function startMenus(dock) {
  if (!isEmbedded) {
    startShareCommands(menu("share-menu", "share-button", () => import("./share_menu.js")));
  }
  if (canCompile) {
    menu("gallery-menu", "gallery-button", () => import("./gallery_menu.js"));
    menu("learn-menu", "learn-button", () => import("./learn_menu.js"));
    menu("compare-menu", "compare-button", () => import("./compare_menu.js"));
    menu("files-menu", "files-button", () => import("./files_menu.js"));
    menu("privacy-menu", "privacy-button", () => import("../launch/privacy_menu.js"));
    menu("history-menu", "history-button", () => import("./history_menu.js"));
    startHistory();
    const press = (/** @type {string} */ id) => () => byId(id).click();
    register([
      { name: "compare", title: "Compare with …", group: "Page", run: press("compare-button") },
      { name: "history", title: "Open the history", group: "Page", run: press("history-button") },
      {
        name: "clear-history",
        title: "Clear the history",
        group: "Page",
        run: () => void import("./history_menu.js").then(({ clear }) => clear()),
      },
    ]);
  }
  const panes = popover("pane-menu");
  document.addEventListener("pane-menu", (event) => {
    const { group, anchor } = /** @type {CustomEvent<{group: DockviewGroupPanel, anchor: HTMLElement}>} */ (
      event
    ).detail;
    void import("./pane_menu.js").then(({ draw }) => {
      draw(panes, dock, group);
      place(panes, anchor);
      panes.showPopover();
    });
  });
}
