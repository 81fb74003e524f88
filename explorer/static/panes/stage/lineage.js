/**
 * The lineage of an operation of a stage's text: its button, and its view between the text and the foot of the pane.
 * The view is in `../../lineage/operation_lineage.js`, which is loaded when it is first needed.
 *
 * @import { CompilationDocument } from "../../core/types.js"
 * @import { StagePane } from "../stage.js"
 */
import { isFile } from "../../core/host.js";
import { store } from "../../core/store.js";
import { html, nothing } from "../../core/template.js";
import { LineageLink } from "./lineage_link.js";
import { keepsLineage } from "./pane_state.js";

/** Their lines are not operations of the compiler. */
const STAGES_WITHOUT = ["ast"];

export class Lineage {
  /** The result of the text. @type {CompilationDocument | null} */
  result = null;

  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
    this.link = new LineageLink(pane, this);
  }

  /** Close the lineage when the text of another source comes. In a typed text, `TextUpdate` moves its line. */
  follow() {
    const { content, view } = this.pane;
    const { result, run } = store.state;
    const next = [run?.result, result].find((each) => content && each?.id === content.id)?.document;
    const before = this.result;
    if (!next) return;
    this.result = next;
    if (!before || !this.line || keepsLineage(before, next, content?.isLive)) return;
    view.lineage = 0;
    this.show(0);
  }

  /** Whether the operations in the text have a lineage: it needs a server and a finished compilation. */
  get isOffered() {
    const { content, isFinished } = this.pane;
    return Boolean(content && !STAGES_WITHOUT.includes(content.row.name) && isFinished && !isFile);
  }

  /** The line of the operation whose lineage is shown; 0: none. */
  get line() {
    return this.pane.view.lineage;
  }

  button() {
    if (!this.isOffered) return nothing;
    return html`<button
      type="button"
      class="toggle view-button"
      title="Why the line is here: what made its operation, and what became of it (O)"
      aria-pressed=${this.line > 0}
      @click=${() => this.toggle()}
    >lineage</button>`;
  }

  render() {
    const { content } = this.pane;
    if (!content || !this.line || !this.isOffered) return nothing;
    void import("../../lineage/operation_lineage.js").catch(() => undefined);
    return html`<operation-lineage
      role="region"
      aria-label=${`Lineage of the operation in ${content.row.title}`}
      .operation=${{ id: content.id, stage: content.row.name, line: this.line }}
      .passes=${store.state.result?.document.passes ?? []}
      @lineage-step=${(/** @type {CustomEvent<{index: number, line: number}>} */ { detail }) =>
        this.pane.openBeside(`passes:${passState(detail)}`)}
      @lineage-closed=${() => this.show(0)}
    ></operation-lineage>`;
  }

  /** Show the lineage of the operation in a line. @param {number} line 0: show none */
  show(line) {
    this.pane.keepState(this.pane.stateOf({ ...this.pane.view, lineage: line }));
  }

  toggle() {
    const { text } = this.pane;
    if (this.isOffered) this.show(this.line ? 0 : text.cursor || text.topLine);
  }
}

/** The state of the Passes pane that shows a line of the module after a pass. @param {{index: number, line: number}} at */
function passState({ index, line }) {
  const stage = store.state.result?.document.passes.find((pass) => pass.index === index)?.stage ?? "";
  return `${stage}.${index}.t.l${line}`;
}
