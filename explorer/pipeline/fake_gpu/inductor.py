"""The kernels in output code of PyTorch's compiler, Inductor, which bypass Triton's just-in-time compiler.

Such code holds a kernel as text or under a decorator of `triton_heuristics`, which fixes its types and offers
configurations. PyTorch itself chooses both; the compilation that Inductor would start is recorded.

Source: torch/_inductor/runtime/triton_heuristics.py and async_compile.py, 2.11 and 2.13.
"""

from __future__ import annotations

import ast
import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
import triton

from explorer.pipeline import user_source
from explorer.pipeline.fake_gpu.runtime import Recorder, record_source

#: A source that imports the modules that Inductor's output code needs, or Helion's, which import them.
_OUTPUT_CODE = re.compile(
    r"\b(?:torch\._inductor\.(?:runtime|async_compile|select_algorithm)|helion\.runtime)\b"
)
_HEURISTICS = "torch._inductor.runtime.triton_heuristics"


class _Recorded(BaseException):
    """Ends the compilation that Inductor starts: it has been recorded."""


def is_output_code(source: str) -> bool:
    """Return whether `source` needs Inductor itself, which takes seconds to import."""
    return _OUTPUT_CODE.search(source) is not None


def replacements(recorder: Recorder) -> list[tuple[Any, str, Any]]:
    """List (object, attribute, replacement) for Inductor; nothing if the user's code does not use it."""
    if _HEURISTICS not in sys.modules:
        return []
    from torch._inductor import utils, wrapper_benchmark
    from torch._inductor.async_compile import AsyncCompile
    from torch._inductor.runtime import triton_helpers
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        return recorder.call(self, args, kwargs, lambda: _launch(recorder, self, args))

    def call_once(function: Callable[..., Any], arguments: Any = (), **_options: Any) -> float:
        function(*arguments)
        return 1.0

    return [
        (CachingAutotuner, "run", run),
        (CachingAutotuner, "precompile", lambda _self, *_arguments, **_options: None),
        (AsyncCompile, "triton", lambda _self, name, source, *_rest, **_options: load_kernel(name, source)),
        (AsyncCompile, "wait", lambda _self, _scope: None),
        (triton_helpers, "set_driver_to_gpu", lambda: None),
        (utils, "print_performance", call_once),
        (wrapper_benchmark, "compiled_module_main", lambda _name, function: function(times=1, repeat=1)),
        (torch._C._dynamo.guards, "_empty_strided_cuda", _empty_strided),
        # The strides of some results, such as a convolution's, are different on the meta device.
        (torch._C._dynamo.guards, "assert_size_stride", lambda *_arguments: None),
    ]


def import_inductor() -> None:
    """Import the modules that the output code uses."""
    import torch._inductor.async_compile
    import torch._inductor.runtime.triton_heuristics
    import torch._inductor.select_algorithm
    import torch._inductor.wrapper_benchmark  # noqa: F401  output code imports it again, at once


def record_unlaunched(recorder: Recorder, values: list[Any]) -> None:
    """Record the kernels among `values` that nothing launches: their decorators fix all types."""
    if _HEURISTICS not in sys.modules:
        return
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    launched = {id(launch.jit_function) for launch in recorder.launches}
    for value in values:
        if isinstance(value, CachingAutotuner) and id(value.fn) not in launched:
            value.run()


def load_kernel(name: str, source: str) -> Any:
    """Execute the text of a kernel and return the kernel. Its line numbers are line numbers of the script."""
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": user_source.SOURCE_FILE}
    tree = user_source.embedded_tree(source)
    if tree is None:
        file = f"./{name}.py"
        user_source.register(source, file)
        namespace["__file__"] = file
        code = compile(ast.parse(source, file), file, "exec")
    else:
        code = compile(tree, user_source.SOURCE_FILE, "exec")
    exec(code, namespace)  # noqa: S102  the user's code is what this process is for
    return namespace[name]


def _launch(recorder: Recorder, autotuner: Any, arguments: tuple[Any, ...]) -> None:
    """Record the compilation that Inductor would start for the chosen configuration, by default the first."""
    index = recorder.config or 0
    config = autotuner.configs[index]
    names = [name for name in autotuner.fn.arg_names if name not in config.kwargs]
    names += autotuner.inductor_meta.get("extra_launcher_args", ())  # the grid, where the caller computes it
    bound = dict(zip(names, arguments, strict=False))
    recorder._config_index = index

    def compile_source(source: Any, target: Any = None, options: Any = None) -> Any:  # noqa: ARG001  Triton's
        record_source(recorder, source, recorder.target, {**options, **recorder.overrides}, bound).run()
        raise _Recorded

    with _compiling(compile_source), contextlib.suppress(_Recorded):
        autotuner._precompile_config(config)
    launch = next(launch for launch in reversed(recorder.launches) if launch.jit_function is autotuner.fn)
    if launch.grid is None and arguments:
        launch.grid = _grid_of(autotuner, config, bound)


def _grid_of(autotuner: Any, config: Any, bound: dict[str, Any]) -> tuple[int, ...] | None:
    """Return the grid that Inductor computes from the sizes."""
    from torch._inductor.runtime import triton_heuristics

    expressions = getattr(triton_heuristics, "GridExpr", None)
    if expressions is None:
        return None
    expression = expressions.from_meta(autotuner.inductor_meta, config)
    return tuple(int(size) for size in expression.eval_slow({**bound, **config.kwargs}))


@contextlib.contextmanager
def _compiling(compile_source: Callable[..., Any]) -> Iterator[None]:
    previous = triton.compile
    triton.compile = compile_source
    try:
        yield
    finally:
        triton.compile = previous


def _empty_strided(size: Any, stride: Any, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty_strided(size, stride, dtype=dtype, device="cuda")
