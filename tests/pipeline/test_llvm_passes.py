"""Test the recording of LLVM's own passes."""

from dataclasses import replace

import pytest

from explorer.examples import find_example
from explorer.model import Done, Event, Pass, Request, Stage
from explorer.pipeline.job import perform

pytestmark = pytest.mark.slow

REQUEST = Request(find_example("vector_add").source, "cuda:90", "", task="llvm-passes")


def told(request):
    events: list[Event] = []
    perform(request, events.append)
    return events


@pytest.fixture(scope="module")
def passes():
    return [event for event in told(REQUEST) if isinstance(event, Pass)]


def test_every_pass_is_told_and_nothing_else(passes):
    names = [each.name for each in passes]
    assert "SROAPass" in names
    assert "InstCombinePass" in names
    assert [each.index for each in passes] == list(range(len(passes)))


def test_those_that_change_something_have_the_whole_module(passes):
    changed = [each for each in passes if each.text is not None]
    assert 3 < len(changed) < len(passes)
    assert all(each.text.startswith("; ModuleID") and "define" in each.text for each in changed)


def test_the_last_module_is_the_stage_of_the_compilation(passes):
    compiled = told(replace(REQUEST, task="compile"))
    (stage,) = [event for event in compiled if isinstance(event, Stage) and event.name == "llir"]
    last = next(each.text for each in reversed(passes) if each.text)
    body = [line for line in (stage.raw or stage.text).splitlines() if " = " in line and "!" not in line[:1]]
    assert sum(line in last for line in body) >= 0.95 * len(body) > 10


@pytest.mark.parametrize("target", ["hip:gfx942", "cuda:80"])
def test_other_targets_have_passes_too(target):
    events = told(replace(REQUEST, target=target))
    assert events[-1].status == "complete"
    assert any(isinstance(event, Pass) and event.text is not None for event in events)


def test_a_kernel_that_does_not_compile_says_so():
    source = REQUEST.source.replace("tl.load(", "undefined(")
    events = told(replace(REQUEST, source=source))
    assert events[-1] == Done("failed", events[-1].milliseconds)
    assert any(getattr(event, "severity", "") == "error" for event in events)


def test_what_a_source_prints_in_between_hides_no_pass(passes):
    """A source can forge a pass of its own result only, even with bytes that are not text."""
    forging = (
        "import os\n"
        "from triton._C.libtriton import llvm\n"
        "optimize = llvm.optimize_module\n"
        "def forge(*arguments, **options):\n"
        "    llvm.optimize_module = optimize\n"
        "    os.write(2, b'*** IR Dump After \\xff on \\xfe ***\\nno module\\n')\n"
        "    optimize(*arguments, **options)\n"
        "llvm.optimize_module = forge\n"
    )
    events = told(replace(REQUEST, source=forging + REQUEST.source))
    names = [event.name for event in events if isinstance(event, Pass)]
    assert names[0] == "\ufffd"
    assert names[1:] == [each.name for each in passes]
    assert isinstance(events[-1], Done)
