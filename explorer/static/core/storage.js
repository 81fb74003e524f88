/**
 * What this browser remembers between visits, and a tab when it is loaded again; nothing, where it is not
 * allowed to, or only looks at one result.
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
    // Without storage things last as long as the page.
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
