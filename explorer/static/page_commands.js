/** The commands of every page: the palette, the help sheet, the themes. */
import { register } from "./commands.js";
import { toast } from "./dom.js";

/** @typedef {readonly (readonly [string, string])[]} Gestures keys or what the mouse does, and what comes of it */

const PALETTE_DELAY_MS = 2000;
const THEMES = { system: "Theme: as the system", light: "Theme: light", dark: "Theme: dark", contrast: "Theme: high contrast" };

/** @param {Gestures} [gestures] what depends on where the focus is; left out: those of the panes */
export function startPageCommands(gestures) {
  // Fetched once the page has settled, so that letters typed right after its keys find it there.
  setTimeout(() => import("./palette.js").catch(() => undefined), PALETTE_DELAY_MS);
  const palette = () =>
    void import("./palette.js").then(
      ({ openPalette }) => openPalette(),
      () => toast("The palette could not be loaded: the server does not answer."),
    );
  const help = () => void import("./help.js").then(({ openHelp }) => openHelp(gestures));
  document.getElementById("help-button")?.addEventListener("click", help);
  register([
    { name: "palette", title: "Find a command", group: "Page", keys: ["Ctrl K"], run: palette },
    { name: "help", title: "Show the help sheet", group: "Page", keys: ["?"], run: help },
    ...Object.entries(THEMES).map(([theme, title]) => ({
      name: `theme:${theme}`, title, group: "Page", run: () => void document.dispatchEvent(new CustomEvent("theme-choose", { detail: theme })),
    })),
  ]);
}
