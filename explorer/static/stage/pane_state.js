/** The state of a stage pane in the address: `ttgir;hide=attributes;show=locations.layouts`. */

/**
 * @typedef {object} PaneState
 * @property {string} stage
 * @property {Set<string>} hide what is not shown, although it is by default
 * @property {Set<string>} show what is shown, although it is not by default
 */

/** @param {string} state @returns {PaneState} */
export function parsePaneState(state) {
  const [stage = "", ...parts] = state.split(";");
  const names = (/** @type {string} */ key) => new Set(parts.find((part) => part.startsWith(`${key}=`))?.slice(key.length + 1).split(".").filter(Boolean));
  return { stage, hide: names("hide"), show: names("show") };
}

/** @param {PaneState} state */
export function formatPaneState({ stage, hide, show }) {
  const part = (/** @type {string} */ key, /** @type {Set<string>} */ names) => (names.size ? `;${key}=${[...names].sort().join(".")}` : "");
  return stage + part("hide", hide) + part("show", show);
}
