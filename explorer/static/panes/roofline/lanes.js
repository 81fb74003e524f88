/**
 * Scopes as a timeline has them: one lane for each warp, and in it a row for each depth of nesting.
 *
 * @import { Scope } from "../../core/types.js"
 */

/**
 * @typedef {{scope: Scope, depth: number}} Placed
 * @typedef {{block: number, warp: number, multiprocessor: number, scopes: Placed[], depths: number}} Lane
 *   scopes by their start
 * @typedef {{name: string, count: number, median_ns: number, total_ns: number, share: number}} ScopeSum the
 *   share is that of all time in any outermost scope
 */

/** @param {readonly Scope[]} scopes @returns {Lane[]} by block and warp */
export function lanesOf(scopes) {
  /** @type {Map<string, Lane & {open: Scope[]}>} */
  const lanes = new Map();
  for (const scope of [...scopes].sort(
    (one, other) => one.start_ns - other.start_ns || other.duration_ns - one.duration_ns,
  )) {
    const key = `${scope.block} ${scope.warp}`;
    let lane = lanes.get(key);
    if (!lane)
      lanes.set(
        key,
        (lane = {
          block: scope.block,
          warp: scope.warp,
          multiprocessor: scope.multiprocessor,
          scopes: [],
          depths: 0,
          open: [],
        }),
      );
    const depth = depthIn(lane.open, scope);
    lane.scopes.push({ scope, depth });
    lane.depths = Math.max(lane.depths, depth + 1);
  }
  return [...lanes.values()].sort((one, other) => one.block - other.block || one.warp - other.warp);
}

/**
 * How many scopes are still open when one begins, which is then one of them.
 * @param {Scope[]} open
 * @param {Scope} scope
 */
function depthIn(open, scope) {
  for (let last = open.at(-1); last && last.start_ns + last.duration_ns <= scope.start_ns; last = open.at(-1))
    open.pop();
  return open.push(scope) - 1;
}

/** @param {readonly Lane[]} lanes @returns {ScopeSum[]} the longest first */
export function scopeSums(lanes) {
  /** @type {Map<string, number[]>} */
  const durations = new Map();
  let whole = 0;
  for (const { scopes } of lanes) {
    for (const { scope, depth } of scopes) {
      const found = durations.get(scope.name);
      if (found) found.push(scope.duration_ns);
      else durations.set(scope.name, [scope.duration_ns]);
      if (depth === 0) whole += scope.duration_ns;
    }
  }
  return [...durations]
    .map(([name, all]) => {
      const total = all.reduce((one, other) => one + other, 0);
      return {
        name,
        count: all.length,
        median_ns: all.sort((one, other) => one - other)[Math.floor(all.length / 2)] ?? 0,
        total_ns: total,
        share: whole ? total / whole : 0,
      };
    })
    .sort((one, other) => other.total_ns - one.total_ns);
}

/** The first scope of a lane that begins at or behind a time. @param {Lane} lane @param {number} time_ns */
export function firstFrom({ scopes }, time_ns) {
  let [from, to] = [0, scopes.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (/** @type {Placed} */ (scopes[middle]).scope.start_ns < time_ns) from = middle + 1;
    else to = middle;
  }
  return from;
}
