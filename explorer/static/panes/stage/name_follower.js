/**
 * Following a name of a stage's text: its occurrences are lit, and keys lead from one to the next.
 *
 * @import { StagePane } from "../stage.js"
 * @import { Name } from "../../core/languages.js"
 * @import { Occurrence } from "../../text/symbols.js"
 */
import { plural } from "../../core/format.js";
import { html } from "../../core/template.js";
import { byLine } from "../../text/by_line.js";
import { definitionOf, namesOf, occurrencesOf } from "../../text/symbols.js";
import { rawColumn } from "./filters.js";
import { columnAt } from "./places.js";

export class NameFollower {
  /** @param {StagePane} pane */
  constructor(pane) {
    this.pane = pane;
    /** @type {{line: number, name: Name} | null} */
    this.followed = null;
    /** @type {Occurrence[]} */
    this.uses = [];
    /** @type {Map<number, Occurrence[]>} */
    this.byLine = new Map();
  }

  /** The followed name, with the number of its definitions and uses. */
  render() {
    const { followed, uses } = this;
    const written = uses.filter(({ isDefinition }) => isDefinition).length;
    return html`<span class="uses" role="status" title="F2: definition · F3: next occurrence">${
      followed
        ? `${followed.name.label}: ${plural(written, "definition")}, ${plural(uses.length - written, "use")}`
        : ""
    }</span>`;
  }

  /** Follow the name under the mouse. @param {MouseEvent} event */
  async click(event) {
    if (event.detail > 1 || !(await this.pane.read())) return;
    const found = this.under(event);
    this.choose(found?.line ?? 0, found?.name ?? null);
    if (found && (event.altKey || found.name.key.startsWith("#"))) this.openLayout();
  }

  /** Show the layout that the followed name stands for, or that the value has. */
  openLayout() {
    const { key = "" } = this.followed?.name ?? {};
    if (!this.pane.content?.syntax.hasLayouts || !/^[#%]/.test(key)) return;
    if (key.startsWith("#") && !this.pane.filters.isLayout(key)) return;
    this.pane.openBeside(`layouts:${key.slice(1)}`);
  }

  /**
   * Go to the definition of the name under the mouse.
   * @param {MouseEvent} event
   * @returns {boolean} whether there is one
   */
  clickDefinition(event) {
    const found = this.under(event);
    if (!found) return false;
    this.choose(found.line, found.name);
    this.goToDefinition();
    return true;
  }

  /** The name under the mouse, where the text is known. @param {MouseEvent} event */
  under(event) {
    const line = this.pane.text.lineAt(event.clientY);
    const code = this.pane.text.rows.get(line)?.querySelector(".code");
    const shown = code ? columnAt(code, event) : -1;
    const column = shown < 0 ? -1 : rawColumn(shown, this.pane.cutsOf(line, this.pane.lines[line - 1] ?? ""));
    const name =
      line && column >= 0
        ? this.namesIn(line).find(({ from, to }) => from <= column && column < to)
        : undefined;
    return name ? { line, name } : null;
  }

  /** @param {number} line */
  namesIn(line) {
    const { content, lines } = this.pane;
    return content ? namesOf(lines[line - 1] ?? "", content.syntax) : [];
  }

  /** Highlight the occurrences of a name. @param {number} line @param {Name | null} name */
  choose(line, name) {
    const { content, outline, lines } = this.pane;
    if (!content || !outline || !name) this.set(null, []);
    else this.set({ line, name }, occurrencesOf(lines, outline, content.syntax, line, name));
  }

  /** @param {{line: number, name: Name} | null} followed @param {Occurrence[]} uses */
  set(followed, uses) {
    const isSame = !followed && !this.followed;
    this.followed = followed;
    this.uses = uses;
    this.byLine = byLine(uses);
    if (isSame) return;
    this.pane.requestUpdate();
    this.pane.text.redraw();
    this.pane.links.drawMarks();
  }

  goToDefinition() {
    const { followed } = this;
    const { content } = this.pane;
    const target = followed && content ? definitionOf(this.uses, followed.line, content.syntax) : null;
    if (target) this.goTo(target);
  }

  /** @param {1 | -1} step */
  goToUse(step) {
    const at = this.uses.findIndex(
      (each) => each.line === this.followed?.line && each.from === this.followed.name.from,
    );
    const target = this.uses[(at + step + this.uses.length) % this.uses.length];
    if (target) this.goTo(target);
  }

  /** @param {Occurrence} target */
  goTo(target) {
    this.followed = { line: target.line, name: target };
    this.pane.goToLine(target.line);
  }

  /**
   * F2 to the definition, F3 or Shift F2 to the next occurrence, arrows from name to name.
   * @param {KeyboardEvent} event
   * @returns {boolean} whether the key was one of these
   */
  key(event) {
    const { cursor } = this.pane.text;
    if (event.ctrlKey || event.altKey || event.metaKey) return false;
    if (event.key === "F2" && !event.shiftKey) this.goToDefinition();
    else if (event.key === "F3" || event.key === "F2")
      this.goToUse(event.key === "F3" && event.shiftKey ? -1 : 1);
    else if (event.key === "l" && this.followed) this.openLayout();
    else if ((event.key === "ArrowRight" || event.key === "ArrowLeft") && cursor)
      void this.step(cursor, event.key === "ArrowRight" ? 1 : -1);
    else return false;
    return true;
  }

  /** Follow the next name of the cursor's line. @param {number} line @param {1 | -1} step */
  async step(line, step) {
    if (!(await this.pane.read())) return;
    const names = this.namesIn(line);
    const at =
      this.followed?.line === line
        ? names.findIndex(({ from }) => from === this.followed?.name.from)
        : step > 0
          ? -1
          : names.length;
    this.choose(line, names[(at + step + names.length) % names.length] ?? null);
  }
}
