"""Test sweeps over a script's benchmark, point by point."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import triton.testing

from explorer.model import Diagnostic, Event, Measurement, Progress, Request, Run
from explorer.model.measurements.limits import MOST_PROBLEMS
from explorer.pipeline.fake_gpu import benchmarks
from explorer.runner.measures import sweep
from explorer.runner.measures.context import MeasureContext

DESCRIBED = triton.testing.Benchmark(
    x_names=["M", "N"],
    x_vals=[128, 256, (512, 1024)],
    x_log=True,
    line_arg="provider",
    line_vals=["ours", "theirs"],
    line_names=["Ours", "Theirs"],
    ylabel="TFLOP/s",
    plot_name="product",
    args={"K": 3},
)


def unmeasurable(M, N, K, provider):  # noqa: N803
    if M == 128:
        return float("inf")
    return "fast" if provider == "ours" else (1.0, 0.5, 2.0)


def product(M, N, K, provider):  # noqa: N803 - as perf_report's own examples
    if M == 256 and provider == "ours":
        raise ValueError("no block of this size")
    return (M * N * K, M, N) if provider == "ours" else float(M)


class Launch:
    def __init__(self, namespace):
        self.namespace = namespace
        self.reference = None


def launch_in(namespace) -> Any:
    """Return the part of a launch that a sweep of a script's function uses."""
    return Launch(namespace)


def swept(run, namespace):
    events: list[Event] = []
    context = MeasureContext(Request("", "cuda:90", ""), run, launch_in(namespace), events.append, steps=1)
    sweep.measure(context)
    (found,) = [json.loads(event.document) for event in events if isinstance(event, Measurement)]
    return found, [event for event in events if isinstance(event, Progress)]


def test_every_line_at_every_size_and_a_failure_costs_its_point_only():
    mark = triton.testing.perf_report(DESCRIBED)(product)
    found, progress = swept(Run("gpu"), {"product": mark})
    assert (found["name"], found["unit"], found["is_logarithmic"]) == ("product", "TFLOP/s", True)
    assert found["lines"] == ["Ours", "Theirs"]
    assert [point["sizes"] for point in found["points"]] == [
        {"M": 128, "N": 128},
        {"M": 256, "N": 256},
        {"M": 512, "N": 1024},
    ]
    assert [point["values"] for point in found["points"]] == [
        [3 * 128 * 128, 128],
        [None, 256],
        [3 * 512 * 1024, 512],
    ]
    assert (found["points"][2]["low"], found["points"][2]["high"]) == ([512, None], [1024, None])
    assert found["problems"] == ["M = 256, N = 256, Ours: ValueError: no block of this size"]
    assert [event.text for event in progress][:2] == ["M = 128, N = 128, Ours", "M = 128, N = 128, Theirs"]
    assert [event.done for event in progress] == sorted(event.done for event in progress)


def test_what_is_no_number_is_a_problem_and_no_end_of_the_sweep():
    mark = triton.testing.perf_report(DESCRIBED)(unmeasurable)
    found, _ = swept(Run("gpu"), {"unmeasurable": mark})
    assert [point["values"] for point in found["points"]] == [[None, None], [None, 1], [None, 1]]
    assert "M = 128, N = 128, Ours: ValueError: the benchmark returns inf" in found["problems"]
    assert len(found["problems"]) == 4


def broken(M, N, K, provider):  # noqa: N803
    if M < 256:
        return product(M, N, K, provider)
    raise RuntimeError("Triton Error [CUDA]: an illegal memory access was encountered")


def made(size, stated, reference=None):
    """A launch of generated inputs with `launch_metadata`."""
    facts = SimpleNamespace(kernel="add", stated={name: size * each for name, each in stated.items()})
    return SimpleNamespace(facts=facts, namespace={}, run=lambda: "kernel", reference=reference)


