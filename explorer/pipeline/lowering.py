"""Prepares Triton's steps for one kernel with its specialization: the first module, and the later steps.

Source: triton.compiler.compiler.compile, 3.6 and 3.9, without its cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from explorer.model.hardware import Target
from explorer.pipeline.targets import triton_target

#: Makes the artifact of a step from the artifact of the step before.
Make = Callable[[Any, dict[str, Any]], Any]


class Specialized(Protocol):
    """A kernel with the arguments of its `ASTSource` and of `compile`."""

    @property
    def jit_function(self) -> Any: ...

    @property
    def signature(self) -> dict[str, Any]: ...

    @property
    def constexprs(self) -> dict[tuple[int, ...], Any]: ...

    @property
    def attrs(self) -> dict[tuple[int, ...], Any]: ...

    @property
    def options(self) -> dict[str, Any]: ...


class Lowering:
    """Triton's steps for one kernel. `metadata` is the metadata that they collect.

    `source` is Triton's source object; without it, the caller provides the first module.
    """

    def __init__(
        self, target: Target, options: dict[str, Any], source: Any = None, *, is_gluon: bool = False
    ) -> None:
        from triton.backends.compiler import Language

        self._target = target
        self._gpu_target, self._backend = _backend(target)
        self._source = source
        self._language = Language.GLUON if is_gluon else Language.TRITON
        self._options = self._backend.parse_options(options)
        self.metadata: dict[str, Any] = {"target": self._gpu_target, **self._options.__dict__}

    @classmethod
    def of(cls, kernel: Specialized, target: Target) -> Lowering:
        """Return the lowering of a kernel from its Python source."""
        source = _source(kernel)
        options = {**kernel.options, **source.parse_options()}
        return cls(target, options, source, is_gluon=kernel.jit_function.is_gluon())

    def make_module(self) -> Any:
        """Make the first module from the Python source."""
        return self._source.make_ir(
            self._gpu_target,
            self._options,
            self._backend.get_codegen_implementation(self._options),
            self._backend.get_module_map(),
            make_context(self._target),
        )

    def steps(self) -> dict[str, Make]:
        """Return the steps from the module to the binary, by Triton's names of their artifacts, in order."""
        steps: dict[str, Make] = {}
        self._backend.add_stages(steps, self._options, self._language)
        # In Triton 3.9, this step returns the module of `make_module`.
        steps.pop("glir", None)
        return steps


def make_context(target: Target) -> Any:
    """Return a context with all dialects of the modules for a target."""
    from triton._C.libtriton import ir

    context = ir.context()
    ir.load_dialects(context)
    _backend(target)[1].load_dialects(context)
    return context


def _backend(target: Target) -> tuple[Any, Any]:
    from triton.compiler.compiler import make_backend

    gpu_target = triton_target(target)
    return gpu_target, make_backend(gpu_target)


def _source(kernel: Specialized) -> Any:
    """Return the source of a Triton or Gluon kernel, as the just-in-time compiler makes it."""
    arguments = (kernel.jit_function, kernel.signature, kernel.constexprs, kernel.attrs)
    if kernel.jit_function.is_gluon():
        from triton.experimental.gluon._runtime import GluonASTSource

        return GluonASTSource(*arguments)
    from triton.compiler.compiler import ASTSource

    return ASTSource(*arguments)
