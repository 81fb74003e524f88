"""`torch.compile` on the fake GPU: Inductor compiles for the target, and the code that it writes is kept.

PyTorch's compiler works on tensors without content, which it calls fake. Fake tensors on the GPU are made
from the meta tensors of the fake GPU. A rule replaces the choices that the compiler would make by measuring.

Source: torch/_subclasses/fake_tensor.py, _inductor/graph.py, _inductor/debug.py,
_inductor/select_algorithm.py and _dynamo/device_interface.py, 2.13.
"""

from __future__ import annotations

import ast
import ctypes
import dataclasses
import functools
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.overrides
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from explorer.pipeline.fake_gpu import gradients
from explorer.pipeline.fake_gpu.runtime import Recorder
from explorer.pipeline.fake_gpu.tensors import GPU, is_gpu
from explorer.pipeline.fake_gpu.torch_extras import under
from explorer.pipeline.torch_nodes import NODES, ORIGINS, describe_node, traced_lines
from explorer.pipeline.user_source import is_users

#: Inductor's definition of each kernel; its graph nodes and the lines of the program are added to it.
_METADATA = "inductor_meta={"

#: Begins the definition of a kernel.
_KERNEL = "async_compile.triton("

#: The name of a kernel in code of Inductor, or of Helion.
_DEFINITION = re.compile(r"^(?:def (?=_helion_)|(?=\w+ = async_compile\.triton\())(\w+)", re.MULTILINE)

#: The place of a kernel in the cache of Inductor, which differs each time.
_CACHED = re.compile(r"^# kernel path: .*\n", re.MULTILINE)

#: The modes of `torch.compile` that record CUDA graphs, and the modes with the same kernels.
_WITHOUT_GRAPHS = {"reduce-overhead": "default", "max-autotune": "max-autotune-no-cudagraphs"}


_torch_compile = torch.compile


@dataclass
class CompiledProgram:
    """The kernels that `torch.compile` or Helion writes for a program, and the failures of functions.

    `graphs` has the output code of each graph, or of each kernel of Helion. `unmeasured` counts the
    operations whose implementation would be chosen by measuring, and `untuned` the kernels of Helion whose
    configuration would be. `is_for_cpu`: a function was called without any tensor on the GPU and is executed
    unchanged. `report` is called with descriptions of the compiler's progress. `uses_helion`: the program
    imports Helion.
    """

    graphs: list[str] = field(default_factory=list)
    failures: list[tuple[str, Exception]] = field(default_factory=list)
    unmeasured: int = 0
    untuned: int = 0
    is_for_cpu: bool = False
    report: Callable[[str], None] = lambda _text: None
    uses_helion: bool = False

    def add(self, code: str) -> None:
        """Add the output code of a graph."""
        self.graphs.append(code)
        self.report(f"Kernels so far: {self.kernel_count}")

    @property
    def kernel_count(self) -> int:
        """The number of kernels of all graphs."""
        return sum(len(kernel_names(graph)) for graph in self.graphs)


def kernel_names(code: str) -> list[str]:
    """Return the names of the kernels that code of Inductor or Helion defines."""
    return _DEFINITION.findall(code)


def import_compiler() -> None:
    """Import the modules that `torch.compile` uses, which takes two seconds."""
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(Path(tempfile.gettempdir(), "torchinductor")))
    import torch._dynamo.device_interface
    import torch._inductor.compile_fx
    import torch._inductor.debug
    import torch._inductor.fx_passes.joint_graph
    import torch._subclasses.meta_utils  # noqa: F401  `torch.compile` imports it again, at once

    _register_device_guard()


def _register_device_guard() -> None:
    """Let a PyTorch without CUDA switch to the device of a fake tensor, which does nothing.

    Its own builds with CUDA do the same where there is no GPU (`torch._C._ensureCUDADeviceGuardSet`).
    """
    library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
    guards = (ctypes.c_void_p * 20).in_dll(library, "_ZN3c104impl26device_guard_impl_registryE")
    cuda, meta = 1, 14  # c10::DeviceType
    if not guards[cuda]:
        guards[cuda] = guards[meta]


