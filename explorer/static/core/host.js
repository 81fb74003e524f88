/**
 * The host of this page: its own site, a frame in a different site, or a file without a server.
 *
 * The document names it: `<body data-host="embed" data-compilation="…">`.
 */
const { host = "site", compilation = "" } = document.body.dataset;

/** The account that is signed in; undefined: none. */
export const { account } = document.body.dataset;

/** The page is in a frame of a different site: it stores nothing and adds no history entries. */
export const isEmbedded = host === "embed";

/** The page is a saved file: it contains the result and has no server. */
export const isFile = host === "file";

/** Whether the page edits and compiles kernels, or only shows one result. */
export const canCompile = host === "site";

/** Whether the page can write the view into its address. The frame of a notebook has no address. */
export const hasAddress = location.protocol !== "about:";

/** The compilation that the page shows first; empty: none. */
export const compilationId = compilation || (/^\/k\/([\w-]+)/.exec(location.pathname)?.[1] ?? "");
