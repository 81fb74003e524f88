/**
 * Texts of others as they are shown: characters that cannot be seen are written as their escapes.
 *
 * Among them are those that turn the direction of what follows, so that a name could rewrite the words around
 * it. What is copied, saved or sent is the text itself.
 */

/** Attributes that are read out or shown; the others are names and values. */
export const READ_ATTRIBUTES = new Set(["title", "aria-label", "aria-description", "alt", "placeholder"]);

/** Format characters: directions, zero widths, soft hyphens, tags. */
const UNSEEN = /\p{Cf}/gu;

/** @param {string} text */
export function visible(text) {
  return text.replace(UNSEEN, (character) => {
    const digits = (character.codePointAt(0) ?? 0).toString(16);
    return digits.length > 4 ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
  });
}
