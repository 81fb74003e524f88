/**
 * Live ranges as bars below each other, on the scale of the plot above.
 *
 * @import { LiveRange, TensorRegistersDocument } from "../../core/types.js"
 */
import { plural, stripeOfLine } from "../../core/format.js";
import { html, nothing, styles, svg } from "../../core/template.js";
import { placeRanges, rangeWords, shortName } from "./data.js";
import { LEFT, RIGHT } from "./plot.js";

const ROW = 15;

/**
 * @param {TensorRegistersDocument} document
 * @param {number} width in pixels
 * @param {(range: LiveRange | null) => void} point
 * @param {(range: LiveRange) => void} choose
 */
export function liveRanges({ pressure, tensors, source_lines: lines }, width, point, choose) {
  const count = Math.max(1, pressure.length);
  const x = (/** @type {number} */ line) => LEFT + ((line - 1) / count) * (width - LEFT - RIGHT);
  const extent = (/** @type {LiveRange} */ { first, last }) => ({
    left: x(first),
    right: Math.max(x(last + 1), x(first) + 3),
  });
  const { rows, placed, left: leftOut } = placeRanges(tensors, extent);
  const bars = placed.map(({ range, row }) => {
    const { left, right } = extent(range);
    const line = lines[range.first - 1];
    const label = `${shortName(range.name)} ${range.registers}`;
    return svg`<g class="range" ${styles({ "--stripe": line ? stripeOfLine(line) : "" })}
        @pointerenter=${() => point(range)} @pointerleave=${() => point(null)} @click=${() => choose(range)}>
      <title>${rangeWords(range)}</title>
      <rect x=${left} y=${row * ROW + 2} width=${right - left} height=${ROW - 3} rx="2"></rect>
      ${label.length * 6 + 8 < right - left ? svg`<text x=${left + 5} y=${row * ROW + 12}>${label}</text>` : nothing}
    </g>`;
  });
  const height = rows * ROW + 4;
  return html`<svg class="register-ranges" viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height}
      aria-hidden="true">${bars}</svg>
    ${leftOut ? html`<p class="hint">${plural(leftOut, "smaller tensor")} not drawn.</p>` : nothing}`;
}
