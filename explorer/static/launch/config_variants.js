/**
 * The autotune configurations of a kernel as variants of its compilation.
 *
 * @import { Config, Draft, Kernel, Scalar } from "../core/types.js"
 * @import { Column } from "./variant_rows.js"
 * @import { Variants } from "./variant_table.js"
 */
import { choose } from "./edit.js";
import { literal } from "../core/format.js";
import { loadLater } from "../core/modules.js";
import { html } from "../core/template.js";
import { variantOf } from "./variants.js";

/** The columns of compiler options, with short titles. */
export const OPTION_COLUMNS = [
  { name: "num_warps", title: "warps", words: "Warps" },
  { name: "num_stages", title: "stages", words: "Stages" },
  { name: "num_ctas", title: "CTAs", words: "CTAs" },
  { name: "maxnreg", title: "max regs", words: "Most registers per thread" },
];

/** The table of a kernel's autotune configurations. @param {Draft} draft @param {Kernel | null} kernel @param {number | null} chosen */
export function configSection(draft, kernel, chosen) {
  const configs = configsOf(draft, kernel);
  const { constants, columns } = configColumns(configs);
  const variants = configs.length ? configVariants(draft, configs, columns, chosen) : null;
  if (variants) void loadLater(() => import("./variant_table.js"));
  return html`<section class="variants" aria-label="Autotune configurations" ?hidden=${!variants}>
    <h3>Configurations · ${configs.length}</h3>
    <p class="hint" ?hidden=${constants.length === 0}>In all: ${constants.join(", ")}</p>
    <variant-table .variants=${variants}></variant-table>
  </section>`;
}

/** The configurations that can be chosen: a signature says the constants itself. @param {Draft} draft @param {Kernel | null} kernel */
export function configsOf(draft, kernel) {
  return draft.mode === "signature" ? [] : (kernel?.configs ?? []);
}

/** @param {Draft} draft @param {Config[]} configs @param {Column[]} columns @param {number | null} chosen @returns {Variants} */
function configVariants(draft, configs, columns, chosen) {
  const rows = configs.map((config) => {
    const next = draftWithConfig(draft, config);
    return {
      ...variantOf(next),
      title: String(config.index),
      words: `configuration ${config.index}`,
      cells: Object.fromEntries(columns.map(({ name }) => [name, cellOf(configValue(config, name))])),
      isShown: config.index === chosen,
      open: () => choose({ config: config.index, options: next.options, arguments: next.arguments }),
    };
  });
  return { kind: "configs", label: "Autotune configurations", subject: "config", columns, rows };
}

/**
 * Return the draft with a configuration. The draft does not override the values of the configuration.
 * @param {Draft} draft @param {Config} config @returns {Draft}
 */
export function draftWithConfig(draft, config) {
  const options = Object.fromEntries(
    Object.entries(draft.options).filter(([name]) => !(name in config.options)),
  );
  const given = draft.arguments.map((each) =>
    each.name in config.arguments ? { ...each, value: config.arguments[each.name] ?? null } : each,
  );
  return { ...draft, config: config.index, options, arguments: given };
}

/** The columns in which the configurations differ, and what all of them share. @param {Config[]} configs */
export function configColumns(configs) {
  const names = [...new Set(configs.flatMap((config) => Object.keys(config.arguments)))];
  const differ = (/** @type {(config: Config) => Scalar | undefined} */ read) =>
    new Set(configs.map(read)).size > 1;
  const varying = names.filter((name) => differ((config) => config.arguments[name]));
  const constants = names
    .filter((name) => !varying.includes(name))
    .map((name) => `${name} ${literal(configs[0]?.arguments[name])}`);
  const options = OPTION_COLUMNS.filter(({ name }) => differ((config) => config.options[name]));
  for (const { name, words } of OPTION_COLUMNS) {
    const value = configs[0]?.options[name];
    const isPlain = value === undefined || value === null || (name === "num_ctas" && value === 1);
    if (!isPlain && !options.some((each) => each.name === name))
      constants.push(`${words.toLowerCase()} ${literal(value)}`);
  }
  /** @type {Column[]} */
  const columns = [...varying.map((name) => ({ name, title: name, words: name })), ...options];
  return { columns, constants };
}

/**
 * Return the value that a configuration sets.
 * @param {Config} config
 * @param {string} name
 * @returns {Scalar | undefined}
 */
export function configValue(config, name) {
  return config.arguments[name] ?? config.options[name];
}

/** @param {Scalar | undefined} value */
function cellOf(value) {
  return typeof value === "number" ? value : value === undefined ? "" : literal(value);
}
