"""The contents of a source: kernels, and the launches that executing it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from explorer.model.basics import LineNumber, Scalar
from explorer.model.requests import Argument
from explorer.model.source_language import KernelLanguage


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel's signature, with a guess that is used if nothing launches the kernel.

    `reason` says in a sentence how the code leads to the guess.
    """

    name: str
    annotation: str
    is_constexpr: bool
    default: Scalar
    has_default: bool
    guess: Argument
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """One autotune configuration: the constexpr arguments and compiler options that it sets."""

    index: int
    arguments: dict[str, Scalar]
    options: dict[str, Scalar]


@dataclass(frozen=True, slots=True)
class TorchNode:
    """A node of PyTorch's graph that a kernel computes.

    `operation` is the called operator ("aten.mul.Tensor"), `original` the operator that PyTorch's compiler
    has decomposed ("aten.gelu.default"), and `output` the type and the shape of the result. `line` is the
    line of the program; 0: unknown.
    """

    name: str
    operation: str
    original: str
    output: str
    line: LineNumber
    is_backward: bool


@dataclass(frozen=True, slots=True)
class Kernel:
    """A `@triton.jit` or `@gluon.jit` function of the source, except functions that are only called by
    others.

    If the source is the text of a stage, `language` is the language of the stage, and there are no
    parameters. Only kernels of `torch.compile` have graph nodes.
    """

    name: str
    line: LineNumber
    language: KernelLanguage
    parameters: tuple[Parameter, ...]
    configs: tuple[Config, ...] = ()
    graph_nodes: tuple[TorchNode, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch that executing the source makes, with the specialization that it leads to.

    `config` is the index of the autotune configuration that is compiled by default.
    """

    index: int
    kernel: str
    line: LineNumber
    grid: tuple[int, ...] | None
    arguments: tuple[Argument, ...]
    options: dict[str, Scalar]
    config: int | None = None


@dataclass(frozen=True, slots=True)
class AssumedNumber:
    """A number that a script reads from a tensor whose content only a GPU could compute.

    `place` names the line in a request: "12", and "tools.py:3" in a file beside the script. `is_given`: the
    request has the value.
    """

    place: str
    line: LineNumber
    value: int
    is_given: bool = False


@dataclass(frozen=True, slots=True)
class OutputCode:
    """The script that PyTorch's compiler, Inductor, writes for a program with `torch.compile`.

    `path` is the path of the script, and `files` has the program and the files beside it, by their paths.
    `kernels` are the names of its kernels in the order of their definitions, or empty if they are not known.
    """

    source: str
    path: str
    files: dict[str, str]
    kernels: tuple[str, ...] = ()

    @property
    def found_words(self) -> str:
        """The number of kernels in words: "3 kernels found"."""
        if not self.kernels:
            return "kernels found"
        return "1 kernel found" if len(self.kernels) == 1 else f"{len(self.kernels):,} kernels found"

    def request_fields(self) -> dict[str, Any]:
        """Return the fields of a request that name the script."""
        return {"source": self.source, "path": self.path, "files": self.files}
