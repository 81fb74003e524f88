"""Test the measured time of a cell of a matrix, which has the sizes of the launch that was timed."""

from dataclasses import replace

from recorded import documents

from explorer.matrix.times import cell_time
from explorer.model import Request, Run
from explorer.model.measurements import RunArgument
from explorer.profiles.read import Profiles

COMPILATION = Request("source", "cuda:90", "3.9.0")
ARGUMENTS = (
    RunArgument("a_ptr", "*fp16", None, (512, 64), (64, 1)),
    RunArgument("b_ptr", "*fp16", None, (512, 64), (64, 1)),
    RunArgument("c_ptr", "*fp16", None, (512, 512), (512, 1)),
    RunArgument("M", "i32", 512),
    RunArgument("stride_am", "i32", 64),
    RunArgument("scale", "fp32", 0.5),
    RunArgument("BLOCK_M", "constexpr", 128),
)


def test_a_time_has_the_sizes_of_its_launch_and_no_block_sizes(store, keep, tmp_path):
    compilation = store.submit(COMPILATION)
    run = replace(COMPILATION, task="run", run=Run("gpu"))
    launch = replace(documents()["launch"], arguments=ARGUMENTS)
    keep(run, timings=documents()["timings"], launch=launch)
    found = cell_time(store, Profiles(tmp_path / "none"), compilation)
    assert (found.nanoseconds, found.gpu) == (4000, "NVIDIA H200")
    assert found.sizes == "a_ptr, b_ptr 512×64, c_ptr 512×512, M=512"
