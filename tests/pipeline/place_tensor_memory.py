"""Let the compiler place buffers in tensor memory.

    python place_tensor_memory.py < TYPES > PLACED

Reads a JSON list of pairs, the type of a matrix and its encoding. For each, three buffers of this type are
allocated at the same time. Writes a JSON list: the module after the allocation, and the bases of the layout,
or null where the compiler does not give them. It runs in a process of its own because a process can hold only
one Triton.
"""

import json
import sys
import tempfile
from pathlib import Path

from triton._C.libtriton import ir, nvidia

from explorer.model import Request, to_plain
from explorer.model.hardware import find_target
from explorer.pipeline.compiler_queries.layouts import layouts, parse_module

BLACKWELL = find_target("cuda:100")
MODULE = """#tmem = {encoding}
module attributes {{"ttg.num-ctas" = {blocks} : i32, "ttg.num-warps" = 4 : i32, ttg.shared = 4 : i32,
                   ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @kernel() {{
    %first = ttng.tmem_alloc : () -> {type}
    %second = ttng.tmem_alloc : () -> {type}
    %third = ttng.tmem_alloc : () -> {type}
    %used:3 = builtin.unrealized_conversion_cast %first, %second, %third
        : {type}, {type}, {type} to i32, i32, i32
    tt.return
  }}
}}
"""


def place(matrix: str, encoding: str) -> dict[str, object]:
    text = MODULE.format(
        encoding=encoding,
        type=f"!ttg.memdesc<{matrix}, #tmem, #ttng.tensor_memory, mutable>",
        blocks=2 if "CTASplit" in encoding or "CGALayout" in encoding else 1,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "module.mlir"
        path.write_text(text)
        context, module = parse_module(path, BLACKWELL)
        manager = ir.pass_manager(context)
        nvidia.passes.ttnvgpuir.add_allocate_tensor_memory(manager)
        manager.run(module, "")
        placed = module.str_nodebug()
    (layout,) = to_plain(layouts(Request(text, BLACKWELL.name, ""), BLACKWELL))["layouts"]
    return {"module": placed, "bases": layout["bases"]}


print(json.dumps([place(*each) for each in json.load(sys.stdin)]))
