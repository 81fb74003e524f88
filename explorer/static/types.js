/**
 * The documents of the API, as `explorer/model/` and the API's description define them, and the page's own
 * small types. Only types: nothing here is in the bundle.
 *
 * @typedef {string | number | boolean | null} Scalar
 * @typedef {{name: string, type: string, value: Scalar, specialization: string,
 *   shape: number[] | null, strides: number[] | null}} Argument
 * @typedef {{name: string, annotation: string, is_constexpr: boolean, default: Scalar, has_default: boolean,
 *   guess: Argument}} Parameter
 * @typedef {{index: number, arguments: Record<string, Scalar>, options: Record<string, Scalar>}} Config
 * @typedef {{name: string, line: number, language: string, parameters: Parameter[], configs: Config[]}} Kernel
 * @typedef {{index: number, kernel: string, line: number, grid: number[] | null, arguments: Argument[],
 *   options: Record<string, Scalar>, config: number | null}} Launch
 * @typedef {{kernel: string, line: number, language: string, arguments: Argument[],
 *   options: Record<string, Scalar>, signature: string, launch: number | null, launch_line: number | null,
 *   config: number | null, grid: number[] | null}} Specialized
 * @typedef {{name: string, title: string, language: string, lines: number, bytes: number,
 *   milliseconds: number, url: string}} StageRow
 * @typedef {{index: number, stage: string, name: string, title: string, options: Scalar[], changed: boolean,
 *   milliseconds: number, failed: boolean, lines_added: number | null, lines_removed: number | null, url: string}} PassRow
 * @typedef {{severity: "error" | "warning" | "remark" | "note", message: string, stage: string, line: number,
 *   column: number, end_line: number, end_column: number, hint: string}} Diagnostic
 * @typedef {{source: string, text: string}} LogEntry
 * @typedef {Record<string, number | string | null>} Resources
 * @typedef {"queued" | "running" | "complete" | "failed"} Status
 *
 * @typedef {object} CompilationRequest
 * @property {string} source
 * @property {string} target
 * @property {string} [triton]
 * @property {string | null} [kernel]
 * @property {number | null} [launch]
 * @property {Argument[] | string | null} [arguments]
 * @property {Record<string, Scalar>} [options]
 * @property {number | null} [config]
 *
 * @typedef {object} CompilationDocument
 * @property {string} id
 * @property {string} url
 * @property {Status} status
 * @property {number | null} milliseconds
 * @property {string} triton
 * @property {Target} target
 * @property {CompilationRequest} request
 * @property {string | null} kernel
 * @property {number | null} kernel_line
 * @property {string | null} language
 * @property {Specialized | null} specialization
 * @property {Kernel[]} kernels
 * @property {Launch[]} launches
 * @property {StageRow[]} stages
 * @property {PassRow[]} passes
 * @property {Resources | null} resources
 * @property {Diagnostic[]} diagnostics
 * @property {LogEntry[]} logs
 *
 * @typedef {{kernels: Kernel[], launches: Launch[], diagnostics: Diagnostic[], logs: LogEntry[]}} InspectionDocument
 * @typedef {{name: string, title: string, architecture: string, vendor: string, stages: string[]}} Target
 * @typedef {{name: string, title: string, summary: string}} GalleryRow
 * @typedef {GalleryRow & {source: string}} GalleryExample
 * @typedef {{n: number, tokens: [string, string][]}} TextLine
 * @typedef {[number, number, number, string]} FrameRow file index, line, column, function
 * @typedef {{files: string[], locations: FrameRow[][], lines: number[][], source_lines: number[][],
 *   operations: number, source_line_operations: [number, number][]}} Locations
 *
 * @typedef {{id: string, kind: "operation" | "argument" | "block" | "summary", label: string[], first_line: number,
 *   last_line: number, cluster: string | null, loop_depth: number, operations: number, source_lines: number[]}} GraphNode
 * @typedef {{tail: string, head: string, kind: string, label: string}} GraphEdge
 * @typedef {{id: string, kind: "function" | "loop" | "region", label: string, parent: string | null,
 *   first_line: number, last_line: number}} GraphCluster
 * @typedef {{kind: "data flow" | "control flow", stage: string, pass_index: number | null, part: string, nodes: GraphNode[], edges: GraphEdge[],
 *   clusters: GraphCluster[], parts: GraphCluster[], total_nodes: number, cut: string, dot: string}} GraphDocument
 *
 * @typedef {{value: number, blocks: number, share: number}} OccupancyStep
 * @typedef {{resource: string, unit: string, now: number, most: number, steps: OccupancyStep[],
 *   better: OccupancyStep | null}} OccupancyCurve
 * @typedef {{blocks: number, at_once: number, waves: number, tail: number, used_share: number}} Waves
 * @typedef {{kind: string, space: string, direction: string, bits: number, total: number, innermost: number}} MixRow
 * @typedef {{rows: MixRow[], total: number,
 *   loop: {first_line: number, last_line: number, depth: number, instructions: number} | null}} InstructionMix
 * @typedef {{device: string, multiprocessors: number, warp_size: number, warps_per_multiprocessor: number,
 *   registers: number, shared_bytes: number, threads: number,
 *   occupancy: {share: number, limiter: string, blocks_per_multiprocessor: number, active_warps: number,
 *     limits: {warps: number, registers: number, shared_memory: number, blocks: number}},
 *   curves: OccupancyCurve[], grid: number[] | null, blocks_per_program: number, waves: Waves | null,
 *   mix: InstructionMix | null}} OccupancyDocument
 *
 * @typedef {{name: string, title: string, summary: string, per_stage: boolean, module: string}} PaneKind
 * @typedef {{name: string, title: string}} StageKind
 * @typedef {{title: string, kind: string, detail: string}} Problem
 *
 * @typedef {{lines: number, bytes: number, milliseconds: number, passes: number, changed_passes: number}} StageSide
 * @typedef {{name: string, title: string, language: string, before: StageSide | null, after: StageSide | null,
 *   lines_added: number, lines_removed: number, url: string}} StagePair
 * @typedef {{index: number, changed: boolean, milliseconds: number, options: Scalar[]}} PassSide
 * @typedef {{stage: string, name: string, title: string, before: PassSide | null, after: PassSide | null}} PassPair
 * @typedef {{name: string, before: Scalar, after: Scalar, verdict: "same" | "better" | "worse" | "different"}} ResourcePair
 * @typedef {{id: string, url: string, status: Status, kernel: string | null, target: Target, triton: string,
 *   milliseconds: number | null, error: string | null}} ComparedSide
 * @typedef {{before: ComparedSide, after: ComparedSide, differences: {name: string, before: Scalar, after: Scalar}[],
 *   source: {lines_added: number, lines_removed: number}, stages: StagePair[], passes: PassPair[],
 *   resources: ResourcePair[]}} ComparisonDocument
 * @typedef {{before_line: number, before_lines: number, after_line: number, after_lines: number, same: boolean}} DiffRun
 * @typedef {{lines_added: number, lines_removed: number, runs: DiffRun[], moves: {before_line: number, after_line: number}[]}} DiffDocument
 *
 * What the user asks to compile; `mode` says which of launch, arguments and signature counts.
 * @typedef {object} Draft
 * @property {string} source
 * @property {string | null} kernel
 * @property {"launch" | "form" | "signature"} mode
 * @property {number | null} launch
 * @property {Argument[]} arguments
 * @property {string} signature
 * @property {Record<string, string>} typed what stands in a cell and cannot be taken as it is, by "<name>.<field>"
 * @property {Record<string, Scalar>} options
 * @property {number | null} config
 * @property {string} target
 * @property {string | null} triton
 */
export {};
