/**
 * Occupancy as it depends on one resource: a small plot in steps.
 *
 * @import { OccupancyCurve } from "../../core/types.js"
 */
import { size } from "../../core/format.js";
import { html, svg } from "../../core/template.js";

const WIDTH = 300;
const HEIGHT = 60;
const TITLES = /** @type {Record<string, string>} */ ({
  warps: "Warps of a block",
  registers: "Registers of a thread",
  "shared memory": "Shared memory of a block",
});

/** @param {OccupancyCurve} curve */
export function occupancyCurve(curve) {
  const { resource, unit, now, most, steps, better } = curve;
  const show = (/** @type {number} */ value) => (unit === "bytes" ? size(value) : String(value));
  const first = steps[0]?.value ?? 0;
  const x = (/** @type {number} */ value) => ((value - first) / Math.max(1, most - first)) * WIDTH;
  const y = (/** @type {number} */ share) => HEIGHT - share * HEIGHT;
  const path = steps
    .map(({ value, share }, index) => {
      const end = steps[index + 1]?.value ?? most;
      return `${index ? "L" : "M"}${x(value)} ${y(share)}L${x(end)} ${y(share)}`;
    })
    .join("");
  const described = steps.map(({ value, share }) => `from ${show(value)} ${percent(share)}`).join(", ");
  return html`<figure class="curve" aria-label=${`Occupancy by ${resource}: ${described}`}>
    <figcaption><b>${TITLES[resource] ?? resource}: ${show(now)}</b><span>${hint()}</span></figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
      ${svg`
        <path class="area" d="${path}L${x(most)} ${HEIGHT}L0 ${HEIGHT}Z"></path>
        <line class="axis" x1="0" x2=${WIDTH} y1=${HEIGHT} y2=${HEIGHT}></line>
        <path class="line" d=${path}></path>
        <line class="now" x1=${x(now)} x2=${x(now)} y1="0" y2=${HEIGHT}></line>
      `}
    </svg>
    <div class="ends" aria-hidden="true"><span>${show(first)}</span><span>${show(most)}</span></div>
  </figure>`;

  function hint() {
    if (better) return `${show(better.value)} would give ${percent(better.share)}`;
    return resource === "warps" ? "" : "a smaller value does not increase it";
  }
}

/** @param {number} share */
export function percent(share) {
  return `${Math.round(share * 100)} %`;
}
