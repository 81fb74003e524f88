/** What this browser remembers between visits; nothing, where it is not allowed to, or only looks at one result. */
import { canCompile } from "./host.js";

/** @param {string} key @param {string | null} value null: forget it */
export function keep(key, value) {
  if (!canCompile) return;
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Without storage things last as long as the page.
  }
}

/** @param {string} key @returns {string | null} */
export function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
