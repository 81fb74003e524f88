/**
 * The launch, the machine, the counters and the measured limits of a run as tables.
 *
 * @import { Conditions, Counters, Environment, LaunchFacts, Roofs } from "../core/types.js"
 */
import { lineText } from "../core/line_words.js";
import { literal, plural, size } from "../core/format.js";
import { digits, dimensions, exact, large } from "../core/numbers.js";
import { html, nothing } from "../core/template.js";

/** @param {string} title @param {[string, string][]} rows @param {string} [note] */
function factSection(title, rows, note = "") {
  return html`<section>
    <h3>${title}</h3>
    <table class="run-facts"><tbody>${rows
      .filter(([, value]) => value)
      .map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table>
    ${note ? html`<p class="hint">${note}</p>` : nothing}
  </section>`;
}

/** @param {LaunchFacts} launch */
export function launchSection({ kernel, line, grid, arguments: given, config, options, stated }) {
  const names = Object.entries(options)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${literal(value)}`);
  return factSection("Launch", [
    ["kernel", line ? `${kernel}, launched at ${lineText(line)}` : kernel],
    ["grid", gridWords(grid)],
    ...given.map(
      ({ name, type, shape, value, strides }) =>
        /** @type {[string, string]} */ ([
          name,
          shape
            ? `${dimensions(shape) || "scalar"} ${type.replace("*", "")}${strides?.length ? `, strides ${strides.join(", ")}` : ""}`
            : `${literal(value)}${type === "constexpr" ? ", constexpr" : ` ${type}`}`,
        ]),
    ),
    ["configuration", config === null ? "" : String(config)],
    ["options", names.join(", ")],
    ...Object.entries(stated).map(
      ([name, value]) =>
        /** @type {[string, string]} */ ([`${name}, as the kernel states`, large(value, "")]),
    ),
  ]);
}

/** @param {number[]} grid */
function gridWords(grid) {
  const last = grid.reduce((found, size, index) => (size > 1 ? index : found), 0);
  const sizes = grid.slice(0, last + 1);
  const programs = plural(
    sizes.reduce((one, other) => one * other, 1),
    "program",
  );
  return sizes.length > 1 ? `${sizes.map(exact).join(" × ")} = ${programs}` : programs;
}

/** @param {Environment} environment */
export function environmentSection(environment) {
  const {
    gpu,
    capability,
    multiprocessors,
    memory_bytes: memory,
    l2_bytes: l2,
    driver,
    triton,
    torch,
    python,
    conditions,
  } = environment;
  const versions = /** @type {[string, string][]} */ ([
    ["Triton", triton],
    ["torch", torch],
    ["Python", python],
    ["driver", driver],
  ]);
  if (!gpu) return factSection("Where it ran", [["on", "the CPU, in Triton's interpreter"], ...versions]);
  return factSection(
    "Where it ran",
    [
      ["GPU", `${gpu}${capability ? `, compute capability ${capability}` : ""}`],
      ["multiprocessors", exact(multiprocessors)],
      ["memory", `${digits(memory / 2 ** 30)} GiB, L2 ${size(l2)}`],
      ...versions,
      ...conditions.map(
        (each) => /** @type {[string, string]} */ ([`${each.moment} the run`, conditionWords(each)]),
      ),
    ],
    conditions.some(({ throttled_by: reasons }) => reasons.length)
      ? "The GPU was throttled: other runs may be faster."
      : "",
  );
}

/** @param {Conditions} conditions */
function conditionWords({
  sm_clock_mhz: sm,
  memory_clock_mhz: memory,
  power_watts: power,
  power_limit_watts: limit,
  temperature_celsius: temperature,
  throttled_by: reasons,
}) {
  return [
    sm !== null && `${digits(sm)} MHz`,
    memory !== null && `memory ${digits(memory)} MHz`,
    power !== null && `${digits(power)}${limit === null ? "" : ` of ${digits(limit)}`} W`,
    temperature !== null && `${digits(temperature)}\u00a0°C`,
    reasons.length && `throttled by ${reasons.join(", ")}`,
  ]
    .filter(Boolean)
    .join(", ");
}

/** @param {Counters} counters */
export function countersSection({ reason, tool, cache, bytes, operations }) {
  if (reason) return html`<section><h3>Counters</h3><p class="hint">${reason}</p></section>`;
  const levels = Object.entries(bytes).map(
    ([level, value]) =>
      /** @type {[string, string]} */ ([
        `${level === "shared" ? level : level.toUpperCase()} bytes`,
        `${large(value, "B")}`,
      ]),
  );
  const kinds = Object.entries(operations)
    .filter(([, value]) => value > 0)
    .map(([kind, value]) => /** @type {[string, string]} */ ([`operations ${kind}`, large(value, "")]));
  return factSection(
    "Counters",
    [...levels, ...kinds],
    `Measured by ${tool}, with a ${cache} L2 cache, over one launch.`,
  );
}

/** @param {Roofs} roofs */
export function roofsSection({ roofs }) {
  return factSection(
    "Rates that this GPU reached",
    roofs.map(({ name, kind, rate }) => [name, large(rate, kind === "memory" ? "B/s" : "FLOP/s")]),
  );
}
