"""What a source holds: kernels, and the launches that running it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from explorer.model.requests import Argument, LineNumber, Scalar


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel's signature, with a guess for a form that has no launch to go by."""

    name: str
    annotation: str
    is_constexpr: bool
    default: Scalar
    has_default: bool
    guess: Argument


@dataclass(frozen=True)
class Config:
    """One autotune configuration: the constexpr arguments it sets, and the compiler options."""

    index: int
    arguments: dict[str, Scalar]
    options: dict[str, Scalar]


@dataclass(frozen=True)
class Kernel:
    """A `@triton.jit` or `@gluon.jit` function of the source that is not only called by others."""

    name: str
    line: LineNumber
    language: Literal["triton", "gluon"]
    parameters: tuple[Parameter, ...]
    configs: tuple[Config, ...] = ()


@dataclass(frozen=True)
class Launch:
    """One launch that running the source has made, with the specialisation it leads to.

    `config` is the index of the autotune configuration that is compiled when none is asked for.
    """

    index: int
    kernel: str
    line: LineNumber
    grid: tuple[int, ...] | None
    arguments: tuple[Argument, ...]
    options: dict[str, Scalar]
    config: int | None = None
