/**
 * The view of a comparison, in the fragment of its address: nothing (the brief view), `#source`,
 * `#passes`, `#stage=ttgir`, `#stage=ttir..ttgir` or `#stage=pass-3..pass-4` (the modules after these passes), with
 * `&unified` or `&split` and `&all` (also passes without a change).
 *
 * @import { Form } from "./diff.js"
 *
 * @typedef {{show: "brief" | "source" | "passes" | "stage", before: string, after: string, form: Form,
 *   all: boolean}} View
 */

const STAGE = /^([\w-]+)(?:\.\.([\w-]+))?$/;

/**
 * @param {string} fragment
 * @returns {View} missing or unknown parts have the values of a first visit
 */
export function parseView(fragment) {
  /** @type {View} */
  const view = { show: "brief", before: "", after: "", form: "", all: false };
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const [name, value = ""] = part.split("=", 2);
    const stages = STAGE.exec(value);
    if (name === "source" || name === "passes") view.show = name;
    if (name === "stage" && stages) {
      Object.assign(view, { show: "stage", before: stages[1], after: stages[2] ?? stages[1] });
    }
    if (name === "unified" || name === "split") view.form = name;
    if (name === "all") view.all = true;
  }
  return view;
}

/** @param {View} view @returns {string} with "#"; "#" alone for the view of a first visit */
export function formatView({ show, before, after, form, all }) {
  const what =
    show === "stage"
      ? `stage=${before === after ? before : `${before}..${after}`}`
      : show === "brief"
        ? ""
        : show;
  return `#${[what, form, all && "all"].filter(Boolean).join("&")}`;
}

/** The view of the address now. */
export function currentView() {
  return parseView(location.hash);
}

/** Change the view, as an entry of the browser's history. @param {Partial<View>} changes */
export function go(changes) {
  location.hash = formatView({ ...currentView(), ...changes });
}

/** The ids that the address names. @returns {[string, string]} */
export function comparedIds() {
  const [, before = "", after = ""] = /^\/compare\/([\w-]+)\.\.([\w-]+)/.exec(location.pathname) ?? [];
  return [before, after];
}

/** The name of the module after a pass, in place of a stage. @param {{index: number} | null | undefined} pass */
export function moduleName(pass) {
  return pass ? `pass-${pass.index}` : "";
}

/**
 * The address of a comparison of two results. The result of the older version of Triton is before.
 * @param {{id: string, triton: string | null}} one @param {{id: string, triton: string | null}} other
 */
export function orderedUrl(one, other) {
  const isNewer =
    one.triton && other.triton && one.triton.localeCompare(other.triton, "en", { numeric: true }) > 0;
  return isNewer ? comparisonUrl(other.id, one.id) : comparisonUrl(one.id, other.id);
}

/** The address of a comparison. @param {string} before @param {string} after @param {View} [view] */
export function comparisonUrl(before, after, view) {
  const url = `/compare/${encodeURIComponent(before)}..${encodeURIComponent(after)}`;
  return view && formatView(view) !== "#" ? url + formatView(view) : url;
}
