/** The fields of the launch panel that few drafts need. They are loaded when one does. */
export { argumentForm } from "./argument_form.js";
export { assumedNumbers } from "./assumed_numbers.js";
export { editChips } from "./edit_chips.js";
export { graphNodes } from "./graph_nodes.js";
export { moreOptions } from "./more_options.js";
export { openOutputCode, outputCode } from "./output_code.js";
export { scriptArguments } from "./script_arguments.js";
