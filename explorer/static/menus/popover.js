/** Menus: native popovers below their button, walked through by arrow keys. */
import { byId, toast } from "../core/dom.js";

/** Between a menu and its button. */
const GAP_PX = 6;
/** A menu with less room than this opens where there is more. */
const LEAST_ROOM_PX = 320;

/**
 * Set up a menu. Its code is loaded when it is first opened, or when the pointer reaches its button.
 * @param {string} id
 * @param {string} buttonId
 * @param {() => Promise<{draw: (menu: HTMLElement) => void}>} load
 * @returns {() => Promise<HTMLElement>} opens the menu
 */
export function menu(id, buttonId, load) {
  const element = popover(id);
  /** @type {((menu: HTMLElement) => void) | null} */
  let draw = null;
  const prepare = async () => {
    ({ draw } = await load());
  };
  const open = async () => {
    await prepare();
    element.showPopover();
    return element;
  };
  element.addEventListener("toggle", (event) => {
    const isOpen = /** @type {ToggleEvent} */ (event).newState === "open";
    document.getElementById(buttonId)?.setAttribute("aria-expanded", String(isOpen));
  });
  element.addEventListener("beforetoggle", (event) => {
    if (/** @type {ToggleEvent} */ (event).newState !== "open") return;
    if (!draw) {
      // The menu opens as soon as there is something in it.
      event.preventDefault();
      open().catch(() => toast("The menu could not be loaded. Try again."));
      return;
    }
    place(element, anchorOf(buttonId));
    draw(element);
  });
  document
    .getElementById(buttonId)
    ?.addEventListener("pointerenter", () => void prepare().catch(() => undefined), { once: true });
  return open;
}

/** Return the anchor of a menu: its button, or in a narrow window the button that leads to it. @param {string} id */
function anchorOf(id) {
  const button = byId(id);
  return button.checkVisibility() ? button : byId("commands-button");
}

/** The popover with this id, with its keys. @param {string} id */
export function popover(id) {
  const element = byId(id);
  element.addEventListener("toggle", (event) => {
    const isOpen = /** @type {ToggleEvent} */ (event).newState === "open";
    if (isOpen) /** @type {HTMLElement | null} */ (element.querySelector("button, a"))?.focus();
  });
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

/**
 * Put a menu below its button, or above it where the window has more room, inside the window.
 * @param {HTMLElement} element
 * @param {HTMLElement} anchor
 */
export function place(element, anchor) {
  const { top, bottom, right } = anchor.getBoundingClientRect();
  const roomBelow = innerHeight - bottom;
  const isBelow = roomBelow > Math.min(top, LEAST_ROOM_PX);
  element.style.top = isBelow ? `${Math.round(bottom + GAP_PX)}px` : "auto";
  element.style.bottom = isBelow ? "auto" : `${Math.round(innerHeight - top + GAP_PX)}px`;
  element.style.setProperty("--right", `${Math.max(8, Math.round(innerWidth - right))}px`);
  element.style.maxHeight = `${Math.round((isBelow ? roomBelow : top) - 4 * GAP_PX)}px`;
}
