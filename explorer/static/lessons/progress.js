/**
 * The stored progress of exercises: the solved exercises, the drafts of the other exercises, and the draft from before
 * the exercises.
 *
 * @import { Draft } from "../core/types.js"
 */
import { freshDraft } from "../core/fresh_draft.js";
import { keep, kept } from "../core/storage.js";
import { keptDraft } from "../launch/draft.js";

const KEY = "exercises";
const OWN_KEY = "before-exercises";

/** @typedef {{isSolved?: boolean, draft?: Partial<Draft>}} Progress */

/** @returns {Record<string, Progress>} of each exercise that was begun, by name */
export function allProgress() {
  return parsed(kept(KEY)) ?? {};
}

/** @param {string} name @returns {Progress} */
export function progressOf(name) {
  const all = allProgress();
  return Object.hasOwn(all, name) ? (all[name] ?? {}) : {};
}

/** @param {string} name @param {Progress} more */
export function keepProgress(name, more) {
  const all = allProgress();
  keep(KEY, JSON.stringify({ ...all, [name]: { ...progressOf(name), ...more } }));
}

/** Forget all exercises, not the kernel from before. */
export function forgetProgress() {
  keep(KEY, null);
}

/** How far an exercise is, as a draft; null: at its start. @param {string} name @param {Draft} start */
export function keptWork(name, start) {
  const { draft } = progressOf(name);
  return typeof draft?.source === "string" ? freshDraft(draft.source, start.target, draft) : null;
}

/** Store the last draft before an exercise replaces it, unless the draft is an exercise. @param {string} target */
export function keepOwn(target) {
  const own = keptDraft(target);
  const isExercise = Object.values(allProgress()).some(({ draft }) => draft?.source === own?.source);
  if (own && !isExercise) keep(OWN_KEY, JSON.stringify(own));
}

/** Return the draft from before the exercises; null: none. @returns {Draft | null} */
export function ownDraft() {
  const draft = parsed(kept(OWN_KEY));
  return typeof draft?.source === "string" ? freshDraft(draft.source, draft.target ?? "", draft) : null;
}

export function forgetOwn() {
  keep(OWN_KEY, null);
}

/** @param {string | null} text @returns {any} null: it is none of ours */
function parsed(text) {
  try {
    const value = JSON.parse(text ?? "null");
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
