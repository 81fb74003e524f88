/** Colors as every program that reads SVG knows them. */

/**
 * Return a computed color as `#rrggbb` with its opacity; null: nothing is painted.
 * @param {string} value such as "rgb(20, 25, 34)" or "color(srgb 0.1 0.2 0.3 / 0.5)"
 * @returns {{color: string, opacity: number} | null}
 */
export function plainColor(value) {
  const [, kind = "", channels = ""] = /^(rgba?|color)\((?:srgb )?([^)]*)\)/.exec(value) ?? [];
  if (!kind) return null;
  const [red = 0, green = 0, blue = 0, opacity = 1] = channels
    .split(/[\s,/]+/)
    .map((each) => Number(each) || 0);
  if (opacity === 0) return null;
  const digits = [red, green, blue].map((each) =>
    Math.max(0, Math.min(255, Math.round(kind === "color" ? 255 * each : each)))
      .toString(16)
      .padStart(2, "0"),
  );
  return { color: `#${digits.join("")}`, opacity: Math.round(1000 * opacity) / 1000 };
}
