"""The web side never loads what runs user code, and the pipeline nothing of ours but the model."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PIPELINE = ROOT / "explorer/pipeline"
MEASURE = ROOT / "explorer/measure"
#: What stands on the user's side of the wall, and scripts that only run there.
JAILED = ("explorer.pipeline", "explorer.measure.", "explorer.examples.")


def name_of(file):
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported_by(file):
    """The modules that any statement of `file` imports, also inside of functions."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_the_web_side_loads_neither_triton_nor_torch():
    names = [name_of(file) for file in sorted((ROOT / "explorer").rglob("*.py"))]
    modules = [name for name in names if not name.startswith(JAILED) and not name.endswith("__main__")]
    assert {"explorer.views.stages", "explorer.analysis.diff", "explorer.sandbox.zygote"} <= set(modules)
    program = f"import json, sys, {', '.join(modules)}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True)
    assert not set(json.loads(done.stdout)) & {"triton", "torch", "numpy"}


@pytest.mark.parametrize("file", sorted(PIPELINE.rglob("*.py")), ids=name_of)
def test_the_pipeline_keeps_to_triton_torch_and_the_standard_library(file):
    allowed = sys.stdlib_module_names | {"triton", "torch"}
    for name in imported_by(file):
        is_ours = name == "explorer.model" or name.startswith("explorer.pipeline")
        assert is_ours or name.partition(".")[0] in allowed, name


@pytest.mark.parametrize("file", sorted(MEASURE.rglob("*.py")), ids=name_of)
def test_what_measures_keeps_to_the_pipeline_and_its_libraries(file):
    allowed = sys.stdlib_module_names | {"triton", "torch", "numpy"}
    ours = ("explorer.model", "explorer.measurements", "explorer.pipeline", "explorer.measure")
    for name in imported_by(file):
        assert name.startswith(ours) or name.partition(".")[0] in allowed, name
