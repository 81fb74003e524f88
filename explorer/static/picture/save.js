/** Save a picture as a file. */
import { make } from "../core/dom.js";

/** A PNG has twice the pixels of the page, unless it would have more than browsers draw. */
const SCALE = 2;
const MOST_PIXELS_A_SIDE = 16_384;
const MOST_PIXELS = 2 ** 27;

/** Characters that XML does not permit: control characters, and halves of characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters
const NOT_IN_XML = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\p{Surrogate}]/gu;

const permitted = (/** @type {string} */ text) => text.replace(NOT_IN_XML, "\ufffd");

/** Return the text of a file. @param {SVGSVGElement} picture */
export function svgText(picture) {
  const text = new XMLSerializer().serializeToString(picture);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${permitted(text)}\n`;
}

/**
 * Return the number of pixels of a PNG for one pixel of a picture.
 * @param {number} width @param {number} height
 */
export function scaleOf(width, height) {
  return Math.min(
    SCALE,
    MOST_PIXELS_A_SIDE / width,
    MOST_PIXELS_A_SIDE / height,
    Math.sqrt(MOST_PIXELS / (width * height)),
  );
}

/** @param {SVGSVGElement} picture @returns {Promise<Blob>} */
export async function pngOf(picture) {
  const width = Number(picture.getAttribute("width"));
  const height = Number(picture.getAttribute("height"));
  const scale = scaleOf(width, height);
  const copy = /** @type {SVGSVGElement} */ (picture.cloneNode(true));
  const fonts = document.createElementNS(picture.namespaceURI, "style");
  fonts.textContent = await fontFaces(svgText(picture));
  copy.prepend(fonts);
  const image = new Image();
  // The policy of the page permits images of data, and no others.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(copy))}`;
  await image.decode();
  const canvas = make("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error("The picture is too large."))),
      "image/png",
    ),
  );
}

/** The fonts of the page that a picture uses: an image has no access to them. @param {string} text */
async function fontFaces(text) {
  const rules = [...document.styleSheets].flatMap((sheet) =>
    rulesOf(sheet).flatMap((rule) => (rule instanceof CSSFontFaceRule ? [{ rule, base: sheet.href }] : [])),
  );
  const faces = rules.map(async ({ rule, base }) => {
    const family = rule.style.getPropertyValue("font-family").replaceAll(/["']/g, "");
    const [, address = ""] = /url\("?([^")]+)"?\)/.exec(rule.style.getPropertyValue("src")) ?? [];
    if (!text.includes(family) || !address) return "";
    const data = address.startsWith("data:")
      ? address
      : await dataAddress(new URL(address, base ?? location.href));
    return `@font-face { font-family: "${family}"; font-weight: 100 900; src: url("${data}"); }`;
  });
  return (await Promise.all(faces)).join("\n");
}

/** The rules of a style sheet; none of a sheet of another origin. @param {CSSStyleSheet} sheet */
function rulesOf(sheet) {
  try {
    return [...sheet.cssRules];
  } catch {
    return [];
  }
}

/** @param {URL} address @returns {Promise<string>} */
async function dataAddress(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`The font ${address} could not be fetched.`);
  const blob = await response.blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

/** @param {Blob} blob @param {string} name */
export function saveBlob(blob, name) {
  const url = URL.createObjectURL(blob);
  make("a", { href: url, download: permitted(name) }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
