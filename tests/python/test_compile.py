"""Test `explorer.compile` with a running server, and the documented program without one."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from sources import SUMS

import explorer
from explorer.errors import ExplorerError, InvalidRequest, NotFound

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs/python.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.slow


@pytest.mark.nightly
def test_the_documented_program_works_without_a_server(tmp_path, monkeypatch):
    program, printed = re.findall(r"```(?:python|text)\n(.+?)```", DOCUMENT, re.DOTALL)[:2]
    (tmp_path / "scaling.py").write_text(program)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    done = subprocess.run([sys.executable, "scaling.py"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == (printed, "", 0)
    assert "<title>" in (tmp_path / "scale.html").read_text(encoding="utf-8")


@pytest.mark.nightly
def test_a_program_with_torch_compile_has_the_kernels_of_its_compiler(asks):
    result = explorer.compile(
        "import torch\n\n@torch.compile\ndef scaled(x):\n    return torch.relu(x) * 2\n\n"
        "scaled(torch.randn(4096, device='cuda'))\n"
    )
    assert result.document.kernel == "triton_poi_fused_mul_relu_0"
    assert "ld.global" in result.ptx


def test_proven_changes_make_another_result(asks):
    result = explorer.compile(SUMS)
    better = next(found for _ in range(10) if (found := result.improve()).document.is_complete)
    assert "tl.range(0, columns, BLOCK, num_stages=3)" in better.result.document.request.source
    assert [each.rule for each in better.document.tries if each.is_taken] == ["pipelining"]
    assert "pipelining" not in {each.rule for each in better.result.findings}


def test_a_script_is_compiled_and_its_documents_have_types(asks, server, vector_add):
    result = explorer.compile(vector_add)
    assert result.document.kernel == "add_kernel"
    assert result.page == f"{server.url}/k/{result.document.id}"
    assert result.stages == ["ast", "ttir", "ttgir", "llir", "ptx", "sass"]
    assert ".entry add_kernel" in result.ptx
    assert result.registers.registers == result.document.resources.registers
    assert result.memory.shared_bytes == 0
    assert result.ask("allocation") == result.memory
    assert result.ask("fewer_stages").rows[0].id == result.document.id
    assert len(result.layouts.accesses) == 3
    coalesce = result.passes["tritongpu-coalesce"]
    assert result.passes[coalesce.document.index].diff() == coalesce.diff()
    assert "#ttg.blocked" in coalesce.text
    with pytest.raises(KeyError, match="several passes 'canonicalize'"):
        result.passes["canonicalize"]
    with pytest.raises(AttributeError, match="Its stages are ast, ttir"):
        _ = result.amdgcn
    with pytest.raises(NotFound, match="Known are allocation"):
        result.ask("nothing")


def test_what_cannot_be_compiled_is_explained(asks):
    with pytest.raises(InvalidRequest, match="must be a function with"):
        explorer.compile(len)
    with pytest.raises(ExplorerError, match="Unknown target"):
        explorer.compile("x = 1", target="cuda:1")
    source = "import triton\n\n@triton.jit\ndef kernel(x):\n    y\n"
    failed = explorer.compile(source, "*fp32")
    assert (failed.document.status, failed.document.diagnostics[0].line) == ("failed", 5)


def test_importing_the_package_imports_nothing_else():
    slow = ("explorer.", "flask", "msgspec")
    program = f"import sys, explorer; print([each for each in sys.modules if each.startswith({slow})])"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[]\n"
