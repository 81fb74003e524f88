/**
 * The choice of who may see the next compilations. Each source has a separate key, which its variants and later
 * versions share: a reader with a link to one of them learns nothing of other sources.
 */
import { account } from "./host.js";
import { randomKey } from "./random_key.js";
import { kept } from "./storage.js";

/** The storage key of the choice: "account", another text for a private link, or nothing. */
export const PRIVACY_KEY = "private";
export const ACCOUNT = "account";

/**
 * The key of a source that is compiled for the first time; "": its results are public. If the choice is "account" and
 * nobody is signed in, the result has a private link.
 */
export function freshKey(choice = kept(PRIVACY_KEY) ?? "") {
  return choice && (account && choice === ACCOUNT ? `account:${account}:` : "") + randomKey();
}
