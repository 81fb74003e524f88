"""A matrix as requested and stored, and the compilations of its cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple

import msgspec

from explorer.analysis.source_edits import edited
from explorer.errors import InvalidRequest
from explorer.model import Inspection, LineEdit, Request
from explorer.model.limits import MOST_CELLS, MOST_EDITS

_MOST_INDEX = 1_000_000
_Index = Annotated[int, msgspec.Meta(ge=0, le=_MOST_INDEX)]
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
_Value = Annotated[str, msgspec.Meta(max_length=10_000)] | int | float | bool | None
_Settings = Annotated[dict[_Name, _Value], msgspec.Meta(max_length=100)]


class Configuration(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A configuration: an autotune configuration by its index, and compiler options.

    `constants` replace the values of constexpr arguments, `edits` lines of the source.
    """

    config: _Index | None = None
    options: _Settings = {}
    constants: _Settings = {}
    edits: Annotated[tuple[LineEdit, ...], msgspec.Meta(max_length=MOST_EDITS)] = ()


class Cell(NamedTuple):
    """A cell: the index of its configuration, and the request that it compiles."""

    configuration: int
    request: Request


@dataclass(frozen=True)
class Matrix:
    """A request and three lists. Each combination of their elements is a cell, a variant of the request.

    Raises:
        InvalidRequest: there are too many cells, a constant is no argument of the request, or an edited line
            is not in its source.
    """

    request: Request
    configurations: tuple[Configuration, ...]
    targets: tuple[str, ...]
    tritons: tuple[str, ...]
    _cells: tuple[Cell, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Make the cells."""
        sides = len(self.configurations), len(self.targets), len(self.tritons)
        count = sides[0] * sides[1] * sides[2]
        if count > MOST_CELLS:
            raise InvalidRequest(
                f"{sides[0]} configurations × {sides[1]} targets × {sides[2]} Triton versions are {count:,} "
                f"compilations; a matrix has at most {MOST_CELLS}. Leave out some of them."
            )
        object.__setattr__(self, "_cells", tuple(self._make_cells()))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells, by configuration, then by target, then by Triton version."""
        return self._cells

    def content(self) -> bytes:
        """Return the matrix as it is stored."""
        return msgspec.json.encode(_Stored.of(self))

    @classmethod
    def of(cls, content: bytes) -> Matrix:
        """Return a stored matrix."""
        found = msgspec.json.decode(content, type=_Stored)
        return cls(found.request, found.configurations, found.targets, found.tritons)

    def _make_cells(self) -> Iterator[Cell]:
        for index, configuration in enumerate(self.configurations):
            request = configured(self.request, configuration)
            for target in self.targets:
                for triton in self.tritons:
                    yield Cell(index, replace(request, target=target, triton=triton))


class _Stored(msgspec.Struct, frozen=True):
    """A matrix in the store."""

    request: Request
    configurations: tuple[Configuration, ...]
    targets: tuple[str, ...]
    tritons: tuple[str, ...]

    @classmethod
    def of(cls, matrix: Matrix) -> _Stored:
        return cls(matrix.request, matrix.configurations, matrix.targets, matrix.tritons)


def configurations_of(request: Request, inspection: Inspection) -> tuple[Configuration, ...]:
    """Return the autotune configurations of the kernel of a request, or else an empty configuration.

    Raises:
        InvalidRequest: the source has no such kernel, or the indices of its configurations are out of range.
    """
    kernels = {kernel.name: kernel for kernel in inspection.kernels}
    launches = {launch.index: launch.kernel for launch in inspection.launches}
    first = next(iter(launches.values()), None) or next(iter(kernels), None)
    name = request.kernel or (first if request.launch is None else launches.get(request.launch))
    if name not in kernels:
        known = ", ".join(kernels) or "none"
        raise InvalidRequest(f"The source has no kernel {name or ''!r}. It has: {known}.")
    indices = [config.index for config in kernels[name].configs]
    if indices and not 0 <= min(indices) <= max(indices) <= _MOST_INDEX:
        raise InvalidRequest(f"The autotune configurations of {name!r} have invalid indices.")
    return tuple(map(Configuration, indices)) or (Configuration(),)


def configured(request: Request, configuration: Configuration) -> Request:
    """Return a request with a configuration.

    Raises:
        InvalidRequest: a constant is no argument of the request, or an edited line is not in its source.
    """
    arguments, constants = request.arguments, request.constants
    if arguments is None:
        constants = constants | configuration.constants
    elif configuration.constants:
        known = {
            each.name for each in arguments or () if not isinstance(each, str) and each.type == "constexpr"
        }
        for name in configuration.constants:
            if name not in known:
                raise InvalidRequest(
                    f"{name!r} is no constexpr of the request's 'arguments': a configuration cannot set it."
                )
        assert isinstance(arguments, tuple)
        arguments = tuple(
            replace(each, value=configuration.constants.get(each.name, each.value)) for each in arguments
        )
    return replace(
        request,
        source=edited(request.source, configuration.edits),
        arguments=arguments,
        constants=constants,
        config=request.config if configuration.config is None else configuration.config,
        options=request.options | configuration.options,
    )