def replacements(
    program: CompiledProgram, mode: AbstractContextManager[Any], cuda_functions: list[tuple[Any, str, Any]]
) -> list[tuple[Any, str, Any]]:
    """List (object, attribute, replacement) for the compiler, such that it works and fills `program`.

    `mode` is the mode of the fake GPU, and `cuda_functions` are the replacements for `torch.cuda`.
    """
    from torch._dynamo import device_interface
    from torch._inductor import compile_fx, config
    from torch._inductor.fx_passes.joint_graph import UniformValueConstantFolder
    from torch._inductor.graph import GraphLowering
    from torch._inductor.output_code import CompiledFxGraph
    from torch._inductor.select_algorithm import AlgorithmSelectorCache
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch._subclasses.meta_utils import MetaTensorDescriber

    describe, deduce = MetaTensorDescriber.describe_tensor, UniformValueConstantFolder._deduce_value
    interface = device_interface.CudaInterface

    def describe_tensor(self: Any, tensor: Any, **options: Any) -> Any:
        described = describe(self, tensor, **options)
        if described.device.type != "meta":
            return described
        return dataclasses.replace(described, device=GPU)

    def deduce_on_cpu(self: Any, node: Any) -> Any:
        with _OnCpu():
            return deduce(self, node)

    compile_forward_graph, compile_backward_graph = compile_fx.compile_fx, compile_fx.compile_fx_backward
    choose = AlgorithmSelectorCache.__call__

    def choose_without_measuring(*args: Any, **options: Any) -> Any:
        with config.patch(deterministic=True):
            return choose(*args, **options)

    def choose_template(_self: Any, choices: list[Any]) -> Any:
        program.unmeasured += 1
        return _largest_template(choices)

    def compile_graph(graph: Any, *args: Any, **options: Any) -> Any:
        if isinstance(graph, torch.fx.GraphModule):
            _fill_constants(graph)
        return compile_forward_graph(graph, *args, **options)

    def compile_backward(*args: Any, **options: Any) -> Any:
        with compiling():
            return compile_backward_graph(*args, **options)

    return [
        (FakeTensorMode, "avoid_device_init", property(lambda _mode: True)),
        (MetaTensorDescriber, "describe_tensor", describe_tensor),
        (UniformValueConstantFolder, "_deduce_value", deduce_on_cpu),
        (AlgorithmSelectorCache, "__call__", choose_without_measuring),
        (AlgorithmSelectorCache, "pick_deterministic_choice", choose_template),
        (CompiledFxGraph, "__call__", under(mode, CompiledFxGraph.__call__)),
        (torch.autograd, "_engine_run_backward", gradients.replacement(torch.autograd._engine_run_backward)),
        (compile_fx, "compile_fx", compile_graph),
        (compile_fx, "compile_fx_backward", compile_backward),
        (GraphLowering, "save_output_code", staticmethod(lambda code: program.add(_traced(code)))),
        (device_interface, "caching_worker_device_properties", {}),
        *(
            (interface, name, staticmethod(value))
            for owner, name, value in cuda_functions
            if owner is torch.cuda and isinstance(vars(interface).get(name), staticmethod)
        ),
    ]


def note_use(recorder: Recorder) -> list[tuple[Any, str, Any]]:
    """List the replacement for `torch.compile` that notes its use and returns functions unchanged."""

    def compile_nothing(function: Any = None, *_arguments: Any, **_options: Any) -> Any:
        recorder.has_compiled_functions = True
        return (lambda decorated: decorated) if function is None else function

    return [(torch, "compile", compile_nothing)]


def compile_with(program: CompiledProgram, prepare: Callable[[], None]) -> list[tuple[Any, str, Any]]:
    """List the replacement for `torch.compile` that compiles. It calls `prepare` before its first use."""
    prepare_once = functools.lru_cache(maxsize=1)(prepare)

    def compile_function(function: Any = None, **options: Any) -> Any:
        if function is None:
            return functools.partial(compile_function, **options)
        prepare_once()
        return _compile(program, function, **options)

    return [(torch, "compile", compile_function)]


def _largest_template(choices: list[Any]) -> Any:
    """Return the template of Triton with the largest tile that fits into shared memory.

    Return the first template if no tile fits, and the first choice if there is no template.
    """
    from torch._inductor.select_algorithm import TritonTemplateCaller

    available = torch.cuda.get_device_properties(0).shared_memory_per_block_optin

    def tile(choice: Any) -> int:
        described = choice.info_dict()
        rows, depth, columns = ast.literal_eval(described["tile_shape"])
        if min(rows, depth, columns) < 1:
            return 0
        item_bytes = choice.input_nodes[0].get_dtype().itemsize
        fits = described["num_stages"] * (rows + columns) * depth * item_bytes <= available
        return rows * columns if fits else -1

    templates = [choice for choice in choices if isinstance(choice, TritonTemplateCaller)]
    return max(templates, key=tile) if templates else choices[0]


