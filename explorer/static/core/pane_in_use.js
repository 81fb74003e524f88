/** Which pane of a kind was used last: what a command without a place of its own is about. */

/** @type {Map<string, Element>} by the name of the element */
const usedLast = new Map();

document.addEventListener("focusin", ({ target }) => {
  const pane = target instanceof Element ? target.closest(".pane-frame > *") : null;
  if (!pane) return;
  // The last one in the map is the one that was used last.
  usedLast.delete(pane.localName);
  usedLast.set(pane.localName, pane);
});

/**
 * The pane that was used last, or the first one there is; null: none is open.
 * @template {Element} Pane
 * @param {new () => Pane} kind
 * @returns {Pane | null}
 */
export function paneInUse(kind) {
  const used = [...usedLast.values()].filter((pane) => pane.isConnected);
  const open = document.querySelectorAll(".pane-frame > *");
  for (const pane of [...used.reverse(), ...open]) if (pane instanceof kind) return pane;
  return null;
}
