/**
 * Place labels beside the horizontal lines of a plot, such as limits: at the left or right end, above or below the
 * line, where a label covers nothing.
 *
 * @import { Box } from "./plot_labels.js"
 */
import { LabelRoom, textWidth } from "./plot_labels.js";
import { textSize } from "./text_size.js";

const LINE_PX = 14;
const INDENT_PX = 4;

/**
 * @typedef {object} LevelLine
 * @property {number} y of the line, in pixels
 * @property {string} words
 * @property {"left" | "right"} side that the words prefer
 * @property {boolean} [isBelow] whether they prefer to be below the line
 */

/**
 * Find a place for the words of each line; null: there is none.
 * @param {LevelLine[]} lines the most important first
 * @param {{left: number, right: number, bottom: number}} frame of the plot, whose upper end is 0
 * @param {Box[]} [taken] where no words may be
 * @param {(words: string) => number} [widthOf] in pixels
 * @returns {({x: number, y: number, anchor: "start" | "end"} | null)[]} of the baseline
 */
export function placeLevels(lines, { left, right, bottom }, taken = [], widthOf = defaultWidth) {
  const room = new LabelRoom({ x: left, y: 0, width: right - left, height: bottom });
  for (const box of taken) room.block(box);
  return lines.map(({ y, words, side, isBelow = false }) => {
    const width = widthOf(words);
    const places = [side, side === "left" ? "right" : "left"].flatMap((end, other) =>
      [isBelow, !isBelow].map((below, turned) => ({
        end,
        x: end === "left" ? left + INDENT_PX + width / 2 : right - INDENT_PX - width / 2,
        y: y + (below ? 9 : -8),
        width,
        height: LINE_PX - 4,
        angle: 0,
        cost: 2 * other + turned,
      })),
    );
    const place = room.place(places);
    if (!place) return null;
    const isLeft = place.end === "left";
    return {
      x: isLeft ? left + INDENT_PX : right - INDENT_PX,
      y: place.y + 4,
      anchor: isLeft ? "start" : "end",
    };
  });
}

/** @param {string} words */
function defaultWidth(words) {
  return textWidth(words, textSize("small"));
}
