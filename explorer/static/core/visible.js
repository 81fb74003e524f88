/**
 * Show the invisible characters of texts from users, compilers and files as escapes.
 *
 * Bidirectional overrides are among them: in a name, they could reorder the words around it. Copied, saved and sent
 * texts are unchanged.
 */

/** Attributes that browsers show or screen readers read; other attributes are names and values. */
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
