/**
 * The next node by arrow keys: up and down along the edges, left and right to the node beside.
 *
 * @import { GraphDocument } from "../../core/types.js"
 * @import { Drawing } from "./drawing.js"
 */

/** @typedef {{id: string, x: number, y: number}} Spot */

export class Neighbors {
  /** @param {GraphDocument} document @param {Drawing} drawing */
  constructor(document, drawing) {
    /** @type {Map<string, Spot>} */
    this.spots = new Map();
    for (const { id } of document.nodes) {
      const part = drawing.parts.get(id);
      if (!part) continue;
      // In the drawing's own units, whatever the zoom.
      const { x, y, width, height } = part.getBBox();
      this.spots.set(id, { id, x: x + width / 2, y: y + height / 2 });
    }
    /** @type {Map<string, string[]>} */
    this.heads = new Map();
    /** @type {Map<string, string[]>} */
    this.tails = new Map();
    for (const { tail, head } of document.edges) {
      add(this.heads, tail, head);
      add(this.tails, head, tail);
    }
  }

  /** @param {string} id @param {"up" | "down" | "left" | "right"} direction @returns {string | undefined} */
  next(id, direction) {
    const from = this.spots.get(id);
    if (!from) return undefined;
    if (direction === "up" || direction === "down") {
      const ids = (direction === "down" ? this.heads : this.tails).get(id) ?? [];
      const spots = ids
        .filter((each) => each !== id)
        .map((each) => this.spots.get(each))
        .filter((spot) => spot !== undefined);
      return nearest(spots, (spot) => Math.abs(spot.x - from.x) + Math.abs(spot.y - from.y));
    }
    const sign = direction === "right" ? 1 : -1;
    const beside = [...this.spots.values()].filter((spot) => (spot.x - from.x) * sign > 1);
    // Being on the same height counts for more than being close.
    return nearest(beside, (spot) => Math.abs(spot.x - from.x) + 6 * Math.abs(spot.y - from.y));
  }
}

/** @param {Map<string, string[]>} lists @param {string} key @param {string} value */
function add(lists, key, value) {
  const there = lists.get(key);
  if (there) there.push(value);
  else lists.set(key, [value]);
}

/** @param {Spot[]} spots @param {(spot: Spot) => number} distance */
function nearest(spots, distance) {
  let best;
  let least = Infinity;
  for (const spot of spots) {
    const far = distance(spot);
    if (far < least) {
      least = far;
      best = spot.id;
    }
  }
  return best;
}
