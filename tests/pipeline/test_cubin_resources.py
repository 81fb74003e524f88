"""Test the resources that are read from a cubin without the report of its assembler."""

import subprocess
from pathlib import Path

import pytest
from disassembled import Tools
from tritons import TRITONS

from explorer.pipeline.targets.nvidia import read_cubin_resources

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("capability", [75, 80, 90, 100, 120])
@pytest.mark.parametrize("triton", TRITONS)
def test_static_shared_memory_is_that_of_the_text(triton, capability, tmp_path):
    """The system's part of the shared memory of each block is not counted."""
    tools = Tools(triton, capability)
    for kernel, shared_bytes in {"loop": 512, "empty": 0}.items():
        cubin = tools.assemble(kernel, tmp_path)
        cuobjdump = Path(tools.disassembler).with_name("cuobjdump")
        command = [cuobjdump, "-res-usage", tmp_path / f"{kernel}.cubin"]
        listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = read_cubin_resources(cubin, listing, kernel)
        assert (found.static_shared_bytes, found.shared_bytes) == (shared_bytes, None), listing
        assert found.registers > 0
