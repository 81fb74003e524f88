/**
 * The names in a stage's text: values, registers, blocks, functions; where each is written and used.
 *
 * In: the lines of the whole text, their outline, a name under the cursor. Out: all its occurrences. SSA names
 * are told apart by the region they belong to. Registers are written many times, so every write is a definition.
 *
 * @import { Name, Syntax } from "../core/languages.js"
 * @import { Outline } from "./outline.js"
 */

/** @typedef {Name & {line: number, isDefinition: boolean}} Occurrence */

/** The names of a line. @param {string} text @param {Syntax} syntax @returns {Name[]} */
export function namesOf(text, { names: syntax }) {
  if (!syntax) return [];
  const comment = syntax.comment ? text.indexOf(syntax.comment) : -1;
  const end = comment < 0 ? text.length : comment;
  /** @type {Name[]} */
  const names = [];
  for (const { index: from, 0: word, groups = {} } of text.matchAll(syntax.pattern)) {
    if (from >= end) break;
    const to = from + word.length;
    if (groups.family) {
      const low = Number(groups.low ?? groups.first);
      const high = Number(groups.low ?? groups.last);
      names.push({ from, to, key: groups.family, label: word, low, high });
    } else {
      const label = groups.label ? `%${groups.label}` : (groups.value ?? word);
      names.push({ from, to, key: label, label, low: 0, high: 0 });
    }
  }
  return names;
}

/**
 * Return every occurrence of a name with the same meaning, in the order of the text.
 * @param {string[]} lines @param {Outline} outline @param {Syntax} syntax
 * @param {number} line @param {Name} name
 * @returns {Occurrence[]}
 */
export function occurrencesOf(lines, outline, syntax, line, name) {
  const isEverywhere = /^[@#!]/.test(name.key);
  const around = isEverywhere ? null : outline.functionOf(line);
  const first = around?.first ?? 1;
  const last = around?.last ?? lines.length;
  const isRegister = name.key.length <= 2 && !/^[%@#!^]/.test(name.key);
  const stem = syntax.names?.hasBareLabels ? name.key.replace(/^%/, "") : name.key;
  /** @type {(Occurrence & {scope: number})[]} */
  const found = [];
  for (let number = first; number <= last; number += 1) {
    const text = /** @type {string} */ (lines[number - 1]);
    if (!text.includes(stem)) continue;
    const names = namesOf(text, syntax);
    const same = names.map(
      (each) => each.key === name.key && (!isRegister || (each.low <= name.high && name.low <= each.high)),
    );
    if (!same.includes(true)) continue;
    const writes = syntax.names?.writes(text, names) ?? [];
    names.forEach((each, index) => {
      if (!same[index]) return;
      const inside = writes[index] === "inside" ? outline.opened.get(number) : undefined;
      const scope = outline.scope(inside ?? outline.around[number] ?? -1);
      found.push({ ...each, line: number, isDefinition: Boolean(writes[index]), scope });
    });
  }
  if (isEverywhere || !syntax.names?.isSsa) return found;
  const scopes = new Set(found.filter(({ isDefinition }) => isDefinition).map(({ scope }) => scope));
  const home = (/** @type {{scope: number}} */ { scope }) => {
    while (scope >= 0 && !scopes.has(scope)) scope = outline.scope(outline.regions[scope]?.parent ?? -1);
    return scope;
  };
  const clicked = found.find((each) => each.line === line && each.from === name.from);
  return clicked ? found.filter((each) => home(each) === home(clicked)) : found;
}

/**
 * Where the value that is read at `line` was written; null: nowhere in this text.
 * @param {Occurrence[]} occurrences @param {number} line @param {Syntax} syntax
 */
export function definitionOf(occurrences, line, syntax) {
  const definitions = occurrences.filter(({ isDefinition }) => isDefinition);
  if (syntax.names?.isSsa) return definitions[0] ?? null;
  return definitions.findLast((each) => each.line < line) ?? definitions[0] ?? null;
}
