"""A kernel whose modules are huge: the stages, the resources and the binary come first, and always."""

import pytest

from explorer.model import Edits, Request

#: 512 elements for each thread: the module of the LLVM dialect has more than 50 MB.
SOURCE = """
import torch, triton
import triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)

x = torch.empty(1 << 20, device="cuda")
add[(16,)](x, x, x, x.numel(), BLOCK=65536, num_warps=4)
"""


@pytest.mark.slow
def test_the_result_comes_before_the_modules_and_without_some_of_them(services):
    # The module of the LLVM dialect has more than 100 MB, so that it is left out on a machine of any speed.
    source = SOURCE.replace("BLOCK=65536", "BLOCK=131072")
    events = list(services.sandbox.run(Request(source, "cuda:90", services.versions[0])))
    kinds = [event.kind for event in events]
    assert [event.name for event in events if event.kind == "stage"] == [
        "ast",
        "ttir",
        "ttgir",
        "llir",
        "ptx",
        "sass",
    ]
    assert events[-1].status == "complete"
    assert not any(event.kind == "diagnostic" and event.severity == "error" for event in events)
    passes = [event for event in events if event.kind == "pass"]
    assert [each.index for each in passes] == list(range(len(passes)))
    converted = next(each for each in passes if each.name == "convert-triton-gpu-to-llvm")
    assert kinds.index("resources") < kinds.index("binary") < events.index(converted)
    assert any(each.omitted for each in passes)
    assert all(each.text is None for each in passes if each.omitted)
    (cliff,) = (event for event in events if event.kind == "diagnostic" and event.severity == "warning")
    (resources,) = (event for event in events if event.kind == "resources")
    assert f"fallen back to {resources.registers} of 255 possible registers" in cliff.message
    assert SOURCE.splitlines()[cliff.line - 1].startswith("def add")


@pytest.mark.slow
@pytest.mark.parametrize("is_edited", [False, True], ids=["option", "edited PTX"])
def test_few_registers_that_the_user_asked_for_are_no_fallback(services, is_edited):
    option, edits = ", maxnreg=32", None
    if is_edited:
        option, edits = "", Edits("ptx", ptx_of_limited_registers(services))
    source = SOURCE.replace("BLOCK=65536", f"BLOCK=16384{option}")
    events = list(services.sandbox.run(Request(source, "cuda:90", services.versions[0], edits=edits)))
    (resources,) = (event for event in events if event.kind == "resources")
    assert resources.registers == 32
    assert resources.spill_stores_bytes > 1024
    assert not any(event.kind == "diagnostic" and event.severity == "warning" for event in events)


def ptx_of_limited_registers(services):
    """Return the PTX of the kernel with a directive that limits the registers of a thread to 32."""
    source = SOURCE.replace("BLOCK=65536", "BLOCK=16384")
    events = services.sandbox.run(Request(source, "cuda:90", services.versions[0]))
    (text,) = (event.text for event in events if event.kind == "stage" and event.name == "ptx")
    assert ".maxnreg" not in text
    return text.replace(".reqntid 128", ".reqntid 128\n.maxnreg 32")


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [{"BLOCK=65536": "BLOCK=8192"}, {"BLOCK=65536, num_warps=4": "BLOCK=65536, num_warps=32"}],
    ids=["smaller block", "more warps"],
)
def test_the_advice_about_the_fallback_of_ptxas_avoids_it(services, changes):
    source = SOURCE
    for old, new in changes.items():
        source = source.replace(old, new)
    events = list(services.sandbox.run(Request(source, "cuda:90", services.versions[0])))
    assert not any(event.kind == "diagnostic" and event.severity == "warning" for event in events)
    (resources,) = (event for event in events if event.kind == "resources")
    assert resources.spill_stores_bytes < 500
