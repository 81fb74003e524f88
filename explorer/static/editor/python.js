/**
 * Highlighting and indentation of Python for the editors.
 *
 * A tokenizer is enough: nothing here needs a syntax tree, and the tables of a parser are larger than all other
 * code of the editor.
 */
import { LanguageSupport, StreamLanguage } from "@codemirror/language";
import { python as mode } from "@codemirror/legacy-modes/mode/python";

export const python = new LanguageSupport(StreamLanguage.define(mode));
