/**
 * Linear layouts in the browser: which element is at which place, for pictures of all of them at once.
 *
 * A place is one number: the bits of all inputs (register, lane, warp, block; or offset), the first input
 * lowest. An element is its index in row-major order. Each bit of a place adds its basis by exclusive or.
 *
 * @import { Bases } from "../../core/types.js"
 */

export class LinearLayout {
  /** @param {Bases} bases */
  constructor({ inputs, shape, padding }) {
    this.shape = shape;
    this.padding = padding;
    this.inputs = inputs.map(({ name, bases }) => ({
      name,
      bits: bases.length,
      vectors: bases.map((basis) => this.index(basis)),
    }));
    this.elementCount = shape.reduce((product, size) => product * size, 1);
    this.placeCount = 2 ** this.inputs.reduce((sum, { bits }) => sum + bits, 0);
  }

  /** The element of each place. @returns {Int32Array} */
  get elements() {
    if (this.elementTable) return this.elementTable;
    const table = new Int32Array(this.placeCount);
    let filled = 1;
    for (const vector of this.inputs.flatMap(({ vectors }) => vectors)) {
      for (let place = 0; place < filled; place += 1)
        table[filled + place] = /** @type {number} */ (table[place]) ^ vector;
      filled *= 2;
    }
    this.elementTable = table;
    return table;
  }

  /** The lowest place of each element; -1 where it has none. @returns {Int32Array} */
  get owners() {
    if (this.ownerTable) return this.ownerTable;
    const { elements } = this;
    const table = new Int32Array(this.elementCount).fill(-1);
    for (let place = elements.length - 1; place >= 0; place -= 1)
      table[/** @type {number} */ (elements[place])] = place;
    this.ownerTable = table;
    return table;
  }

  /** All places of an element. @param {number} element @returns {number[]} */
  placesOf(element) {
    /** @type {number[]} */
    const places = [];
    this.elements.forEach((other, place) => other === element && places.push(place));
    return places;
  }

  /** How many places an input has. @param {string} name */
  size(name) {
    return 2 ** (this.inputs.find((input) => input.name === name)?.bits ?? 0);
  }

  /** One input of a place. @param {number} place @param {string} name */
  part(place, name) {
    let rest = place;
    for (const input of this.inputs) {
      if (input.name === name) return rest % 2 ** input.bits;
      rest = Math.floor(rest / 2 ** input.bits);
    }
    return 0;
  }

  /** @param {Record<string, number>} parts */
  place(parts) {
    let place = 0;
    let unit = 1;
    for (const { name, bits } of this.inputs) {
      place += unit * (parts[name] ?? 0);
      unit *= 2 ** bits;
    }
    return place;
  }

  /** @param {number[]} coordinates */
  index(coordinates) {
    return coordinates.reduce(
      (index, coordinate, dimension) => index * (this.shape[dimension] ?? 1) + coordinate,
      0,
    );
  }

  /** @param {number} index @returns {number[]} */
  coordinates(index) {
    const coordinates = [];
    let rest = index;
    for (let dimension = this.shape.length - 1; dimension >= 0; dimension -= 1) {
      const size = this.shape[dimension] ?? 1;
      coordinates.unshift(rest % size);
      rest = Math.floor(rest / size);
    }
    return coordinates;
  }

  /** Where an offset of memory really lies, with the padding before it. @param {number} offset */
  padded(offset) {
    return this.padding.reduce(
      (sum, { interval, padding }) => sum + Math.floor(offset / interval) * padding,
      offset,
    );
  }
}

/** @param {number[]} coordinates */
export function inBrackets(coordinates) {
  return `(${coordinates.join(", ")})`;
}
