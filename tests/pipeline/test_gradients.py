"""Compare the graphs of a model and of its backward pass, traced with PyTorch's engine and without it."""

import functools
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pytest
import torch
from torch import nn
from torch.fx.node import map_arg
from torch.nn import functional

from explorer.pipeline.fake_gpu import gradients

pytestmark = pytest.mark.slow


class TwoOutputs(torch.autograd.Function):  # type: ignore[misc]  # torch is untyped here
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        return x * factor, x.sin()

    @staticmethod
    def backward(ctx, doubled, sine):
        (x,) = ctx.saved_tensors
        return doubled * 2 + sine * x.cos(), None


class Model(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """Has broadcasting, views, mutations, several types, and a parameter and outputs without gradients."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.norm = nn.LayerNorm(16)
        self.linear = nn.Linear(16, 16)
        self.unused = nn.Parameter(torch.ones(16))

    def forward(self, tokens, scale):
        x = self.embedding(tokens) + scale[None, :, None].half().float()
        x = self.norm(x + self.attention(x, x, x)[0])
        left, right = functional.gelu(self.linear(x))[:, ::2].chunk(2, -1)
        x = torch.cat([left * 2, right.sigmoid()], -1).clone()
        x[:, 0].mul_(2)
        x[:, 1] += x[:, 2]
        x, _unused = TwoOutputs.apply(x, 2)
        return x, (x.detach() * 2).sum(), scale.exp().to(torch.float16)


def graphs_of_model():
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.aot_autograd import make_boxed_func

    found = []

    def keep(graph, _inputs):
        places = {node: index for index, node in enumerate(graph.graph.nodes)}
        found.append([str((node.target, map_arg((node.args, node.kwargs), places.get))) for node in places])
        return make_boxed_func(graph)

    torch.manual_seed(0)
    torch.compiler.reset()
    model = torch.compile(Model(), backend=aot_autograd(fw_compiler=keep, bw_compiler=keep), fullgraph=True)
    x, _, powers = model(torch.randint(50, (4, 8)), torch.randn(8, requires_grad=True))
    (x.sum() + powers.float().sum()).backward()
    return found


def graphs_with_and_without_engine():
    """Return the graphs by PyTorch's engine, those without it, and how often these called the engine."""
    expected = graphs_of_model()
    run_engine, calls = torch.autograd._engine_run_backward, []

    @functools.wraps(run_engine)
    def counted(*args, **options):
        calls.append(args)
        return run_engine(*args, **options)

    torch.autograd._engine_run_backward = gradients.replacement(counted)
    return expected, graphs_of_model(), len(calls)


def test_the_graphs_are_those_of_the_engine_of_pytorch():
    # PyTorch's compiler keeps for the whole process that there is no GPU: other tests have a fake one.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        expected, found, calls = pool.submit(graphs_with_and_without_engine).result()
    assert found == expected
    assert len(expected) == 2
    assert calls == 1  # The program's own `backward`. The graph is traced without the engine.
