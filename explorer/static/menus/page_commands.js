/** The commands of every page: the palette, the help sheet, the themes. */
import { register } from "../core/commands.js";
import { isFile } from "../core/host.js";

/**
 * @typedef {readonly (readonly [string, string])[]} Gestures keys or gestures of the mouse, and their effects
 */

const THEMES = {
  system: "Theme: as the system",
  light: "Theme: light",
  dark: "Theme: dark",
  contrast: "Theme: high contrast",
};

/** @param {Gestures} [gestures] the gestures that depend on the focus; omitted: the gestures of the panes */
export function startPageCommands(gestures) {
  const help = () => void import("./help.js").then(({ openHelp }) => openHelp(gestures));
  const find = () => void import("./palette.js").then(({ openPalette }) => openPalette());
  document.getElementById("help-button")?.addEventListener("click", help);
  document.getElementById("commands-button")?.addEventListener("click", find);
  register([
    { name: "palette", title: "Find a command", group: "Page", keys: ["Ctrl K"], run: find },
    { name: "help", title: "Show the help sheet", group: "Page", keys: ["?"], run: help },
    ...(isFile
      ? []
      : [
          {
            name: "glossary",
            title: "Open the glossary",
            group: "Page",
            run: () => void open("/glossary", "_blank", "noopener"),
          },
        ]),
    ...Object.entries(THEMES).map(([theme, title]) => ({
      name: `theme:${theme}`,
      title,
      group: "Page",
      run: () => void document.dispatchEvent(new CustomEvent("theme-choose", { detail: theme })),
    })),
  ]);
}
