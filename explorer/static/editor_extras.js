/** What the editor needs only once somebody works in it: search, and brackets that close themselves. */
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { keymap } from "@codemirror/view";

export const extras = [
  highlightSelectionMatches(),
  closeBrackets(),
  search({ top: true }),
  keymap.of([...closeBracketsKeymap, ...searchKeymap]),
];
