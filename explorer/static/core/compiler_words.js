/** Messages of the compiler and of ptxas in plain words. */

/** A message, and the words for its parts. @type {[RegExp, (...parts: string[]) => string][]} */
const MESSAGES = [
  [
    /vectorization fails vec = (\d+) origin vec = (\d+) (?:numElems|elemsPerThread) = (\d+)/,
    (each, ofAddresses, elements) =>
      `The compiler does not vectorize this access: a thread moves ${each} of its ${elements} elements at a time. ${
        Number(ofAddresses) > Number(each)
          ? `The addresses allow ${ofAddresses}, but the mask may differ from one element to the next.`
          : "The layout, and what the compiler knows of the addresses, do not allow larger pieces."
      }`,
  ],
  [
    /MMA version (\d) acceleration not applied due to unsupported shapes or data types/,
    (version) =>
      `The matrix instructions of version ${version} do not have the shapes or data types of this product. The compiler uses others, or none.`,
  ],
  [
    /Unable to (?:choose|select) (MFMA|WMMA) intrinsic/,
    (name) => `The compiler finds no matrix instruction (${name}) that fits this product.`,
  ],
  [
    /wgmma\.mma_async instructions are serialized due to (.+?) (?:in|for) the function/,
    (reason) => `The matrix instructions wait for each other, because of this: ${reason}.`,
  ],
];

/** Return a message in plain words; "": they are not known. @param {string} message */
export function plainWords(message) {
  for (const [pattern, words] of MESSAGES) {
    const match = pattern.exec(message);
    if (match) return words(...match.slice(1));
  }
  return "";
}
