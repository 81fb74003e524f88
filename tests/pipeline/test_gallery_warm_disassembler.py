"""Test that the warm disassembler prints for the gallery what nvdisasm prints."""

import base64
import socket

import pytest
from gallery_cases import CASES
from waiting import wait_for

from explorer.model.hardware import TARGETS
from explorer.pipeline.stages.sass import _INDIRECT_BRANCH
from explorer.pipeline.warm_disassembler import ask
from explorer.sandbox import SandboxSettings
from explorer.sandbox.disassemblers import Disassemblers
from explorer.sandbox.launcher import find_bubblewrap, launchers
from explorer.sandbox.versions import installed_versions

NVIDIA = [target for target in TARGETS if target.vendor == "NVIDIA"]
every_nvidia_case = pytest.mark.parametrize(
    ("example", "target"), [case for case in CASES if case.values[1] in NVIDIA]
)


@pytest.fixture(scope="module")
def disassemblers():
    settings = SandboxSettings(warm_disassemblers=20)
    found = Disassemblers(launchers(settings, find_bubblewrap(settings))[0])
    yield found
    found.close()


def warm_listing(disassemblers, triton, target, cubin):
    """Return the listing of a warm disassembler, which is started for the first cubin."""
    folder = installed_versions()[triton]

    def connect():
        ours, theirs = socket.socketpair()
        with theirs:
            disassemblers.offer(folder, target, theirs)
        return ours

    def is_ready():
        with connect() as connection:
            connection.settimeout(0.5)
            try:
                return connection.recv(1) != b""
            except TimeoutError:
                return True

    wait_for(is_ready, "no disassembler")
    with connect() as connection:
        return ask(connection, cubin)


@pytest.mark.nightly
@every_nvidia_case
def test_the_listing_is_that_of_nvdisasm(gallery, disassemblers, example, target):
    compiled = gallery(example, target.name)
    (binary,) = compiled.of("binary")
    warm = warm_listing(disassemblers, gallery.triton, target.name, base64.b64decode(binary.data))
    assert warm is not None
    listing = compiled.stages["sass"].raw
    if _INDIRECT_BRANCH.search(listing):
        # The product asks a new nvdisasm, which also analyzes the data flow.
        assert _INDIRECT_BRANCH.search(warm.decode())
    else:
        assert warm.decode() == listing