@pytest.mark.parametrize(
    ("stated", "unit", "kernel", "reference"),
    [
        ({"bytes": 12}, "GB/s", (0.06, 0.03, 0.12), (0.03, 0.015, 0.06)),
        ({"flops16": 1000, "bytes": 12}, "TFLOP/s", (0.005, 0.0025, 0.01), (0.0025, 0.00125, 0.005)),
        ({}, "µs", (200, 100, 400), (400, 200, 800)),
    ],
)
def test_made_inputs_are_swept_in_what_the_kernel_says_of_itself(
    monkeypatch, stated, unit, kernel, reference
):
    times = {"kernel": [0.2, 0.1, 0.4], "reference": [0.4, 0.2, 0.8]}  # milliseconds
    monkeypatch.setattr(triton.testing, "do_bench", lambda run, quantiles: times[run()])

    def at_sizes(sizes):
        return made(sizes["n"], stated, reference=lambda: "reference")

    run = Run("gpu", sizes={"n": 1000}, sweep_size="n", sweep_values=(1000, 2000))
    events: list[Event] = []
    launch = at_sizes(run.sizes)
    sweep.measure(
        MeasureContext(Request("", "cuda:90", ""), run, launch, events.append, steps=1, at_sizes=at_sizes)
    )
    (found,) = [json.loads(event.document) for event in events if isinstance(event, Measurement)]
    assert (found["unit"], found["lines"]) == (unit, ["kernel", "reference"])
    first, second = found["points"]
    assert first["values"] == pytest.approx([kernel[0], reference[0]])
    assert first["low"] == pytest.approx([kernel[1], reference[1]])
    assert first["high"] == pytest.approx([kernel[2], reference[2]])
    twice = 1 if unit == "µs" else 2  # the same time for twice the work
    assert second["values"] == pytest.approx([twice * value for value in first["values"]])


def test_a_gpu_that_has_gone_wrong_ends_the_sweep():
    mark = triton.testing.perf_report(DESCRIBED)(broken)
    events: list[Event] = []
    context = MeasureContext(
        Request("", "cuda:90", ""), Run("gpu"), launch_in({"broken": mark}), events.append, steps=1
    )
    with pytest.raises(RuntimeError, match="illegal memory access"):
        sweep.measure(context)
    (found,) = [json.loads(event.document) for event in events if isinstance(event, Measurement)]
    assert [point["values"] for point in found["points"]] == [[3 * 128 * 128, 128]], "the size before it"
    assert found["problems"] == [
        "M = 256, N = 256, Ours: A kernel reads or writes outside of its tensors "
        "(CUDA: illegal memory access).",
        "The GPU became unusable at this point, so the sweep was stopped.",
    ]


def test_as_many_problems_as_a_page_can_show_are_told():
    mark = triton.testing.perf_report(DESCRIBED)(unmeasurable)
    found, _ = swept(Run("gpu", sweep_values=(128,) * 600), {"unmeasurable": mark})
    assert len(found["points"]) == 600 and len(found["problems"]) == MOST_PROBLEMS
    assert found["problems"][-1] == "201 more problems."


def test_a_size_whose_inputs_cannot_be_made_costs_its_points_only(monkeypatch):
    monkeypatch.setattr(triton.testing, "do_bench", lambda run, quantiles: [0.2, 0.1, 0.4])

    def at_sizes(sizes):
        if sizes["n"] == 2000:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB")
        return made(sizes["n"], {}, reference=lambda: "reference")

    run = Run("gpu", sizes={"n": 1000}, sweep_size="n", sweep_values=(1000, 2000, 3000))
    events: list[Event] = []
    launch = made(1000, {}, reference=lambda: "reference")
    sweep.measure(
        MeasureContext(Request("", "cuda:90", ""), run, launch, events.append, steps=1, at_sizes=at_sizes)
    )
    (found,) = [json.loads(event.document) for event in events if isinstance(event, Measurement)]
    assert [point["values"] for point in found["points"]] == [[200, 200], [None, None], [200, 200]]
    assert found["problems"] == ["n = 2,000: The tensors do not fit in the GPU's memory."]


def test_sizes_that_are_asked_for_take_the_place_of_the_scripts():
    mark = triton.testing.perf_report(DESCRIBED)(product)
    both, _ = swept(Run("gpu", sweep_values=(64, 32)), {"product": mark})
    assert [point["sizes"] for point in both["points"]] == [{"M": 64, "N": 64}, {"M": 32, "N": 32}]
    one, _ = swept(Run("gpu", sweep_size="N", sweep_values=(64,)), {"product": mark})
    assert [point["sizes"] for point in one["points"]] == [{"M": 512, "N": 64}]


def test_a_timer_that_was_replaced_while_the_script_ran_is_real_again():
    namespace = {"do_bench": benchmarks.run_once, "bench": benchmarks.run_once, "other": len}
    sweep.give_real_timers(namespace)
    assert namespace == {
        "do_bench": triton.testing.do_bench,
        "bench": triton.testing.do_bench,
        "other": len,
    }


def test_a_script_without_a_benchmark_is_told_how_to_have_one():
    events: list[Event] = []
    sweep.measure(
        MeasureContext(Request("", "cuda:90", ""), Run("gpu"), launch_in({}), events.append, steps=1)
    )
    (note,) = events
    assert isinstance(note, Diagnostic) and "perf_report" in note.hint
