"""Query the layouts of every captured TTGIR and compare each with the compiler's, element by element.

    python survey_layouts.py FOLDER EXAMPLE@TARGET …

Reads what `serve_gallery.py` has written there; writes one JSON document. It runs in a process of its own
because a process can hold only one Triton.
"""

import itertools
import json
import pickle
import sys
from pathlib import Path

from triton._C.libtriton.gluon_ir import GluonOpBuilder
from triton._C.libtriton.linear_layout import LinearLayout as CompilersLayout
from triton.experimental.gluon import language as gl

from explorer.analysis.layouts.linear_layout import LinearLayout
from explorer.analysis.memory.bank_conflicts import shared_access
from explorer.model import Request, to_plain
from explorer.model.hardware import find_target
from explorer.pipeline.compiler_queries.layouts import layouts, parse_module


def disagreements(bases):
    """Return the positions where our algebra and the compiler's give different elements."""
    inputs = [(each["name"], each["bases"]) for each in bases["inputs"]]
    names = [f"dim{index}" for index in range(len(bases["shape"]))]
    compilers = CompilersLayout.from_bases(inputs, names, list(bases["shape"]), False)
    ours = LinearLayout(
        tuple((name, tuple(map(tuple, each))) for name, each in inputs), tuple(bases["shape"])
    )
    return [
        place
        for place in ours.places()
        if tuple(compilers.apply(place)[name] for name in names) != ours.apply(place)
    ]


def conflicts(text, folder):
    """Return the wavefronts that the compiler and we count for pairs of layouts."""
    path = folder / "any.mlir"
    path.write_text(text)
    context, module = parse_module(path, find_target("cuda:90"))
    builder = GluonOpBuilder(context)
    blocks = []
    module.walk(
        lambda operation: blocks.append(operation.get_block()) if operation.get_num_results() else None
    )
    builder.set_insertion_point_to_end(blocks[0])
    rows = []
    for sizes, threads, order in itertools.product(
        ([1, 1], [1, 8], [2, 2], [4, 1]), ([1, 32], [4, 8], [32, 1]), ([1, 0], [0, 1])
    ):
        registers = gl.BlockedLayout(sizes, threads, [4, 1], order)
        for vector, phase, most in ((1, 1, 1), (8, 1, 8), (4, 2, 4)):
            shared = gl.SwizzledSharedLayout(vector, phase, most, [1, 0])
            for bits in (16, 32):
                attributes = registers._to_ir(builder), shared._to_ir(builder)
                found = builder.get_shared_bank_conflicts(*attributes, [128, 64], bits)
                linear = builder.to_linear_layout(attributes[0], [128, 64])
                bases = (
                    ("register", linear.reg_bases),
                    ("lane", linear.lane_bases),
                    ("warp", linear.warp_bases),
                )
                ours = shared_access(
                    LinearLayout(tuple((name, tuple(map(tuple, each))) for name, each in bases), (128, 64)),
                    swizzled(vector, phase, most, (128, 64)),
                    bits,
                )
                rows.append(
                    {"layouts": f"{registers} {shared} {bits}", "compilers": found, "ours": ours.conflicts}
                )
    return rows


def swizzled(vector, phase, most, shape):
    """Return a swizzled layout by its definition: vectors of a row are permuted by the row's phase."""

    def column(row):
        return vector * (row // phase % most) % shape[1]

    rows = [1 << bit for bit in range(shape[0].bit_length() - 1)]
    columns = [1 << bit for bit in range(shape[1].bit_length() - 1)]
    offsets = (*((0, each) for each in columns), *((each, column(each)) for each in rows))
    return LinearLayout((("offset", offsets),), shape)


def main() -> None:
    folder = Path(sys.argv[1])
    surveys, checked, wrong = {}, set(), []
    for name in sys.argv[2:]:
        events, *_ = pickle.loads((folder / f"{name}.pickle").read_bytes())
        target = name.split("@")[1]
        stages = [event for event in events if event.kind == "stage"]
        text = next(stage.text for stage in stages if stage.name == "ttgir")
        if target == "cuda:90":
            nvidia = text
        found = to_plain(layouts(Request(text, target, ""), find_target(target)))
        surveys[name] = found
        for layout in found["layouts"]:
            key = json.dumps(layout["bases"])
            if layout["bases"] and key not in checked:
                checked.add(key)
                if disagreements(layout["bases"]):
                    wrong.append(layout["encoding"])
    document = {
        "surveys": surveys,
        "checked": len(checked),
        "wrong": wrong,
        "conflicts": conflicts(nvidia, folder),
    }
    (folder / "layouts.json").write_text(json.dumps(document))


if __name__ == "__main__":
    main()
