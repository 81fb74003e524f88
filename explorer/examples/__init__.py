"""The gallery: complete scripts to open in the editor, each with a launch and a reference in torch.

In: the scripts in this folder. Out: an `Example` for each, in the order of the menu. The scripts are read and
never imported, because importing them requires Triton and a GPU, which the web side does not have.

Recorded profiles refer to the SHA-256 of a script, so any change of a script requires new recordings.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: The files of the gallery, in order.
EXAMPLES = (
    "vector_add",
    "softmax",
    "matmul",
    "layer_norm",
    "flash_attention",
    "convolution_2d",
    "copy_coalesced_strided",
    "reduction",
    "dropout",
    "matmul_descriptors",
    "matmul_persistent",
    "gluon_copy",
)

#: The example of a first visit. It uses tensor cores, a pipelined loop and autotuning.
DEFAULT_EXAMPLE = "matmul"


@dataclass(frozen=True)
class Example:
    """One script of the gallery. `title` is the first line of its docstring, `summary` the rest of it."""

    name: str
    title: str
    summary: str
    source: str


@cache
def load_examples() -> tuple[Example, ...]:
    """Read every script of the gallery, in the order of `EXAMPLES`."""
    folder = Path(__file__).parent
    return tuple(_read_example(folder / f"{name}.py") for name in EXAMPLES)


def find_example(name: str) -> Example | None:
    """Return the example with this name, or None."""
    return next((example for example in load_examples() if example.name == name), None)


def _read_example(path: Path) -> Example:
    source = path.read_text(encoding="utf-8")
    # Not `ast.parse`: in Python 3.11, it fails now and then while another thread parses, too.
    _, docstring, _ = source.split('"""', 2)
    title, _, summary = docstring.partition("\n\n")
    return Example(name=path.stem, title=title.strip(), summary=summary.strip(), source=source)
