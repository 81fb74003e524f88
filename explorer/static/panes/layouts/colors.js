/** Colours of cells: one hue for each warp (or row), lighter and darker within it. */

/** @returns {"light" | "dark" | "contrast"} as the page is drawn now */
function themeNow() {
  const theme = document.documentElement.dataset.theme;
  return theme === "light" || theme === "contrast" ? theme : "dark";
}

/** Hues that stay apart when there are few, and never repeat. @param {number} index @param {number} count */
function hueOf(index, count) {
  return count <= 8 ? (210 + (360 * index) / Math.max(count, 3)) % 360 : (210 + 137.508 * index) % 360;
}

/**
 * A colour as canvas pixels have it.
 * @param {number} index which hue @param {number} count of how many @param {number} tint 0 to 1
 */
export function cellColor(index, count, tint) {
  const theme = themeNow();
  const lightness =
    theme === "light" ? 0.9 - 0.2 * tint : theme === "dark" ? 0.24 + 0.2 * tint : 0.22 + 0.32 * tint;
  const saturation = theme === "light" ? 0.62 : theme === "dark" ? 0.36 : 0.6;
  return packed(...hslToRgb(hueOf(index, count), saturation, lightness));
}

/** @param {number} red @param {number} green @param {number} blue @param {number} [alpha] */
export function packed(red, green, blue, alpha = 255) {
  return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/**
 * A token of the page as canvas pixels have it.
 * @param {CanvasRenderingContext2D} context
 * @param {string} color
 * @param {number} [alpha]
 */
export function packedOf(context, color, alpha = 255) {
  context.save();
  context.fillStyle = color;
  const value = String(context.fillStyle);
  context.restore();
  const number = parseInt(value.slice(1, 7), 16);
  return packed(number >> 16, (number >> 8) & 255, number & 255, alpha);
}

/**
 * @param {number} hue
 * @param {number} saturation
 * @param {number} lightness
 * @returns {[number, number, number]}
 */
function hslToRgb(hue, saturation, lightness) {
  const amplitude = saturation * Math.min(lightness, 1 - lightness);
  const channel = (/** @type {number} */ n) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (lightness - amplitude * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}
