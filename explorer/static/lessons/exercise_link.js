/**
 * An exercise as a part of an address, which contains the whole exercise. The content of a link is checked, and shown
 * as text only.
 *
 * @import { Claim } from "../core/types.js"
 */

/**
 * @typedef {object} LinkedExercise
 * @property {string} start the ID of the result to start from
 * @property {string} title
 * @property {string} task
 * @property {Claim[]} goals
 * @property {string[]} hints
 */

/** Longer links are cut off by some chats. */
export const MOST_CHARACTERS = 6000;
/** As the server accepts. */
const MOST_CLAIMS_CHARACTERS = 2000;
const MOST_GOALS = 12;
const MOST_HINTS = 10;
const TEXTS = ["says", "stage", "pattern", "metric", "occupancy", "access", "shared_access", "taken", "run"];
const NUMBERS = ["exactly", "least", "most"];

/** @param {string} address the text behind "exercise=" in the address */
export function isLink(address) {
  return /^(?:\{|%7B)/i.test(address);
}

/** @param {LinkedExercise} exercise @returns {string} the part of the address */
export function formatLink(exercise) {
  return `exercise=${encodeURIComponent(JSON.stringify(exercise))}`;
}

/** Return the part of the goals that the server needs to read their numbers. @param {Claim[]} goals */
export function claimsText(goals) {
  return JSON.stringify(goals.map(({ says: _says, ...claim }) => claim));
}

/**
 * @param {string} address the text behind "exercise=" in the address
 * @returns {LinkedExercise}
 * @throws {Error} the exercise is invalid; the message says why
 */
export function readLink(address) {
  if (address.length > 3 * MOST_CHARACTERS) throw new Error("It is too long.");
  let value;
  try {
    value = JSON.parse(decodeURIComponent(address));
  } catch {
    throw new Error("It is cut off, or was changed on its way.");
  }
  return checked(value);
}

/**
 * @param {any} value
 * @returns {LinkedExercise}
 * @throws {Error} the exercise is invalid; the message says why
 */
export function checked(value) {
  const exercise = {
    start: text(value?.start, "start", 100),
    title: text(value?.title, "title", 100),
    task: text(value?.task, "task", 1500),
    goals: list(value?.goals, "goals", MOST_GOALS).map(goal),
    hints: list(value?.hints ?? [], "hints", MOST_HINTS).map((hint) => text(hint, "hint", 500)),
  };
  if (!/^[\w-]+$/.test(exercise.start)) throw new Error("Its start is not the ID of a result.");
  if (!exercise.title.trim()) throw new Error("It has no title.");
  if (!exercise.goals.length) throw new Error("It has no goals.");
  if (claimsText(exercise.goals).length > MOST_CLAIMS_CHARACTERS)
    throw new Error("Its goals are too long together.");
  if (JSON.stringify(exercise).length > MOST_CHARACTERS)
    throw new Error(`It has more than ${MOST_CHARACTERS.toLocaleString("en")} characters.`);
  return exercise;
}

/** @param {any} value @returns {Claim} */
function goal(value) {
  const says = text(value?.says, "goal", 120);
  /** @type {Record<string, string | number>} */
  const found = { says };
  for (const [name, each] of Object.entries(value)) {
    if (TEXTS.includes(name)) found[name] = text(each, name, 200);
    else if (NUMBERS.includes(name) && Number.isFinite(each)) found[name] = each;
    else throw new Error(`The goal “${says}” has an invalid “${name.slice(0, 20)}”.`);
  }
  if (!NUMBERS.some((name) => name in found)) throw new Error(`The goal “${says}” does not say how many.`);
  return /** @type {any} */ (found);
}

/** @param {unknown} value @param {string} name @param {number} most @returns {string} */
function text(value, name, most) {
  if (typeof value !== "string") throw new Error(`Its ${name} is missing.`);
  if (value.length > most) throw new Error(`Its ${name} has more than ${most} characters.`);
  return value;
}

/** @param {unknown} value @param {string} name @param {number} most @returns {unknown[]} */
function list(value, name, most) {
  if (!Array.isArray(value)) throw new Error(`Its ${name} are missing.`);
  if (value.length > most) throw new Error(`It has more than ${most} ${name}.`);
  return value;
}
