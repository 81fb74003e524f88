/** The commands of every page: the palette, the help sheet, the themes. */
import { register } from "../core/commands.js";
import { isFile } from "../core/host.js";
import { openPalette } from "./palette.js";

/**
 * @typedef {readonly (readonly [string, string])[]} Gestures keys or what the mouse does, and what comes of
 *   it
 */

const THEMES = {
  system: "Theme: as the system",
  light: "Theme: light",
  dark: "Theme: dark",
  contrast: "Theme: high contrast",
};

/** @param {Gestures} [gestures] what depends on where the focus is; left out: those of the panes */
export function startPageCommands(gestures) {
  const help = () => void import("./help.js").then(({ openHelp }) => openHelp(gestures));
  document.getElementById("help-button")?.addEventListener("click", help);
  document.getElementById("commands-button")?.addEventListener("click", openPalette);
  register([
    { name: "palette", title: "Find a command", group: "Page", keys: ["Ctrl K"], run: openPalette },
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
