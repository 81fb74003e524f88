/**
 * The picture of a pane: an SVG without references to anything outside of it.
 *
 * @import { PictureSubject } from "./picture_pane.js"
 */
import { textSize } from "../charts/text_size.js";
import { shapesOf } from "./html_shapes.js";
import { plainColor } from "./plain_color.js";
import { styledCopy } from "./styled_copy.js";
import { SvgContext } from "./svg_context.js";
import { node } from "./svg_nodes.js";

const MARGIN_PX = 16;
const GAP_PX = 10;
const TITLE_PX = 26;
const LETTER_PX = 7;

/**
 * Draw the parts of a picture, one below the other.
 * @param {Element} pane whose theme the picture has
 * @param {string} title
 * @param {PictureSubject[]} parts
 * @returns {SVGSVGElement}
 */
export function pictureOf(pane, title, parts) {
  const style = getComputedStyle(pane);
  let width = title.length * LETTER_PX;
  let bottom = MARGIN_PX + TITLE_PX;
  const heading = {
    x: MARGIN_PX,
    y: MARGIN_PX + 12,
    fill: plainColor(style.color)?.color,
    "font-family": style.fontFamily.replaceAll('"', "'"),
    "font-size": textSize("text"),
    "font-weight": 600,
  };
  const groups = parts.flatMap((part) => {
    const group = node("g", { transform: `translate(${MARGIN_PX} ${bottom})` });
    const size = fill(group, part);
    if (!group.childElementCount) return [];
    width = Math.max(width, size.width);
    bottom += size.height + GAP_PX;
    return [group];
  });
  const size = { width: Math.ceil(width + 2 * MARGIN_PX), height: Math.ceil(bottom - GAP_PX + MARGIN_PX) };
  const picture = /** @type {SVGSVGElement} */ (
    node("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}` }, [
      node("title", {}, [title]),
      node("rect", { ...size, fill: backgroundOf(pane) }),
      node("text", heading, [title]),
      ...groups,
    ])
  );
  picture.style.fontFeatureSettings = style.fontFeatureSettings;
  return picture;
}

/** Draw a part. @param {SVGElement} group @param {PictureSubject} part @returns {{width: number, height: number}} */
function fill(group, part) {
  if (part instanceof Element) {
    const { shapes, ...size } = shapesOf(part);
    group.append(...shapes);
    return size;
  }
  if ("draw" in part) part.draw(new SvgContext(group));
  else group.append(...[styledCopy(part.root)].filter((each) => each !== null));
  return part;
}

/** The color behind an element. @param {Element | null} element @returns {string} */
function backgroundOf(element) {
  if (!element) return "#ffffff";
  return plainColor(getComputedStyle(element).backgroundColor)?.color ?? backgroundOf(element.parentElement);
}
