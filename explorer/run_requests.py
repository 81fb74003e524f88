"""What is asked for as a run, by the API and by the command line, and the request that it becomes."""

from __future__ import annotations

from dataclasses import replace
from keyword import iskeyword
from typing import Annotated, Literal, get_args

import msgspec

from explorer.errors import InvalidRequest, NoDevice, NotAnswerable
from explorer.model import Distribution, Measure, Request, Run, RunInput
from explorer.pipeline.signature_types import is_type
from explorer.pipeline.targets import find_target
from explorer.services import Services
from explorer.store import compilation_of

MOST_REPEATS = 1000
MOST_SWEEP_VALUES = 64
_LARGEST = 2**53 - 1
_DEVICES: tuple[Literal["interpreter", "gpu"], ...] = ("interpreter", "gpu")

_Id = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
_Size = Annotated[int, msgspec.Meta(ge=1, le=_LARGEST)]
_Expression = Annotated[str, msgspec.Meta(max_length=500)]


class InputBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An argument to make: `shape` has an expression over the sizes for each dimension; null: a scalar."""

    name: _Name
    type: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    shape: Annotated[list[_Expression], msgspec.Meta(max_length=8)] | None = None
    value: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    distribution: Distribution = "normal"


class RunFields(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How to run a kernel, and what to measure. With `inputs`, on those; otherwise as the script launches
    it, or, with `is_benchmark`, as its `perf_report` function does.
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
    """A run: of the kernel of a compilation, with its configuration and options."""

    compilation: _Id
    run: RunFields


def requested_run(services: Services, body: RunBody) -> Request:
    """The request of a body.

    Raises:
        InvalidRequest: a field makes no sense; the message says which.
        NotFound: no such compilation.
        NoDevice: this machine has no such device.
        NotAnswerable: what was compiled can never run there.
    """
    run = make_run(body.run)
    compilation = services.store.find(body.compilation).request
    if compilation.task not in ("compile", "llvm-passes"):
        raise InvalidRequest(f"{body.compilation} is no compilation. Give the id of one.")
    return run_request(services, compilation, run)


def run_request(services: Services, compilation: Request, run: Run) -> Request:
    """The request that runs what another one compiles.

    Raises:
        NoDevice, NotAnswerable: it cannot be run here.
    """
    if (reason := services.queue.problem(run.device)) is not None:
        hint = "Run it in the interpreter, or look at a recorded profile." if run.device == "gpu" else ""
        raise NoDevice(f"{reason} {hint}".strip())
    target = find_target(compilation.target)
    if run.device == "gpu" and target.vendor != "NVIDIA":
        raise NotAnswerable(
            f"It is compiled for {target.title}, and this machine has an NVIDIA GPU. "
            "Choose a target of NVIDIA's and compile it again."
        )
    return replace(compilation_of(compilation), task="run", run=run)


def make_run(fields: RunFields) -> Run:
    """A run out of the fields of a body.

    Raises:
        InvalidRequest: with the field that makes no sense, and what to do.
    """
    device = next((device for device in _DEVICES if device == fields.device), None)
    if device is None:
        raise InvalidRequest(f'\'device\' must be "interpreter" or "gpu", got {fields.device[:50]!r}.')
    known = get_args(Measure)
    if unknown := [name for name in fields.measures if name not in known]:
        raise InvalidRequest(f"There is no measure {unknown[0][:50]!r}. There are {', '.join(known)}.")
    names = [each.name for each in fields.inputs]
    if twice := {name for name in names if names.count(name) > 1}:
        raise InvalidRequest(f"The input {min(twice)!r} is there twice.")
    for name in (*fields.sizes, *names):
        if not name.isidentifier() or iskeyword(name):  # "$" in a pattern stands before a line break, too
            raise InvalidRequest(f"{name!r} cannot be a name in Python. Give it another one.")
    for each in fields.inputs:
        if each.type != "constexpr" and not is_type(each.type):
            raise InvalidRequest(
                f"The input {each.name!r} has the type {each.type[:50]!r}, which Triton does not know. "
                'Types are, for example, "*fp16" for a tensor, "i32" and "constexpr".'
            )
    if fields.inputs and not fields.grid:
        raise InvalidRequest("Inputs need a grid: one to three expressions over the sizes.")
    if fields.inputs and fields.is_benchmark:
        raise InvalidRequest("Give inputs or run the script's benchmark, not both.")
    if fields.sweep_values and not fields.sweep_size:
        raise InvalidRequest("'sweep_values' need a 'sweep_size': the name of the size that they are of.")
    return Run(
        device=device,
        measures=tuple(name for name in known if name in fields.measures),
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
