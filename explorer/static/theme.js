/**
 * Light or dark: as the system prefers, unless chosen here. Runs before the page is drawn, so it imports nothing.
 */
(() => {
  const KEY = "theme";
  const system = matchMedia("(prefers-color-scheme: light)");

  function chosen() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  function current() {
    return chosen() ?? (system.matches ? "light" : "dark");
  }

  function apply() {
    document.documentElement.dataset.theme = current();
    const button = document.getElementById("theme-button");
    if (button) button.textContent = current() === "dark" ? "☀" : "☾";
  }

  function toggle() {
    const next = current() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, next);
    } catch {
      document.documentElement.dataset.theme = next;
      return;
    }
    apply();
  }

  apply();
  system.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", () => {
    apply();
    document.getElementById("theme-button")?.addEventListener("click", toggle);
  });
})();
