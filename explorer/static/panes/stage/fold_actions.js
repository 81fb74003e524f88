/**
 * The actions that fold and unfold a stage's text: the mark of a line, keys, commands. The address contains the folds.
 *
 * @import { StagePane } from "../stage.js"
 */
export class FoldActions {
  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
  }

  /** Put the folds into the address. */
  keep() {
    const { folding, view } = this.pane;
    this.pane.keepState(this.pane.stateOf({ ...view, fold: folding.state }));
  }

  /** Fold or unfold the region with its header at a line. @param {number} line */
  toggle(line) {
    const { folding } = this.pane;
    if (!folding.at(line)) return;
    folding.set(line, !folding.folded.has(line));
    this.pane.showLines(line);
    this.keep();
  }

  /** Fold or unfold the region around the cursor. @param {boolean} isFolded */
  async foldHere(isFolded) {
    const { folding, text } = this.pane;
    if (!(await this.pane.read())) return;
    const line = text.cursor || text.topLine;
    const fold = isFolded ? folding.around(line, true) : folding.at(line);
    if (!fold) return;
    folding.set(fold.first, isFolded);
    if (isFolded) text.setCursor(fold.first);
    this.pane.showLines(fold.first);
    this.keep();
  }

  /** @param {boolean} isFolded */
  async foldAll(isFolded) {
    const { folding, text } = this.pane;
    if (!(await this.pane.read())) return;
    folding.setAll(isFolded);
    this.pane.showLines();
    if (text.cursor) text.reveal(text.cursor);
    this.keep();
  }
}
