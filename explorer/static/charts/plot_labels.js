/**
 * Place the labels of a plot so that no label covers a mark or a different label.
 *
 *     const room = new LabelRoom({ x: 58, y: 14, width: 300, height: 200 });
 *     room.block({ x: 100, y: 90, width: 12, height: 12, angle: 0 });
 *     room.place([{ x: 100, y: 75, width: 40, height: 14, angle: 0, cost: 0 }, { x: 100, y: 105, width: 40,
 *   height: 14, angle: 0, cost: 1 }]);
 *
 * @typedef {object} Box a rectangle in pixels of the drawing, y downwards
 * @property {number} x of its centre @property {number} y of its centre
 * @property {number} width @property {number} height
 * @property {number} angle of its width, clockwise in radians
 */

/** The margin around a label: with a smaller margin, neighboring labels would read as one label. */
const GAP_PX = { along: 5, across: 2 };

export class LabelRoom {
  /** @type {Box[]} */
  taken = [];
  /** boxes that a label should not cross if there is a choice @type {Box[]} */
  lines = [];

  /**
   * @param {{x: number, y: number, width: number, height: number}} frame its upper left corner and its size
   */
  constructor(frame) {
    this.frame = frame;
  }

  /** No label may stand here. @param {Box} box */
  block(box) {
    this.taken.push(box);
  }

  /**
   * Add a line. A label may cross it at a cost.
   * @param {{x: number, y: number}} from
   * @param {{x: number, y: number}} to
   */
  avoid(from, to) {
    const [right, down] = [to.x - from.x, to.y - from.y];
    this.lines.push({
      x: from.x + right / 2,
      y: from.y + down / 2,
      width: Math.hypot(right, down),
      height: 1,
      angle: Math.atan2(down, right),
    });
  }

  /**
   * Take the cheapest of the free places; null: none is free.
   * @template {Box & {cost: number}} Place
   * @param {Place[]} places each has its cost; a line that it crosses costs 1
   * @returns {Place | null}
   */
  place(places) {
    let [best, least] = [/** @type {Place | null} */ (null), Infinity];
    for (const place of places) {
      const roomy = {
        ...place,
        width: place.width + 2 * GAP_PX.along,
        height: place.height + 2 * GAP_PX.across,
      };
      if (!this.#isInside(place) || this.taken.some((box) => overlap(roomy, box))) continue;
      const cost = place.cost + this.lines.filter((line) => overlap(place, line)).length;
      if (cost < least) [best, least] = [place, cost];
    }
    if (best) this.block(best);
    return best;
  }

  /** @param {Box} box */
  #isInside(box) {
    const { x, y, width, height } = this.frame;
    return corners(box).every(
      (corner) => corner.x >= x && corner.x <= x + width && corner.y >= y && corner.y <= y + height,
    );
  }
}

/**
 * Return whether two boxes overlap: no side of one box separates it from the other box.
 * @param {Box} one
 * @param {Box} other
 */
function overlap(one, other) {
  return [one.angle, one.angle + Math.PI / 2, other.angle, other.angle + Math.PI / 2].every((angle) => {
    const along = (/** @type {Box} */ box) =>
      corners(box).map(({ x, y }) => x * Math.cos(angle) + y * Math.sin(angle));
    const [first, second] = [along(one), along(other)];
    return Math.max(...first) >= Math.min(...second) && Math.max(...second) >= Math.min(...first);
  });
}

/** @param {Box} box @returns {{x: number, y: number}[]} */
function corners({ x, y, width, height, angle }) {
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  return [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ].map(([right = 0, down = 0]) => {
    const [a, b] = [(right * width) / 2, (down * height) / 2];
    return { x: x + a * cosine - b * sine, y: y + a * sine + b * cosine };
  });
}

/** @type {CanvasRenderingContext2D | null} */
let paper = null;

/**
 * Return the width of a text in the font of the page.
 * @param {string} text
 * @param {number} size of the font in pixels
 */
export function textWidth(text, size) {
  paper ??= document.createElement("canvas").getContext("2d");
  if (!paper) return text.length * size * 0.6;
  paper.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return paper.measureText(text).width;
}
