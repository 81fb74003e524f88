/**
 * The base class of panes whose content can be saved as a picture.
 *
 * @import { Context } from "./svg_context.js"
 */
import { registerFamily } from "../core/commands.js";
import { toast } from "../core/dom.js";
import { targetTitle } from "../core/format.js";
import { Pane } from "../core/pane.js";
import { paneInUse } from "../core/pane_in_use.js";
import { store } from "../core/store.js";
import { html } from "../core/template.js";

/**
 * @typedef {{width: number, height: number}} Size
 *
 * @typedef {Element | ({root: SVGElement} & Size) | ({draw: (context: Context) => void} & Size)} PictureSubject an
 *   element of the page, a drawing of it in its own size, or a function that draws on a canvas
 */

const KINDS = /** @type {const} */ (["svg", "png"]);

export class PicturePane extends Pane {
  /** What the picture shows, from top to bottom; empty: nothing. It is drawn at once. @returns {PictureSubject[]} */
  pictureParts() {
    return [];
  }

  /** The name of the picture in the name of the file. */
  get pictureName() {
    return this.localName.replace("pane-", "");
  }

  get pictureTitle() {
    return store.state.paneKinds.find(({ name }) => name === this.pictureName)?.title ?? "";
  }

  /** The buttons that save the picture. */
  saveButtons() {
    return KINDS.map((kind) => {
      const title = `Save as ${kind.toUpperCase()}`;
      return html`<button type="button" class="tool" aria-label=${title} title=${title}
        @click=${() => this.savePicture(kind)}>${kind.toUpperCase()}</button>`;
    });
  }

  /** @param {"svg" | "png"} kind */
  async savePicture(kind) {
    try {
      const [{ pictureOf }, { pngOf, saveBlob, svgText }] = await Promise.all([
        import("./picture.js"),
        import("./save.js"),
      ]);
      const { result } = store.state;
      const parts = this.pictureParts();
      if (!result || !parts.length) return toast("The pane shows nothing to save.");
      const { kernel, target, triton } = result.document;
      const title = [kernel ?? "kernel", targetTitle(target), `Triton ${triton}`, this.pictureTitle].join(
        " · ",
      );
      const picture = pictureOf(this, title, parts);
      const blob =
        kind === "png" ? await pngOf(picture) : new Blob([svgText(picture)], { type: "image/svg+xml" });
      saveBlob(blob, `${kernel ?? "kernel"}-${target.architecture}-${this.pictureName}.${kind}`);
    } catch (error) {
      toast(`The picture could not be saved. Try again${kind === "png" ? ", or save it as SVG" : ""}.`);
      reportError(error);
    }
    return undefined;
  }
}

registerFamily(() => {
  const pane = paneInUse(PicturePane);
  return (pane ? KINDS : []).map((kind) => ({
    name: `save-${kind}`,
    title: `Save the picture as ${kind.toUpperCase()}`,
    group: "Panes",
    run: () => void pane?.savePicture(kind),
  }));
});
