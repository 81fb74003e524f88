/** Build the nodes of a line: its colored tokens, split at the marks. */
import { make } from "../core/dom.js";

/** Longest part of a line that is drawn: a browser takes seconds to lay out a line of 1 MB. */
const MOST_CHARACTERS = 20_000;

/**
 * Return the pieces of a line. A line that is too long is cut, with a note of how much is missing.
 *
 * @param {[string, string][]} tokens class and characters
 * @param {{from: number, to: number, class: string, instead?: string}[]} marks may overlap; the classes add
 *   up;
 *   those with an `instead` are shown as that, and do not overlap each other
 * @returns {(Node | string)[]}
 */
export function piecesOf(tokens, marks) {
  const length = tokens.reduce((sum, [, text]) => sum + text.length, 0);
  if (length <= MOST_CHARACTERS) return allPiecesOf(tokens, marks);
  let left = MOST_CHARACTERS;
  /** @type {[string, string][]} */
  const shown = [];
  for (const [kind, text] of tokens) {
    if (left <= 0) break;
    shown.push([kind, text.slice(0, left)]);
    left -= text.length;
  }
  const rest = (length - MOST_CHARACTERS).toLocaleString("en");
  const begun = marks.filter(({ from }) => from < MOST_CHARACTERS);
  return [
    ...allPiecesOf(shown, begun),
    make("span", { class: "is-cut" }, ` … ${rest} more characters: copy the line to get all of them`),
  ];
}

/**
 * @param {[string, string][]} tokens
 * @param {{from: number, to: number, class: string, instead?: string}[]} marks
 * @returns {(Node | string)[]}
 */
function allPiecesOf(tokens, marks) {
  if (marks.length === 0)
    return tokens.map(([kind, text]) => (kind ? make("span", { class: kind }, text) : text));
  const cuts = marks.flatMap(({ from, to }) => [from, to]).sort((one, other) => one - other);
  /** @type {(Node | string)[]} */
  const pieces = [];
  let column = 0;
  for (const [kind, text] of tokens) {
    const end = column + text.length;
    for (let from = column; from < end; ) {
      const at = from;
      const replaced = marks.find((mark) => mark.instead !== undefined && mark.from <= at && at < mark.to);
      if (replaced) {
        // Once, at its beginning, even if it covers several tokens.
        if (at === replaced.from && replaced.instead)
          pieces.push(make("span", { class: replaced.class }, replaced.instead));
        from = Math.min(end, replaced.to);
        continue;
      }
      const to = Math.min(end, cuts.find((cut) => cut > at) ?? end);
      const names = [
        kind,
        ...marks.filter((mark) => mark.from <= at && at < mark.to).map((mark) => mark.class),
      ].filter(Boolean);
      const part = text.slice(at - column, to - column);
      pieces.push(names.length ? make("span", { class: names.join(" ") }, part) : part);
      from = to;
    }
    column = end;
  }
  return pieces;
}
