/**
 * Light, dark or high contrast: as the system prefers, unless chosen here. Runs before the page is drawn, so
 * it
 * imports nothing; `theme-choose` (detail: a theme, or "system") chooses from elsewhere.
 */
(() => {
  const KEY = "theme";
  const THEMES = { light: "☾", dark: "◐", contrast: "☀" };
  const light = matchMedia("(prefers-color-scheme: light)");
  const contrast = matchMedia("(prefers-contrast: more)");
  const print = matchMedia("print");
  /** @type {string | null} the chosen theme if storage is blocked */
  let choice = null;

  function chosen() {
    try {
      return localStorage.getItem(KEY) ?? choice;
    } catch {
      return choice;
    }
  }

  function current() {
    if (print.matches) return "light";
    const wanted = chosen();
    if (wanted && wanted in THEMES) return /** @type {keyof typeof THEMES} */ (wanted);
    return contrast.matches ? "contrast" : light.matches ? "light" : "dark";
  }

  function apply() {
    const theme = current();
    document.documentElement.dataset.theme = theme;
    const button = document.getElementById("theme-button");
    if (!button) return;
    button.textContent = THEMES[theme];
    button.title = `Theme: ${theme === "contrast" ? "high contrast" : theme}`;
  }

  /** @param {string} theme "system": none */
  function choose(theme) {
    choice = theme === "system" ? null : theme;
    try {
      if (choice === null) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, choice);
    } catch {
      // It lasts as long as the page.
    }
    apply();
  }

  apply();
  light.addEventListener("change", apply);
  contrast.addEventListener("change", apply);
  print.addEventListener("change", apply);
  document.addEventListener("theme-choose", (event) =>
    choose(/** @type {CustomEvent<string>} */ (event).detail),
  );
  document.addEventListener("DOMContentLoaded", () => {
    apply();
    const names = Object.keys(THEMES);
    document.getElementById("theme-button")?.addEventListener("click", () => {
      choose(/** @type {string} */ (names[(names.indexOf(current()) + 1) % names.length]));
    });
  });
})();
