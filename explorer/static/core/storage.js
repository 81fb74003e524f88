/**
 * The data that this browser stores between visits, and that a tab keeps when it is reloaded. Nothing is stored if
 * storage is blocked, or if the page only shows one result.
 */
import { canCompile } from "./host.js";

/** @typedef {"localStorage" | "sessionStorage"} Place for all tabs and visits, or for this tab alone */

/** @param {string} key @param {string | null} value null: forget it @param {Place} [place] */
export function keep(key, value, place = "localStorage") {
  if (!canCompile) return;
  try {
    if (value === null) window[place].removeItem(key);
    else window[place].setItem(key, value);
  } catch {
    // Without storage, values last as long as the page.
  }
}

/** @param {string} key @param {Place} [place] @returns {string | null} */
export function kept(key, place = "localStorage") {
  try {
    return window[place].getItem(key);
  } catch {
    return null;
  }
}
