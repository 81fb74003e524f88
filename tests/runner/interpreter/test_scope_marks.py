"""Test that the interpreter ignores scope marks and says so."""

import pytest

MARKED = """
{imports}

@triton.jit
def double(values):
    {enter}("double")
    result = 2 * values
    {exit}("double")
    return result

@triton.jit
def kernel(x, y, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for _ in range(2):
        with pl.scope("store"):
            tl.store(y + offsets, double(tl.load(x + offsets)))

def reference(x, y):
    return 2 * x

x = torch.randn(4096, device="cuda")
kernel[(4,)](x, torch.empty_like(x), BLOCK=1024)
"""
LANGUAGE = 'import triton.profiler.language as pl\npl.enable_semantic("triton")'


def notes(told):
    return [each for each in told.diagnostics if each["severity"] == "note"]


@pytest.mark.parametrize(
    ("imports", "enter", "exit_"),
    [
        (LANGUAGE, "pl.enter_scope", "pl.exit_scope"),
        (
            f"{LANGUAGE}\nfrom triton.profiler.language import enter_scope, exit_scope",
            "enter_scope",
            "exit_scope",
        ),
    ],
    ids=["of the module", "by name"],
)
def test_a_kernel_that_marks_scopes_computes_and_is_counted_as_without_them(interpret, imports, enter, exit_):
    source = MARKED.format(imports=imports, enter=enter, exit=exit_)
    told = interpret(source)
    assert told.status == "complete" and told.check["outputs"][0]["matches"]
    assert told.operation("load")["requested_bytes"] == 2 * 4096 * 4
    (note,) = notes(told)
    assert "a timeline needs a GPU" in note["message"] and "timeline" in note["hint"]
    assert source.splitlines()[note["line"] - 4].strip() == f'{enter}("double")'  # three lines of a head


def test_events_that_span_several_places_are_passed_over_too(interpret):
    told = interpret("""
import triton.profiler.language as pl

@triton.jit
def kernel(x):
    event = pl.allocate_event("whole")
    pl.start_event(event)
    tl.store(x + tl.arange(0, 16), 1.0)
    pl.end_event(event)

kernel[(1,)](torch.zeros(16, device="cuda"))
""")
    if "no attribute 'allocate_event'" in str(told.errors):  # Triton 3.6 has none
        assert told.status == "failed"
        return
    assert told.status == "complete" and "ignores the scopes" in notes(told)[0]["message"]


def test_a_kernel_without_scopes_is_told_nothing_of_them(interpret):
    told = interpret("""
@triton.jit
def kernel(x):
    tl.store(x + tl.arange(0, 16), 1.0)

kernel[(1,)](torch.zeros(16, device="cuda"))
""")
    assert told.status == "complete" and not notes(told)
