"""Test the borders that the contracts of import-linter (pyproject.toml) cannot express."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PIPELINE = ROOT / "explorer/pipeline"
RUNNER = ROOT / "explorer/runner"
#: The packages on the user's side of the wall, and scripts that only run there.
JAILED = ("explorer.pipeline", "explorer.runner.", "explorer.examples.")


def name_of(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported_by(file: Path) -> Iterator[str]:
    """Yield the modules that `file` imports, including imports inside of functions."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_the_web_side_loads_neither_triton_nor_torch() -> None:
    names = [name_of(file) for file in sorted((ROOT / "explorer").rglob("*.py"))]
    programs = ("__main__", "migrations.env")  # run, not imported
    modules = [name for name in names if not name.startswith(JAILED) and not name.endswith(programs)]
    assert {"explorer.views.stages", "explorer.analysis.diff", "explorer.sandbox.zygote"} <= set(modules)
    program = f"import json, sys, {', '.join(modules)}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True)
    assert not set(json.loads(done.stdout)) & {"triton", "torch", "numpy"}


@pytest.mark.parametrize("file", sorted(PIPELINE.rglob("*.py")), ids=name_of)
def test_the_pipeline_keeps_to_triton_torch_and_the_standard_library(file: Path) -> None:
    allowed = sys.stdlib_module_names | {"triton", "torch"}
    for name in imported_by(file):
        is_ours = name.startswith(("explorer.model", "explorer.pipeline"))
        assert is_ours or name.partition(".")[0] in allowed, name


@pytest.mark.parametrize("file", sorted(RUNNER.rglob("*.py")), ids=name_of)
def test_the_runner_keeps_to_the_pipeline_and_its_libraries(file: Path) -> None:
    allowed = sys.stdlib_module_names | {"triton", "torch", "numpy"}
    ours = ("explorer.model", "explorer.pipeline", "explorer.runner")
    for name in imported_by(file):
        assert name.startswith(ours) or name.partition(".")[0] in allowed, name


#: The code that runs behind the wall, or in a captured program, in a separate environment.
BEHIND_THE_WALL = (
    "explorer.capture.",
    "explorer.pipeline",
    "explorer.runner",
    "explorer.sandbox.probe",
    "explorer.sandbox.job_process",
    "explorer.sandbox.zygote",
)
SERVER_SIDE = [
    file
    for file in sorted((ROOT / "explorer").rglob("*.py"))
    if not name_of(file).startswith((*BEHIND_THE_WALL, "explorer.examples."))
]


@cache
def attributes_of_os(file: Path) -> frozenset[str]:
    """Return the functions and variables of the module `os` that a file uses."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            names.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            names.update(alias.name for alias in node.names)
    return frozenset(names)


def test_the_environment_is_read_by_the_settings_only() -> None:
    readers = {"environ", "environb", "getenv", "getenvb"}
    assert {name_of(file) for file in SERVER_SIDE if attributes_of_os(file) & readers} == {
        "explorer.settings"
    }


def test_only_the_sandbox_forks_and_executes() -> None:
    starters = ("fork", "exec", "spawn", "posix_spawn", "system", "popen")
    found = {
        name_of(file)
        for file in SERVER_SIDE
        if any(name.startswith(starters) for name in attributes_of_os(file))
    }
    assert found
    assert {name for name in found if not name.startswith("explorer.sandbox.")} == set()


#: Queries with patterns that are not about texts of the compiler: the patterns of claims, the variables of
#: paths.
WITH_PATTERNS = {"explorer.queries.claims", "explorer.queries.query"}


def test_queries_leave_the_texts_of_the_compiler_to_the_analyses() -> None:
    files = (ROOT / "explorer/queries").rglob("*.py")
    assert {name_of(file) for file in files if "re" in imported_by(file)} == WITH_PATTERNS


def classes_by_fields(package: str) -> dict[frozenset[str], str]:
    """Return a class of a package for each set of two fields or more."""
    nodes = [
        node for file in (ROOT / package).rglob("*.py") for node in ast.walk(ast.parse(file.read_text()))
    ]
    found = {
        frozenset(
            ast.unparse(line.target) for line in node.body if isinstance(line, ast.AnnAssign)
        ): node.name
        for node in nodes
        if isinstance(node, ast.ClassDef)
    }
    return {fields: name for fields, name in found.items() if len(fields) > 1}


def test_no_document_is_a_copy_of_a_structure_of_an_analysis() -> None:
    documents, structures = map(classes_by_fields, ("explorer/queries", "explorer/analysis"))
    assert {documents[names]: structures[names] for names in documents.keys() & structures.keys()} == {}


#: Modules that a captured program imports must not need further packages.
IN_THE_PROGRAM = [
    file
    for file in sorted((ROOT / "explorer/capture").rglob("*.py"))
    if file.name not in ("read.py", "graphs.py", "command.py") and file.parent.name != "readers"
]


@pytest.mark.parametrize("file", IN_THE_PROGRAM, ids=name_of)
def test_a_captured_program_needs_only_triton_and_torch(file: Path) -> None:
    allowed = sys.stdlib_module_names | {"triton", "torch"}
    ours = ("explorer.capture", "explorer.model", "explorer.pipeline")
    for name in imported_by(file):
        assert name.startswith(ours) or name.partition(".")[0] in allowed, name
