/**
 * The variants that the launch panel offers: the kernel's autotune configurations, and several targets and
 * Triton versions at once.
 *
 * @import { Config, Draft, Kernel, Scalar, Target } from "./types.js"
 * @import { Column, Row } from "./variant_table.js"
 */
import { make, setText } from "./dom.js";
import { choose } from "./edit.js";
import { literal, targetTitle } from "./format.js";
import { keep, kept } from "./storage.js";
import { store } from "./store.js";
import { VariantTable } from "./variant_table.js";
import { variantOf } from "./variants.js";

const TARGETS_KEY = "several-targets";
const OPTION_COLUMNS = [
  { name: "num_warps", title: "warps", words: "Warps" },
  { name: "num_stages", title: "stages", words: "Stages" },
  { name: "num_ctas", title: "CTAs", words: "CTAs" },
  { name: "maxnreg", title: "max regs", words: "Most registers per thread" },
];

/** The table of a kernel's autotune configurations; nothing where there are none. */
export class ConfigVariants {
  constructor() {
    this.title = make("h3");
    this.same = make("p", { class: "hint" });
    this.table = /** @type {VariantTable} */ (document.createElement("variant-table"));
    this.box = make("section", { class: "variants", "aria-label": "Autotune configurations" }, this.title, this.same, this.table);
  }

  /** @param {Draft} draft @param {Kernel | null} kernel @param {number | null} chosen */
  draw(draft, kernel, chosen) {
    const configs = kernel?.configs ?? [];
    // A signature says the constants itself.
    this.box.hidden = configs.length === 0 || draft.mode === "signature";
    if (this.box.hidden) {
      this.table.show({ kind: "configs", label: "Autotune configurations", subject: "config", columns: [], rows: [] });
      return;
    }
    setText(this.title, `Configurations · ${configs.length}`);
    const { columns, constants } = configColumns(configs);
    setText(this.same, constants.length ? `In all: ${constants.join(", ")}` : "");
    this.same.hidden = constants.length === 0;
    const rows = configs.map((config) => {
      const next = draftWithConfig(draft, config);
      return {
        ...variantOf(next),
        title: String(config.index),
        words: `configuration ${config.index}`,
        cells: Object.fromEntries(columns.map(({ name }) => [name, cellOf(config.arguments[name] ?? config.options[name])])),
        isShown: config.index === chosen,
        open: () => choose({ config: config.index, options: next.options, arguments: next.arguments }),
      };
    });
    this.table.show({ kind: "configs", label: "Autotune configurations", subject: "config", columns, rows });
  }
}

/**
 * What is asked for with a configuration instead: what that sets itself is not overridden.
 * @param {Draft} draft @param {Config} config @returns {Draft}
 */
export function draftWithConfig(draft, config) {
  const options = Object.fromEntries(Object.entries(draft.options).filter(([name]) => !(name in config.options)));
  const given = draft.arguments.map((each) => (each.name in config.arguments ? { ...each, value: config.arguments[each.name] ?? null } : each));
  return { ...draft, config: config.index, options, arguments: given };
}

/** The columns in which the configurations differ, and what all of them share. @param {Config[]} configs */
function configColumns(configs) {
  const names = [...new Set(configs.flatMap((config) => Object.keys(config.arguments)))];
  const differ = (/** @type {(config: Config) => Scalar | undefined} */ read) => new Set(configs.map(read)).size > 1;
  const varying = names.filter((name) => differ((config) => config.arguments[name]));
  const prefix = commonPrefix(varying);
  const constants = names.filter((name) => !varying.includes(name)).map((name) => `${name} ${literal(configs[0]?.arguments[name])}`);
  const options = OPTION_COLUMNS.filter(({ name }) => differ((config) => config.options[name]));
  for (const { name, words } of OPTION_COLUMNS) {
    const value = configs[0]?.options[name];
    const isPlain = value === undefined || value === null || (name === "num_ctas" && value === 1);
    if (!isPlain && !options.some((each) => each.name === name)) constants.push(`${words.toLowerCase()} ${literal(value)}`);
  }
  /** @type {Column[]} */
  const columns = [...varying.map((name) => ({ name, title: name.slice(prefix.length), words: name })), ...options];
  return { columns, constants };
}

/** What names begin with in common, up to an underscore: the rest tells them apart. @param {string[]} names */
function commonPrefix(names) {
  const first = names[0] ?? "";
  if (names.length < 2) return "";
  for (let end = first.lastIndexOf("_") + 1; end > 0; end = first.lastIndexOf("_", end - 2) + 1) {
    const prefix = first.slice(0, end);
    if (names.every((name) => name.startsWith(prefix) && name.length > end)) return prefix;
  }
  return "";
}

/** @param {Scalar | undefined} value */
function cellOf(value) {
  return typeof value === "number" ? value : value === undefined ? "" : literal(value);
}

