"""Helion on the fake GPU: its compiler writes Triton code for the target, and the code is kept.

Helion works with the same tensors without content as PyTorch's compiler (see `torch_compile`). It would
choose a configuration by measuring. Here it takes the first configuration, or its default.

Source: helion/runtime/kernel.py, 1.5.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from explorer.pipeline.fake_gpu import torch_compile
from explorer.pipeline.fake_gpu.torch_compile import CompiledProgram
from explorer.pipeline.fake_gpu.torch_extras import under

_IMPORT = re.compile(r"^[ \t>+]*(?:import|from)[ \t]+helion\b", re.MULTILINE)

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
    """Return whether a script or its files use Helion, which is installed. Code of Helion is no program."""
    is_used = any(map(_IMPORT.search, (source, *files.values()))) and not torch_compile.kernel_names(source)
    return is_used and importlib.util.find_spec("helion") is not None


def replacements(program: CompiledProgram, mode: AbstractContextManager[Any]) -> list[tuple[Any, str, Any]]:
    """List (object, attribute, replacement) for Helion, such that it fills `program`.

    PyTorch's compiler must have been prepared. `mode` is the mode of the fake GPU.
    """
    kernel = importlib.import_module("helion.runtime.kernel")
    call, compile_config = kernel.Kernel.__call__, kernel.BoundKernel.compile_config

    @functools.wraps(call)
    def call_kernel(self: Any, *args: Any, **kwargs: Any) -> Any:
        with torch_compile.compiling():
            program.report(f"Helion: compiling {self.name}")
            return call(self, *args, **kwargs)

    def compile_and_keep(self: Any, config: Any = None, **options: Any) -> Any:
        run = compile_config(self, config, **options)
        program.add(_alone(self.to_code(config, emit_repro_caller=True)))
        return under(mode, run)

    def take_configuration(self: Any, _args: Any, **_options: Any) -> Any:
        program.untuned += 1
        config = next(iter(self.kernel.configs), None) or self.config_spec.default_config()
        self.set_config(config)
        return config

    return [
        (kernel.Kernel, "__call__", call_kernel),
        (kernel.BoundKernel, "compile_config", compile_and_keep),
        (kernel.BoundKernel, "autotune", take_configuration),
    ]


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
