"""Run gallery kernels on the CPU, on small sizes, through Triton's interpreter; compare with torch.

Run as a program in a process of its own, with TRITON_INTERPRET=1 set before Triton is imported. In: the
names of examples. Out: one line `NAME ok` each; a mismatch raises.
"""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import torch

import explorer.examples
from explorer.runner.interpreter.scope_marks import ignored_scope_marks

FOLDER = Path(explorer.examples.__file__).parent


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape).to(dtype)


def vector_add(example: ModuleType) -> None:
    x, y = random(3000), random(3000)
    torch.testing.assert_close(example.add(x, y), example.reference(x, y))


def softmax(example: ModuleType) -> None:
    x = random(5, 100)
    torch.testing.assert_close(example.softmax(x), example.reference(x))


def matmul(example: ModuleType) -> None:
    # The interpreter cannot time configurations; each must give the right result.
    kernel = example.matmul_kernel
    a, b = random(150, 96, dtype=torch.float16), random(96, 136, dtype=torch.float16)
    for config in tuple(kernel.configs):
        kernel.configs = [config]
        torch.testing.assert_close(example.matmul(a, b), example.reference(a, b), rtol=1e-2, atol=1e-2)


def layer_norm(example: ModuleType) -> None:
    x, weight, bias = random(5, 100), random(100), random(100)
    torch.testing.assert_close(example.layer_norm(x, weight, bias), example.reference(x, weight, bias))


def flash_attention(example: ModuleType) -> None:
    # 150 positions are a whole number of neither query blocks nor key blocks.
    q, k, v = (random(1, 2, 150, 32, dtype=torch.float16) for _ in range(3))
    for causal in (True, False):
        result, expected = example.attention(q, k, v, causal), example.reference(q, k, v, causal)
        torch.testing.assert_close(result, expected, rtol=1e-2, atol=1e-2)


def convolution_2d(example: ModuleType) -> None:
    x, weight = random(2, 9, 7, 40, dtype=torch.float16), random(3, 2, 40, 24, dtype=torch.float16)
    for stride, padding in ((1, 1), (2, 0)):
        result = example.convolution(x, weight, stride, padding)
        expected = example.reference(x, weight, stride, padding)
        torch.testing.assert_close(result, expected, rtol=1e-2, atol=5e-2)


def copy_coalesced_strided(example: ModuleType) -> None:
    source = random(3000)
    for copy in (example.copy_coalesced, example.copy_strided):
        torch.testing.assert_close(copy(source), example.reference(source), rtol=0, atol=0)


def reduction(example: ModuleType) -> None:
    x = random(3, 5000)
    torch.testing.assert_close(example.row_sum(x), example.reference(x), rtol=1e-4, atol=1e-4)


def dropout(example: ModuleType) -> None:
    x = random(3000)
    for seed in (0, 123):
        result = example.dropout(x, p=0.25, seed=seed)
        torch.testing.assert_close(result, example.reference(x, p=0.25, seed=seed))
        assert 0.2 < (result == 0).float().mean() < 0.3


def matmul_descriptors(example: ModuleType) -> None:
    a, b = random(150, 96, dtype=torch.float16), random(96, 136, dtype=torch.float16)
    for block_n in (128, 256):
        result = example.matmul(a, b, block_n)
        torch.testing.assert_close(result, example.reference(a, b), rtol=1e-2, atol=1e-2)


def matmul_persistent(example: ModuleType) -> None:
    kernel = example.matmul_persistent_kernel
    a, b = random(150, 96, dtype=torch.float16), random(96, 136, dtype=torch.float16)
    for config in tuple(kernel.configs):
        kernel.configs = [config]
        result = example.matmul(a, b, max_programs=3, warp_specialize=False)
        torch.testing.assert_close(result, example.reference(a, b), rtol=1e-2, atol=1e-2)


#: Every example that the interpreter can run: Gluon has none.
CHECKS: dict[str, Callable[[ModuleType], None]] = {
    check.__name__: check
    for check in (
        vector_add,
        softmax,
        matmul,
        layer_norm,
        flash_attention,
        convolution_2d,
        copy_coalesced_strided,
        reduction,
        dropout,
        matmul_descriptors,
        matmul_persistent,
    )
}


if __name__ == "__main__":
    for name in sys.argv[1:] or CHECKS:
        torch.manual_seed(0)
        with ignored_scope_marks({}):
            CHECKS[name](load(name))
        print(name, "ok", flush=True)
