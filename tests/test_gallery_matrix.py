"""Test what decides whether the tests of the gallery run for every target."""

import ast
import shutil
import subprocess
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = "tools/matrix-needed"


def run(root: Path, *arguments: str) -> str:
    return subprocess.run(
        [SCRIPT, *arguments], cwd=root, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def imported_by(file: Path) -> set[str]:
    """Return the names of modules, and of what is taken from them, which may be modules."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def test_all_that_the_tests_of_the_gallery_import_counts() -> None:
    counted = tuple(ROOT / path for path in run(ROOT, "--paths").split())
    names = set().union(*(imported_by(file) for file in (ROOT / "tests/pipeline").glob("*.py")))
    graph = grimp.build_graph("explorer")
    modules = names & graph.modules
    modules |= set().union(*(graph.find_upstream_modules(module) for module in modules))
    files = {ROOT / f"{name.replace('.', '/')}{end}" for name in modules for end in (".py", "/__init__.py")}
    files |= {ROOT / f"tests/{name}.py" for name in names}
    missing = {file for file in files if file.is_file() and not any(map(file.is_relative_to, counted))}
    assert missing - {ROOT / "explorer/__init__.py"} == set(), f"list them in {SCRIPT}"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with a copy of what counts, and its record."""
    for path in [SCRIPT, *run(ROOT, "--paths").split()]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / path).is_dir() else shutil.copy
        copy(ROOT / path, tmp_path / path)
    for command in (("init", "-q"), ("add", ".")):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_it_is_needed_until_it_has_passed_and_again_after_a_change(clone: Path) -> None:
    assert run(clone) == "1\n"
    run(clone, "--record")
    assert run(clone) == ""
    example = clone / "explorer/examples/softmax.py"
    before = example.read_text(encoding="utf-8")
    example.write_text(before + "#\n", encoding="utf-8")
    assert run(clone) == "1\n"
    example.write_text(before, encoding="utf-8")
    assert run(clone) == ""
    (clone / "tests/pipeline/test_more.py").write_text("", encoding="utf-8")
    assert run(clone) == "1\n"
    (clone / "tests/pipeline/test_more.py").unlink()
    example.unlink()
    assert run(clone) == "1\n"