/** Several targets and Triton versions: which, and the table of what they make of the kernel. */
export class TargetVariants {
  constructor() {
    const saved = readSaved();
    /** @type {Set<string>} */
    this.targets = new Set(saved.targets);
    /** @type {Set<string>} */
    this.tritons = new Set(saved.tritons);
    this.choices = make("div", { class: "target-choices" });
    this.table = /** @type {VariantTable} */ (document.createElement("variant-table"));
    this.hint = make("p", { class: "hint" }, "Choose the targets and Triton versions to compile for and compare.");
    this.box = make("section", { class: "variants", id: "several-targets", "aria-label": "Several targets", hidden: true }, make("h3", {}, "Several targets"), this.choices, this.hint, this.table);
    this.button = make("button", {
      type: "button", class: "button small", "aria-expanded": "false", "aria-controls": this.box.id, title: "Compile for several targets and Triton versions",
      onclick: () => this.toggle(),
    }, "Several…");
  }

  toggle() {
    this.box.hidden = !this.box.hidden;
    this.button.setAttribute("aria-expanded", String(!this.box.hidden));
    // What is compiled for now is the first to be compared.
    if (!this.targets.size) this.targets.add(store.state.draft.target);
    this.draw(store.state.draft);
    if (!this.box.hidden) /** @type {HTMLElement | null} */ (this.choices.querySelector("input"))?.focus();
  }

  /** @param {Draft} draft */
  draw(draft) {
    if (this.box.hidden) return;
    const { targets, tritons } = store.state;
    this.drawChoices(targets, tritons.versions);
    const chosenTargets = targets.filter(({ name }) => this.targets.has(name));
    const present = draft.triton ?? tritons.default;
    const chosenTritons = tritons.versions.filter((version) => this.tritons.has(version));
    const versions = chosenTritons.length ? chosenTritons : [present];
    const rows = chosenTargets.flatMap((target) =>
      versions.map((triton) => rowOf(draft, target, triton, versions.length > 1, target.name === draft.target && triton === present)));
    this.hint.hidden = rows.length > 1;
    this.table.hidden = rows.length === 0;
    /** @type {Column[]} */
    const columns = versions.length > 1 ? [{ name: "triton", title: "Triton", words: "Triton version", isText: true }] : [];
    this.table.show({ kind: "targets", label: "Targets", subject: "target", columns, rows });
  }

  /** @param {Target[]} targets @param {string[]} versions */
  drawChoices(targets, versions) {
    const key = JSON.stringify([targets.length, versions]);
    if (this.choices.dataset.key === key) return;
    this.choices.dataset.key = key;
    const vendors = [...groupedByVendor(targets)].map(([vendor, members]) =>
      group(vendor, members.map((target) => this.choice(this.targets, target.name, target.architecture, target.title))));
    this.choices.replaceChildren(...vendors, group("Triton", versions.map((version) => this.choice(this.tritons, version, version, ""))));
  }

  /** @param {Set<string>} chosen @param {string} value @param {string} text @param {string} more */
  choice(chosen, value, text, more) {
    const box = make("input", {
      type: "checkbox", checked: chosen.has(value),
      onchange: () => {
        if (box.checked) chosen.add(value);
        else chosen.delete(value);
        keep(TARGETS_KEY, JSON.stringify({ targets: [...this.targets], tritons: [...this.tritons] }));
        this.draw(store.state.draft);
      },
    });
    return make("label", { class: "check" }, box, make("span", {}, text, more && make("small", {}, ` ${more}`)));
  }
}

/** @param {string} title @param {HTMLElement[]} choices */
function group(title, choices) {
  return make("fieldset", {}, make("legend", {}, title), ...choices);
}

/** @param {Draft} draft @param {Target} target @param {string} triton @param {boolean} severalTritons @param {boolean} isShown @returns {Row} */
function rowOf(draft, target, triton, severalTritons, isShown) {
  return {
    ...variantOf({ ...draft, target: target.name, triton }),
    title: targetTitle(target),
    words: severalTritons ? `${targetTitle(target)} by Triton ${triton}` : targetTitle(target),
    /** @type {Record<string, string>} */
    cells: severalTritons ? { triton } : {},
    isShown,
    open: () => choose({ target: target.name, triton }),
  };
}

/** @param {Target[]} targets @returns {Map<string, Target[]>} */
export function groupedByVendor(targets) {
  /** @type {Map<string, Target[]>} */
  const groups = new Map();
  for (const target of targets) groups.set(target.vendor, [...(groups.get(target.vendor) ?? []), target]);
  return groups;
}

/** @returns {{targets: string[], tritons: string[]}} */
function readSaved() {
  try {
    const { targets, tritons } = JSON.parse(kept(TARGETS_KEY) ?? "{}");
    return { targets: strings(targets), tritons: strings(tritons) };
  } catch {
    return { targets: [], tritons: [] };
  }
}

/** @param {unknown} value @returns {string[]} */
function strings(value) {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