class _OnCpu(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """While active, constants are made on the CPU: the compiler computes with them."""

    def __torch_dispatch__(
        self, func: Any, _types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if kwargs.get("device") is not None:
            kwargs["device"] = torch.device("cpu")
        return func(*args, **kwargs)


def _compile(
    program: CompiledProgram,
    function: Any,
    *,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    **rest: Any,
) -> Any:
    """Replace `torch.compile`. A function that cannot be compiled is executed unchanged."""
    options = {key: value for key, value in (options or {}).items() if key != "triton.cudagraphs"} or None
    compiled = _torch_compile(function, mode=_WITHOUT_GRAPHS.get(mode or "", mode), options=options, **rest)
    is_module, is_failed = isinstance(function, torch.nn.Module), False
    run = compiled.forward if is_module else compiled
    name = getattr(function, "__name__", type(function).__name__)

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal is_failed
        if is_failed or _is_on_cpu(function, args, kwargs):
            program.is_for_cpu = program.is_for_cpu or not is_failed
            return function(*args, **kwargs)
        try:
            with compiling():
                program.report(f"torch.compile: compiling {name}")
                return run(*args, **kwargs)
        except Exception as error:  # The compiler may raise anything. An error of the program occurs again.
            is_failed = True
            program.failures.append((name, error))
            return function(*args, **kwargs)

    if not is_module:
        return functools.wraps(function)(call)
    compiled.forward = call
    return compiled


def _fill_constants(module: torch.fx.GraphModule) -> None:
    """Make numbers and empty tensors without `torch.tensor`, which would write to the memory of a GPU."""
    for node in module.graph.find_nodes(op="call_function", target=torch.tensor):
        if len(node.args) != 1 or not is_gpu(node.kwargs.get("device")):
            continue
        match node.args[0]:
            case bool() | int() | float() as number:
                node.target, node.args = torch.full, ((), number)
            case []:
                node.target, node.args = torch.empty, ((0,),)
    module.recompile()


def _is_on_cpu(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether a call has tensors, and all of them are on the CPU."""
    tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
    if isinstance(function, torch.nn.Module):
        tensors += function.parameters()
    return bool(tensors) and not any(is_gpu(tensor.device) for tensor in tensors)


@contextmanager
def compiling() -> Iterator[None]:
    """Call compiled code, outside of the fake GPU's mode, which the compiler would trace."""
    from torch._inductor import config

    settings = {
        "compile_threads": 1,
        "force_disable_caches": True,
        "shape_padding": False,  # The compiler would measure on a GPU whether padded products are faster.
        "trace.provenance_tracking_level": 1,
        "triton.cudagraphs": False,
    }
    is_active = torch.overrides._len_torch_function_stack() > 0
    with torch.overrides._pop_mode_temporarily() if is_active else nullcontext(), config.patch(settings):
        yield


def _traced(code: str) -> str:
    """Add to each kernel of a graph's code its graph nodes, and the lines of the program of these."""
    from torch._inductor import debug
    from torch._inductor.virtualized import V

    is_backward, nodes = V.graph.is_backward, V.graph.module.graph.nodes
    described = {node.name: describe_node(node, is_backward, is_users) for node in nodes}
    code = _CACHED.sub("", code)
    computed: dict[str, set[str]] = {}
    traces: dict[str, list[str]] = {}
    for launch, names in debug._inductor_triton_kernel_to_post_grad_node_info.items():
        kernel = launch.rpartition(":")[0]
        computed.setdefault(kernel, set()).update(names)
        traces.setdefault(kernel, []).extend(debug._inductor_kernel_stack_trace.get(launch, []))
    for kernel, names in computed.items():
        begin = code.find(f"{_KERNEL}'{kernel}'")
        at = code.find(_METADATA, begin)
        if begin >= 0 and at >= 0:
            at += len(_METADATA)
            lines = list(
                dict.fromkeys(line for trace in traces[kernel] for line in traced_lines(trace, is_users)[-1:])
            )
            own = [node for name, node in described.items() if name in names]
            code = f"{code[:at]}{ORIGINS!r}: {lines!r}, {NODES!r}: {own!r}, {code[at:]}"
    return code
