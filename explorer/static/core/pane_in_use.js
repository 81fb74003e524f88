/** Which pane of a kind was used last: what a command without a place of its own is about. */

/** @type {Map<string, Element>} by the name of the element */
const usedLast = new Map();

document.addEventListener("focusin", ({ target }) => {
  const pane = target instanceof Element ? target.closest(".pane-frame > *") : null;
  if (pane) usedLast.set(pane.localName, pane);
});

/**
 * The pane that was used last, or the first one there is; null: none is open.
 * @template {Element} Pane
 * @param {string} element its name, such as "pane-stage"
 * @param {new () => Pane} kind
 * @returns {Pane | null}
 */
export function paneInUse(element, kind) {
  const used = usedLast.get(element);
  const pane = used?.isConnected ? used : document.querySelector(element);
  return pane instanceof kind ? pane : null;
}
