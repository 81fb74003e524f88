/** `<command-palette>`: type what to do or what to see, choose with the arrow keys, Enter does it. */
import { LitElement } from "lit";
import { allCommands, caps } from "../core/commands.js";
import { html, nothing } from "../core/template.js";
import { searchCommands } from "./command_search.js";

const STEPS = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 });

/**
 * Put the commands first whose buttons have no room in a narrow window. A command and its button have the same name.
 * @param {import("../core/commands.js").Command[]} commands
 */
function hiddenFirst(commands) {
  const hidden = [...document.querySelectorAll(".bar button")]
    .filter((button) => !button.checkVisibility())
    .flatMap(({ id }) => commands.filter(({ name }) => `${name}-button` === id));
  return [...hidden, ...commands.filter((each) => !hidden.includes(each))];
}

class CommandPalette extends LitElement {
  static properties = { found: { state: true }, at: { state: true }, typed: { state: true } };

  commands = hiddenFirst(allCommands());

  constructor() {
    super();
    this.typed = "";
    /** The terms of the field by command; empty until they are loaded. @type {Record<string, string[]>} */
    this.terms = {};
    /** The commands for who types; empty until they are loaded. @type {import("../core/commands.js").Command[]} */
    this.typedCommands = [];
    this.loading = Promise.resolve();
    this.found = searchCommands(this.commands, "", this.terms);
    /** The chosen one of those found. */
    this.at = 0;
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  get dialog() {
    return /** @type {HTMLDialogElement} */ (this.querySelector("dialog"));
  }

  /** @override */
  render() {
    const { found, at } = this;
    return html`<dialog class="palette" aria-label="Command palette" @close=${() => this.remove()}
      @click=${(/** @type {Event} */ { target }) => target === this.dialog && this.dialog.close()}>
      <input type="text" role="combobox" aria-label="Command" aria-controls="palette-list" aria-expanded="true"
        aria-autocomplete="list" aria-activedescendant=${found.length ? `palette-${at}` : nothing}
        placeholder="Find a command, a pane, a tour or a term" autocomplete="off" spellcheck="false"
        @input=${this.search} @keydown=${this.key}>
      <div class="palette-list" role="listbox" id="palette-list" aria-label="Commands">
        ${found.map((each, index) => this.option(each, index))}
        ${
          found.length
            ? nothing
            : html`<p class="hint" role="option" aria-disabled="true" aria-selected="false"
                >No command matches “${this.typed}”.</p>`
        }
      </div>
    </dialog>`;
  }

  /** @param {import("./command_search.js").Found} found @param {number} index */
  option({ command: { name, title, group, keys }, phrase }, index) {
    return html`<div role="option" id="palette-${index}" class="palette-option" data-command=${name}
      aria-selected=${String(index === this.at)} @click=${() => this.choose(index)}
      ><span>${title}</span><small>${phrase || group}</small><span class="keys"
        >${keys?.[0] ? caps(keys[0]).map((cap) => html`<kbd>${cap}</kbd>`) : nothing}</span></div>`;
  }

  /** @override */
  firstUpdated() {
    this.dialog.showModal();
    this.querySelector("input")?.focus();
    this.loading = this.loadTerms();
  }

  async loadTerms() {
    const [{ FIELD_WORDS }, found] = await Promise.all([
      import("./field_words.js"),
      import("./typed_commands.js").then(({ typedCommands }) => typedCommands()),
    ]);
    this.terms = FIELD_WORDS;
    this.typedCommands = found;
    if (!this.typed) return;
    const chosen = this.at > 0 ? this.found[this.at]?.command : null;
    this.find();
    // Who has gone down the list stays on the command there.
    const at = this.found.findIndex(({ command }) => command === chosen);
    this.at = Math.max(0, at);
  }

  /** @override */
  updated() {
    this.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {{target: HTMLInputElement}} event */
  search({ target }) {
    this.typed = target.value.trim();
    this.find();
  }

  find() {
    const { commands, typedCommands, typed } = this;
    // What the page does comes first.
    const meant = typed ? searchCommands(typedCommands, typed, {}) : [];
    this.found = [...searchCommands(commands, typed, this.terms), ...meant];
    this.at = 0;
  }

  /** @param {number} index */
  choose(index) {
    const found = this.found[index];
    this.dialog.close();
    found?.command.run();
  }

  /** Choose a command, which may have to be loaded: some users press Enter at once. */
  async enter() {
    if (!this.found.length) await this.loading;
    if (this.dialog.open && this.found.length) this.choose(this.at);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { length } = this.found;
    const step = STEPS[event.key];
    if (step && length) {
      const next = this.at + step;
      this.at = Math.abs(step) === 1 ? (next + length) % length : Math.min(length - 1, Math.max(0, next));
    } else if (event.key === "Enter") void this.enter();
    else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) this.dialog.close();
    else return;
    event.preventDefault();
  }
}

customElements.define("command-palette", CommandPalette);

export function openPalette() {
  if (!document.querySelector("command-palette"))
    document.body.append(document.createElement("command-palette"));
}
