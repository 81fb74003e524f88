/**
 * One compilation, complete or in progress. Its document is in memory; its texts are fetched when they are shown.
 *
 * @import { CompilationDocument, Locations, StageRow, TextLine } from "./types.js"
 */
import { api } from "./api.js";
import { syntaxOf } from "./languages.js";
import { isOver } from "./status.js";

const CHUNK_LINES = 250;

/** The lines of a stage and their locations, fetched in pieces and kept. */
export class StageContent {
  /** @param {string} id @param {StageRow} row @param {boolean} [isLive] of a live compilation */
  constructor(id, row, isLive = false) {
    this.id = id;
    this.row = row;
    this.isLive = isLive;
    /** @type {Map<number, TextLine[] | Promise<void>>} */
    this.chunks = new Map();
    /** @type {Locations | null} */
    this.locations = null;
    /** @type {Map<number, number[]>} shown lines by source line */
    this.shownLines = new Map();
    /** @type {Map<number, number>} operations or instructions by source line */
    this.operationCounts = new Map();
    /** @type {Promise<void> | null} */
    this.locationsPromise = null;
    /** @type {Promise<string[] | null> | null} */
    this.textPromise = null;
  }

  /**
   * Return a line that has arrived. Otherwise request it and return null.
   * @param {number} number from 1
   * @param {() => void} arrived called when missing lines have arrived
   * @returns {TextLine | null}
   */
  line(number, arrived) {
    const index = Math.floor((number - 1) / CHUNK_LINES);
    const chunk = this.chunks.get(index);
    if (Array.isArray(chunk)) return chunk[number - 1 - index * CHUNK_LINES] ?? null;
    if (!chunk) {
      const first = index * CHUNK_LINES + 1;
      const fetching = this.fetchLines(first, Math.min(first + CHUNK_LINES - 1, this.row.lines)).then(
        (document) => void this.chunks.set(index, document.lines),
        () => void this.chunks.delete(index),
      );
      this.chunks.set(index, fetching);
      void fetching.then(arrived);
    } else {
      void (/** @type {Promise<void>} */ (chunk).then(arrived));
    }
    return null;
  }

  /** Fetch lines that are about to be shown. @param {number[]} numbers */
  async loadLines(numbers) {
    /** @param {number} number @returns {Promise<void>} */
    const arrival = (number) =>
      new Promise((resolve) => {
        if (number > this.row.lines || this.line(number, resolve)) resolve();
      });
    await Promise.all(numbers.map(arrival));
  }

  /** @param {number} from @param {number} to */
  fetchLines(from, to) {
    return api.lines(this.id, this.row.name, from, to);
  }

  /** The syntax of the text. */
  get syntax() {
    return syntaxOf(this.row.language);
  }

  /** Fetch the locations of the lines, once. */
  loadLocations() {
    this.locationsPromise ??= api.locations(this.id, this.row.name).then(
      (locations) => {
        locations.source_lines.forEach((sourceLines, index) => {
          for (const line of sourceLines) {
            const shown = this.shownLines.get(line);
            if (shown) shown.push(index + 1);
            else this.shownLines.set(line, [index + 1]);
          }
        });
        this.operationCounts = new Map(locations.source_line_operations);
        this.locations = locations;
      },
      () => {
        this.locationsPromise = null;
      },
    );
    return this.locationsPromise;
  }

  /** @param {number} number a shown line, from 1 @returns {number[]} its source lines */
  sourceLines(number) {
    return this.locations?.source_lines[number - 1] ?? [];
  }

  /** Return the lines of the whole text, for searching; null: they cannot be fetched at the moment. */
  text() {
    this.textPromise ??= api.stageText(this.id, this.row.name).then(
      (text) => text.split("\n"),
      () => (this.textPromise = null),
    );
    return this.textPromise;
  }
}

/** Whether arguments were guessed. @param {CompilationDocument["specialization"] | undefined} specialization */
export function hasGuesses(specialization) {
  return Object.keys(specialization?.guesses ?? {}).length > 0;
}

export class Result {
  /** @param {CompilationDocument} document @param {boolean} [isLive] typing has asked for it, and nobody else since */
  constructor(document, isLive = false) {
    this.document = document;
    this.isLive = isLive;
    /** @type {Map<string, StageContent>} */
    this.contents = new Map();
    /** The current step of the running job; empty: it compiles. */
    this.progress = "";
  }

  get id() {
    return this.document.id;
  }

  get finished() {
    return isOver(this.document);
  }

  get errors() {
    return this.document.diagnostics.filter(({ severity }) => severity === "error");
  }

  /** Whether the script failed before a launch, so that a kernel with guessed arguments was compiled. */
  get hasFailedScript() {
    const { status, specialization } = this.document;
    return status === "complete" && this.errors.length > 0 && hasGuesses(specialization);
  }

  /** @param {string} name */
  stage(name) {
    return this.document.stages.find((row) => row.name === name) ?? null;
  }

  /** @param {string} name @returns {StageContent | null} */
  content(name) {
    const row = this.stage(name);
    if (!row) return null;
    let content = this.contents.get(name);
    if (!content) this.contents.set(name, (content = new StageContent(this.id, row, this.isLive)));
    return content;
  }

  /** The passes that lead to a stage. @param {string} stage */
  passesOf(stage) {
    return this.document.passes.filter((pass) => pass.stage === stage);
  }
}
