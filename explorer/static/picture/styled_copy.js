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
            ...lengthOf(text.getComputedTextLength()),
            "text-anchor": unless(style.textAnchor, "start"),
          }
        : {}),
      ...(text && style.whiteSpace.startsWith("pre") ? { "xml:space": "preserve" } : {}),
      opacity: unless(style.opacity, "1"),
    },
    text ? [text.textContent ?? ""] : [],
  );
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

/** The attributes that keep a text in its place where its font is missing. @param {number} width */
export function lengthOf(width) {
  return width > 0 ? { textLength: width, lengthAdjust: "spacingAndGlyphs" } : {};
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
