import "../../browser.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Grid } from "../../../../explorer/static/panes/layouts/grid.js";

/** @import { Picture } from "../../../../explorer/static/panes/layouts/grid.js" */

/**
 * The size in pixels of a cell, after a picture was fitted into a canvas.
 * @param {number} width @param {number} height @param {Partial<Picture>} picture
 */
function fitted(width, height, picture) {
  /** @type {Grid} */
  const grid = Object.create(Grid.prototype);
  Object.assign(grid, { canvas: { clientWidth: width, clientHeight: height }, picture });
  grid.fit();
  return grid.scale;
}

test("a low pane shows the whole picture, with cells of at least one pixel", () => {
  const picture = { rows: 128, columns: 64 };
  const cell = fitted(600, 200, picture);
  assert.ok(cell >= 1 && 34 + 128 * cell <= 200, String(cell));
  assert.equal(fitted(600, 100, picture), 1);
});

test("cells are no larger than 44 pixels, and a picture that scrolls fills the width", () => {
  assert.equal(fitted(2000, 2000, { rows: 4, columns: 4 }), 44);
  assert.equal(fitted(688, 100, { rows: 512, columns: 32, scrolls: true, largest: 60 }), 20);
});

test("a picture of many cells has no labels, and says so", () => {
  Object.assign(globalThis, { getComputedStyle: () => ({ getPropertyValue: () => "" }) });
  /** @param {number} rows */
  const textsOf = (rows) => {
    /** @type {string[]} */
    const texts = [];
    /** @type {Grid} */
    const grid = Object.create(Grid.prototype);
    const picture = { rows, columns: 512, rowTitle: "rows", columnTitle: "columns", text: () => "label" };
    Object.assign(grid, { picture, scale: 32, lit: new Set(), warned: new Set(), row: -1 });
    const context = new Proxy(/** @type {Record<string, unknown>} */ ({}), {
      get: (_, name) => (name === "fillText" ? (/** @type {string} */ text) => texts.push(text) : () => {}),
    });
    grid.whole?.draw(/** @type {CanvasRenderingContext2D} */ (/** @type {unknown} */ (context)));
    return texts;
  };
  const few = textsOf(2);
  assert.equal(few.filter((text) => text === "label").length, 1024);
  assert.ok(few.includes("rows ↓   columns →"));
  const many = textsOf(512);
  assert.ok(!many.includes("label"));
  assert.ok(many.includes("rows ↓   columns →   (too many cells for labels)"));
});

test("what is scrolled out of sight is left and above of what is drawn", () => {
  /** @param {number} left @param {number} top */
  const origin = (left, top) => {
    /** @type {number[]} */
    let at = [];
    /** @type {Grid} */
    const grid = Object.create(Grid.prototype);
    Object.assign(grid, { picture: { rows: 64, columns: 64 }, scale: 4, warned: new Set(), row: -1 });
    const context = new Proxy(/** @type {Record<string, unknown>} */ ({}), {
      get: (_, name) =>
        name === "translate" ? (/** @type {number[]} */ ...moved) => (at = moved) : () => {},
    });
    const part = { left, top, width: 100, height: 100 };
    grid.drawPart(/** @type {CanvasRenderingContext2D} */ (/** @type {unknown} */ (context)), part);
    return at;
  };
  const [x = 0, y = 0] = origin(0, 0);
  assert.deepEqual(origin(30, 50), [x - 30, y - 50]);
});
