"""Helion on the fake GPU: its compiler writes Triton code for the target, and the code is kept.

Helion works with the same tensors without content as PyTorch's compiler (see `torch_compile`). It would
choose a configuration by measuring. Here it takes the first configuration, or its default.

Source: helion/runtime/kernel.py, 1.5.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import importlib.util
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from explorer.pipeline.fake_gpu import torch_compile
from explorer.pipeline.fake_gpu.torch_compile import CompiledProgram
from explorer.pipeline.fake_gpu.torch_extras import under

#: The methods that compile.
_METHODS = {
    "Kernel": ("__call__", "bind"),
    "BoundKernel": ("__call__", "set_config", "compile_config", "to_code"),
}

#: The functions of Triton and the constants in a module of Helion. A kernel reads them when it is compiled.
_FUNCTION = re.compile(r"^@triton\.jit(?:\(.*\))?\ndef (\w+)", re.MULTILINE)
_CONSTANT = re.compile(r"^(_\w+) = tl\.constexpr\(", re.MULTILINE)

#: Texts in code of Helion, and texts with the same meaning that need only PyTorch and Triton.
_ALONE = {
    "from __future__ import annotations\n": "",
    "from helion.runtime import default_launcher as _default_launcher\n": "",
    ", *, _launcher=_default_launcher": "",
    "_launcher=_default_launcher": "",
    "from torch._inductor.runtime.triton_compat import": "from triton.language.extra import",
    "    from torch._dynamo.testing import rand_strided\n": "",
}
_RANDOM = re.compile(r"\brand_strided\(size=(.+?), stride=(.+?), dtype=(.+?), device='meta'\)")


def is_program(source: str, files: Mapping[str, str]) -> bool:
    """Return whether a script or its files import Helion, which is installed, and are not code of Helion."""
    if torch_compile.kernel_names(source) or not any(map(_imports_helion, (source, *files.values()))):
        return False
    return importlib.util.find_spec("helion") is not None


def _imports_helion(source: str) -> bool:
    if "helion" not in source:
        return False
    names: list[str] = []
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Import():
                    names += [alias.name for alias in node.names]
                case ast.ImportFrom(module=str() as module, level=0):
                    names.append(module)
    return any(name.partition(".")[0] == "helion" for name in names)


def shared_names(code: str) -> list[str]:
    """Return the names in code of Helion that the code of another kernel may define, too."""
    return [*_FUNCTION.findall(code), *_CONSTANT.findall(code)] if "_helion_" in code else []


def replacements(program: CompiledProgram, mode: AbstractContextManager[Any]) -> list[tuple[Any, str, Any]]:
    """List (object, attribute, replacement) for Helion, such that it fills `program`.

    PyTorch's compiler must have been prepared. `mode` is the mode of the fake GPU.
    """
    module = importlib.import_module("helion.runtime.kernel")
    compile_config = module.BoundKernel.compile_config
    kept: dict[Any, Any] = {}

    def compile_and_keep(self: Any, config: Any = None, **options: Any) -> Any:
        program.report(f"Helion: compiling {self.kernel.name}")
        run = compile_config(self, config, **options)
        if run not in kept:
            program.add(_alone(self.to_code(config, emit_repro_caller=True)))
            kept[run] = under(mode, run)
        return kept[run]

    def take_configuration(self: Any, _args: Any, **_options: Any) -> Any:
        program.untuned += 1
        config = next(iter(self.kernel.configs), None) or self.config_spec.default_config()
        self.set_config(config)
        return config

    own = {"compile_config": compile_and_keep}
    return [
        *(
            (owner, name, _compiling(own.get(name) or getattr(owner, name)))
            for owner, names in ((getattr(module, kind), names) for kind, names in _METHODS.items())
            for name in names
        ),
        (module.BoundKernel, "autotune", take_configuration),
    ]


def _compiling(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that is executed as PyTorch's compiler is."""

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        with torch_compile.compiling():
            return method(*args, **kwargs)

    return call


def _alone(code: str) -> str:
    """Return code of Helion with as few imports as possible."""
    for text, other in _ALONE.items():
        code = code.replace(text, other)
    code = _RANDOM.sub(r"torch.empty_strided(\1, \2, dtype=\3, device='cuda')", code)
    code = code.replace("device='meta'", "device='cuda'")
    lines = code.split("\n")
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Call(func=ast.Name(id="_launcher"), args=[ast.Name() as kernel, grid, *arguments]):
                passed = ast.unparse(ast.Call(kernel, arguments, node.keywords)).removeprefix(kernel.id)
                lines[node.lineno - 1] = f"{' ' * node.col_offset}{kernel.id}[{ast.unparse(grid)}]{passed}"
    return "\n".join(lines)
