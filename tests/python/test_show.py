"""Test `explorer.show`: it compiles the same specialization as a launch with the same arguments."""

import sys

import pytest
import torch
import triton
import triton.language as tl

import explorer
from explorer.errors import InvalidRequest, NotAnswerable

pytestmark = pytest.mark.slow


def drop_large(configs, _arguments, **_keywords):
    """Prune the first configuration."""
    return configs[1:]


@triton.autotune(
    [triton.Config({"BLOCK": block}, num_warps=block // 64) for block in (512, 128, 256)],
    key=["size"],
    prune_configs_by={"early_config_prune": drop_large},
)
@triton.heuristics({"EVEN": lambda arguments: arguments["size"] % arguments["BLOCK"] == 0})
@triton.jit
def scale(x_ptr, size, BLOCK: tl.constexpr, EVEN: tl.constexpr):  # noqa: N803
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2, mask=mask)


@triton.jit
def total(x_ptr, y_ptr, BLOCK: tl.constexpr = 1024):  # noqa: N803
    tl.store(y_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK)), 0))


def blocks(meta):
    return (triton.cdiv(1000, meta["BLOCK"]),)


def test_the_launch_is_specialized_pruned_and_bound_as_by_triton(asks, server, capsys):
    first = explorer.show(scale)[blocks](torch.empty(1000), 1000).result
    assert first.document.specialization.signature == "*fp32:16, i32, 128, False"
    assert (first.document.launches[0].grid, first.document.triton) == ((8,), triton.__version__)
    # A tensor that is not aligned, without content; and the configuration with an index.
    shifted = torch.empty(1025, dtype=torch.float16, device="meta")[1:]
    second = explorer.show(scale, config=2, target="hip:gfx942")[4,](shifted, 1024).result
    assert second.document.specialization.signature == "*fp16, i32:16, 256, True"
    assert second.document.specialization.options["num_warps"] == 4
    assert second.document.target.name == "hip:gfx942"
    # Outside of a notebook.
    assert capsys.readouterr().out == f"{first.page}\n{second.page}\n"
    assert first.page == f"{server.url}/k/{first.document.id}"


def test_the_tables_have_the_rows_of_the_documents(asks, monkeypatch):
    result = explorer.show(total)[1,](torch.empty(1024), torch.empty(1), num_warps=8).result
    metrics, passes = result.to_pandas(), result.to_pandas("passes")
    assert metrics[["kernel", "target", "registers"]].to_numpy().tolist() == [
        ["total", "cuda:90", result.metrics.registers]
    ]
    assert list(passes["name"]) == [each.document.name for each in result.passes]
    coalesce = passes.loc[passes["name"] == "convert-triton-to-tritongpu"].iloc[0]
    assert coalesce["operations_added"] > 0
    instructions = result.to_pandas("instructions")
    assert instructions["general"].max() == result.registers.most_general
    assert instructions["text"].str.contains("EXIT").any()
    # The sums of the eight warps.
    assert list(result.to_pandas("buffers")["size_bytes"]) == [8 * 4]
    assert len(result.to_pandas("findings")) == len(result.findings)
    with pytest.raises(InvalidRequest, match="Known are metrics, passes, instructions, buffers, findings"):
        result.to_pandas("stages")  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InvalidRequest, match=r"Install triton-explorer\[pandas\]"):
        result.to_pandas()


def test_a_target_without_live_registers_says_so(asks):
    result = explorer.show(total, target="hip:gfx942")[1,](torch.empty(1024), torch.empty(1)).result
    with pytest.raises(NotAnswerable):
        result.to_pandas("instructions")


def test_what_cannot_be_shown_is_explained(asks):
    with pytest.raises(InvalidRequest, match="must be a function with"):
        explorer.show(len)
    with pytest.raises(TypeError, match="y_ptr"):
        explorer.show(total)[1,](torch.empty(1024))
    with pytest.raises(InvalidRequest, match="The launch of total cannot be written as a script: a value of"):
        explorer.show(total)[1,](torch.empty(1024), object())
