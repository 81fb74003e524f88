import "../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";

/** An element that writes itself, as far as the pictures need elements. */
class FakeElement {
  /** @type {Map<string, string>} */
  attributes = new Map();
  /** @type {(FakeElement | string)[]} */
  children = [];

  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }

  /** @param {string} name @param {string} value */
  setAttribute(name, value) {
    this.attributes.set(name, value);
  }

  /** @param {...(FakeElement | string)} children */
  append(...children) {
    this.children.push(...children);
  }

  /** @returns {string} */
  toString() {
    const attributes = [...this.attributes].map(([name, value]) => ` ${name}="${value}"`).join("");
    return `<${this.name}${attributes}>${this.children.join("")}</${this.name}>`;
  }
}
Object.assign(globalThis, {
  XMLSerializer: class {
    serializeToString = String;
  },
});
Object.assign(document, {
  createElementNS: (/** @type {string} */ _, /** @type {string} */ name) => new FakeElement(name),
});

const { SvgContext } = await import("../../../explorer/static/picture/svg_context.js");
const { scaleOf, svgText } = await import("../../../explorer/static/picture/save.js");

function context() {
  const root = /** @type {SVGElement} */ (/** @type {unknown} */ (new FakeElement("g")));
  return { root, drawing: new SvgContext(root) };
}

test("lines and images of a canvas become shapes", () => {
  const { root, drawing } = context();
  drawing.save();
  drawing.translate(40, 34);
  drawing.imageSmoothingEnabled = false;
  const image = /** @type {HTMLCanvasElement} */ ({ toDataURL: () => "data:image/png;base64,AA==" });
  drawing.drawImage(image, 0, 0, 80, 20);
  drawing.strokeStyle = "#141922";
  drawing.beginPath();
  drawing.moveTo(0, 10);
  drawing.lineTo(80, 10);
  drawing.stroke();
  drawing.restore();
  drawing.strokeStyle = "#f00";
  drawing.lineWidth = 2;
  drawing.strokeRect(1, 2, 3, 4);
  assert.equal(
    String(root),
    '<g><g transform="translate(40 34)">' +
      '<image href="data:image/png;base64,AA==" x="0" y="0" width="80" height="20" preserveAspectRatio="none" image-rendering="pixelated"></image>' +
      '<path d="M0 10L80 10" fill="none" stroke="#141922" stroke-width="1"></path></g>' +
      '<rect x="1" y="2" width="3" height="4" fill="none" stroke="#f00" stroke-width="2"></rect></g>',
  );
});

test("texts stay texts, in their place and no wider than on the canvas", () => {
  const { root, drawing } = context();
  Object.assign(drawing, { font: '10px "JetBrains Mono Variable", monospace', fillStyle: "#fff" });
  Object.assign(drawing, { textAlign: "center", textBaseline: "middle" });
  drawing.fillText("12:3", 20, 10, 40);
  drawing.fillText("31:63, 31:62", 20, 10, 40);
  const attributes = `fill="#fff" font-size="10" font-family="'JetBrains Mono Variable', monospace" text-anchor="middle"`;
  assert.equal(
    String(root),
    `<g><text x="20" y="13.6" ${attributes}>12:3</text>` +
      `<text x="20" y="13.6" ${attributes} textLength="40" lengthAdjust="spacingAndGlyphs">31:63, 31:62</text></g>`,
  );
});

test("characters that XML does not permit are replaced", () => {
  const { root, drawing } = context();
  drawing.fillText("a\u0001b\tc\ud800d😀", 0, 0);
  const text = svgText(/** @type {SVGSVGElement} */ (root));
  assert.match(text, />a\ufffdb\tc\ufffdd😀</);
  assert.doesNotThrow(() => encodeURIComponent(text));
});

test("a PNG has twice the pixels, unless it would be larger than browsers draw", () => {
  assert.equal(scaleOf(1000, 500), 2);
  assert.equal(scaleOf(16_384, 100), 1);
  assert.ok(scaleOf(16_000, 16_000) ** 2 * 16_000 * 16_000 <= 2 ** 27);
});
