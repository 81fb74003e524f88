/** The data of a saved page: base64 of gzip in elements of a type that browsers do not execute. */
import { byId } from "../core/dom.js";

/** @param {string} id of the element @returns {Promise<Blob>} */
export function unpack(id) {
  const packed = atob(byId(id).textContent ?? "");
  const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).blob();
}
