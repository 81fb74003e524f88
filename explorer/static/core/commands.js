/**
 * The list of all commands. The keys, the palette and the help sheet are made from it.
 *
 * Each module registers its commands here. `docs/commands.md` describes each command.
 */

/**
 * @typedef {object} Command
 * @property {string} name one word, or "kind:which"
 * @property {string} title an imperative
 * @property {string} group the heading that lists it
 * @property {string[]} [keys] such as "Ctrl Enter", "?", "Alt 1"; Ctrl is Cmd on a Mac
 * @property {string} [summary] more words by which the palette finds it
 * @property {() => void} run
 */

/** @type {Map<string, Command>} */
const commands = new Map();
/** @type {(() => Command[])[]} */
const families = [];

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** @param {Command[]} more */
export function register(more) {
  for (const command of more) commands.set(command.name, command);
}

/** Register commands whose availability depends on the state of the page. @param {() => Command[]} list */
export function registerFamily(list) {
  families.push(list);
}

/** Return the available commands, in the order of their groups. */
export function allCommands() {
  const all = [...commands.values(), ...families.flatMap((list) => list())];
  const groups = [...new Set(all.map(({ group }) => group))];
  return groups.flatMap((group) => all.filter((command) => command.group === group));
}

/** Return the key caps of a combination. @param {string} keys */
export function caps(keys) {
  return keys.split(" ").map((key) => (key === "Ctrl" && isMac ? "⌘" : key === "Enter" ? "⏎" : key));
}

/** Run commands by their keys, wherever the focus is. */
export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const pressed = combination(event);
    // A key without a modifier is text while an input has the focus. An open dialog handles all other keys.
    const isPlain = !/^(Ctrl|Alt) |F\d$/.test(pressed);
    // The field of a dialog that has just closed keeps the focus until the next frame.
    const field =
      event.target instanceof HTMLElement
        ? event.target.closest("input, select, textarea, .cm-content")
        : null;
    const isTyping = field?.checkVisibility();
    if ((isPlain && isTyping && pressed !== "Esc") || document.querySelector("dialog[open]")) return;
    const command = allCommands().find(({ keys }) => keys?.includes(pressed));
    if (!command) return;
    // Escape closes menus, too, and ends searches.
    if (pressed !== "Esc") event.preventDefault();
    command.run();
  });
}

/** @param {KeyboardEvent} event */
function combination(event) {
  const digit = /^Digit(\d)$/.exec(event.code)?.[1];
  const key =
    event.altKey && digit
      ? digit
      : ({ Escape: "Esc" }[event.key] ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key));
  const isShortcut = event.ctrlKey || event.metaKey;
  const shift = event.shiftKey && (key.length > 1 || (isShortcut && /[A-Z]/.test(key))) && "Shift";
  return [isShortcut && "Ctrl", event.altKey && "Alt", shift, key].filter(Boolean).join(" ");
}
