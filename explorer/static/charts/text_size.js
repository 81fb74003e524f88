/** The text sizes of `tokens.css`, for canvases and plots, which need numbers. */

/** @type {Map<string, number>} */
const sizes = new Map();

/** Return a text size of the page in pixels. It is read once. @param {"small" | "text"} name */
export function textSize(name) {
  const style = () => getComputedStyle(document.documentElement).getPropertyValue(`--size-${name}`);
  const size = sizes.get(name) ?? Number.parseFloat(style());
  sizes.set(name, size);
  return size;
}
