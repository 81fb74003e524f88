/** `<pane-findings>`: what costs speed in the kernel. A first visit shows its result before it loads the view. */
import { Pane, emptyPane, finishedId, whyEmpty } from "../core/pane.js";
import { html } from "../core/template.js";

class FindingsPane extends Pane {
  /** @override */
  render() {
    if (!finishedId())
      return emptyPane(
        whyEmpty(
          "Compile a kernel to see what costs speed in it.",
          "The findings are known when the compilation is finished.",
        ),
      );
    void import("../findings/view.js");
    return html`<findings-view .paneId=${this.id}></findings-view>`;
  }
}

customElements.define("pane-findings", FindingsPane);
