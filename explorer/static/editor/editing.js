/** The parts of the editor that are loaded when the user first edits: keys, undo, search and bracket matching. */
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { keymap } from "@codemirror/view";

export const editing = [
  history(),
  bracketMatching(),
  indentOnInput(),
  highlightSelectionMatches(),
  closeBrackets(),
  search({ top: true }),
  keymap.of([...closeBracketsKeymap, ...searchKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
];
