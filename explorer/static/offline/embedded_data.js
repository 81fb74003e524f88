/** What a file of its own has brought along: base64 of gzip in elements of a type that no browser runs. */
import { byId } from "../core/dom.js";

/** @param {string} id of the element @returns {Promise<Blob>} */
export function unpack(id) {
  const packed = atob(byId(id).textContent ?? "");
  const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).blob();
}
