"""The backward pass as PyTorch's compiler traces it, without PyTorch's own engine.

The engine requests the stream of each gradient on a GPU, and fails without a GPU. The compiler traces on fake
tensors, which have no streams. Therefore the nodes of the graph are called here, in the order of the engine,
and each gradient gets the type and the shape that its node expects.

Source: torch/csrc/autograd/engine.cpp and input_buffer.cpp, torch/_functorch/_aot_autograd/logging_utils.py,
2.13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.fx.traceback
from torch._guards import TracingContext
from torch.autograd.graph import get_gradient_edge


def replacement(run_engine: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function in place of `run_engine`, which calls the engine, for the code that is traced."""

    def run(outputs: Sequence[torch.Tensor], gradients: Sequence[Any], *rest: Any, **options: Any) -> Any:
        if TracingContext.try_get() is None:
            return run_engine(outputs, gradients, *rest, **options)
        _retain_graph, create_graph, inputs, *_allow_unused = rest
        with torch.set_grad_enabled(create_graph):
            return _gradients(outputs, gradients, inputs)

    return run


def _gradients(
    outputs: Sequence[torch.Tensor], output_gradients: Sequence[Any], inputs: Sequence[torch.Tensor]
) -> tuple[torch.Tensor | None, ...]:
    """Return the gradient of each of `inputs`; None: no output depends on it."""
    roots, wanted = [list(map(get_gradient_edge, tensors)) for tensors in (outputs, inputs)]
    nodes = _reachable([root.node for root in roots])
    leading = {edge.node for edge in wanted}
    needed = []
    for node in nodes:
        if any(following in leading for following, _index in node.next_functions):
            leading.add(node)
            needed.append(node)
    received: dict[Any, dict[int, torch.Tensor]] = {}
    for root, gradient in zip(roots, output_gradients, strict=True):
        _add(received, root.node, root.output_nr, gradient)
    for node in reversed(needed):
        if node in received:
            for (following, index), gradient in zip(
                node.next_functions, _call(node, received[node]), strict=False
            ):
                if following in leading:
                    _add(received, following, index, gradient)
    return tuple(received.get(edge.node, {}).get(edge.output_nr) for edge in wanted)


def _reachable(roots: list[Any]) -> list[Any]:
    """Return the nodes of a graph in the order of their creation: each after the nodes that it leads to."""
    found, stack = set(roots), list(roots)
    while stack:
        for node, _index in stack.pop().next_functions:
            if node is not None and node not in found:
                found.add(node)
                stack.append(node)
    return sorted(found, key=lambda node: (bool(node.next_functions), node._sequence_nr()))


def _add(received: dict[Any, dict[int, torch.Tensor]], node: Any, index: int, gradient: Any) -> None:
    """Add a gradient to the sum for a node, with the type and the shape that the node expects."""
    if gradient is None:
        return
    expected = node._input_metadata[index]
    if tuple(gradient.shape) != tuple(expected.shape):
        gradient = gradient.sum_to_size(expected.shape)
    if gradient.dtype != expected.dtype:
        gradient = gradient.to(expected.dtype)
    gradients = received.setdefault(node, {})
    gradients[index] = gradients[index] + gradient if index in gradients else gradient


def _call(node: Any, received: dict[int, torch.Tensor]) -> tuple[Any, ...]:
    """Call a node with the gradients of its outputs. Return the gradients of its inputs."""
    is_python = isinstance(node, torch.autograd.function.BackwardCFunction)
    gradients = [received.get(index) for index in range(len(node._input_metadata))]
    with _traced_as(node):
        if is_python and getattr(node, "materialize_grads", True):
            gradients = [
                _zeros(expected) if gradient is None else gradient
                for expected, gradient in zip(node._input_metadata, gradients, strict=True)
            ]
        result = (node.apply if is_python else node)(*gradients)
    return result if isinstance(result, tuple) else (result,)


def _zeros(expected: Any) -> torch.Tensor:
    zeros: torch.Tensor = torch.ops.aten.zeros.default(
        expected.shape, dtype=expected.dtype, layout=torch.strided, device=expected.device
    )
    return zeros


@contextmanager
def _traced_as(node: Any) -> Iterator[None]:
    """Let the compiler note the lines of the forward pass, as its hooks on a node do."""
    trace = torch.fx.traceback
    lines = node.metadata.get("traceback_", [])
    trace.set_stack_trace(lines)
    trace.set_grad_fn_seq_nr(node._sequence_nr())
    trace._mark_autograd_backward()
    try:
        yield
    finally:
        trace.set_stack_trace([*lines, trace.GRADIENT_ACC_SPECIAL_STACK])
        trace.reset_grad_fn_seq_nr()
        trace._reset_autograd_backward()
