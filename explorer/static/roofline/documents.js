/**
 * What the server says of a run's roofline and of where its time goes: `/runs/<id>/roofline` and `/runs/<id>/heat`.
 *
 * Times are nanoseconds, rates bytes or operations a second, shares fractions of 1, lines counted from 1 (0: none).
 *
 * @typedef {"measured" | "counted" | "static" | "stated" | "datasheet"} Source where a number is from
 * @typedef {"dram" | "l2" | "l1" | "shared"} Level
 *
 * @typedef {{value: number, source: Source, note: string, is_most: boolean}} Quantity a number; the note says how to read it. `is_most`: at most so much
 *
 * @typedef {object} Ceiling a limit of the hardware: datasheet solid, measured dashed
 * @property {string} name a level, or an operation such as "tensor fp16"
 * @property {string} title
 * @property {"memory" | "compute"} kind
 * @property {number} rate bytes or operations a second
 * @property {Source} source
 * @property {string} method where it is from, in words
 * @property {number | null} clock_mhz the clock it holds for
 *
 * @typedef {object} Bound the most at a dot's intensity, by ceilings of one source
 * @property {Source} source
 * @property {number} rate operations a second
 * @property {string} by the name of the ceiling that stops it
 * @property {number | null} share of it that was achieved
 *
 * @typedef {object} Dot
 * @property {Level} level
 * @property {string} title
 * @property {number} intensity operations a byte of this level
 * @property {number | null} rate operations a second; null: nothing was timed (draw the intensity only)
 * @property {Quantity} operations
 * @property {Quantity} bytes
 * @property {Bound[]} bounds
 *
 * @typedef {{level: Level, operation: string, intensity: number, rate: number, source: Source}} Ridge
 *
 * @typedef {{name: string, title: string, count: Quantity, rate: number | null}} Operations
 * @typedef {{level: Level, title: string, bytes: Quantity | null, rate: number | null, reason: string}} Traffic
 *
 * @typedef {object} Need the least time of a resource by one ceiling
 * @property {Source} source
 * @property {number} rate
 * @property {number} time_ns
 * @property {number | null} share of the time taken
 *
 * @typedef {{name: string, title: string, kind: "memory" | "compute", work: Quantity, unit: string, needs: Need[]}} Resource `unit` "%": work is the share of the time in which it is busy
 * @typedef {{source: Source, time_ns: number, binding: string, share: number | null}} Floor the whole kernel's least time
 * @typedef {{name: string, title: string, text: string, source: Source, share: number | null, lost_ns: number | null}} Loss
 * @typedef {{name: string, value: number, unit: string, source: Source}} Evidence `unit` "%": the value is a share of 1
 *
 * @typedef {object} Hint
 * @property {string} name
 * @property {string} title
 * @property {string} text
 * @property {Evidence[]} evidence
 * @property {number} source_line
 * @property {number | null} gain_ns the most that it could bring
 * @property {number | null} gain_share the same, of the time taken
 *
 * @typedef {object} RooflineDocument
 * @property {string} reason "" where there is something to draw
 * @property {string} gpu
 * @property {boolean} is_modelled it did not run on a GPU: compared with the best-known one of its target
 * @property {{median_ns: number, low_ns: number, high_ns: number, method: "proton" | "do_bench", cache: "cold" | "warm"} | null} time
 * @property {string} operation the kind that the dots count; "": the kernel only moves data, and there are no dots
 * @property {string} unit of one operation: "FLOP" or "operations"
 * @property {number} near_share where to draw the line under the roof: 0.8
 * @property {Ceiling[]} ceilings
 * @property {Dot[]} dots
 * @property {Ridge[]} ridges
 * @property {Operations[]} operations
 * @property {Traffic[]} traffic
 * @property {Resource[]} resources
 * @property {Floor[]} floors
 * @property {Loss[]} losses
 * @property {string} verdict
 * @property {Hint[]} hints
 * @property {{what: string, reason: string}[]} missing
 *
 * @typedef {object} LineHeat samples of one line
 * @property {number} line
 * @property {number} samples
 * @property {number} share of all samples
 * @property {Record<string, number>} stalls samples by reason
 *
 * @typedef {LineHeat & {offset_bytes: number, source_line: number, executed: number, sectors: number | null,
 *   sectors_ideal: number | null}} InstructionHeat
 *
 * @typedef {object} StageHeat the lines of a stage that stem from a source line have that one's samples in common
 * @property {string} stage
 * @property {(LineHeat & {source_line: number, sharing: number})[]} lines `sharing`: how many operations share the samples
 *
 * @typedef {object} HeatDocument
 * @property {string} reason "" where there are samples
 * @property {string} tool
 * @property {number} samples all of them
 * @property {Record<string, number>} stalls all of them by reason
 * @property {number} unplaced samples at instructions that the stage does not have
 * @property {InstructionHeat[]} instructions lines of the SASS stage
 * @property {LineHeat[]} source lines of the user's source
 * @property {StageHeat[]} stages
 * @property {LineHeat[]} top the hottest source lines, hottest first
 */

export {};
