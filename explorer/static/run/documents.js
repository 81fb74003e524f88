/**
 * The documents of runs and of what they measure, as `explorer/measurements/` and the API's description define
 * them. Only types: nothing here is in the bundle.
 *
 * @import { Diagnostic, LogEntry, Scalar, Status } from "../types.js"
 *
 * @typedef {"interpreter" | "gpu"} Device
 * @typedef {"check" | "time" | "counts" | "counters" | "samples" | "timeline" | "sweep" | "autotune" | "roofs"} Measure
 * @typedef {"normal" | "uniform" | "integers" | "ascending" | "ones"} Distribution
 * @typedef {{name: string, type: string, shape: string[] | null, value: string, distribution: Distribution}} RunInput
 *
 * @typedef {object} Run how a kernel is run, and what is measured
 * @property {Device} device
 * @property {Measure[]} measures
 * @property {RunInput[]} inputs
 * @property {string[]} grid
 * @property {Record<string, number>} sizes
 * @property {boolean} is_benchmark
 * @property {string} reference
 * @property {number} seed
 * @property {number} repeats
 * @property {string} sweep_size
 * @property {number[]} sweep_values
 * @property {number} attempt
 *
 * @typedef {{example: string, gpu: string, driver: string, triton: string, torch: string, command: string, date: string}} Recorded
 * @typedef {{done: number, total: number, text: string}} Progress
 * @typedef {{name: string, url: string}} MeasurementRow
 *
 * @typedef {object} RunRow a run among others
 * @property {string} id
 * @property {Status} status
 * @property {string} created when, as ISO 8601
 * @property {number | null} config the autotune configuration that was asked for
 * @property {Run} run
 * @property {Progress | null} progress
 * @property {number | null} queue_position the jobs that are done before it, itself counted, while it waits
 * @property {MeasurementRow[]} measurements
 * @property {boolean | null} matches whether its result is that of the reference; null: not compared
 * @property {string} problem the first error that was told of it; "": none
 * @property {Recorded | null} recorded
 * @property {"exact" | "other triton" | "other config" | "same kernel" | null} match how close a recorded one comes to what it is looked at with
 * @property {"same" | "other" | "unknown"} binary whether what ran is what was compiled
 *
 * @typedef {object} RunMore what is known of one that is looked at
 * @property {number | null} milliseconds
 * @property {string | null} compilation what compiles the same
 * @property {string | null} kernel
 * @property {string} target
 * @property {string} triton
 * @property {Diagnostic[]} diagnostics
 * @property {LogEntry[]} log
 * @typedef {RunRow & RunMore} RunDocument
 *
 * @typedef {{available: boolean, reason: string}} DeviceState
 * @typedef {{interpreter: DeviceState, gpu: DeviceState & {names: string[]}}} Devices
 * @typedef {{runs: RunRow[], recordings: RunRow[], devices: Devices, left_out: string}} RunsDocument what is left out, in words; "": nothing
 *
 * @typedef {{moment: "before" | "after", sm_clock_mhz: number | null, memory_clock_mhz: number | null, power_watts: number | null,
 *   power_limit_watts: number | null, temperature_celsius: number | null, throttled_by: string[]}} Conditions
 * @typedef {{gpu: string, capability: string, multiprocessors: number, memory_bytes: number, l2_bytes: number, sm_clock_mhz: number,
 *   memory_clock_mhz: number, memory_bus_bits: number, driver: string, triton: string, torch: string, python: string,
 *   conditions: Conditions[], binary_sha256: string}} Environment
 * @typedef {{name: string, type: string, value: Scalar, shape: number[] | null, strides: number[] | null}} RunArgument
 * @typedef {{kernel: string, line: number, grid: number[], arguments: RunArgument[], config: number | null,
 *   options: Record<string, Scalar>, stated: Record<string, number>}} LaunchFacts
 * @typedef {{name: string, type: string, shape: number[], relative_error: number, tolerance: number,
 *   worst_error: number | null, worst_index: number[], worst_value: number | null, worst_reference: number | null, not_finite: number,
 *   matches: boolean, compared: number}} OutputCheck
 * @typedef {{reason: string, reference: string, outputs: OutputCheck[]}} Check
 * @typedef {{method: "proton" | "do_bench", cache: "cold" | "warm", median_ns: number, low_ns: number, high_ns: number,
 *   samples_ns: number[]}} Timing
 * @typedef {{timings: Timing[]}} Timings
 * @typedef {{sizes: Record<string, number>, values: (number | null)[], low: (number | null)[], high: (number | null)[]}} SweepPoint
 * @typedef {{name: string, size_names: string[], lines: string[], unit: string, is_logarithmic: boolean, points: SweepPoint[],
 *   problems: string[]}} Sweep
 * @typedef {{config: number, arguments: Record<string, Scalar>, options: Record<string, Scalar>, median_ns: number | null,
 *   low_ns: number | null, high_ns: number | null, problem: string}} ConfigTiming
 * @typedef {{configs: ConfigTiming[], best: number | null}} Autotuning
 * @typedef {{reason: string, tool: string, source: string, cache: string, bytes: Record<string, number>,
 *   operations: Record<string, number>, pipes: Record<string, number>, stalls: Record<string, number>,
 *   metrics: Record<string, number>}} Counters
 * @typedef {{line: number, operation: string, executions: number, requested_bytes: number, sectors: number, flops: number}} OperationCount
 * @typedef {{programs: number, grid_programs: number, operations: OperationCount[], loaded_bytes: number, stored_bytes: number,
 *   loaded_sectors: number, stored_sectors: number, sectors_in_grid: number, flops: Record<string, number>}} Counts
 * @typedef {{name: string, kind: "memory" | "compute", rate: number, source: string, method: string}} Roof
 * @typedef {{roofs: Roof[]}} Roofs
 * @typedef {{name: string, block: number, multiprocessor: number, warp: number, start_ns: number, duration_ns: number}} Scope
 * @typedef {{reason: string, scopes: Scope[], cut: number}} Timeline
 * @typedef {{files: {name: string, media_type: string, bytes: number}[]}} ProfileFiles
 * @typedef {{environment: Environment, launch: LaunchFacts, check: Check, timings: Timings, sweep: Sweep, autotuning: Autotuning,
 *   counters: Counters, counts: Counts, roofs: Roofs, files: ProfileFiles, timeline: Timeline}} Measurements by name; samples are asked for as heat, files are listed without their data
 */
export {};
