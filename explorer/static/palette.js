/** The command palette: type a few letters of what to do, choose with the arrow keys, Enter does it. */
import { allCommands, caps } from "./commands.js";
import { make } from "./dom.js";

/** @typedef {import("./commands.js").Command} Command */

/** @type {HTMLDialogElement | null} */
let dialog = null;

export function openPalette() {
  if (dialog) return;
  const commands = allCommands();
  /** @type {Command[]} */
  let shown = [];
  let at = 0;
  const list = make("div", { class: "palette-list", role: "listbox", id: "palette-list", "aria-label": "Commands" });
  const input = make("input", {
    type: "text", role: "combobox", "aria-label": "What to do", "aria-controls": "palette-list", "aria-expanded": "true",
    "aria-autocomplete": "list", placeholder: "What to do?", autocomplete: "off", spellcheck: "false",
    oninput: () => draw(), onkeydown: (/** @type {KeyboardEvent} */ event) => key(event),
  });
  const opened = make("dialog", { class: "palette", "aria-label": "Command palette" }, input, list);
  dialog = opened;

  const choose = () => {
    const command = shown[at];
    opened.close();
    command?.run();
  };
  const mark = () => {
    [...list.querySelectorAll("[role=option]")].forEach((option, index) => {
      option.setAttribute("aria-selected", String(index === at));
      if (index === at) option.scrollIntoView({ block: "nearest" });
    });
    if (shown.length) input.setAttribute("aria-activedescendant", `palette-${at}`);
    else input.removeAttribute("aria-activedescendant");
  };
  const draw = () => {
    const wanted = input.value.trim();
    const ranked = commands.map((command) => ({ command, rank: rankOf(wanted, `${command.title} ${command.group}`) }));
    if (wanted) ranked.sort((one, other) => other.rank - one.rank);
    shown = ranked.filter(({ rank }) => rank > 0).map(({ command }) => command);
    at = 0;
    list.replaceChildren(
      ...shown.map((command, index) =>
        make(
          "div",
          {
            role: "option", id: `palette-${index}`, class: "palette-option", "data-command": command.name, "aria-selected": "false",
            onclick: () => { at = index; choose(); },
          },
          make("span", {}, command.title),
          make("small", {}, command.group),
          make("span", { class: "keys" }, ...(command.keys?.[0] ? caps(command.keys[0]).map((cap) => make("kbd", {}, cap)) : [])),
        )),
      ...(shown.length ? [] : [make("p", { class: "hint", role: "option", "aria-disabled": "true", "aria-selected": "false" }, `Nothing here is called “${wanted}”.`)]),
    );
    if (shown.length) mark();
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step && shown.length) {
      event.preventDefault();
      at = Math.abs(step) === 1 ? (at + step + shown.length) % shown.length : Math.min(shown.length - 1, Math.max(0, at + step));
      mark();
    } else if (event.key === "Enter") {
      event.preventDefault();
      choose();
    } else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      opened.close();
    }
  };
  opened.addEventListener("click", (event) => {
    if (event.target === opened) opened.close();
  });
  opened.addEventListener("close", () => {
    opened.remove();
    dialog = null;
  });
  document.body.append(opened);
  draw();
  opened.showModal();
  input.focus();
}

/**
 * How well the letters of `wanted` are found in `text`, in their order: more at the beginnings of words and
 * next to each other; 0: not at all.
 * @param {string} wanted @param {string} text
 */
function rankOf(wanted, text) {
  if (!wanted) return 1;
  const letters = wanted.toLowerCase().replace(/\s+/g, "");
  const lower = text.toLowerCase();
  let rank = lower.includes(wanted.toLowerCase()) ? 100 : 1;
  let from = 0;
  let before = -2;
  for (const letter of letters) {
    const at = lower.indexOf(letter, from);
    if (at < 0) return 0;
    if (at === 0 || /[^a-z0-9]/.test(lower[at - 1] ?? "")) rank += 6;
    if (at === before + 1) rank += 4;
    before = at;
    from = at + 1;
  }
  return rank + 10 / text.length;
}
