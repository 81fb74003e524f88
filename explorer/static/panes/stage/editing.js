/**
 * Editing the text of a stage to continue from it: the button, and the editor that takes the place of the text. The
 * editor is in `./stage_editor.js`, which is loaded when it is first needed.
 *
 * @import { StageContent } from "../../core/result.js"
 * @import { StagePane } from "../stage.js"
 */
import { canCompile } from "../../core/host.js";
import { store } from "../../core/store.js";
import { html, nothing } from "../../core/template.js";

export class Editing {
  /** The content whose text is being edited. @type {StageContent | null} */
  content = null;

  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
  }

  /** Whether the compiler can continue from the text. */
  get isOffered() {
    const { content, isFinished } = this.pane;
    const kind = store.state.stageKinds.find(({ name }) => name === content?.row.name);
    return Boolean(kind?.is_editable && canCompile && isFinished);
  }

  button() {
    if (!this.isOffered) return nothing;
    return html`<button
      type="button"
      class="toggle view-button edit-button"
      title="Edit the text and compile the later stages from it"
      aria-pressed=${this.content !== null}
      @click=${() => this.begin()}
    >edit</button>`;
  }

  begin() {
    if (this.content || !this.isOffered) return;
    void import("./stage_editor.js").catch(() => undefined);
    this.set(this.pane.content);
  }

  /** @param {StageContent | null} content null: nothing is edited */
  set(content) {
    this.content = content;
    this.pane.requestUpdate();
  }

  /** The editor; null: nothing is edited. */
  render() {
    if (!this.content) return null;
    return html`<stage-editor
      role="region"
      aria-label="Edit and continue"
      .content=${this.content}
      @edit-closed=${() => this.set(null)}
    ></stage-editor>`;
  }
}
