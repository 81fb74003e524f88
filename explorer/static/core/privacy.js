/**
 * Whether what is compiled from here on is private. Each source has a key of its own, which its variants and
 * later versions share: who gets a link to one of them learns nothing of other sources.
 */
import { randomKey } from "./random_key.js";
import { keep, kept } from "./storage.js";

const KEY = "private";

/** @param {boolean} isPrivate */
export const keepPrivate = (isPrivate) => keep(KEY, isPrivate ? "on" : null);

/** The key of a source that is compiled for the first time; "": its results are public. */
export const freshKey = () => (kept(KEY) ? randomKey() : "");
