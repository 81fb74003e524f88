/**
 * The commands of a stage pane.
 *
 * @import { StagePane } from "../stage.js"
 */
import { register } from "../../core/commands.js";
import { FILTERS, isOn } from "./filters.js";

/** @param {() => StagePane | null} inUse the pane that they are about */
export function registerCommands(inUse) {
  register([
    { name: "edit-stage", title: "Edit and continue", group: "Stage", run: () => inUse()?.editing.begin() },
    { name: "fold-all", title: "Fold all", group: "Stage", run: () => void inUse()?.folds.foldAll(true) },
    {
      name: "unfold-all",
      title: "Unfold all",
      group: "Stage",
      run: () => void inUse()?.folds.foldAll(false),
    },
    {
      name: "lineage",
      title: "Why is this here?",
      group: "Stage",
      run: () => inUse()?.lineage.toggle(),
    },
    ...FILTERS.map((filter) => ({
      name: `filter:${filter.name}`,
      title: `Show or hide: ${filter.title.toLowerCase()}`,
      group: "Stage",
      run: () => {
        const pane = inUse();
        if (pane) pane.setFilter(filter, !isOn(filter, pane.view));
      },
    })),
  ]);
}
