/** Long lists in a stage's text, which nobody reads from end to end: declarations, attributes, registers, metadata. */
import { familyOf } from "../outline.js";

const LEAST_LINES = 6;

/**
 * What the entries of a list look like, and what they are called together. Blank lines and comments may stand between.
 * @type {Partial<Record<NonNullable<ReturnType<typeof familyOf>>, [RegExp, string][]>>}
 */
const ENTRIES = {
  mlir: [[/^#\w+ = /, "layouts"], [/^\s*llvm\.mlir\.global /, "globals"], [/^\s*llvm\.func .*[^{]$/, "declarations"], [/^\s*%\S+ = \S*(?:arith|llvm\.mlir)\.constant\b/, "constants"]],
  llir: [[/^declare /, "declarations"], [/^attributes #/, "attributes"], [/^![\w.]+ = /, "metadata"], [/^@[\w.$"-]+ = /, "globals"]],
  ptx: [[/^\s*\.param /, "parameters"], [/^\s*\.(?:b8|b16|b32|b64) /, "data"]],
  sass: [[/^\s*\.(?!text\b|L)[a-z]\w*/, "directives"]],
  amdgcn: [[/^\s*(?:- )?\.?[a-z][\w.]*:\s+\S|^\s+-\s|^(?:---|\.\.\.)$|^amdhsa\.\w+:$/, "metadata"], [/^\s+\.(?!L)[a-z]\w*(?!:)\b/, "directives"]],
};
const BETWEEN = /^\s*(?:;.*|\/\/.*)?$/;

/**
 * @param {string[]} lines
 * @param {string} language
 * @returns {{first: number, last: number, title: string}[]} lines from 1
 */
export function longLists(lines, language) {
  const family = familyOf(language);
  const kinds = (family && ENTRIES[family]) ?? [];
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
