/** The secret token of this browser, which is required to delete results that this browser has submitted. */
import { randomKey } from "./random_key.js";
import { keep, kept } from "./storage.js";

const KEY = "deletion-token";
/** Without storage, it lasts as long as the page. */
let own = "";

export function deletionToken() {
  const stored = kept(KEY);
  if (stored) return stored;
  own ||= randomKey(24);
  keep(KEY, own);
  return own;
}
