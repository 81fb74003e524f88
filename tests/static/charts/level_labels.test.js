import assert from "node:assert/strict";
import { test } from "node:test";
import { placeLevels } from "../../../explorer/static/charts/level_labels.js";

const FRAME = { left: 40, right: 240, bottom: 200 };
const widthOf = (/** @type {string} */ words) => words.length * 6;
/** @param {import("../../../explorer/static/charts/level_labels.js").LevelLine[]} lines */
const place = (lines, frame = FRAME) => placeLevels(lines, frame, [], widthOf);

/**
 * The rectangles that texts cover.
 * @param {ReturnType<typeof place>} places @param {string[]} words
 */
function boxes(places, words) {
  return places.flatMap((found, index) => {
    if (!found) return [];
    const width = widthOf(words[index] ?? "");
    const left = found.anchor === "start" ? found.x : found.x - width;
    return [{ left, right: left + width, top: found.y - 9, bottom: found.y + 2 }];
  });
}

/** @param {ReturnType<typeof boxes>} all */
function overlaps(all) {
  return all.some((one, index) =>
    all
      .slice(index + 1)
      .some(
        (other) =>
          one.left < other.right &&
          other.left < one.right &&
          one.top < other.bottom &&
          other.top < one.bottom,
      ),
  );
}

test("words stand at the end and on the side of the line that they prefer", () => {
  const [limit, taken] = place([
    { y: 40, words: "limit 255", side: "right" },
    { y: 120, words: "136 taken", side: "left", isBelow: true },
  ]);
  assert.deepEqual([limit?.anchor, (limit?.y ?? 0) < 40], ["end", true]);
  assert.deepEqual([taken?.anchor, (taken?.y ?? 0) > 120], ["start", true]);
});

test("words of near lines do not overlap, however narrow the plot", () => {
  const words = [
    "limit 255",
    "136 taken",
    "above: 1 block, 13 % occupancy",
    "above: 2 blocks, 25 % occupancy",
  ];
  for (const right of [240, 300, 500])
    for (const distance of [0, 3, 8, 20]) {
      const lines = words.map((each, index) => ({
        y: 60 + index * distance,
        words: each,
        side: /** @type {"left" | "right"} */ (index < 2 ? "right" : "left"),
        isBelow: index === 1,
      }));
      const places = place(lines, { ...FRAME, right });
      assert.equal(overlaps(boxes(places, words)), false, `${right} ${distance}`);
      assert.ok(places[0], "the first always has a place");
    }
});

test("words do not cover a box that is taken", () => {
  const box = { x: 200, y: 92, width: 80, height: 12, angle: 0 };
  const [found] = placeLevels([{ y: 100, words: "limit 227 KiB", side: "right" }], FRAME, [box], widthOf);
  assert.ok(found);
  assert.ok(found.anchor === "start" || found.y > 100);
});
