/**
 * The documents of `registers` and `tensor_registers`, as the API's description defines them. Only types.
 *
 * @typedef {{function: string, address: number, line: number, source_line: number, general: number, uniform: number,
 *   predicate: number, uniform_predicate: number, spill: string}} Instruction
 * @typedef {{blocks: number, most_registers: number, share: number}} RegisterStep
 * @typedef {object} RegistersDocument
 * @property {Instruction[]} instructions
 * @property {string} reason
 * @property {number | null} most_general
 * @property {number | null} named_general
 * @property {number | null} registers
 * @property {string} difference
 * @property {number} limit
 * @property {string} limited_by
 * @property {RegisterStep[]} steps
 * @property {number | null} spill_stores_bytes
 * @property {number | null} spill_loads_bytes
 * @property {{name: string, value: number}[]} facts
 * @property {string} source
 *
 * @typedef {{name: string, function: string, operation: string, type: string, elements: number, element_bits: number,
 *   registers: number, first: number, last: number, views: string[], uses: number[]}} LiveRange
 * @typedef {{tensors: LiveRange[], pressure: number[], source_lines: number[], most: number, most_line: number,
 *   source: string}} TensorRegistersDocument
 */
export {};
