/**
 * The Gallery menu: the tours, and a card for each example.
 *
 * @import { TourRow } from "../core/types.js"
 */
import { get } from "../core/api.js";
import { html, nothing, render } from "../core/template.js";
import { openExample } from "../launch/edit.js";
import { store } from "../core/store.js";

/** @type {Promise<TourRow[]> | undefined} */
let tours;

/** @param {HTMLElement} popover */
export async function draw(popover) {
  tours ??= get("/tours").catch(() => []);
  drawCards(popover, []);
  drawCards(popover, await tours);
}

/** @param {HTMLElement} popover @param {TourRow[]} rows */
function drawCards(popover, rows) {
  const open = (/** @type {string} */ name) => () => {
    popover.hidePopover();
    store.update({ tour: "" });
    void openExample(name);
  };
  const take = (/** @type {string} */ name) => () => {
    popover.hidePopover();
    store.update({ tour: `${name}.1` });
  };
  const offered = rows.map(
    ({ name, title, question, steps }) =>
      html`<button type="button" class="card" @click=${take(name)}>
        <b>${title}</b><span>${question} <small>${steps} steps</small></span>
      </button>`,
  );
  const cards = store.state.gallery.map(
    ({ name, title, summary }) =>
      html`<button type="button" class="card" @click=${open(name)}>
        <b>${title}</b><span>${firstSentence(summary)}</span>
      </button>`,
  );
  const learn = offered.length
    ? html`<h2>Tours: learn how kernels are lowered</h2>${offered}<h2>Kernels</h2>`
    : nothing;
  render(html`${learn}${cards}`, popover);
}

/** @param {string} text */
function firstSentence(text) {
  const plain = text.replace(/\s+/g, " ").trim();
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, ".") ?? plain;
}
