"""Test the reader of cubins, which are not trusted, with cubins of Triton's assembler."""

import base64
import struct

import pytest
from captured import kernels_of
from disassembled import Tools
from hypothesis import given
from hypothesis import strategies as st
from tritons import TRITONS

from explorer.capture.read import CapturedKernel, Damaged
from explorer.capture.readers import open_kernels
from explorer.capture.readers.binary import BinaryReader

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cubins")


@pytest.fixture(scope="module")
def damaged_file(folder):
    return folder / "damaged"


@pytest.fixture(scope="module")
def cubin(folder):
    return Tools(TRITONS[0], 80).assemble("calls", folder)


def read(path):
    return list(open_kernels(path).kernels())


def test_a_cubin_has_the_target_and_the_threads_of_the_capture(captured, tmp_path):
    own = next(each for each in kernels_of(captured.folder) if each.file.kernel == "sum_kernel")
    path = tmp_path / "any name"
    path.write_bytes(base64.b64decode(own.captured.stages["cubin"]))
    (kernel,) = read(path)
    assert (kernel.file.kernel, kernel.file.target) == ("sum_kernel", own.file.target)
    assert kernel.captured.metadata == {"num_warps": own.file.options["num_warps"]}
    assert kernel.captured.stages == {"cubin": own.captured.stages["cubin"]}
    assert (kernel.has_launch, kernel.launches) == (False, None)


@pytest.mark.parametrize("capability", [75, 80, 90, 100, 120])
def test_all_kernels_of_all_cubins_in_a_folder(tmp_path, capability):
    Tools(TRITONS[0], capability).assemble("calls", tmp_path)
    Tools(TRITONS[0], capability).assemble("loop", tmp_path)
    found = [(each.file.kernel, each.file.target.name) for each in read(tmp_path)]
    target = f"cuda:{capability}"
    assert sorted(found) == [("first", target), ("loop", target), ("second", target)]


def test_a_file_is_not_repeated_without_end(monkeypatch, tmp_path, cubin):
    monkeypatch.setattr("explorer.capture.readers.binary._MOST_REPEATED_BYTES", len(cubin))
    for name in ("a.cubin", "b.cubin"):
        (tmp_path / name).write_bytes(cubin)
    found = read(tmp_path)
    assert [isinstance(each, CapturedKernel) for each in found] == [True, True, True, False]
    assert "The rest is not read" in found[-1].reason


def test_what_is_no_cubin_is_named(tmp_path, cubin):
    amd = bytearray(cubin)
    struct.pack_into("<H", amd, 18, 224)
    for name, data in {"amd": amd, "torn": cubin[:3000], "text": b"SASS", "empty": cubin[:64]}.items():
        (tmp_path / f"{name}.cubin").write_bytes(data)
    reasons = {each.name: each.reason for each in read(tmp_path)}
    assert reasons == {
        "amd.cubin": "it is an hsaco of AMD, which is not disassembled here. Use the AMDGCN of the kernel",
        "empty.cubin": "it is no cubin, or is damaged: it is cut off",
        "text.cubin": "it is no cubin, or is damaged: it is not an ELF file with 64 bits",
        "torn.cubin": "it is no cubin, or is damaged: it is cut off",
    }


@given(changes=st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), max_size=8))
def test_a_damaged_cubin_is_read_or_named(cubin, damaged_file, changes):
    data = bytearray(cubin)
    for place, byte in changes:
        data[place % len(data)] = byte
    damaged_file.write_bytes(data)
    assert all(
        isinstance(each, CapturedKernel | Damaged) for each in BinaryReader(damaged_file, None).kernels()
    )
