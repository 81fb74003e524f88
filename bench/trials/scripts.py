"""The scripts whose kernels are measured, and the packages that they come from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.real_scripts import CALLS, PACKAGES

PACKAGE_FOLDER = Path(__file__).parents[2] / ".venv" / "bench-packages"
_OWN = Path(__file__).parent / "kernels"
#: Sizes at which a GPU is busy, in place of the sizes of `bench.real`.
_SIZES = {
    "torch.randn(512, 1024,": "torch.randn(8192, 4096,",
    "(0, 1024, (512,)": "(0, 4096, (8192,)",
    "torch.randn(1024,": "torch.randn(4096,",
    "(2, 512, 4, 64)": "(4, 4096, 16, 64)",
    "(2, 512, 4,": "(4, 4096, 16,",
    "(2, 8, 4, 64, 64": "(4, 64, 16, 64, 64",
    "torch.randn(512, 512,": "torch.randn(4096, 4096,",
    "softmax_fwd(torch.randn(512, 64": "softmax_fwd(torch.randn(65536, 64",
    "torch.randn(4, 32, 256,": "torch.randn(64, 32, 4096,",
    "torch.randn(2, 8, 512, 64,": "torch.randn(8, 16, 2048, 64,",
    "torch.randn(1, 512, 64,": "torch.randn(1, 2048, 64,",
}


def scripts() -> Iterator[tuple[str, str, str]]:
    """Yield the name, the origin and the text of each script."""
    for path in sorted(_OWN.glob("*.py")):
        yield path.stem, "written for this measurement", path.read_text()
    for name, calls in CALLS.items():
        for old, new in _SIZES.items():
            calls = calls.replace(old, new)
        origin = next(each for each in PACKAGES if each.split("==")[0].split("-")[0] in name)
        yield name, origin, f"{(PACKAGE_FOLDER / name).read_text()}\n\nimport torch\n{calls}\n"
