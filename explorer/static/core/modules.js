/**
 * Modules that the page loads when it needs them.
 */

import { toast } from "./dom.js";

/** Return whether a module could not be fetched, because the server cannot be reached. @param {unknown} error */
export const isLost = (error) => error instanceof TypeError && /\bmodule\b/i.test(error.message);

/**
 * Load a module, and use it. If the server cannot be reached, a toast says so, and the next call tries again.
 * @template Module
 * @param {() => Promise<Module>} load
 * @param {(module: Module) => void} [use]
 * @param {string} [words] of the toast; "": there is none
 */
export function loadLater(load, use = () => {}, words = "") {
  return load().then(use, (error) => {
    if (!isLost(error)) throw error;
    if (words) toast(words);
  });
}
