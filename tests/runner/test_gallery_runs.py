"""Every script of the gallery that the interpreter can run matches its reference."""

import pytest

from explorer.examples import EXAMPLES, find_example
from explorer.pipeline.scopes import marked_lines, scopes_ignored_by_interpreter

#: Small sizes of each script's benchmark, which the blocks do not divide.
SIZES = {
    "vector_add": {"size": 5000},
    "softmax": {"rows": 9},
    "matmul": {"size": 136},
    "layer_norm": {"rows": 9},
    "flash_attention": {"length": 200},
    "convolution_2d": {"images": 1},
    "copy_coalesced_strided": {"size": 5000},
    "reduction": {"rows": 9},
    "dropout": {"size": 5000},
    "matmul_descriptors": {"size": 136},
    "matmul_persistent": {"size": 136},
}


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "gluon_copy"])
def test_examples_match_their_reference(interpret, name):
    source = find_example(name).source
    told = interpret(source, with_head=False, is_benchmark=True, sizes=SIZES[name])
    notes = [scopes_ignored_by_interpreter(lines)] if (lines := marked_lines(source)) else []
    assert [each["message"] for each in told.diagnostics] == [note.message for note in notes]
    assert told.check["reference"].startswith("reference(")
    assert told.check["outputs"]
    assert all(output["matches"] for output in told.check["outputs"])
    assert told.counts["programs"] == told.counts["grid_programs"]
    assert told.counts["loaded_bytes"] > 0 and told.counts["stored_bytes"] > 0


def test_both_copies_can_be_run(interpret):
    source = find_example("copy_coalesced_strided").source
    options = {"with_head": False, "is_benchmark": True, "sizes": {"size": 65536}}
    sectors = {}
    for kernel in ("copy_coalesced_kernel", "copy_strided_kernel"):
        told = interpret(source, request={"kernel": kernel}, **options)
        assert told.launch["kernel"] == kernel
        assert told.check["outputs"][0]["matches"]
        assert told.counts["loaded_bytes"] == 4 * 65536
        sectors[kernel] = told.counts["loaded_sectors"]
    # Strided, every element costs a separate sector.
    assert sectors == {"copy_coalesced_kernel": 8192, "copy_strided_kernel": 65536}


def test_gluon_is_refused_with_what_to_do(interpret):
    told = interpret(
        find_example("gluon_copy").source, with_head=False, is_benchmark=True, sizes={"rows": 16}
    )
    assert told.status == "failed"
    assert told.errors[0]["hint"] == "Run it on a GPU."
