/** Copies of drawings of the page whose style is in their attributes. */
import { plainColor } from "./plain_color.js";
import { node } from "./svg_nodes.js";

const SHAPES = new Set(["rect", "circle", "ellipse", "line", "path", "polygon", "polyline", "text"]);
const GEOMETRY = [
  "d",
  "points",
  "x",
  "y",
  "x1",
  "x2",
  "y1",
  "y2",
  "cx",
  "cy",
  "r",
  "rx",
  "ry",
  "width",
  "height",
  "transform",
];

/**
 * Copy an element of a drawing, as the page shows it; null: it is hidden.
 * @param {Element} element @returns {SVGElement | null}
 */
export function styledCopy(element) {
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden") return null;
  const isShape = SHAPES.has(element.localName);
  const isGroup = element.localName === "g" || element.localName === "svg";
  if (!isShape && !isGroup) return null;
  const geometry = isGroup ? ["transform"] : GEOMETRY;
  const attributes = Object.fromEntries(geometry.map((name) => [name, element.getAttribute(name)]));
  const text = element instanceof SVGTextElement ? element : null;
  const copy = node(
    isGroup ? "g" : element.localName,
    {
      ...attributes,
      ...(isShape ? paint(style) : {}),
      ...(text
        ? {
            ...fontOf(style),
            ...(style.fontVariantNumeric === "normal"
              ? lengthOf(measured(text.textContent ?? "", style).width)
              : {}),
            "text-anchor": unless(style.textAnchor, "start"),
          }
        : {}),
      ...(text && style.whiteSpace.startsWith("pre") ? { "xml:space": "preserve" } : {}),
      opacity: unless(style.opacity, "1"),
    },
    text ? [text.textContent ?? ""] : [],
  );
  if (text) setDigits(copy, style);
  if (isGroup) copy.append(...[...element.children].map(styledCopy).filter((each) => each !== null));
  return isGroup && !copy.childElementCount ? null : copy;
}

/** @param {string} value @param {string} usual */
const unless = (value, usual) => (value === usual ? null : value);

/** @param {CSSStyleDeclaration} style */
function paint(style) {
  const fill = plainColor(style.fill);
  const stroke = plainColor(style.stroke);
  return {
    fill: fill?.color ?? "none",
    "fill-opacity": opacity(fill, style.fillOpacity),
    ...(stroke
      ? {
          stroke: stroke.color,
          "stroke-opacity": opacity(stroke, style.strokeOpacity),
          "stroke-width": unless(style.strokeWidth.replace("px", ""), "1"),
          "stroke-dasharray": unless(style.strokeDasharray.replaceAll("px", ""), "none"),
          "stroke-linejoin": unless(style.strokeLinejoin, "miter"),
          "paint-order": unless(style.paintOrder, "normal"),
        }
      : {}),
  };
}

/** @param {{opacity: number} | null} color @param {string} further */
function opacity(color, further) {
  const all = (color?.opacity ?? 1) * Number(further);
  return all === 1 ? null : all;
}

const measure = document.createElement("canvas").getContext("2d");
/** Letters of the size of the page have the width of whole pixels. */
const MEASURED_PX = 100;

/** Measure words in the font of an element, in pixels. @param {string} words @param {CSSStyleDeclaration} style */
export function measured(words, { fontFamily, fontSize, fontWeight }) {
  if (!measure) return { width: 0, ascent: 0, descent: 0 };
  const scale = Number.parseFloat(fontSize) / MEASURED_PX;
  measure.font = `${fontWeight} ${MEASURED_PX}px ${fontFamily}`;
  const {
    width,
    fontBoundingBoxAscent: ascent,
    fontBoundingBoxDescent: descent,
  } = measure.measureText(words);
  return { width: width * scale, ascent: ascent * scale, descent: descent * scale };
}

/** The attributes that keep a text in its place where its font is missing. @param {number} width */
export const lengthOf = (width) => (width > 0 ? { textLength: width, lengthAdjust: "spacingAndGlyphs" } : {});

/** Have the digits of a text as wide as on the page. @param {SVGElement} text @param {CSSStyleDeclaration} style */
export function setDigits(text, { fontVariantNumeric: digits }) {
  // No attribute of SVG does this, and the policy of the page refuses `style` attributes.
  if (digits !== "normal") text.style.fontVariantNumeric = digits;
}

/** The attributes of a text. @param {CSSStyleDeclaration} style */
export function fontOf(style) {
  return {
    "font-family": style.fontFamily.replaceAll('"', "'"),
    "font-size": style.fontSize.replace("px", ""),
    "font-weight": unless(style.fontWeight, "400"),
    "letter-spacing": unless(style.letterSpacing, "normal"),
  };
}
