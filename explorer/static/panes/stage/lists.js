/**
 * Long lists in a stage's text, which can be folded: declarations, attributes, constants, metadata.
 *
 * @import { Syntax } from "../../core/languages.js"
 */

const LEAST_LINES = 5;

/** Blank lines and comments may stand between the entries. */
const BETWEEN = /^\s*(?:;.*|\/\/.*)?$/;

/**
 * @param {string[]} lines
 * @param {Syntax} syntax
 * @returns {{first: number, last: number, title: string}[]} lines from 1
 */
export function longLists(lines, { lists: kinds = [] }) {
  if (kinds.length === 0) return [];
  /** @type {{first: number, last: number, title: string}[]} */
  const found = [];
  /** @type {{first: number, last: number, title: string} | null} */
  let open = null;
  const end = () => {
    if (open && open.last - open.first + 1 >= LEAST_LINES) found.push(open);
    open = null;
  };
  lines.forEach((text, index) => {
    const line = index + 1;
    const title = kinds.find(([pattern]) => pattern.test(text))?.[1];
    if (title && open?.title === title) open.last = line;
    else if (title) {
      end();
      open = { first: line, last: line, title };
    } else if (open && !BETWEEN.test(text)) end();
  });
  end();
  return found;
}
