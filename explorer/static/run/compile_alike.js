/**
 * Compile as a recording was compiled, where that can be done here.
 *
 * @import { RunDocument } from "./documents.js"
 */
import { make } from "../dom.js";
import { choose } from "../edit.js";
import { canCompile } from "../host.js";
import { store } from "../store.js";

/** @param {Pick<RunDocument, "recorded" | "match">} document @returns {HTMLButtonElement | null} null: there is nothing to do, or it cannot be done here */
export function compileAlike({ recorded, match }) {
  if (!canCompile || !recorded || match !== "other triton" || !store.state.tritons.versions.includes(recorded.triton)) return null;
  return make("button", { type: "button", class: "link", onclick: () => choose({ triton: recorded.triton }) }, `Compile with Triton ${recorded.triton}`);
}
