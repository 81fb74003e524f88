"""Converts the body of a run, from the API or the command line, to the request of a job."""

from __future__ import annotations

from dataclasses import replace
from keyword import iskeyword
from typing import Annotated

import msgspec

from explorer.errors import InvalidRequest, NoDevice, NotAnswerable
from explorer.jobs import Queue
from explorer.model import DeviceKind, Distribution, Original, Request, Run, RunInput
from explorer.model.hardware import find_target
from explorer.model.measurements import MEASURES
from explorer.model.signature_types import is_type
from explorer.model.source_language import source_language
from explorer.store import Store, compilation_of

MOST_REPEATS = 1000
MOST_SWEEP_VALUES = 64
_LARGEST = 2**53 - 1
_DEVICES: tuple[DeviceKind, ...] = ("interpreter", "gpu")

_Id = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
_Size = Annotated[int, msgspec.Meta(ge=1, le=_LARGEST)]
_Expression = Annotated[str, msgspec.Meta(max_length=500)]


class InputBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An argument to create. `shape` has an expression over the sizes for each dimension; null: a scalar."""

    name: _Name
    type: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    shape: Annotated[list[_Expression], msgspec.Meta(max_length=8)] | None = None
    value: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    distribution: Distribution = "normal"


class RunFields(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How to run a kernel, and what to measure.

    The kernel runs on `inputs`; without them as the script launches it, or, with `is_benchmark`, as the
    script's `perf_report` function does.
    """

    device: str
    measures: Annotated[tuple[str, ...], msgspec.Meta(max_length=20)] = ("check", "time")
    inputs: Annotated[list[InputBody], msgspec.Meta(max_length=100)] = []
    grid: Annotated[list[_Expression], msgspec.Meta(max_length=3)] = []
    sizes: Annotated[dict[_Name, _Size], msgspec.Meta(max_length=20)] = {}
    is_benchmark: bool = False
    reference: Annotated[str, msgspec.Meta(max_length=100_000)] = ""
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] = 0
    repeats: Annotated[int, msgspec.Meta(ge=1, le=MOST_REPEATS)] = 50
    sweep_size: Annotated[str, msgspec.Meta(max_length=100)] = ""
    sweep_values: Annotated[list[_Size], msgspec.Meta(max_length=MOST_SWEEP_VALUES)] = []
    attempt: Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)] = 0


class RunBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A run of the kernel of a compilation, with the same configuration and options.

    With `original`, the ID of another compilation, the measure `check` compares with what the kernel of that
    compilation writes.
    """

    compilation: _Id
    run: RunFields
    original: _Id | None = None


def requested_run(store: Store, queue: Queue, body: RunBody) -> Request:
    """Return the request of a body.

    Raises:
        InvalidRequest: a field is invalid; the message names it.
        NotFound: there is no such compilation.
        NoDevice: the device is not available on this machine.
        NotAnswerable: the device cannot run code for the target of the compilation.
    """
    run = make_run(body.run)
    compilation = _compilation(store, body.compilation)
    if body.original is not None:
        original = _compilation(store, body.original)
        if original.edits is not None or source_language(original.source) != "python":
            raise InvalidRequest("The original must be a compilation of a Python source, without edits.")
        if original.private != compilation.private:
            raise InvalidRequest("Both compilations must be public, or private with the same key.")
        run = replace(
            run,
            original=Original(original.source, original.config, original.options, original.constants),
        )
    return run_request(queue, compilation, run)


def _compilation(store: Store, compilation: str) -> Request:
    request = store.find(compilation).request
    if request.task not in ("compile", "llvm-passes", "captured"):
        raise InvalidRequest(f"{compilation} is not a compilation. Give the ID of one.")
    return request


def run_request(queue: Queue, compilation: Request, run: Run) -> Request:
    """Return the request that runs the kernel of a compilation's request.

    Raises:
        NoDevice: the device is not available on this machine.
        NotAnswerable: the device cannot run code for the target of the compilation.
    """
    if (reason := queue.problem(run.device)) is not None:
        hint = "Use the interpreter, or open a recorded profile." if run.device == "gpu" else ""
        raise NoDevice(f"{reason} {hint}".strip())
    target = find_target(compilation.target)
    if compilation.edits is not None:
        raise NotAnswerable(
            "This compilation has edits of stages or passes. A run executes the source, without the edits. "
            "Run the compilation that has none."
        )
    if source_language(compilation.source) != "python":
        raise NotAnswerable("The source is the text of a stage, without a launch. A run executes Python.")
    if run.device == "gpu" and target.vendor != "NVIDIA":
        raise NotAnswerable(
            f"The kernel is compiled for {target.title}, but the GPU of this machine is NVIDIA's. "
            "Compile it for a target of NVIDIA."
        )
    return replace(compilation_of(compilation), task="run", run=run)


def make_run(fields: RunFields) -> Run:
    """Check the fields of a body and return the run.

    Raises:
        InvalidRequest: a field is invalid; the message names it and says what to do.
    """
    device = next((device for device in _DEVICES if device == fields.device), None)
    if device is None:
        raise InvalidRequest(f'\'device\' must be "interpreter" or "gpu", got {fields.device[:50]!r}.')
    if unknown := [name for name in fields.measures if name not in MEASURES]:
        raise InvalidRequest(f"Unknown measure {unknown[0][:50]!r}. Known are {', '.join(MEASURES)}.")
    names = [each.name for each in fields.inputs]
    if twice := {name for name in names if names.count(name) > 1}:
        raise InvalidRequest(f"The input {min(twice)!r} is given twice. Remove one.")
    for name in (*fields.sizes, *names):
        if not name.isidentifier() or iskeyword(name):  # "$" in a pattern also matches before a line break
            raise InvalidRequest(f"{name!r} is not a valid Python name. Use another name.")
    for each in fields.inputs:
        if each.type != "constexpr" and not is_type(each.type):
            raise InvalidRequest(
                f"The input {each.name!r} has the unknown type {each.type[:50]!r}. "
                'Types are such as "*fp16" for a tensor, "i32" and "constexpr".'
            )
    if fields.inputs and not fields.grid:
        raise InvalidRequest("Inputs need a grid. Give one to three expressions over the sizes.")
    if fields.inputs and fields.is_benchmark:
        raise InvalidRequest("Inputs and the script's benchmark exclude each other. Give one of them.")
    if fields.sweep_values and not fields.sweep_size:
        raise InvalidRequest("'sweep_values' needs 'sweep_size', the name of the size that is varied.")
    return Run(
        device=device,
        measures=tuple(name for name in MEASURES if name in fields.measures),
        inputs=tuple(
            RunInput(
                each.name,
                each.type,
                None if each.shape is None else tuple(each.shape),
                each.value,
                each.distribution,
            )
            for each in fields.inputs
        ),
        grid=tuple(fields.grid),
        sizes=dict(fields.sizes),
        is_benchmark=fields.is_benchmark,
        reference=fields.reference,
        seed=fields.seed,
        repeats=fields.repeats,
        sweep_size=fields.sweep_size,
        sweep_values=tuple(fields.sweep_values),
        attempt=fields.attempt,
    )
