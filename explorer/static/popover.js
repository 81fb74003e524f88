/** Menus: native popovers below their button, walked through by arrow keys. */
import { byId } from "./dom.js";

/** @param {string} id @param {string | null} buttonId the button that opens it, null where `place` is called */
export function menu(id, buttonId) {
  const element = byId(id);
  element.addEventListener("toggle", (event) => {
    const isOpen = /** @type {ToggleEvent} */ (event).newState === "open";
    if (buttonId) byId(buttonId).setAttribute("aria-expanded", String(isOpen));
    if (isOpen) /** @type {HTMLElement | null} */ (element.querySelector("button, a"))?.focus();
  });
  if (buttonId) element.addEventListener("beforetoggle", () => place(element, byId(buttonId)));
  element.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const entries = /** @type {HTMLElement[]} */ ([...element.querySelectorAll("button, a")]);
    const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    entries[(at + step + entries.length) % entries.length]?.focus();
  });
  return element;
}

/** Put a menu below its button, inside the window. @param {HTMLElement} element @param {HTMLElement} anchor */
export function place(element, anchor) {
  const { bottom, right } = anchor.getBoundingClientRect();
  element.style.top = `${Math.round(bottom + 6)}px`;
  element.style.right = `${Math.max(8, Math.round(innerWidth - right))}px`;
  element.style.maxHeight = `${Math.max(160, Math.round(innerHeight - bottom - 24))}px`;
}
