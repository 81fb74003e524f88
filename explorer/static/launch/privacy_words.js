/**
 * Who may see the results that have a key, as the launch panel calls it.
 * @param {string} key
 */
export const privacyOf = (key) => (key ? (key.includes(":") ? "Only me" : "Private link") : "Public");
