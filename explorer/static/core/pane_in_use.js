/** Track which pane of a kind was used last. Commands that belong to no pane apply to this pane. */

/** @type {Map<string, Element>} by the name of the element */
const usedLast = new Map();

document.addEventListener("focusin", ({ target }) => {
  const pane = target instanceof Element ? target.closest(".pane-frame > *") : null;
  if (!pane) return;
  // The last pane in the map is the most recently used pane.
  usedLast.delete(pane.localName);
  usedLast.set(pane.localName, pane);
});

/**
 * Return the most recently used pane of a kind, or else the first one; null: none is open.
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
