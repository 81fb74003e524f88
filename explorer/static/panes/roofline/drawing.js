/**
 * A roofline in Plotly's terms: operations a second over operations a byte, both logarithmic.
 *
 * Roofs of the datasheet are solid, measured ones dashed; a dot for each memory level, joined by a line.
 *
 * @import { Bound, Ceiling, Dot, Level, RooflineDocument } from "../../core/types.js"
 * @import { Range, Spot } from "./labels.js"
 * @import { Drawing, PlotColors } from "../../charts/plot.js"
 */
import { plain, seriesColor } from "../../charts/plot.js";
import { large, percent } from "../../core/numbers.js";
import { html, styles } from "../../core/template.js";
import { isFasterThanRoof } from "./analysis.js";
import { faded, labelsOf, rateWords } from "./labels.js";

const SYMBOLS = /** @type {Record<Level, string>} */ ({
  dram: "circle",
  l2: "square",
  l1: "diamond",
  shared: "triangle-up",
});
const HUES = /** @type {Record<Level, number>} */ ({ dram: 0, l2: 1, l1: 5, shared: 3 });
const MARGIN = { l: 58, r: 16, t: 14, b: 42 };
/** The margin around the data, in powers of ten. */
const ROOM = { before: 0.8, behind: 1.2 };
const MOST_DECADES = 6;
/** Dots that are nearer than that cannot be told apart. */
const SAME_PLACE_PX = 6;
const ONE_TITLE_PX = 26;
/** The space for the number of a tick. */
const TICK_ROOM = { x: 44, y: 20 };

/**
 * @param {RooflineDocument} document
 * @param {PlotColors} colors
 * @param {{width: number, height: number}} size
 * @returns {Drawing}
 */
export function drawRoofline(document, colors, { width, height }) {
  const { dots, ceilings, ridges } = document;
  const unit = unitOf(document);
  const range = rangeOf(document);
  const pixels = {
    x: (width - MARGIN.l - MARGIN.r) / (range.x[1] - range.x[0]),
    y: (height - MARGIN.t - MARGIN.b) / (range.y[1] - range.y[0]),
  };
  const colorOf = (/** @type {string} */ name) =>
    colors.series[HUES[/** @type {Level} */ (name)] ?? 2] ?? colors.text;
  const memory = merged(ceilings.filter(({ kind }) => kind === "memory"));
  const compute = merged(ceilings.filter(({ kind }) => kind === "compute"));
  const roofs = [
    ...memory.map((roof) => ({ roof, color: colorOf(roof.name), ...memoryLine(roof, compute, range) })),
    ...compute.map((roof) => ({ roof, color: colors.mute, ...computeLine(roof, memory, range) })),
  ];
  const timed = dots
    .filter(({ rate }) => rate !== null)
    .sort((one, other) => one.intensity - other.intensity);
  const spots = spotsOf(timed, pixels.x);
  return {
    traces: [
      ...band(document, range, colors),
      ...roofs.map(({ roof, color, x, y }) => ({
        x,
        y,
        mode: "lines",
        line: {
          color,
          width: roof.source === "measured" ? 1.4 : 1.6,
          dash: roof.source === "measured" ? "dash" : "solid",
        },
        hoverinfo: "text",
        text: x.map(() => ceilingWords(roof, unit)),
      })),
      {
        x: ridges.map(({ intensity }) => intensity),
        y: ridges.map(({ rate }) => rate),
        mode: "markers",
        marker: {
          symbol: "circle-open",
          size: 6,
          color: ridges.map(({ level }) => colorOf(level)),
          line: { width: 1.4 },
        },
        hoverinfo: "text",
        text: ridges.map(
          ({ level, intensity, operation, source }) =>
            `Ridge of ${plain(titleOf(ceilings, level))} and ${plain(titleOf(ceilings, operation))} (${source})<br>below ${ratio(intensity, unit)} memory is the limit`,
        ),
      },
      ...dots
        .filter(({ rate }) => rate === null)
        .map((dot) => ({
          x: [dot.intensity, dot.intensity],
          y: [10 ** range.y[0], 10 ** range.y[1]],
          mode: "lines",
          line: { color: colorOf(dot.level), width: 1.4, dash: "dot" },
          hoverinfo: "text",
          text: [dotWords(dot, ceilings, unit), dotWords(dot, ceilings, unit)],
        })),
      {
        x: timed.map(({ intensity }) => intensity),
        y: timed.map(({ rate }) => rate),
        mode: "lines+markers",
        line: { color: colors.mute, width: 1 },
        cliponaxis: false,
        marker: {
          size: spots.map(({ size }) => size),
          opacity: 1,
          color: timed.map(({ level }) => colorOf(level)),
          symbol: timed.map(({ level }) => SYMBOLS[level]),
          line: { color: colors.panel, width: 1.5 },
        },
        hoverinfo: "text",
        hovertext: spots.map(
          ({ together }) =>
            together.map((dot) => dotWords(dot, ceilings, unit)).join("<br>") + notesOf(together),
        ),
      },
    ],
    layout: {
      margin: MARGIN,
      showlegend: false,
      xaxis: {
        type: "log",
        range: range.x,
        title: `${unit} per byte`,
        tickvals: ticks(range.x, pixels.x, TICK_ROOM.x),
        ticktext: ticks(range.x, pixels.x, TICK_ROOM.x).map(short),
        tickangle: 0,
        automargin: false,
      },
      yaxis: {
        type: "log",
        range: range.y,
        title: `${unit}/s`,
        tickvals: ticks(range.y, pixels.y, TICK_ROOM.y),
        ticktext: ticks(range.y, pixels.y, TICK_ROOM.y).map((value) => large(value, "").trim()),
        automargin: false,
      },
      annotations: labelsOf(
        { range, margin: MARGIN, width, height },
        roofs,
        dots,
        timed,
        spots,
        ridges,
        unit,
        colors,
      ),
    },
  };
}

