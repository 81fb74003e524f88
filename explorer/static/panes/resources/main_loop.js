/**
 * The main loop of a program: the loop with the most samples of a run, or else the first loop of the mix.
 *
 * @import { HeatDocument, MixLoop } from "../../core/types.js"
 */

/**
 * @param {MixLoop[]} loops the one with the most work first
 * @param {Pick<HeatDocument, "instructions" | "samples"> | null} heat
 * @returns {{index: number, share: number | null} | null} `share` is that of all samples
 */
export function mainLoop(loops, heat) {
  if (loops.length === 0) return null;
  const first = { index: 0, share: null };
  if (!heat?.samples) return first;
  const { instructions, samples } = heat;
  const shares = loops.map(({ ranges }) => {
    const inside = instructions.filter(({ line }) => ranges.some(([from, to]) => from <= line && line <= to));
    return inside.reduce((sum, each) => sum + each.samples, 0) / samples;
  });
  const share = Math.max(...shares);
  return share > 0 ? { index: shares.indexOf(share), share } : first;
}

/** The longest stretch of lines, and how many others there are. @param {MixLoop["ranges"]} ranges */
export function rangesText(ranges) {
  const [longest, ...others] = [...ranges].sort((one, other) => other[1] - other[0] - (one[1] - one[0]));
  if (!longest) return "";
  const more = others.length
    ? ` and ${others.length} shorter ${others.length > 1 ? "stretches" : "stretch"}`
    : "";
  return `${longest[0]} to ${longest[1]}${more}`;
}
