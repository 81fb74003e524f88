/**
 * Who may see what is compiled from here on. Each source has a key of its own, which its variants and later
 * versions share: who gets a link to one of them learns nothing of other sources.
 */
import { account } from "./host.js";
import { randomKey } from "./random_key.js";
import { kept } from "./storage.js";

/** Where this browser remembers the choice: "account", another text for a private link, or nothing. */
export const PRIVACY_KEY = "private";
export const ACCOUNT = "account";

/**
 * The key of a source that is compiled for the first time; "": its results are public. Without an account, what
 * was for it alone has a private link.
 */
export function freshKey(choice = kept(PRIVACY_KEY) ?? "") {
  return choice && (account && choice === ACCOUNT ? `account:${account}:` : "") + randomKey();
}
