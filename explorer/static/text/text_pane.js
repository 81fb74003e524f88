/**
 * The base class of panes with a text, line by line: its search, the selection of lines, and the copied text.
 *
 * A subclass draws the lines (`drawLine`), fetches the whole text (`read`), and places the controls of the search
 * (`search.render()`).
 */
import { register } from "../core/commands.js";
import { Pane } from "../core/pane.js";
import { paneInUse } from "../core/pane_in_use.js";
import { LineRange } from "./line_range.js";
import { SearchBar } from "./search_bar.js";
import { VirtualText } from "./virtual_text.js";

export class TextPane extends Pane {
  /** The whole text, once it was needed. @type {string[]} */
  lines = [];
  text = new VirtualText({
    label: "Text",
    draw: (row, line) => this.drawLine(row, line),
    point: (line) => this.point(line),
    choose: (line, add) => this.choose(line, add),
    moved: () => this.moved(),
  });
  search = new SearchBar(this);
  range = new LineRange(this);

  constructor() {
    super();
    /** The owner of the shown text. A different owner has a different text. @type {unknown} */
    this.content = null;
    this.range.listen();
    this.text.element.addEventListener("keydown", (event) => {
      const isSearch =
        event.ctrlKey || event.metaKey
          ? event.key === "f" && !event.shiftKey
          : event.key === "/" && !event.altKey;
      if (event.target !== this.text.scroller || !isSearch) return;
      event.preventDefault();
      this.search.open();
    });
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    // The dock may have moved it, which discards the scroll position.
    this.text.shown();
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    // Browsers report no leave of the pointer from a removed element.
    this.text.pointAt(0);
  }

  /**
   * Have the whole text in `lines`.
   * @returns {Promise<unknown>} null: another text is shown by now, or it cannot be had
   */
  async read() {
    return this.lines;
  }

  /** @param {HTMLElement} _row which may hold another line's content @param {number} _line */
  drawLine(_row, _line) {}

  /** Mark the matches, the selection and the cursor in a row. @param {HTMLElement} row @param {number} line */
  drawMarked(row, line) {
    row.classList.toggle("is-hit", this.search.byLine.has(line));
    row.classList.toggle("is-current-hit", this.search.currentLine === line);
    row.classList.toggle("is-selected", this.range.has(line));
    row.classList.toggle("is-cursor", this.text.cursor === line);
  }

  /** Show beside the scroll bar where marked lines are. */
  drawMarks() {}

  /** @param {number} _line 0: none */
  point(_line) {}

  /** @param {number} _line @param {boolean} _add to the selection */
  choose(_line, _add) {}

  moved() {}

  /** Scroll to a line. @param {number} line */
  reveal(line) {
    this.text.reveal(line);
  }
}

const inUse = () => paneInUse(TextPane);

register([
  { name: "copy", title: "Copy", group: "Text", run: () => void inUse()?.range.copy(false) },
  {
    name: "copy-numbered",
    title: "Copy with line numbers",
    group: "Text",
    run: () => void inUse()?.range.copy(true),
  },
  { name: "copy-all", title: "Copy all", group: "Text", run: () => void inUse()?.range.copyAll() },
]);
