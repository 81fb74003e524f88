/**
 * All autotune configurations timed on one launch: which is the fastest, and by how much.
 *
 * @import { Autotuning, ConfigTiming } from "./documents.js"
 */
import { api } from "../api.js";
import { make } from "../dom.js";
import { choose } from "../edit.js";
import { literal } from "../format.js";
import { canCompile } from "../host.js";
import { draftWithConfig } from "../launch_variants.js";
import { PlotFigure, plain } from "../plot.js";
import { store } from "../store.js";
import { digits, time } from "./numbers.js";
import { scrolled } from "./scroller.js";

/** So many bars can be told apart. */
const MOST_BARS = 24;

/** @param {Autotuning} autotuning @param {string} id of the run */
export function autotuningSection({ configs, best }, id) {
  const fastest = configs.find(({ config }) => config === best) ?? null;
  const least = fastest?.median_ns ?? null;
  const ordered = [...configs].sort((one, other) => (one.median_ns ?? Infinity) - (other.median_ns ?? Infinity));
  const names = [...new Set(configs.flatMap(({ arguments: values, options }) => [...Object.keys(values), ...Object.keys(options)]))];
  const varying = names.filter((name) => new Set(configs.map((each) => valueOf(each, name))).size > 1);
  const timed = ordered.filter(({ median_ns: median }) => median !== null);
  const drawn = timed.slice(0, MOST_BARS);
  const figure = new PlotFigure();
  figure.style.setProperty("--plot-height", `${74 + Math.min(22, Math.max(15, 346 / drawn.length)) * drawn.length}px`);
  figure.show({
    label: drawn.length < timed.length ? `Time of the ${MOST_BARS} fastest configurations` : "Time of each configuration, the fastest on top",
    fileName: `autotuning-${id}`,
    draw: (colors) => ({
      traces: [{
        type: "bar", orientation: "h", x: drawn.map(({ median_ns: median }) => (median ?? 0) / 1000), y: drawn.map(({ config }) => String(config)),
        marker: { color: drawn.map(({ config }) => (config === best ? colors.ok : colors.accent)) },
        customdata: drawn.map((each) => plain(varying.map((name) => `${name} ${valueOf(each, name)}`).join(", "))),
        error_x: {
          type: "data", symmetric: false, thickness: 1, width: 3, color: colors.mute,
          array: drawn.map((each) => ((each.high_ns ?? 0) - (each.median_ns ?? 0)) / 1000), arrayminus: drawn.map((each) => ((each.median_ns ?? 0) - (each.low_ns ?? 0)) / 1000),
        },
        hovertemplate: "configuration %{y}: %{x:.4~g} µs<br>%{customdata}<extra></extra>",
      }],
      layout: {
        showlegend: false, bargap: 0.3,
        xaxis: { title: "µs", rangemode: "tozero" }, yaxis: { type: "category", autorange: "reversed", dtick: 1, tickfont: { size: 11 } },
      },
    }),
    table: { head: ["configuration", "µs"], rows: timed.map(({ config, median_ns: median }) => [String(config), digits((median ?? 0) / 1000)]) },
  });
  return make("section", { class: "run-autotuning is-wide" },
    make("header", {}, make("h3", {}, "Autotuning"), make("a", { class: "button small", href: api.runUrl(id, "autotuning.csv"), download: `autotuning-${id}.csv` }, "CSV")),
    make("p", {}, fastest && least !== null
      ? `Configuration ${fastest.config} is the fastest of ${configs.length}: ${time(least)} with ${varying.map((name) => `${name} ${valueOf(fastest, name)}`).join(", ") || "its settings"}.`
      : "No configuration could be timed."),
    timed.length ? figure : null,
    drawn.length < timed.length ? make("p", { class: "hint" }, `The plot has the ${MOST_BARS} fastest of the ${timed.length} that were timed; the table has all.`) : null,
    scrolled("Configurations by time",
      make("thead", {}, make("tr", {}, ...["config", ...varying, "median", "20 % to 80 %", "times the best", ""].map((head) => (head ? make("th", { scope: "col" }, head) : make("td", {}))))),
      make("tbody", {}, ...ordered.map((each) => row(each, varying, least, each.config === best)))));
}

/** @param {ConfigTiming} timing @param {string[]} varying @param {number | null} least @param {boolean} isBest */
function row(timing, varying, least, isBest) {
  const { config, median_ns: median, low_ns: low, high_ns: high, problem } = timing;
  const [reason = ""] = problem.split("\n");
  const numbers = median === null
    ? [make("td", { colspan: "3", class: "is-text run-failed", title: reason === problem ? null : problem }, reason || "It could not be timed.")]
    : [make("td", {}, make("b", {}, time(median))), make("td", {}, low !== null && high !== null ? `${time(low)} – ${time(high)}` : ""), make("td", {}, least ? `${digits(median / least)} ×` : "")];
  return make("tr", { class: isBest ? "is-best" : null },
    make("th", { scope: "row" }, String(config), isBest && make("span", { class: "visually-hidden" }, ", the fastest")),
    ...varying.map((name) => make("td", {}, valueOf(timing, name))), ...numbers,
    make("td", {}, canCompile && make("button", { type: "button", class: "link", "aria-label": `Open configuration ${config}`, onclick: () => open(timing) }, "Open")));
}

/** Compile a configuration, and show it. @param {ConfigTiming} timing */
function open({ config, arguments: values, options }) {
  const next = draftWithConfig(store.state.draft, { index: config, arguments: values, options });
  choose({ config, options: next.options, arguments: next.arguments });
}

/** @param {ConfigTiming} timing @param {string} name */
function valueOf({ arguments: values, options }, name) {
  const value = name in values ? values[name] : options[name];
  return value === undefined || value === null ? "" : literal(value);
}
