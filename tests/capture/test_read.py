"""Test that a folder that anybody may have written does no harm, and that damaged files are reported."""

import hashlib
import json
import os
import threading

import pytest

from explorer.capture.folder import VERSION, CaptureFolder, CaptureFull
from explorer.capture.read import CapturedKernel, CaptureReader, Damaged
from explorer.errors import InvalidRequest
from explorer.model.limits import MOST_CAPTURED_KERNELS, MOST_LAUNCHES


def document(**changes):
    return {
        "version": VERSION,
        "kernel": "kernel",
        "triton": "3.9.0",
        "target": {"backend": "cuda", "arch": "90", "warp_size": 32},
        "script": "pass\n",
        "origins": [["program.py", 1, 2, 3]],
        "options": {},
        "metadata": {"shared": 16, "target": {"backend": "cuda"}},
        "stages": {},
        "error": "",
        **changes,
    }


@pytest.fixture
def folder(tmp_path):
    return CaptureFolder(tmp_path / "capture")


def only(folder):
    (found,) = CaptureReader(folder.path).kernels()
    return found


def test_a_kernel_with_its_stages(folder):
    folder.add_kernel("one", document(stages={"ttir": folder.add_blob(b"module {}")}))
    folder.write_process("host-1-1", {"version": 1, "program": "train.py", "launches": {"one": 4}})
    kernel = only(folder)
    assert isinstance(kernel, CapturedKernel)
    assert kernel.captured.stages == {"ttir": "module {}"}
    assert kernel.captured.metadata == {"shared": 16}
    assert kernel.launches == 4
    assert CaptureReader(folder.path).programs == ["train.py"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": VERSION + 1}, "its version is"),
        ({"kernel": 3}, "Expected `str`"),
        ({"stages": {"ttir": "../../etc/passwd"}}, "regex"),
        ({"stages": {"../ttir": "0" * 64}}, "regex"),
        ({"stages": {"ttir": "0" * 64}}, "No such file"),
        ({"stages": {f"s{n}": "0" * 64 for n in range(40)}}, "length <= 32"),
        ({"origins": [["file", -1, 2, 3]]}, ">= 0"),
        ({"milliseconds": {"ptx": -1}}, ">= 0"),
        ({"milliseconds": {"ptx": 1e308}}, "<= "),
        ({"origins": [["file", 1]]}, "Expected `array` of length 4"),
    ],
)
def test_a_kernel_that_breaks_the_format_is_reported(folder, changes, reason):
    folder.add_kernel("one", document(**changes))
    damaged = only(folder)
    assert isinstance(damaged, Damaged)
    assert reason in damaged.reason


def test_torn_and_deep_documents_are_reported(folder):
    folder.write("kernels/torn.json", json.dumps(document()).encode()[:-20])
    folder.write("kernels/deep.json", b"[" * 100_000)
    folder.write("kernels/bytes.json", b"\xff\xfe\x00")
    assert all(isinstance(found, Damaged) for found in CaptureReader(folder.path).kernels())


def test_a_blob_with_another_content_is_reported(folder):
    digest = folder.add_blob(b"module {}")
    (folder.path / "blobs" / digest).write_bytes(b"module { }")
    folder.add_kernel("one", document(stages={"ttir": digest}))
    assert "does not have this digest" in only(folder).reason


def test_links_and_pipes_are_not_read(folder, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    digest = hashlib.sha256(b"secret").hexdigest()
    (folder.path / "blobs" / digest).symlink_to(secret)
    folder.add_kernel("link", document(stages={"ttir": digest}))
    assert "cannot read" in only(folder).reason
    (folder.path / "kernels/link.json").unlink()
    os.mkfifo(folder.path / "blobs" / ("1" * 64))
    folder.add_kernel("pipe", document(stages={"ttir": "1" * 64}))
    assert "not a regular file" in only(folder).reason


@pytest.mark.parametrize("name", ["blobs", "kernels", "processes"])
def test_linked_folders_are_not_read(folder, tmp_path, name):
    (folder.path / name).rmdir()
    (folder.path / name).symlink_to(tmp_path)
    with pytest.raises(InvalidRequest, match="symbolic link"):
        CaptureReader(folder.path)


def test_launches_that_no_program_makes_are_not_counted(folder):
    folder.add_kernel("one", document())
    folder.write_process("negative", {"version": 1, "launches": {"one": -5}})
    folder.write_process("huge", {"version": 1, "launches": {"one": 2**70}})
    assert only(folder).launches is None
    for number in range(3):
        folder.write_process(f"{number}", {"version": 1, "launches": {"one": MOST_LAUNCHES}})
    assert only(folder).launches == MOST_LAUNCHES


def test_more_kernels_than_a_session_has(folder):
    for number in range(MOST_CAPTURED_KERNELS + 1):
        (folder.path / f"kernels/{number}.json").touch()
    with pytest.raises(InvalidRequest, match="more than 5,000 files"):
        next(CaptureReader(folder.path).kernels())


def test_a_folder_that_is_no_capture(tmp_path):
    with pytest.raises(InvalidRequest, match="is not a capture"):
        CaptureReader(tmp_path)


def test_a_capture_of_a_later_version(folder):
    folder.write("capture.json", json.dumps({"format": "triton-explorer capture", "version": 99}).encode())
    with pytest.raises(InvalidRequest, match="Install a newer one"):
        CaptureReader(folder.path)


def test_threads_that_write_equal_files_leave_no_torn_one(folder):
    texts = [f"text {number}".encode() * 10_000 for number in range(5)]

    def write():
        for number in range(40):
            folder.add_blob(texts[number % 5])
            folder.add_kernel("same", document(script=f"{number}\n" * 10_000))

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert all(isinstance(each, CapturedKernel) for each in CaptureReader(folder.path).kernels())
    for thread in threads:
        thread.join()
    blobs = list((folder.path / "blobs").iterdir())
    assert sorted(hashlib.sha256(blob.read_bytes()).hexdigest() for blob in blobs) == sorted(
        blob.name for blob in blobs
    )
    assert not list(folder.path.glob(".*"))


def test_the_limit_holds_over_all_processes(tmp_path):
    first, second = (CaptureFolder(tmp_path, 100_000) for _ in range(2))
    with pytest.raises(CaptureFull):
        for number in range(1000):
            (first, second)[number % 2].add_blob(os.urandom(1000))
    total = sum(file.stat().st_size for file in (tmp_path / "blobs").iterdir())
    assert 90_000 < total <= 100_000 + 100_000 / 16
