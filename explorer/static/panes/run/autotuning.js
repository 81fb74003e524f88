/**
 * All autotune configurations with their times on one launch.
 *
 * @import { PlotContent } from "../../charts/plot.js"
 * @import { Autotuning, ConfigTiming } from "../../core/types.js"
 */
import { api } from "../../core/api.js";
import { choose } from "../../launch/edit.js";
import { literal } from "../../core/format.js";
import { canCompile } from "../../core/host.js";
import { draftWithConfig } from "../../launch/config_variants.js";
import { plain } from "../../charts/plot.js";
import { textSize } from "../../charts/text_size.js";
import { store } from "../../core/store.js";
import { digits, time } from "../../core/numbers.js";
import { heads, scrolled } from "../../core/scroller.js";
import { html, nothing, styles } from "../../core/template.js";

/** More bars would be too thin to read. */
const MOST_BARS = 24;

/** @param {Autotuning} autotuning @param {string} id of the run */
export function autotuningSection({ configs, best }, id) {
  const fastest = configs.find(({ config }) => config === best) ?? null;
  const least = fastest?.median_ns ?? null;
  const ordered = [...configs].sort(
    (one, other) => (one.median_ns ?? Infinity) - (other.median_ns ?? Infinity),
  );
  const names = [
    ...new Set(
      configs.flatMap(({ arguments: values, options }) => [...Object.keys(values), ...Object.keys(options)]),
    ),
  ];
  const varying = names.filter((name) => new Set(configs.map((each) => settingOf(each, name))).size > 1);
  const timed = ordered.filter(({ median_ns: median }) => median !== null);
  const drawn = timed.slice(0, MOST_BARS);
  const height = `${74 + Math.min(22, Math.max(15, 346 / drawn.length)) * drawn.length}px`;
  /** @type {PlotContent} */
  const plot = {
    label:
      drawn.length < timed.length
        ? `Time of the ${MOST_BARS} fastest configurations`
        : "Time of each configuration, the fastest on top",
    fileName: `autotuning-${id}`,
    draw: (colors) => ({
      traces: [
        {
          type: "bar",
          orientation: "h",
          x: drawn.map(({ median_ns: median }) => (median ?? 0) / 1000),
          y: drawn.map(({ config }) => String(config)),
          marker: { color: drawn.map(({ config }) => (config === best ? colors.ok : colors.accent)) },
          customdata: drawn.map((each) =>
            plain(varying.map((name) => `${name} ${settingOf(each, name)}`).join(", ")),
          ),
          error_x: {
            type: "data",
            symmetric: false,
            thickness: 1,
            width: 3,
            color: colors.mute,
            array: drawn.map((each) => ((each.high_ns ?? 0) - (each.median_ns ?? 0)) / 1000),
            arrayminus: drawn.map((each) => ((each.median_ns ?? 0) - (each.low_ns ?? 0)) / 1000),
          },
          hovertemplate: "configuration %{y}: %{x:.4~g} µs<br>%{customdata}<extra></extra>",
        },
      ],
      layout: {
        showlegend: false,
        bargap: 0.3,
        xaxis: { title: "µs", rangemode: "tozero" },
        yaxis: { type: "category", autorange: "reversed", dtick: 1, tickfont: { size: textSize("small") } },
      },
    }),
    table: {
      head: ["configuration", "µs"],
      rows: timed.map(({ config, median_ns: median }) => [String(config), digits((median ?? 0) / 1000)]),
    },
  };
  const settings = fastest && varying.map((name) => `${name} ${settingOf(fastest, name)}`).join(", ");
  return html`<section class="run-autotuning">
    <header>
      <h3>Autotuning</h3>
      <a class="button small" href=${api.runUrl(id, "autotuning.csv")} download=${`autotuning-${id}.csv`}>CSV</a>
    </header>
    <p>${
      fastest && least !== null
        ? `Configuration ${fastest.config} is the fastest of ${configs.length}: ${time(least)} with ${settings || "its settings"}.`
        : "No configuration could be timed."
    }</p>
    ${
      timed.length
        ? html`<plot-figure .content=${plot} ${styles({ "--plot-height": height })}></plot-figure>`
        : nothing
    }
    ${
      drawn.length < timed.length
        ? html`<p class="hint">
            The plot has the ${MOST_BARS} fastest of the ${timed.length} that were timed; the table has all.
          </p>`
        : nothing
    }
    ${scrolled(
      "Configurations by time",
      html`${heads(["config", ...varying, "median", "20 % to 80 %", "relative to fastest", ""])}
        <tbody>${ordered.map((each) => row(each, varying, least, each.config === best))}</tbody>`,
    )}
  </section>`;
}

/**
 * @param {ConfigTiming} timing
 * @param {string[]} varying
 * @param {number | null} least
 * @param {boolean} isBest
 */
function row(timing, varying, least, isBest) {
  const { config, median_ns: median, low_ns: low, high_ns: high, problem } = timing;
  const [reason = ""] = problem.split("\n");
  const spread = low !== null && high !== null ? `${time(low)} – ${time(high)}` : "";
  const numbers =
    median === null
      ? html`<td colspan="3" class="is-text run-failed" title=${reason === problem ? nothing : problem}>${
          reason || "It could not be timed."
        }</td>`
      : html`<td><b>${time(median)}</b></td><td>${spread}</td>
          <td>${least ? `${digits(median / least)} ×` : nothing}</td>`;
  const button = () =>
    html`<button type="button" class="link" aria-label=${`Open configuration ${config}`}
      @click=${() => open(timing)}>Open</button>`;
  return html`<tr class=${isBest ? "is-best" : nothing}>
    <th scope="row">${config}${isBest ? html`<span class="visually-hidden">, the fastest</span>` : nothing}</th>
    ${varying.map((name) => html`<td>${settingOf(timing, name)}</td>`)} ${numbers}
    <td>${canCompile ? button() : nothing}</td>
  </tr>`;
}

/** Compile a configuration, and show it. @param {ConfigTiming} timing */
function open({ config, arguments: values, options }) {
  const next = draftWithConfig(store.state.draft, { index: config, arguments: values, options });
  choose({ config, options: next.options, arguments: next.arguments });
}

/** @param {ConfigTiming} timing @param {string} name */
function settingOf({ arguments: values, options }, name) {
  const value = name in values ? values[name] : options[name];
  return value === undefined || value === null ? "" : literal(value);
}
