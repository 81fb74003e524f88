/** Shares of samples as numbers. */

/** A share of samples: there are not enough of them for more digits. @param {number} share */
export function sampleShare(share) {
  return `${(100 * share).toFixed(1)}\u00a0%`;
}

/** Lines with less have no bar. */
export const LEAST_SHARE = 0.0005;

/** A share of the samples in a gutter. @param {number} share */
export function heatLabel(share) {
  const percents = 100 * share;
  return percents >= 0.95 ? String(Math.round(percents)) : percents.toFixed(1).replace("0.", ".");
}
