/**
 * Where this page is looked at: on its own site, in a frame of another one, or as a file without a server.
 *
 * The document says it: `<body data-host="embed" data-compilation="…">`.
 */
const { host = "site", compilation = "" } = document.body.dataset;

/** The account that is signed in; undefined: none. */
export const { account } = document.body.dataset;

/** In somebody else's page: nothing is remembered, and the back button is not ours. */
export const isEmbedded = host === "embed";

/** Opened from a disk: the result is inside, and nothing else can be asked for. */
export const isFile = host === "file";

/** Whether kernels are edited and compiled here, or one result is only looked at. */
export const canCompile = host === "site";

/** Whether the page has an address of its own to write the view into. The frame of a notebook has none. */
export const hasAddress = location.protocol !== "about:";

/** The compilation that this visit begins with; empty: none. */
export const compilationId = compilation || (/^\/k\/([\w-]+)/.exec(location.pathname)?.[1] ?? "");
