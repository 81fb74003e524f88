/**
 * The view of a comparison, in the fragment of its address: nothing (the brief view), `#source`,
 * `#passes`, `#stage=ttgir` or `#stage=ttir..ttgir`, with `&unified` or `&split` and `&all` (also passes without
 * a change).
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

/** The address of a comparison. @param {string} before @param {string} after @param {View} [view] */
export function comparisonUrl(before, after, view) {
  const url = `/compare/${encodeURIComponent(before)}..${encodeURIComponent(after)}`;
  return view && formatView(view) !== "#" ? url + formatView(view) : url;
}
