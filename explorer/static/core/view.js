/**
 * The view in the address: `#panes=…&pin=…&read` behind `/k/<id>`, so that a copied link shows the same view;
 * `&line=ttgir.42` is the line of a stage that the cursor is on, `&file=tools.py` the file in the editor,
 * `&tour=programs.2` the step of a tour, `&exercise=one_warp` an exercise;
 * behind `/embed/<id>`, `&source` shows the source beside the panes.
 *
 * Panes side by side are joined by "+", tabs of one group by ","; "*" marks the tab in front unless it is the first,
 * "@60" the share of the space in per cent, and brackets turn the direction:
 * `stage:ttgir*,passes@60+(stage:sass*+log)@40`.
 */

/**
 * @typedef {{panes: string[], active: number, share: number}} Group tabs on top of each other
 * @typedef {{children: Layout[], share: number}} Split
 * @typedef {Group | Split} Layout
 * @typedef {{layout: Layout | null, pinned: number[], reading: boolean, withSource?: boolean,
 *   cursor?: {stage: string, line: number} | null, file?: string, lesson?: string}} View `file`: "" is the
 *   script; `lesson`: the tour or exercise as in the address, "" is none
 */

const TAB = /^([a-z_]+(?::[\w.-]*(?:;[a-z]+=[\w.-]*)*)?)(\*?)/;
const SHARE = /^@(\d+)/;

/** @param {string} fragment with or without "#" @returns {View} */
export function parseView(fragment) {
  /** @type {View} */
  const view = {
    layout: null,
    pinned: [],
    reading: false,
    withSource: false,
    cursor: null,
    file: "",
    lesson: "",
  };
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const [name = "", value = ""] = part.split(/=(.*)/s);
    const text = decode(value);
    const line = name === "line" && /^([\w-]+)\.(\d+)$/.exec(text);
    if (line) view.cursor = { stage: line[1] ?? "", line: Number(line[2]) };
    if (name === "panes") view.layout = parseLayout(text);
    if (name === "file") view.file = text;
    if (name === "tour" || name === "exercise") view.lesson = part;
    if (name === "read") view.reading = true;
    if (name === "source") view.withSource = true;
    if (name === "pin")
      view.pinned = text
        .split(",")
        .map(Number)
        .filter((line) => Number.isInteger(line) && line > 0);
  }
  return view;
}

/** @param {View} view @returns {string} with "#" */
export function formatView({ layout, pinned, reading, withSource, cursor, file, lesson }) {
  const parts = [];
  if (layout) parts.push(`panes=${formatLayout(layout, true)}`);
  if (cursor) parts.push(`line=${cursor.stage}.${cursor.line}`);
  if (file) parts.push(`file=${encodeURIComponent(file).replaceAll("%2F", "/")}`);
  if (pinned.length) parts.push(`pin=${pinned.join(",")}`);
  if (lesson) parts.push(lesson);
  if (reading) parts.push("read");
  if (withSource) parts.push("source");
  return parts.length ? `#${parts.join("&")}` : "";
}

/** Every group of a layout, from the first to the last. @param {Layout} layout @returns {Group[]} */
export function groupsOf(layout) {
  return "panes" in layout ? [layout] : layout.children.flatMap(groupsOf);
}

/** @param {string} value */
function decode(value) {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** @param {Layout} layout @param {boolean} outermost @returns {string} */
function formatLayout(layout, outermost) {
  if ("panes" in layout) {
    const tabs = layout.panes
      .map((pane, index) => (index === layout.active && index > 0 ? `${pane}*` : pane))
      .join(",");
    return tabs + share(layout);
  }
  const inside = layout.children.map((child) => formatLayout(child, false)).join("+");
  return outermost ? inside : `(${inside})${share(layout)}`;
}

/** @param {Layout} layout */
function share(layout) {
  return layout.share ? `@${Math.round(layout.share)}` : "";
}

/** @param {string} text @returns {Layout | null} null where it cannot be understood */
export function parseLayout(text) {
  let rest = text;
  const accept = (/** @type {string} */ character) => {
    if (!rest.startsWith(character)) return false;
    rest = rest.slice(character.length);
    return true;
  };
  const takeShare = () => {
    const found = SHARE.exec(rest);
    if (!found) return 0;
    rest = rest.slice(found[0].length);
    return Math.min(100, Number(found[1]));
  };
  /** @returns {Layout | null} */
  const takeGroup = () => {
    /** @type {Group} */
    const group = { panes: [], active: 0, share: 0 };
    do {
      const found = TAB.exec(rest);
      if (!found) return null;
      rest = rest.slice(found[0].length);
      if (found[2]) group.active = group.panes.length;
      group.panes.push(/** @type {string} */ (found[1]));
    } while (accept(","));
    group.share = takeShare();
    return group;
  };
  /** @param {number} depth @returns {Layout | null} */
  const takeSplit = (depth) => {
    if (depth > 6) return null;
    /** @type {Split} */
    const split = { children: [], share: 0 };
    do {
      let child;
      if (accept("(")) {
        child = takeSplit(depth + 1);
        if (!child || !accept(")")) return null;
        child.share = takeShare();
      } else {
        child = takeGroup();
      }
      if (!child) return null;
      split.children.push(child);
    } while (accept("+"));
    return split.children.length === 1 ? /** @type {Layout} */ (split.children[0]) : split;
  };
  const layout = takeSplit(0);
  return rest === "" ? layout : null;
}
