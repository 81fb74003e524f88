/** The secret of this browser: what is submitted with it can be deleted with it. */
import { keep, kept } from "./storage.js";

const KEY = "deletion-token";
const RANDOM_BYTES = 24;
/** Without storage, it lasts as long as the page. */
let own = "";

export function deletionToken() {
  const stored = kept(KEY);
  if (stored) return stored;
  own ||= Array.from(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  keep(KEY, own);
  return own;
}
