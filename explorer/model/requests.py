"""What a user asks for: a kernel to compile, and how to run it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

LineNumber = int
Scalar = str | int | float | bool | None

#: What the compiler assumes about an argument beyond its type.
Specialization = Literal["", "divisible by 16", "equal to 1", "constexpr"]

#: What is done with a user's script: compile a kernel, list what it holds, watch LLVM compile it, run it.
SCRIPT_TASKS = ("compile", "inspect", "llvm-passes", "run")

#: What a run can find out, beyond that the kernel runs: see `explorer.measurements`.
Measure = Literal["check", "time", "counts", "counters", "samples", "timeline", "sweep", "autotune", "roofs"]
Distribution = Literal["normal", "uniform", "integers", "ascending", "ones"]


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel, as the just-in-time compiler would see it.

    `type` is Triton's own signature type: "*fp16", "i32", "fp32", "constexpr", "tensordesc<fp16[64, 64]>".
    `value` is the value of a constexpr or of a known scalar; what JSON cannot carry is its `repr`.
    `shape` and `strides` (in elements) are known for tensors of a launch only.
    """

    name: str
    type: str
    value: Scalar = None
    specialization: Specialization = ""
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None


@dataclass(frozen=True)
class RunInput:
    """An argument to make for a kernel that no script launches.

    `shape` holds one Python expression a dimension over the run's sizes ("n", "2 * m"); None: a scalar,
    whose `value` is such an expression. `type` is Triton's signature type ("*fp16", "i32", "constexpr").
    """

    name: str
    type: str
    shape: tuple[str, ...] | None = None
    value: str = ""
    distribution: Distribution = "normal"


@dataclass(frozen=True)
class Run:
    """How to run a kernel, and what to measure.

    What is launched: with `inputs`, those and the expressions of `grid`; otherwise what the script
    launches, or, with `is_benchmark`, what its `perf_report` function launches at `sizes` (left out: at the
    largest of its own, in the interpreter the smallest). `reference` is torch code for a script
    without a function `reference`: an expression, or a body that returns, over the kernel's arguments by
    name.
    `sweep_size` is the size that a sweep varies, over `sweep_values` (empty: the script's own).
    `attempt` tells runs apart that are the same in all else.
    """

    device: Literal["interpreter", "gpu"]
    measures: tuple[Measure, ...] = ("check", "time")
    inputs: tuple[RunInput, ...] = ()
    grid: tuple[str, ...] = ()
    sizes: dict[str, int] = field(default_factory=dict)
    is_benchmark: bool = False
    reference: str = ""
    seed: int = 0
    repeats: int = 50
    sweep_size: str = ""
    sweep_values: tuple[int, ...] = ()
    attempt: int = 0


@dataclass(frozen=True)
class Request:
    """Everything that decides the answer; its hash is the address of the result.

    Exactly one way to say what to compile: `launch` (an index into the launches found by running the
    source), or `arguments` (a tuple of `Argument`, or a signature string such as "*fp16:16, i32, 128").
    With neither, the only launch of the kernel is taken, or the first.
    `config` is an index into the autotune configurations of the kernel.
    `options` overrides compiler options: num_warps, num_stages, num_ctas, maxnreg, …
    `task` is one of `SCRIPT_TASKS`, or the name of something to be found out about what a compilation has
    made (`explorer.pipeline.questions`); `source` is then the text to look at, in the place of a user's
    source, and `options` are the question's own. `run` says how to run it when that is the task.
    """

    source: str
    target: str
    triton: str
    kernel: str | None = None
    launch: int | None = None
    arguments: tuple[Argument, ...] | str | None = None
    config: int | None = None
    options: dict[str, Scalar] = field(default_factory=dict)
    task: str = "compile"
    run: Run | None = None