/** Roofs that are the same line are drawn once. @param {Ceiling[]} roofs @returns {Ceiling[]} */
function merged(roofs) {
  /** @type {Map<string, Ceiling>} */
  const lines = new Map();
  for (const roof of roofs) {
    const key = `${roof.source} ${roof.rate}`;
    const same = lines.get(key);
    lines.set(key, same ? { ...same, title: `${same.title}, ${roof.title}` } : roof);
  }
  return [...lines.values()];
}

/**
 * How dots are drawn: those in one place inside of each other, near ones under one title.
 * @param {Dot[]} dots by intensity @param {number} decade in pixels @returns {Spot[]}
 */
function spotsOf(dots, decade) {
  const distance = (/** @type {Dot} */ one, /** @type {Dot} */ other) =>
    Math.abs(Math.log10(one.intensity / other.intensity)) * decade;
  /** the first dot of those with one title @type {Dot | undefined} */
  let first;
  return dots.map((dot) => {
    const together = dots.filter((other) => distance(dot, other) < SAME_PLACE_PX);
    const isFirst = first === undefined || distance(dot, first) > ONE_TITLE_PX;
    if (isFirst) first = dot;
    const near = dots.filter(
      (other) => other.intensity >= dot.intensity && distance(dot, other) <= ONE_TITLE_PX,
    );
    return {
      together,
      titled: isFirst ? near : [],
      size: together.length > 1 ? 16 - 5 * together.indexOf(dot) : 11,
    };
  });
}

/** The data of the plot as a table. @param {RooflineDocument} document */
export function rooflineTable(document) {
  const { dots, ceilings } = document;
  const unit = unitOf(document);
  return {
    head: ["what", "intensity", "rate", "bounds", "share", "source"],
    rows: [
      ...dots.map((dot) => [
        `kernel, ${dot.title}`,
        ratio(dot.intensity, unit),
        dot.rate === null ? "not timed" : large(dot.rate, `${unit}/s`),
        dot.bounds.map((bound) => large(bound.rate, `${unit}/s`)).join(" · "),
        dot.bounds.map(shareWords).join(" · "),
        sourcesOf(dot),
      ]),
      ...ceilings.map((roof) => [
        `${roof.kind === "memory" ? "roof" : "ceiling"}, ${roof.title}`,
        "",
        rateWords(roof, unit),
        "",
        "",
        `${roof.source}: ${roof.method}`,
      ]),
    ],
  };
}

