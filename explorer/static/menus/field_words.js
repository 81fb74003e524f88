/**
 * Terms of the field and headings of the page, by the command that opens what explains them.
 *
 * `tests/static/menus/command_search.test.js` compares the headings with the panes.
 */

/** @type {Record<string, string[]>} */
export const FIELD_WORDS = {
  "pane:passes": [
    ...["pass pipeline", "compiler pass", "software pipelining", "diff", "LLVM passes", "compile time"],
    ...["pass options", "operation lineage", "what a pass changed"],
  ],
  "pane:schedule": [
    ...["software pipeline", "num_stages", "prologue", "epilogue", "loop.stage", "loop.cluster"],
    ...["one turn of the loop", "modulo schedule", "why is a loop not pipelined"],
  ],
  "pane:layouts": [
    ...["bank conflict", "shared memory banks", "swizzle", "coalescing", "vector width", "vectorization"],
    ...["sectors per request", "layout conversion", "convert_layout", "linear layout", "blocked layout"],
    ...[
      "mma layout",
      "dot operand",
      "lane",
      "warp",
      "thread ownership",
      "access pattern",
      "layout not found",
    ],
  ],
  "pane:memory": [
    ...["shared memory", "smem", "tensor memory", "tmem", "buffer", "allocation", "barrier", "mbarrier"],
    ...["data race", "hazard", "fence", "interference", "lifetime"],
  ],
  "pane:registers": [
    ...["register pressure", "live registers along the machine code", "spill", "live range", "maxnreg"],
    ...["tensors of TTGIR in registers per thread", "register allocation"],
  ],
  "pane:graph": [
    ...["data flow", "control flow", "CFG", "basic block", "loop", "dependency", "address arithmetic"],
  ],
  "pane:run": [
    ...[
      "benchmark",
      "correctness",
      "result",
      "reference",
      "autotuning",
      "sweep",
      "inputs",
      "time of one launch",
    ],
    ...["counted", "latency", "speedup", "files", "relative error"],
  ],
  "pane:roofline": [
    ...["roofline", "arithmetic intensity", "operational intensity", "memory-bound", "compute-bound"],
    ...[
      "bandwidth",
      "DRAM",
      "HBM",
      "L2 cache",
      "peak",
      "FLOP/s",
      "throughput",
      "speed of light",
      "utilization",
    ],
    ...["stall reasons", "hot lines", "samples", "hints", "what would help", "further losses", "counters"],
    ...[
      "tail effect",
      "minimum time of each resource",
      "where it ran",
      "reasons for waiting",
      "timeline",
      "trace",
    ],
    ...["Nsight Compute", "Proton", "profile", "time of one launch", "missing data"],
  ],
  "pane:resources": [
    ...[
      "occupancy",
      "occupancy limiter",
      "blocks on a multiprocessor",
      "SM",
      "warps per block",
      "waves of the grid",
    ],
    ...["wave quantization", "instruction mix", "tensor core instructions", "spilled bytes", "stack"],
    ...["constant memory", "threads per block", "resources of the binary", "occupancy by resource"],
  ],
  "pane:log": ["warning", "error", "remark", "ptxas", "printed output"],
  "stage:ast": ["Python source", "parser"],
  "stage:ttir": ["Triton IR", "tl.load", "inlining"],
  "stage:ttgir": ["Triton GPU IR", "encoding", "async copy", "warp specialization"],
  "stage:llir": ["LLVM", "intrinsic", "NVVM"],
  "stage:ptx": ["virtual assembly", "wgmma", "cp.async", "ld.global"],
  "stage:sass": ["assembly", "control code", "scoreboard", "HGMMA", "LDG", "cubin"],
  "stage:amdgcn": ["assembly", "MFMA", "VGPR", "SGPR"],
  launch: [
    ...[
      "arguments",
      "specialization",
      "signature",
      "constexpr",
      "grid",
      "num_warps",
      "num_stages",
      "num_ctas",
    ],
    ...["target", "GPU", "Triton version", "configuration"],
  ],
  compare: ["difference", "before and after", "side by side"],
  profile: ["Nsight Compute", "counters", "measure on a GPU"],
  heat: ["hot lines", "sampling", "program counter"],
  gallery: ["example"],
  learn: ["tutorial", "lesson"],
  help: ["keyboard shortcuts", "keys", "mouse"],
  "theme:dark": ["dark mode"],
  "theme:light": ["light mode"],
};
