/** `<pane-findings>`: what costs speed in the kernel. A first visit shows its result before it loads the view. */
import { Pane, emptyPane } from "../core/pane.js";
import { store } from "../core/store.js";
import { html } from "../core/template.js";

class FindingsPane extends Pane {
  /** @override */
  render() {
    const { result } = store.state;
    if (!result?.finished)
      return emptyPane(
        result
          ? "The findings are known when the compilation is finished."
          : "Compile a kernel to see what costs speed in it.",
      );
    void import("../findings/view.js");
    return html`<findings-view .paneId=${this.id}></findings-view>`;
  }
}

customElements.define("pane-findings", FindingsPane);
