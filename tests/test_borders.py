"""The web side never loads what runs user code, and the pipeline nothing of ours but the model."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WEB_SIDE = [
    "explorer",
    "explorer.cli",
    "explorer.server",
    "explorer.services",
    "explorer.views",
    "explorer.analysis.diff",
    "explorer.analysis.occupancy",
]


def loaded_by(modules):
    program = f"import json, sys, {', '.join(modules)}; print(json.dumps(sorted(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True)
    return set(json.loads(result.stdout))


def test_the_web_side_loads_neither_triton_nor_torch():
    loaded = loaded_by(WEB_SIDE)
    assert "explorer.views.stages" in loaded
    assert not loaded & {"triton", "torch", "numpy"}


def test_the_pipeline_loads_nothing_of_ours_but_the_model():
    ours = {name for name in loaded_by(["explorer.pipeline.job"]) if name.startswith("explorer.")}
    assert {name for name in ours if not name.startswith("explorer.pipeline")} == {"explorer.model"}
