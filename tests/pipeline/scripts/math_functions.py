import inspect
import os
from pathlib import Path

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def asin_kernel(x_ptr, y_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, libdevice.asin(x), mask=mask)


torch.manual_seed(0)
x = torch.rand(98432, device=DEVICE)
output_triton = torch.zeros(98432, device=DEVICE)
assert x.is_cuda and output_triton.is_cuda
grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),)
asin_kernel[grid](x, output_triton, x.numel(), BLOCK_SIZE=1024)


def is_hip():
    return triton.runtime.driver.active.get_current_target().backend == "hip"


current_dir = Path(os.path.dirname(os.path.abspath(inspect.getfile(inspect.currentframe()))))
triton_dir = Path(inspect.getfile(triton)).parent
if is_hip():
    libdir = triton_dir / "backends/amd/lib"
    extern_libs = {"ocml": str(libdir / "ocml.bc"), "ockl": str(libdir / "ockl.bc")}
else:
    extern_libs = {"libdevice": str(triton_dir / "backends/nvidia/lib/libdevice.10.bc")}
output_triton = torch.empty_like(x)
asin_kernel[grid](x, output_triton, x.numel(), BLOCK_SIZE=1024, extern_libs=extern_libs)
print(
    f"The maximum difference between torch and triton is {torch.max(torch.abs(torch.asin(x) - output_triton))}"
)
