/** Find commands by letters of their titles, or by the terms of the panes that they open. */

/** @import { Command } from "../core/commands.js" */

/** A title that contains the typed text comes first, then a word of the field, then scattered letters. */
const WHOLE = 100;
const PHRASE = 70;
/** Shorter words match too many texts. */
const LEAST_LETTERS = 3;

/**
 * @typedef {object} Found
 * @property {Command} command
 * @property {string} phrase by which it was found; "": by its title
 */

/**
 * @param {Command[]} commands
 * @param {string} typed
 * @param {Record<string, string[]>} words of the commands, by their names
 * @returns {Found[]} the best first; if nothing is typed, all in their order
 */
export function searchCommands(commands, typed, words) {
  const wanted = typed.trim().toLowerCase();
  if (!wanted) return commands.map((command) => ({ command, phrase: "" }));
  return commands
    .map((command) => {
      const byTitle = rankOf(wanted, `${command.title} ${command.group}`);
      const phrase = phraseWith(wanted, [...(words[command.name] ?? []), command.summary ?? ""]);
      const byPhrase = phrase ? PHRASE + 10 / phrase.length : 0;
      return { command, phrase: byPhrase > byTitle ? phrase : "", rank: Math.max(byTitle, byPhrase) };
    })
    .filter(({ rank }) => rank > 0)
    .sort((one, other) => other.rank - one.rank);
}

/**
 * Return the first phrase in which the typed text begins a word, or that the typed text contains.
 * @param {string} wanted
 * @param {string[]} phrases
 */
function phraseWith(wanted, phrases) {
  if (wanted.length < LEAST_LETTERS) return "";
  const found = phrases.filter((phrase) => {
    const lower = phrase.toLowerCase();
    return (
      ` ${lower.replaceAll("-", " ")}`.includes(` ${wanted.replaceAll("-", " ")}`) || isPart(lower, wanted)
    );
  });
  return found.sort((one, other) => one.length - other.length)[0] ?? "";
}

/** Whether a phrase is among the words that are typed, also in the plural. @param {string} phrase @param {string} wanted */
function isPart(phrase, wanted) {
  return phrase.length > LEAST_LETTERS && ` ${wanted} `.includes(` ${phrase}`);
}

/**
 * How well the letters of `wanted` are found in `text`, in their order: more at the beginnings of words and
 * next to each other; 0: not at all.
 * @param {string} wanted in small letters @param {string} text
 */
function rankOf(wanted, text) {
  const lower = text.toLowerCase();
  let rank = lower.includes(wanted) ? WHOLE : 1;
  let from = 0;
  let before = -2;
  for (const letter of wanted.replace(/\s+/g, "")) {
    const at = lower.indexOf(letter, from);
    if (at < 0) return 0;
    if (at === 0 || /[^a-z0-9]/.test(lower[at - 1] ?? "")) rank += 6;
    if (at === before + 1) rank += 4;
    before = at;
    from = at + 1;
  }
  return rank + 10 / text.length;
}
