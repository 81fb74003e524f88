/** The Gallery menu: a card for each example. */
import { html, render } from "../core/template.js";
import { openExample } from "../launch/edit.js";
import { store } from "../core/store.js";

/** @param {HTMLElement} popover */
export function draw(popover) {
  const open = (/** @type {string} */ name) => () => {
    popover.hidePopover();
    store.update({ lesson: "" });
    void openExample(name);
  };
  render(
    store.state.gallery.map(
      ({ name, title, summary }) => html`<button type="button" class="card" @click=${open(name)}>
        <b>${title}</b><span>${firstSentence(summary)}</span>
      </button>`,
    ),
    popover,
  );
}

/** @param {string} text */
function firstSentence(text) {
  const plain = text.replace(/\s+/g, " ").trim();
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, ".") ?? plain;
}
