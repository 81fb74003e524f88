"""The baselines of the compilation benchmark: `triton.compile` and one run of the disassembler.

    python -m bench.bare specialize NAME FILE   write the specialization of a gallery kernel to FILE
    python -m bench.bare once FILE              import torch and triton, compile, disassemble, exit
    python -m bench.bare serve FILE             compile once per line of input, print the milliseconds

The specialization is taken from the kernel's launch, so all baselines compile the same kernel.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from explorer.model.hardware import find_target
from explorer.pipeline.targets import triton_target

TARGET = "cuda:90"


def specialize(name: str, file: Path) -> None:
    """Run the example against the fake GPU and save the specialization of its first launch."""
    from explorer.examples import find_example
    from explorer.model import Request
    from explorer.pipeline.module import load
    from explorer.pipeline.specialize import resolve

    example = find_example(name)
    assert example is not None, name
    source, target = example.source, find_target(TARGET)
    chosen = resolve(load(source, target), Request(source, TARGET, ""), target)
    module = Path(tempfile.gettempdir()) / f"bench_{name}.py"
    module.write_text(source)
    file.write_bytes(
        pickle.dumps(
            {
                "module": str(module),
                "kernel": chosen.described.kernel,
                "language": chosen.described.language,
                "signature": chosen.signature,
                "constexprs": chosen.constexprs,
                "attrs": chosen.attrs,
                "options": chosen.options,
            }
        )
    )


class Bare:
    """One specialization that can be compiled repeatedly."""

    def __init__(self, file: Path) -> None:
        import torch  # noqa: F401  # a script imports torch, so its import is part of the cost
        from triton.runtime.jit import JITFunction

        plain = pickle.loads(file.read_bytes())  # written by `specialize` from the gallery
        spec = importlib.util.spec_from_file_location("bench_kernel", plain["module"])
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        function = getattr(module, plain["kernel"])
        while not isinstance(function, JITFunction):  # unwrap `autotune` and `heuristics`
            function = function.fn
        self._source = self._source_class(plain["language"])(
            function, plain["signature"], plain["constexprs"], plain["attrs"]
        )
        self._options = plain["options"]
        self._target = triton_target(find_target(TARGET))

    @staticmethod
    def _source_class(language: str) -> Any:
        if language == "gluon":
            from triton.experimental.gluon._runtime import GluonASTSource

            return GluonASTSource
        from triton.compiler import ASTSource

        return ASTSource

    def run(self) -> None:
        """Compile without the cache, then disassemble the binary."""
        import triton
        from triton import knobs

        os.environ["TRITON_ALWAYS_COMPILE"] = "1"
        compiled = triton.compile(self._source, target=self._target, options=self._options)
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(compiled.asm["cubin"])
            file.flush()
            subprocess.run(
                [knobs.nvidia.nvdisasm.path, "-c", "-gi", file.name], check=True, capture_output=True
            )


def main() -> None:
    """Run the action that the command line names."""
    action, *rest = sys.argv[1:]
    if action == "specialize":
        specialize(rest[0], Path(rest[1]))
        return
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        bare = Bare(Path(rest[0]))
        if action == "once":
            bare.run()
            return
        bare.run()
        print("ready", flush=True)
        for _ in sys.stdin:
            start = time.perf_counter()
            bare.run()
            print((time.perf_counter() - start) * 1000, flush=True)


if __name__ == "__main__":
    main()
