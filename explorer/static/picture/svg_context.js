/** Draws in SVG with the methods of a canvas, as far as the panes draw on one. */
import { node } from "./svg_nodes.js";

/** The height of the middle of small letters above the baseline, relative to the size of the font. */
const MIDDLE = 0.36;

/**
 * @typedef {Pick<CanvasRenderingContext2D, "save" | "restore" | "translate" | "beginPath" | "moveTo" | "lineTo" | "rect" | "clip" |
 *   "stroke" | "strokeRect" | "fillText" | "fillStyle" | "strokeStyle" | "lineWidth" | "font" | "textAlign" | "textBaseline" |
 *   "imageSmoothingEnabled"> & {drawImage: (image: HTMLCanvasElement, x: number, y: number, width: number, height: number) => void}} Context
 */

/** @implements {Context} */
export class SvgContext {
  /** @type {CanvasRenderingContext2D["fillStyle"]} */
  fillStyle = "#000";
  /** @type {CanvasRenderingContext2D["strokeStyle"]} */
  strokeStyle = "#000";
  lineWidth = 1;
  font = "10px sans-serif";
  /** @type {CanvasTextAlign} */
  textAlign = "start";
  /** @type {CanvasTextBaseline} */
  textBaseline = "alphabetic";
  imageSmoothingEnabled = true;
  path = "";

  /** @param {SVGElement} root that the shapes are added to */
  constructor(root) {
    this.groups = [root];
  }

  /** @param {SVGElement} shape */
  add(shape) {
    this.groups.at(-1)?.append(shape);
  }

  save() {
    const group = node("g", {});
    this.add(group);
    this.groups.push(group);
  }

  restore() {
    this.groups.pop();
  }

  /** @param {number} x @param {number} y */
  translate(x, y) {
    this.groups.at(-1)?.setAttribute("transform", `translate(${x} ${y})`);
  }

  beginPath() {
    this.path = "";
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.path += `M${x} ${y}`;
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.path += `L${x} ${y}`;
  }

  /** A picture shows the whole drawing, so that nothing is clipped. */
  rect() {}

  clip() {}

  stroke() {
    this.add(node("path", { d: this.path, fill: "none", ...this.line }));
  }

  get line() {
    return { stroke: String(this.strokeStyle), "stroke-width": this.lineWidth };
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  strokeRect(x, y, width, height) {
    this.add(node("rect", { x, y, width, height, fill: "none", ...this.line }));
  }

  /** @param {HTMLCanvasElement} image @param {number} x @param {number} y @param {number} width @param {number} height */
  drawImage(image, x, y, width, height) {
    const rendering = this.imageSmoothingEnabled ? null : "pixelated";
    const href = image.toDataURL();
    this.add(
      node("image", { href, x, y, width, height, preserveAspectRatio: "none", "image-rendering": rendering }),
    );
  }

  /** @param {string} text @param {number} x @param {number} y @param {number} [widest] */
  fillText(text, x, y, widest) {
    const [, size = "10", family = ""] = /^([\d.]+)px (.*)$/.exec(this.font) ?? [];
    const isMiddle = this.textBaseline === "middle";
    const anchor = { center: "middle", right: "end", end: "end", left: null, start: null }[this.textAlign];
    // Letters of the fonts of the page are at most this wide.
    const isTooWide = widest !== undefined && text.length * Number(size) * 0.62 > widest;
    this.add(
      node(
        "text",
        {
          x,
          y: isMiddle ? y + MIDDLE * Number(size) : y,
          fill: String(this.fillStyle),
          "font-size": Number(size),
          "font-family": family.replaceAll('"', "'"),
          "text-anchor": anchor,
          textLength: isTooWide ? widest : null,
          lengthAdjust: isTooWide ? "spacingAndGlyphs" : null,
          "xml:space": text.includes("  ") ? "preserve" : null,
        },
        [text],
      ),
    );
  }
}
