/**
 * A secret that nobody can guess, in hexadecimal.
 * @param {number} [bytes]
 */
export function randomKey(bytes = 16) {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