/** The roofs with their rates, for a plot that has no room for them. @param {RooflineDocument} document */
export function roofLegend(document) {
  const unit = unitOf(document);
  const items = [...new Set(document.ceilings.map(({ name }) => name))].map((name) => {
    const roofs = document.ceilings.filter((each) => each.name === name);
    const rates = roofs.map((roof) => `${roof.source} ${rateWords(roof, unit)}`).join(", ");
    const hue = HUES[/** @type {Level} */ (name)];
    const swatch = hue === undefined ? "" : seriesColor(hue);
    return html`<li class="key" ${styles({ "--swatch": swatch })}>${titleOf(roofs, name)}: ${rates}</li>`;
  });
  return html`<ul class="roofline-roofs hint" aria-label="Roofs">${items}</ul>`;
}

/** As it stands behind a prefix. @param {RooflineDocument} document */
function unitOf({ unit }) {
  return unit === "operations" ? "OP" : unit;
}

/** @param {RooflineDocument} document @returns {Range} */
function rangeOf({ dots, ridges, ceilings }) {
  const compute = ceilings.filter(({ kind }) => kind === "compute").map(({ rate }) => rate);
  const memory = ceilings.filter(({ kind }) => kind === "memory").map(({ rate }) => rate);
  const intensities = [...dots, ...ridges].map(({ intensity }) => intensity).filter((value) => value > 0);
  const rates = [...dots.flatMap(({ rate }) => (rate ? [rate] : [])), ...compute];
  const [least, most] = [Math.min(...intensities), Math.max(...intensities)].map(Math.log10);
  const x = /** @type {[number, number]} */ (
    Number.isFinite(least) ? [(least ?? 0) - ROOM.before, (most ?? 0) + ROOM.behind] : [-1, 3]
  );
  if (x[1] - x[0] > MOST_DECADES) x[0] = x[1] - MOST_DECADES;
  // Where nothing is computed, the memory roofs say how high it goes.
  const top = Math.log10(
    Math.max(...rates, ...(compute.length ? [] : memory.map((rate) => rate * 10 ** x[1]))),
  );
  const atLeft = memory.length ? Math.log10(Math.max(...memory)) + x[0] : top - 3;
  const bottom = Math.min(Math.log10(Math.min(...rates)), atLeft);
  return { x, y: [Math.max(bottom - 0.35, top - MOST_DECADES), top + 0.35] };
}

/**
 * Where a memory roof runs: up to the highest ceiling of its source.
 * @param {Ceiling} roof
 * @param {Ceiling[]} compute
 * @param {Range} range
 */
function memoryLine(roof, compute, { x, y }) {
  const same = compute.filter(({ source }) => source === roof.source);
  const highest = Math.max(0, ...(same.length ? same : compute).map(({ rate }) => rate));
  const from = Math.max(10 ** x[0], 10 ** y[0] / roof.rate);
  const to = Math.min(10 ** x[1], (highest || 10 ** y[1]) / roof.rate);
  return points(from, Math.max(from, to), (at) => at * roof.rate);
}

/**
 * Where a ceiling runs: from the fastest memory roof on.
 * @param {Ceiling} roof
 * @param {Ceiling[]} memory
 * @param {Range} range
 */
function computeLine(roof, memory, { x }) {
  const same = memory.filter(({ source }) => source === roof.source);
  const fastest = Math.max(...(same.length ? same : memory).map(({ rate }) => rate), 0);
  const to = 10 ** x[1];
  return points(
    fastest ? Math.min(to, Math.max(10 ** x[0], roof.rate / fastest)) : 10 ** x[0],
    to,
    () => roof.rate,
  );
}

/**
 * Enough points that the mouse finds a line anywhere.
 * @param {number} from
 * @param {number} to
 * @param {(at: number) => number} rate
 */
function points(from, to, rate) {
  const x = Array.from({ length: 25 }, (_, index) => from * (to / from) ** (index / 24));
  return { x, y: x.map(rate) };
}

/**
 * From 80 % of the attainable on, a kernel counts as near to it.
 * @param {RooflineDocument} document
 * @param {Range} range
 * @param {PlotColors} colors
 */
