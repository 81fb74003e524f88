"""Test adding and removing Triton versions, with wheels that pip finds in a folder."""

import base64
import hashlib
import shutil
import zipfile
from pathlib import Path

import pytest

from explorer import tritons
from explorer.cli.main import main
from explorer.errors import ToolchainError
from explorer.sandbox.versions import installed_versions


def write_wheel(folder: Path, version: str, tag: str = "py3-none-any", compiler: str = "") -> None:
    """Write a wheel that is a Triton by its name and its files."""
    name = f"triton-{version}"
    files = {
        "triton/__init__.py": "",
        "triton/_C/libtriton.py": compiler,
        f"{name}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: triton\nVersion: {version}\n",
        f"{name}.dist-info/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    digests = {
        path: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        for path, text in files.items()
    }
    record = "".join(f"{path},sha256={digests[path]},\n" for path in files)
    with zipfile.ZipFile(folder / f"{name}-{tag}.whl", "w") as wheel:
        for path, text in {**files, f"{name}.dist-info/RECORD": record}.items():
            wheel.writestr(path, text)


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with wheels, the only place where pip looks for them."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setattr(tritons, "NEEDED_BYTES", 1)
    return folder


@pytest.mark.slow
def test_a_version_is_added_listed_and_removed(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRITON_EXPLORER_TRITONS_DIR", str(tmp_path / "tritons"))
    write_wheel(wheels, "3.7.9")
    folder = tmp_path / "tritons" / "3.7.9"
    for _ in range(2):  # the second time it is there
        assert main(["toolchain", "add", "3.7.9"]) == 0
        assert capfd.readouterr().out.endswith(f"Triton 3.7.9 is in {folder}.\n")
    assert installed_versions(tmp_path / "tritons")["3.7.9"] == folder
    assert list((tmp_path / "tritons").iterdir()) == [folder]
    assert main(["toolchain", "list"]) == 0
    listed = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert ["3.7.9", str(folder)] in listed
    assert {line[0] for line in listed} >= set(tritons.SUPPORTED)
    assert main(["toolchain", "remove", "3.7.9"]) == 0
    assert list((tmp_path / "tritons").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("3.5.1", "Triton 3.5.1 is older than 3.6, which is needed."),
        ("4.0.0", "Triton 4.0.0 is too new"),
        ("newest", "'newest' is not a version. Write for example 3.8.0."),
        ("3.7.8", "Triton 3.7.8 does not exist, or has no wheel for Python"),
        ("3.7.7", "Triton 3.7.7 does not work on this machine: ImportError: no such symbol"),
        ("3.7.6", "Triton 3.7.6 does not exist, or has no wheel for Python"),
    ],
)
def test_a_version_that_cannot_be_added_is_named_with_the_reason(
    wheels: Path, tmp_path: Path, version: str, reason: str
) -> None:
    write_wheel(wheels, "3.7.9")
    write_wheel(wheels, "3.7.7", compiler="raise ImportError('no such symbol')")
    write_wheel(wheels, "3.7.6", tag="cp36-cp36m-manylinux1_i686")
    folder = tmp_path / "tritons"
    with pytest.raises(ToolchainError) as raised:
        tritons.add(version, folder)
    assert reason in raised.value.detail
    assert not folder.exists() or list(folder.iterdir()) == []


def test_what_is_missing_is_said_before_pip_runs(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheel(wheels, "3.7.9")
    monkeypatch.setattr(tritons, "NEEDED_BYTES", 10**18)
    with pytest.raises(ToolchainError, match=r"GB free\. 1000000000\.0 GB are needed"):
        tritons.add("3.7.9", tmp_path / "tritons")
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolchainError, match="Cannot write to"):
        tritons.add("3.7.9", tmp_path / "file" / "tritons")


@pytest.mark.slow
def test_an_index_that_cannot_be_reached_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tritons, "NEEDED_BYTES", 1)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    for name, value in {
        "INDEX_URL": "http://127.0.0.1:9",
        "RETRIES": "1",
        "FIND_LINKS": "",
        "NO_INDEX": "0",
    }.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    with pytest.raises(ToolchainError, match="pip does not reach its package index"):
        tritons.add("3.7.9", tmp_path / "tritons")


def test_the_version_of_the_interpreter_is_not_removed(tmp_path: Path) -> None:
    (own,) = (version for version, folder in installed_versions().items() if folder is None)
    with pytest.raises(ToolchainError, match="belongs to the Python environment"):
        tritons.remove(own, tmp_path)


@pytest.mark.slow
def test_a_folder_in_the_way_is_not_touched(wheels: Path, tmp_path: Path) -> None:
    write_wheel(wheels, "3.7.9")
    mine = tmp_path / "tritons" / "3.7.9" / "mine"
    mine.mkdir(parents=True)
    with pytest.raises(ToolchainError, match="Remove the existing files"):
        tritons.add("3.7.9", tmp_path / "tritons")
    assert mine.is_dir()
    shutil.rmtree(mine)


def test_the_missing_versions_between_two_are_in_order(tmp_path: Path) -> None:
    missing = tritons.missing_between("3.6.0", "3.9.0", tmp_path)
    assert missing == sorted(missing)
    assert set(missing) == {"3.7.0", "3.7.1", "3.8.0"} - installed_versions(tmp_path).keys()
    assert tritons.missing_between("3.9.0", "3.6.0", tmp_path) == missing[::-1]
