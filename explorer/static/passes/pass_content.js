/** The module after a pass, fetched piece by piece as the text of a stage is. */
import { api } from "../api.js";
import { StageContent } from "../result.js";

export class PassContent extends StageContent {
  /** @param {string} id @param {number} index @param {number} lines */
  constructor(id, index, lines) {
    super(id, { name: String(index), title: "", language: "mlir", lines, bytes: 0, milliseconds: 0, url: "" });
    this.index = index;
  }

  /** @param {number} from @param {number} to @override */
  fetchLines(from, to) {
    return api.passLines(this.id, this.index, from, to);
  }
}
