"""Test that the gallery has what the menu needs, and that its kernels compute correct results."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.examples import DEFAULT_EXAMPLE, EXAMPLES, Example, find_example, load_examples

REPOSITORY = Path(__file__).parents[2]
FOLDER = REPOSITORY / "explorer" / "examples"

each_example = pytest.mark.parametrize("example", load_examples(), ids=lambda example: example.name)


def run_python(*arguments: str, **environment: str) -> str:
    process = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_the_menu_lists_every_script_in_its_order():
    assert tuple(example.name for example in load_examples()) == EXAMPLES
    assert {path.stem for path in FOLDER.glob("*.py")} - {"__init__"} == set(EXAMPLES)


def test_an_example_is_found_by_its_name():
    example = find_example(DEFAULT_EXAMPLE)
    assert example is not None
    assert example.name == DEFAULT_EXAMPLE
    assert find_example("no_such_example") is None


def test_listing_the_gallery_imports_neither_triton_nor_torch():
    program = """
import sys
from explorer.examples import load_examples
assert load_examples()
assert not {"triton", "torch"} & set(sys.modules)
"""
    run_python("-c", program)


@each_example
def test_an_example_says_what_it_is_and_its_sizes(example: Example):
    assert example.title and "\n" not in example.title and len(example.title) <= 60
    assert len(example.summary) > 100
    assert "Sizes: " in example.summary


@each_example
def test_an_example_is_a_complete_script(example: Example):
    tree = ast.parse(example.source)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    decorators = {ast.unparse(item) for function in functions for item in function.decorator_list}
    assert decorators & {"triton.jit", "gluon.jit"}
    assert "reference" in {function.name for function in functions}

    (main,) = [node for node in tree.body if isinstance(node, ast.If)]
    assert ast.unparse(main.test) == "__name__ == '__main__'"
    called = {ast.unparse(node.func) for node in ast.walk(main) if isinstance(node, ast.Call)}
    assert {"reference", "torch.testing.assert_close", "torch.manual_seed"} <= called
    host_functions = {
        function.name
        for function in functions
        if any(isinstance(n, ast.Call) and isinstance(n.func, ast.Subscript) for n in ast.walk(function))
    }
    assert host_functions and host_functions <= called, "every launch is reached from the script"


@pytest.mark.slow
def test_the_kernels_compute_what_torch_does():
    """Run in the interpreter on the CPU. Gluon has no interpreter, so its copy runs on GPUs only."""
    output = run_python(str(Path(__file__).with_name("interpret.py")), TRITON_INTERPRET="1")
    checked = [line.removesuffix(" ok") for line in output.splitlines()]
    assert set(checked) == set(EXAMPLES) - {"gluon_copy"}
