"""Test packages for scripts: the sandbox can read them, they hide nothing there, and the server has none."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from explorer.model import Diagnostic, Log, Request
from explorer.sandboxes import compilation_sandbox, interpreter_sandbox
from explorer.settings import Settings

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools/install-packages"


def make_wheel(folder, name, version="1.0", needs=(), code="WIDTH = 64\n"):
    """Write a wheel with one module."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    about = f"{name}-{version}.dist-info"
    required = "".join(f"Requires-Dist: {need}\n" for need in needs)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", code)
        archive.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{required}"
        )
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")


def install(folder, wheels, *names):
    """Run the tool with `wheels` as the only place to find packages."""
    environment = {
        **os.environ,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_CONFIG_FILE": os.devnull,
    }
    return subprocess.run(
        [sys.executable, str(TOOL), str(folder), *names], env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    "name",
    [
        "--index-url=http://127.0.0.1:1/",
        "-r/etc/passwd",
        "../folder",
        "/tmp/folder",
        "git+https://127.0.0.1/x.git",
        "name @ file:///tmp/folder",
        "name; python_version > '3'",
        "name extra",
        "$(id)",
        "",
    ],
)
def test_what_is_no_name_of_a_package_is_refused(tmp_path, name):
    done = install(tmp_path / "packages", tmp_path, "einops", name)
    assert done.returncode == 1
    assert "is not" in done.stderr
    assert not (tmp_path / "packages").exists()


@pytest.mark.slow
def test_packages_are_installed_with_what_they_need_and_nothing_twice(tmp_path):
    make_wheel(tmp_path, "made_up_kernels", needs=("made_up_base>=1", "numpy"))
    make_wheel(tmp_path, "made_up_base")
    folder = tmp_path / "packages"
    assert install(folder, tmp_path, "made-up-kernels>=1").returncode == 0
    assert {path.name for path in folder.glob("*.py")} == {"made_up_kernels.py", "made_up_base.py"}
    assert not (folder / "numpy").exists()
    again = install(folder, tmp_path / "nothing", "made-up-kernels>=1")
    assert (again.returncode, again.stdout) == (0, "")
    failed = install(folder, tmp_path, "made-up-unknown")
    assert failed.returncode == 1
    assert (folder / "made_up_kernels.py").is_file()


@pytest.mark.slow
def test_a_package_that_would_replace_an_installed_one_is_refused(tmp_path):
    make_wheel(tmp_path, "numpy", "999.0")
    done = install(tmp_path / "packages", tmp_path, "numpy>=999")
    assert done.returncode == 1
    assert "compatible with the installed packages" in done.stderr
    assert not (tmp_path / "packages").exists()


@pytest.mark.slow
def test_the_newest_version_that_goes_with_what_is_installed_is_chosen(tmp_path):
    make_wheel(tmp_path, "made_up_kernels", "1.0", needs=("numpy",))
    make_wheel(tmp_path, "made_up_kernels", "2.0", needs=("numpy>=999",))
    make_wheel(tmp_path, "numpy", "999.0")
    done = install(tmp_path / "packages", tmp_path, "made-up-kernels")
    assert "made-up-kernels==1.0" in done.stdout.replace("_", "-")


def test_a_script_imports_a_package_that_the_server_does_not_have(tmp_path, started):
    folder = tmp_path / "packages"
    folder.mkdir(mode=0o755)
    tmp_path.chmod(0o755)
    (folder / "made_up_package.py").write_text("ANSWER = 42\n")
    (folder / "json.py").write_text("raise SystemExit('the hiding module was imported')\n")
    sandbox = started(package_folders=(folder,))
    source = "import json, made_up_package\nprint(json.dumps(made_up_package.ANSWER))"
    imported = list(sandbox.run(Request(source, "", sandbox.versions[0])))
    written = list(sandbox.run(Request(f"open({str(folder / 'x')!r}, 'w')", "", sandbox.versions[0])))
    assert [event.text for event in imported if isinstance(event, Log)] == ["42\n"]
    (refused,) = [event for event in written if isinstance(event, Diagnostic)]
    assert "Read-only file system" in refused.message or "Permission denied" in refused.message
    assert importlib.util.find_spec("made_up_package") is None


def test_the_folder_is_a_setting(tmp_path):
    there = Settings.from_environment({"TRITON_EXPLORER_PACKAGES_DIR": str(tmp_path)})
    for sandbox in (compilation_sandbox(there), interpreter_sandbox(there)):
        assert sandbox.package_folders == (tmp_path,)
    missing = Settings.from_environment({"TRITON_EXPLORER_PACKAGES_DIR": str(tmp_path / "missing")})
    assert compilation_sandbox(missing).package_folders == ()
