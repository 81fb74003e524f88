/**
 * The documents of `allocation` and `fewer_stages`, as `explorer/analysis/memory_map_types.py` and the API's
 * description define them. Only types.
 *
 * @typedef {{position: number, operation: string, value: string, line: number, source_line: number}} Place
 * @typedef {{value: string, place: Place}} View
 * @typedef {object} Buffer
 * @property {number} index
 * @property {string} name
 * @property {"explicit" | "scratch" | "virtual"} use
 * @property {boolean} holds_mbarriers
 * @property {string} operation
 * @property {string} type
 * @property {number} size_bytes
 * @property {number} offset_bytes
 * @property {number | null} alignment_bytes
 * @property {number} slots
 * @property {number} start
 * @property {number} end
 * @property {Place} first
 * @property {Place} last
 * @property {Place[]} uses
 * @property {View[]} views
 * @property {number[]} alive_with
 * @property {number[]} shares_bytes_with
 *
 * @typedef {{kind: string, before: Place, after: Place, before_buffer: number, after_buffer: number,
 *   first_byte: number, end_byte: number, around_loop: boolean}} Hazard
 * @typedef {{following: Place, source: "program" | "compiler" | "modelled", hazards: Hazard[], reason: string}} Barrier
 * @typedef {{kind: "wait" | "mbarrier" | "fence", place: Place}} Mark
 * @typedef {object} FunctionMap
 * @property {string} name
 * @property {number} pass_index
 * @property {number} operations
 * @property {number} shared_bytes
 * @property {number} sum_bytes
 * @property {number} peak_bytes
 * @property {number} peak_position
 * @property {number[]} peak_buffers
 * @property {Buffer[]} buffers
 * @property {Barrier[]} barriers
 * @property {Mark[]} marks
 * @property {number[]} source_lines
 * @property {string} problem
 *
 * @typedef {{name: string, type: string, column: number, row: number, columns: number | null, rows: number, start: number,
 *   end: number, first_line: number, last_line: number, first_source_line: number, last_source_line: number,
 *   last_operation: string}} TensorBuffer
 * @typedef {{function: string, operations: number, allocated_columns: number, limit_columns: number, limit_rows: number,
 *   buffers: TensorBuffer[]}} TensorMemoryMap
 * @typedef {{blocks: number, most_shared_bytes: number, share: number}} OccupancyStep
 * @typedef {{functions: FunctionMap[], tensor_memory: TensorMemoryMap[], shared_bytes: number, shared_limit_bytes: number,
 *   steps: OccupancyStep[], source: string}} AllocationDocument
 *
 * @typedef {{num_stages: number, id: string, shared_bytes: number | null, fits: boolean}} StagesRow
 * @typedef {{shared_limit_bytes: number, rows: StagesRow[]}} FewerStagesDocument
 */
export {};
