/**
 * The commands of the passes pane, with their keys.
 *
 * @import { PassesPane } from "../passes.js"
 */
import { registerFamily } from "../../core/commands.js";
import { isFile } from "../../core/host.js";

/** @param {() => PassesPane | null} inUse the pane that they are about */
export function registerCommands(inUse) {
  registerFamily(() => {
    const pane = inUse();
    if (!pane) return [];
    /** @type {[name: string, title: string, key: string, run: () => void, isOffered?: boolean][]} */
    const commands = [
      ["pass-next", "Next pass", "J", () => pane.stepPass(1)],
      ["pass-previous", "Previous pass", "K", () => pane.stepPass(-1)],
      ["pass-change-next", "Next change of the pass", "N", () => void pane.stepChange(1)],
      ["pass-change-previous", "Previous change of the pass", "P", () => void pane.stepChange(-1)],
      ["pass-unified", "Pass: side by side or unified", "U", () => pane.toggleForm()],
      ["pass-whole", "Pass: all lines or changes only", "E", () => pane.toggle("whole")],
      ["pass-wide", "Pass: full width", "W", () => pane.toggle("wide")],
      ["pass-types", "Pass: types in full or folded", "T", () => pane.toggle("types")],
      ["pass-search", "Search all passes", "O", () => pane.search(), !isFile],
      ["pass-graph", "Graph of the module after the pass", "G", () => pane.openGraph(), pane.hasGraph],
      ["pass-layouts", "Layouts after the pass", "", () => pane.openLayouts(), pane.hasLayouts],
      ["operation-forward", "Next change of the operation", "F", () => void pane.lineage?.step(1)],
      ["operation-back", "Previous change of the operation", "B", () => void pane.lineage?.step(-1)],
    ];
    return commands
      .filter(([, , , , isOffered = true]) => isOffered)
      .map(([name, title, key, run]) => ({ name, title, group: "Passes", keys: key ? [key] : [], run }));
  });
}
