/**
 * The initial values of a draft.
 *
 * @import { Draft } from "./types.js"
 */

/**
 * A draft of a source alone.
 * @param {string} source
 * @param {string} target
 * @param {Partial<Draft>} [more]
 * @returns {Draft}
 */
export function freshDraft(source, target, more = {}) {
  return {
    source,
    path: "",
    files: {},
    kernel: null,
    mode: "launch",
    launch: null,
    arguments: [],
    guessed: {},
    signature: "",
    options: {},
    constants: {},
    config: null,
    typed: {},
    target,
    triton: null,
    assumed: {},
    scriptArguments: "",
    edits: null,
    private: "",
    ...more,
  };
}
