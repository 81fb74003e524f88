/** The source of a compilation, fetched piece by piece as the text of a stage is. */
import { api } from "../core/api.js";
import { StageContent } from "../core/result.js";

export class SourceContent extends StageContent {
  /** @param {string} id @param {number} lines */
  constructor(id, lines) {
    super(id, {
      name: "source",
      title: "Source",
      language: "python",
      lines,
      bytes: 0,
      milliseconds: 0,
      url: "",
    });
  }

  /** @param {number} from @param {number} to @override */
  fetchLines(from, to) {
    return api.sourceLines(this.id, from, to);
  }
}
