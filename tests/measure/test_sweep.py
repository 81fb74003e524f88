"""Sweeps over a script's own benchmark, point by point."""

import json

import pytest
import triton.testing

from explorer.measure.bench import Bench
from explorer.measure.measures import sweep
from explorer.model import Measurement, Progress, Request, Run
from explorer.pipeline.fake_gpu import benchmarks

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


def swept(run, namespace):
    events = []
    bench = Bench(Request("", "cuda:90", ""), run, Launch(namespace), events.append, steps=1)
    sweep.measure(bench)
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
    raise RuntimeError("Triton Error [CUDA]: an illegal memory access was encountered")


def test_a_gpu_that_has_gone_wrong_ends_the_sweep():
    mark = triton.testing.perf_report(DESCRIBED)(broken)
    with pytest.raises(RuntimeError, match="illegal memory access"):
        swept(Run("gpu"), {"broken": mark})


def test_sizes_that_are_asked_for_take_the_place_of_the_scripts():
    mark = triton.testing.perf_report(DESCRIBED)(product)
    both, _ = swept(Run("gpu", sweep_values=(64, 32)), {"product": mark})
    assert [point["sizes"] for point in both["points"]] == [{"M": 64, "N": 64}, {"M": 32, "N": 32}]
    one, _ = swept(Run("gpu", sweep_size="N", sweep_values=(64,)), {"product": mark})
    assert [point["sizes"] for point in one["points"]] == [{"M": 512, "N": 64}]


def test_a_timer_that_was_replaced_while_the_script_ran_is_real_again():
    namespace = {"do_bench": benchmarks.run_once, "bench": benchmarks.run_once, "other": len}
    sweep.give_real_timers(namespace)
    assert namespace == {"do_bench": triton.testing.do_bench, "bench": triton.testing.do_bench, "other": len}


def test_a_script_without_a_benchmark_is_told_how_to_have_one():
    events = []
    sweep.measure(Bench(Request("", "cuda:90", ""), Run("gpu"), Launch({}), events.append, steps=1))
    (note,) = events
    assert "perf_report" in note.hint
