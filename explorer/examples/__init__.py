"""The gallery: complete scripts to open in the editor, each with a launch and a reference in torch.

In: the files beside this one. Out: an `Example` for each, in the order in which the menu shows them.
The scripts are read, never imported: they need Triton and a GPU, and whoever lists them has neither.
"""

from __future__ import annotations

import ast
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

#: What a first visit opens: tensor cores, a pipelined loop, autotuning; every stage has something to show.
DEFAULT_EXAMPLE = "matmul"


@dataclass(frozen=True)
class Example:
    """One script of the gallery. `title` is the first line of its docstring, `summary` the rest."""

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
    """Return the example called `name`, or None."""
    return next((example for example in load_examples() if example.name == name), None)


def _read_example(path: Path) -> Example:
    source = path.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(source, filename=path.name)) or ""
    title, _, summary = docstring.partition("\n\n")
    return Example(name=path.stem, title=title.strip(), summary=summary.strip(), source=source)