function band({ ceilings, near_share: near, operation }, { x, y }, colors) {
  const dram = best(ceilings, "dram");
  const compute = best(ceilings, operation);
  if (!dram) return [];
  const attainable = (/** @type {number} */ at) => Math.min(at * dram.rate, compute?.rate ?? Infinity);
  const from = Math.max(10 ** x[0], 10 ** y[0] / dram.rate);
  const at = [...points(from, 10 ** x[1], attainable).x, ...(compute ? [compute.rate / dram.rate] : [])].sort(
    (one, other) => one - other,
  );
  const line = { width: 0, color: "rgba(0,0,0,0)" };
  return [
    { x: at, y: at.map(attainable), mode: "lines", line, hoverinfo: "skip" },
    {
      x: at,
      y: at.map((each) => near * attainable(each)),
      mode: "lines",
      line,
      fill: "tonexty",
      fillcolor: faded(colors.ok, 0.13),
      hoverinfo: "skip",
    },
  ];
}

/**
 * The measured ceiling of that name, which the kernel can reach; else that of the datasheet.
 * @param {Ceiling[]} ceilings
 * @param {string} name
 */
function best(ceilings, name) {
  const named = ceilings.filter((each) => each.name === name);
  return named.find(({ source }) => source === "measured") ?? named[0] ?? null;
}

/** Return the notes of the dots, each once. @param {Dot[]} dots */
function notesOf(dots) {
  return [...new Set(dots.flatMap(({ operations, bytes }) => [operations.note, bytes.note]))]
    .filter(Boolean)
    .map((note) => `<br>${plain(note)}`)
    .join("");
}

/** @param {Dot} dot @param {Ceiling[]} ceilings @param {string} unit */
function dotWords(dot, ceilings, unit) {
  const { title, rate, intensity, operations, bytes, bounds } = dot;
  return [
    `${plain(title)}: ${rate === null ? "not timed" : `${large(rate, `${unit}/s`)} achieved`}`,
    ...bounds.map(
      (bound) =>
        `${shareWords(bound)} of ${large(bound.rate, `${unit}/s`)}, ${bound.source}, by ${plain(titleOf(ceilings, bound.by))}${isFasterThanRoof(bound) ? "; faster than the kernel that measured it" : ""}`,
    ),
    `${ratio(intensity, unit)}: ${large(operations.value, unit)} (${operations.source}) over ${large(bytes.value, "B")} (${bytes.source})`,
  ].join("<br>");
}

/** @param {Ceiling} roof @param {string} unit */
function ceilingWords(roof, unit) {
  const clock = roof.clock_mhz ? `, at ${(roof.clock_mhz / 1000).toFixed(2)} GHz` : "";
  return `${plain(roof.title)}: ${rateWords(roof, unit)}<br>${roof.source}${clock}<br>${plain(roof.method)}`;
}

/** @param {Bound} bound */
function shareWords({ share }) {
  return share === null ? "–" : percent(share);
}

/** @param {number} intensity @param {string} unit */
function ratio(intensity, unit) {
  return `${short(Number(intensity.toPrecision(3)))} ${unit}/B`;
}

/** @param {Dot} dot */
function sourcesOf({ operations, bytes }) {
  return `${operations.source} operations, ${bytes.source} bytes`;
}

/** @param {Ceiling[]} ceilings @param {string} name */
function titleOf(ceilings, name) {
  return ceilings.find((each) => each.name === name)?.title ?? name;
}

/**
 * Powers of ten as far as there is room for their numbers; where there is much, also twice and five times
 * those.
 * @param {[number, number]} range
 * @param {number} decade in pixels
 * @param {number} room of a number
 */
function ticks([from, to], decade, room) {
  const every = Math.max(1, Math.ceil(room / decade));
  const powers = Array.from(
    { length: Math.floor(to) - Math.floor(from) + 1 },
    (_, index) => Math.floor(from) + index,
  ).filter((power) => power % every === 0);
  const steps = decade > 3.4 * room ? [1, 2, 5] : [1];
  return powers
    .flatMap((power) => steps.map((step) => step * 10 ** power))
    .filter((value) => Math.log10(value) >= from && Math.log10(value) <= to);
}

/** @param {number} value */
function short(value) {
  return value >= 0.001 && value < 1e6
    ? value.toLocaleString("en", { maximumFractionDigits: 3 })
    : value.toExponential();
}
