/**
 * A benchmark over sizes: a plot, and its numbers as a table and as a file.
 *
 * @import { PlotContent } from "../../charts/plot.js"
 * @import { Sweep, SweepPoint } from "../../core/types.js"
 */
import { api } from "../../core/api.js";
import { plain } from "../../charts/plot.js";
import { digits } from "../../core/numbers.js";
import { html } from "../../core/template.js";

const MOST_TICKS = 9;
/** The width of a size with the space around it. */
const TICK_PX = 64;

/** @param {Sweep} sweep @param {string} id of the run */
export function sweepSection(sweep, id) {
  const { name, points, lines, unit, size_names: sizeNames, is_logarithmic: isLogarithmic, problems } = sweep;
  const varied =
    sizeNames.find((each) => new Set(points.map(({ sizes }) => sizes[each])).size > 1) ?? sizeNames[0] ?? "";
  const values = points.map(({ sizes }) => sizes[varied] ?? 0);
  /** @type {PlotContent} */
  const plot = {
    label: `${unit} by ${varied}${name ? `: ${name}` : ""}`,
    fileName: `sweep-${id}`,
    draw: (colors, { width }) => ({
      traces: lines.map((line, index) => ({
        type: "scatter",
        mode: "lines+markers",
        name: plain(line),
        x: values,
        y: points.map((point) => point.values[index] ?? null),
        connectgaps: false,
        line: { color: colors.series[index % colors.series.length], width: 2 },
        marker: { size: 6 },
        error_y: { type: "data", symmetric: false, thickness: 1, width: 3, ...spread(points, index) },
        hovertemplate: `${plain(line)}<br>${plain(varied)} = %{x:,}<br>%{y:.4~g} ${plain(unit)}<extra></extra>`,
      })),
      layout: {
        showlegend: lines.length > 1,
        xaxis: {
          type: isLogarithmic ? "log" : "linear",
          title: plain(varied),
          ...(isLogarithmic ? ticks(values, width) : {}),
        },
        yaxis: { title: plain(unit), rangemode: "tozero" },
      },
    }),
    table: {
      head: [...sizeNames, ...lines.flatMap((line) => [`${line} (${unit})`, "20 % to 80 %"])],
      rows: points.map((point) => [
        ...sizeNames.map((each) => (point.sizes[each] ?? 0).toLocaleString("en")),
        ...lines.flatMap((_, index) => [number(point.values[index]), range(point, index)]),
      ]),
    },
  };
  return html`<section class="run-sweep">
    <header>
      <h3>${name ? `Sweep: ${name}` : "Sweep"}</h3>
      <a class="button small" href=${api.runUrl(id, "sweep.csv")} download=${`sweep-${id}.csv`}>CSV</a>
    </header>
    <plot-figure .content=${plot}></plot-figure>
    ${problems.map((problem) => html`<p class="warning">${problem}</p>`)}
  </section>`;
}

/**
 * The ticks of a logarithmic axis: some of the sizes.
 * @param {number[]} values
 * @param {number} width of the plot
 */
function ticks(values, width) {
  const step = Math.ceil(values.length / Math.min(MOST_TICKS, Math.max(2, Math.floor(width / TICK_PX))));
  const shown = values.filter((_, index) => (values.length - 1 - index) % step === 0);
  return { tickmode: "array", tickvals: shown, ticktext: shown.map(binary) };
}

/** @param {number} value */
function binary(value) {
  const [factor, prefix] = /** @type {const} */ ([
    [2 ** 30, "Gi"],
    [2 ** 20, "Mi"],
    [2 ** 10, "Ki"],
  ]).find(([each]) => value >= each && value % each === 0) ?? [1, ""];
  return `${(value / factor).toLocaleString("en")}${prefix && ` ${prefix}`}`;
}

/** Whiskers from the lower to the upper end. @param {SweepPoint[]} points @param {number} index */
function spread(points, index) {
  const beyond = (/** @type {"low" | "high"} */ side) =>
    points.map((point) =>
      Math.abs((point[side][index] ?? point.values[index] ?? 0) - (point.values[index] ?? 0)),
    );
  return { array: beyond("high"), arrayminus: beyond("low") };
}

/** @param {number | null | undefined} value */
function number(value) {
  return value === null || value === undefined ? "failed" : digits(value);
}

/** @param {SweepPoint} point @param {number} index */
function range({ low, high }, index) {
  const [from, to] = [low[index], high[index]];
  return typeof from === "number" && typeof to === "number" ? `${digits(from)} – ${digits(to)}` : "";
}
