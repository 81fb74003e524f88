/**
 * `<pane-ptx-as-c>`: PTX as C, a reading aid. Each line is linked to its lines of PTX, and to the source lines that
 * these come from.
 *
 * @import { PtxAsCDocument } from "../core/types.js"
 */
import { api } from "../core/api.js";
import { make, setText } from "../core/dom.js";
import { plural, stripeOfLine } from "../core/format.js";
import { emptyPane, follow, Loaded } from "../core/pane.js";
import { hover, pin, putCursor } from "../core/selection.js";
import { store } from "../core/store.js";
import { html, nothing } from "../core/template.js";
import { piecesOf } from "../text/line_pieces.js";
import { TextPane } from "../text/text_pane.js";
import { whyMissing } from "./stage/missing.js";

const STAGE = "ptx";
const SAID =
  "Not a compiler: the assembler sees PTX. A variable is named after its register, and after a value of the source where the compiler's locations name one.";
const WAITING = "PTX is being translated.";

class PtxAsCPane extends TextPane {
  /** Lines of C by source line. @type {Map<number, number[]>} */
  bySource = new Map();

  translation = new Loaded(
    this,
    () => {
      const { result } = store.state;
      return result?.finished && result.stage(STAGE) ? [result.id] : null;
    },
    (id) => api.analysis(id, "ptx_as_c"),
  );

  constructor() {
    super();
    /** The document that the text shows. @type {PtxAsCDocument | null} */
    this.content = null;
    follow(this, ["hovered", "pinned"], () => this.light());
    follow(this, ["cursor"], () => this.followCursor());
  }

  /** @override */
  render() {
    const { result } = store.state;
    if (result?.finished && !result.stage(STAGE)) {
      return emptyPane(whyMissing(STAGE));
    }
    return this.translation.render({
      empty: result ? WAITING : "Compile a kernel for an NVIDIA target to read its PTX as C.",
      waiting: WAITING,
      ready: (document) => html`${this.text.element}
        <div class="pane-foot">
          <span class="ptx-as-c-note" title=${SAID}>Reading aid</span>
          ${verbatimWords(document)}
          ${this.search.render()}
          <span class="facts">${factWords(document)}</span>
        </div>`,
    });
  }

  /** @override */
  updated() {
    const { answer } = this.translation;
    if (!answer || answer === this.content) return;
    this.content = answer;
    this.lines = answer.lines.map(({ tokens }) => tokens.map(([, text]) => text).join(""));
    this.search.clear();
    this.range.set(0, 0);
    this.bySource = new Map();
    for (const [index, { source_lines }] of answer.lines.entries()) {
      for (const line of source_lines)
        this.bySource.set(line, [...(this.bySource.get(line) ?? []), index + 1]);
    }
    this.text.reset(answer.lines.length, `PTX as C, ${plural(answer.lines.length, "line")}`);
    this.text.shown();
    this.light();
    this.followCursor();
    void this.search.finish();
  }

  /** @param {number} line from 1 */
  lineAt(line) {
    return this.content?.lines[line - 1];
  }

  /** @param {number} line */
  sourceLines(line) {
    return this.lineAt(line)?.source_lines ?? [];
  }

  /** @param {HTMLElement} row @param {number} line @override */
  drawLine(row, line) {
    const shown = this.lineAt(line);
    let [number, stripe, code] = /** @type {HTMLElement[]} */ ([...row.children]);
    if (!number || !stripe || !code) {
      number = make("span", { class: "number" });
      stripe = make("span", { class: "stripe" });
      code = make("span", { class: "code" });
      row.replaceChildren(number, stripe, code);
    }
    const [source] = this.sourceLines(line);
    setText(number, String(line));
    stripe.classList.toggle("is-blank", source === undefined);
    if (source !== undefined) stripe.style.setProperty("--stripe", stripeOfLine(source));
    const matches = this.search.byLine.get(line) ?? [];
    code.replaceChildren(
      ...piecesOf(
        /** @type {[string, string][]} */ (shown?.tokens ?? []),
        matches.map(({ from, to }) => ({ from, to, class: "is-match" })),
      ),
    );
    row.title = ptxWords(shown?.ptx_lines ?? []);
    row.classList.toggle("is-pinned", this.linesFrom(store.state.pinned).has(line));
    this.drawMarked(row, line);
  }

  /** @param {number} line 0: none @override */
  point(line) {
    hover(this.sourceLines(line), this.id);
  }

  /**
   * Pin the source lines of a line, and put the cursor of PTX on the lines that the line was made from.
   * @param {number} line
   * @param {boolean} add @override
   */
  choose(line, add) {
    const [first] = this.lineAt(line)?.ptx_lines ?? [];
    pin(this.sourceLines(line), this.id, add);
    if (first !== undefined) putCursor(STAGE, first, this.id);
  }

  /** @param {number[]} sourceLines */
  linesFrom(sourceLines) {
    return new Set(sourceLines.flatMap((line) => this.bySource.get(line) ?? []));
  }

  light() {
    const { hovered, pinned, origin } = store.state;
    const lit = this.linesFrom(hovered);
    const kept = this.linesFrom(pinned);
    this.text.light(lit);
    this.text.mark({ "is-pinned": (line) => kept.has(line) });
    this.drawMarks();
    const inOrder = [...kept].sort((one, other) => one - other);
    const [first] = inOrder;
    if (first !== undefined && origin !== this.id && !inOrder.some((line) => this.text.isInSight(line)))
      this.text.reveal(first);
  }

  /** @override */
  drawMarks() {
    const { hovered, pinned } = store.state;
    this.text.drawMarks([
      { lines: [...this.search.byLine.keys()], color: "var(--warn)" },
      { lines: [...this.linesFrom(pinned)], color: "var(--accent)" },
      { lines: [...this.linesFrom(hovered)], color: "var(--text)" },
    ]);
  }

  /** Go to the line that was made from the line of PTX that the cursor is on. */
  followCursor() {
    const { cursor, origin } = store.state;
    if (cursor?.stage !== STAGE || origin === this.id || !this.content) return;
    const line = this.content.lines.findIndex(({ ptx_lines }) => ptx_lines.includes(cursor.line)) + 1;
    if (line > 0) this.text.setCursor(line, false);
  }
}

/** @param {readonly number[]} lines */
function ptxWords(lines) {
  if (lines.length === 0) return "";
  const shown = lines.length > 8 ? [...lines.slice(0, 8), "…"] : lines;
  return `PTX ${lines.length === 1 ? "line" : "lines"} ${shown.join(", ")}`;
}

/** @param {PtxAsCDocument} document */
function verbatimWords({ verbatim }) {
  if (verbatim.length === 0) return nothing;
  const count = verbatim.reduce((sum, each) => sum + each.count, 0);
  const words = verbatim.map(({ opcode, count: times }) => `${opcode} × ${times}`).join("\n");
  return html`<span class="ptx-as-c-note" title=${words}>${plural(count, "instruction")} left as PTX</span>`;
}

/** @param {PtxAsCDocument} document */
function factWords({ instructions, lines, total_lines, variables, named }) {
  const cut = total_lines > lines.length ? ` of ${total_lines.toLocaleString("en")}` : "";
  return html`<span title=${`From ${plural(instructions, "instruction")} of PTX; ${named} of ${plural(variables, "variable")} have a name of the source`}
    >${lines.length.toLocaleString("en")}${cut} lines · ${named} of ${variables} named</span>`;
}

customElements.define("pane-ptx-as-c", PtxAsCPane);
