/** Words, boxes and drawings of the page as shapes of a picture. */
import { plainColor } from "./plain_color.js";
import { fontOf, lengthOf, measured, setDigits, styledCopy } from "./styled_copy.js";
import { node } from "./svg_nodes.js";

/** What acts on the page and says nothing about the result. */
const LEFT_OUT =
  ".button, .tool, .toggle, .visually-hidden, lesson-link, select, input, textarea, canvas, details:not([open])";
const SIDES = /** @type {const} */ (["Top", "Right", "Bottom", "Left"]);

/** @typedef {{left: number, top: number, width: number, height: number}} Box */
/** @typedef {{x: number, y: number}} Shift from the window to the picture */
/** @typedef {{width: number, height: number}} Size */

/** Let the extent of a picture contain a box. @param {Size} extent @param {Box} box */
function grow(extent, { left, top, width, height }) {
  extent.width = Math.max(extent.width, left + width);
  extent.height = Math.max(extent.height, top + height);
}

/**
 * Draw an element with all that it contains, also the parts that are scrolled out of sight.
 * @param {Element} root
 * @returns {{shapes: SVGElement[], width: number, height: number}}
 */
export function shapesOf(root) {
  const { left, top } = root.getBoundingClientRect();
  const extent = { width: 0, height: 0 };
  const shapes = elementShapes(root, { x: -left, y: -top }, extent);
  return { shapes, ...extent };
}

/** @param {Element} element @param {Shift} shift @param {Size} extent @returns {SVGElement[]} */
function elementShapes(element, shift, extent) {
  if (element.matches(LEFT_OUT) || !element.checkVisibility()) return [];
  const rect = element.getBoundingClientRect();
  const box = { left: rect.left + shift.x, top: rect.top + shift.y, width: rect.width, height: rect.height };
  if (element instanceof SVGSVGElement) {
    const copy = styledCopy(element);
    const scale = rect.width / (element.viewBox.baseVal.width || rect.width);
    copy?.setAttribute("transform", `translate(${box.left} ${box.top}) scale(${scale})`);
    if (copy) grow(extent, box);
    return copy ? [copy] : [];
  }
  const style = getComputedStyle(element);
  const shapes = [...boxShapes(style, box), ...signShapes(element, box, style)];
  if (shapes.length) grow(extent, box);
  const inner = { x: shift.x + element.scrollLeft, y: shift.y + element.scrollTop };
  return [
    ...shapes,
    ...[...element.childNodes].flatMap((child) =>
      child instanceof Element
        ? elementShapes(child, inner, extent)
        : child instanceof Text
          ? textShapes(child, style, inner, extent)
          : [],
    ),
  ];
}

/** The background and the borders. @param {CSSStyleDeclaration} style @param {Box} box */
function boxShapes(style, { left, top, width, height }) {
  const background = plainColor(style.backgroundColor);
  const [above, right, below, before] = SIDES.map((side) => Number.parseFloat(style[`border${side}Width`]));
  const colors = SIDES.map((side) => plainColor(style[`border${side}Color`]));
  const radius = Math.min(Number.parseFloat(style.borderTopLeftRadius) || 0, height / 2);
  const isFrame = radius > 0 && above > 0 && [right, below, before].every((each) => each === above);
  const inset = isFrame ? above / 2 : 0;
  const shapes = [];
  if (background || isFrame)
    shapes.push(
      node("rect", {
        x: left + inset,
        y: top + inset,
        width: Math.max(0, width - 2 * inset),
        height: Math.max(0, height - 2 * inset),
        rx: radius || null,
        fill: background?.color ?? "none",
        "fill-opacity": background && background.opacity < 1 ? background.opacity : null,
        stroke: isFrame ? colors[0]?.color : null,
        "stroke-width": isFrame ? above : null,
      }),
    );
  if (isFrame) return shapes;
  // The corners of the box and, inside of the borders, of its content.
  const outer = [
    [0, 0],
    [width, 0],
    [width, height],
    [0, height],
  ];
  const inner = [
    [before, above],
    [width - right, above],
    [width - right, height - below],
    [before, height - below],
  ];
  [above, right, below, before].forEach((thickness, side) => {
    const color = colors[side];
    if (!thickness || !color) return;
    const next = (side + 1) % 4;
    const corners = [outer[side], outer[next], inner[next], inner[side]];
    const points = corners.map(([x = 0, y = 0] = []) => `${left + x},${top + y}`).join(" ");
    shapes.push(
      node("polygon", {
        points,
        fill: color.color,
        "fill-opacity": color.opacity < 1 ? color.opacity : null,
      }),
    );
  });
  return shapes;
}

/** The sign before the words of a legend. @param {Element} element @param {Box} box @param {CSSStyleDeclaration} words its style */
function signShapes(element, box, words) {
  const style = getComputedStyle(element, "::before");
  if (style.content !== '""' || style.display !== "inline-block") return [];
  const pixels = (/** @type {string} */ value) => Number.parseFloat(value) || 0;
  const width = Math.max(pixels(style.width), pixels(style.borderLeftWidth) + pixels(style.borderRightWidth));
  const height = Math.max(
    pixels(style.height),
    pixels(style.borderTopWidth) + pixels(style.borderBottomWidth),
  );
  const { ascent, descent } = measured("x", words);
  const baseline = box.top + (box.height - ascent - descent) / 2 + ascent;
  return boxShapes(style, {
    left: box.left,
    top: baseline - pixels(style.verticalAlign) - height,
    width,
    height,
  });
}

/**
 * A text for each line of the words.
 * @param {Text} text @param {CSSStyleDeclaration} style @param {Shift} shift @param {Size} extent
 */
function textShapes(text, style, shift, extent) {
  const color = plainColor(style.color);
  if (!color || !text.data.trim()) return [];
  const range = document.createRange();
  const rectOf = (/** @type {number} */ from, /** @type {number} */ to) => {
    range.setStart(text, from);
    range.setEnd(text, to);
    return range.getClientRects();
  };
  /** @type {{words: string, left: number, right: number, top: number}[]} */
  const lines = [];
  const add = (
    /** @type {string} */ words,
    /** @type {DOMRect | undefined} */ rect,
    /** @type {boolean} */ isNewWord,
  ) => {
    const line = lines.at(-1);
    if (!rect?.width) return;
    if (line && Math.abs(line.top - rect.top) < 2)
      Object.assign(line, { words: line.words + (isNewWord ? " " : "") + words, right: rect.right });
    else lines.push({ words, left: rect.left, right: rect.right, top: rect.top });
  };
  for (const { 0: word, index } of text.data.matchAll(/\S+/g)) {
    const rects = rectOf(index, index + word.length);
    if (rects.length === 1) add(word, rects[0], true);
    else
      for (let at = 0; at < word.length; at += 1)
        add(word[at] ?? "", rectOf(index + at, index + at + 1)[0], at === 0);
  }
  const { ascent, descent } = measured("x", style);
  return lines.map(({ words, left, right, top }) => {
    const box = { left: left + shift.x, top: top + shift.y, width: right - left, height: ascent + descent };
    grow(extent, box);
    const place = { x: box.left, y: box.top + ascent, ...lengthOf(box.width) };
    const shape = node("text", { ...place, ...fontOf(style), fill: color.color }, [words]);
    setDigits(shape, style);
    return shape;
  });
}
