"""Test that the wheel contains the page, and that the Dockerfile refers to existing files and options."""

import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from packaging.requirements import Requirement
from packaging.version import Version
from tritons import TRITONS

from explorer.cli.main import make_parser
from explorer.examples import load_examples

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def instructions(name: str) -> list[str]:
    """The arguments of each instruction of the Dockerfile of that name, continuation lines joined."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return [line.split(maxsplit=1)[1] for line in joined.splitlines() if line.split(maxsplit=1)[:1] == [name]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


@pytest.mark.nightly
def test_the_wheel_holds_the_page_and_the_gallery(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert any(re.fullmatch(r"explorer/static/dist/app-\w+\.js", name) for name in names)
    assert any(name.endswith(".woff2") for name in names)
    assert {f"explorer/examples/{example.name}.py" for example in load_examples()} <= set(names)
    assert {"explorer/templates/page.html", "explorer/static/tokens.css"} <= set(names)
    assert "explorer/py.typed" in names
    recordings = {f"explorer/proton_profiles/{path.name}" for path in (ROOT / "proton_profiles").iterdir()}
    assert recordings <= set(names)


@pytest.mark.nightly
def test_the_wheel_holds_the_library_that_keeps_nvdisasm_started(wheel: zipfile.ZipFile) -> None:
    """It is built where the wheel is built: who installs the wheel needs no compiler."""
    assert wheel.read("explorer/sandbox/nvdisasm_server.so").startswith(b"\x7fELF")
    (metadata,) = [name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL")]
    assert b"Tag: py3-none-linux_x86_64" in wheel.read(metadata)


@pytest.mark.nightly
def test_the_wheel_brings_the_command_and_the_lexers(wheel: zipfile.ZipFile) -> None:
    (entry_points,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    text = wheel.read(entry_points).decode()
    assert "triton-explorer = explorer.cli.main:main" in text
    assert "triton-ptx = explorer.lexers.ptx:PtxLexer" in text


def test_the_image_is_built_in_stages_and_run_by_an_ordinary_user() -> None:
    assert len(instructions("FROM")) == 2
    (user,) = instructions("USER")
    assert re.search(rf"useradd .*\b{user}\b", DOCKERFILE)
    assert DOCKERFILE.index("USER ") < DOCKERFILE.index("ENTRYPOINT ")


def test_the_images_entry_point_is_a_command_line_of_ours() -> None:
    (entry_point,) = instructions("ENTRYPOINT")
    program, *arguments = json.loads(entry_point)
    assert program == "triton-explorer"
    options = make_parser().parse_args(arguments)
    assert (options.host, options.port) == ("0.0.0.0", 8000)
    assert str(options.data_dir) in instructions("VOLUME")
    assert instructions("EXPOSE") == [str(options.port)]


def test_the_images_health_check_asks_for_an_address_that_exists(app: Flask) -> None:
    (health_check,) = instructions("HEALTHCHECK")
    code = json.loads(health_check.partition("CMD ")[2])[2]
    compile(code, "healthcheck", "exec")
    asked = re.search(r"http://127\.0\.0\.1:8000(/\w+)'", code)
    assert asked and asked[1] in {rule.rule for rule in app.url_map.iter_rules()}


def test_make_and_the_image_install_the_supported_tritons() -> None:
    assert "TRITONS := $(shell cat tritons.txt)" in (ROOT / "Makefile").read_text()
    assert any(copied.split()[0] == "tritons.txt" for copied in instructions("COPY"))
    assert "triton-explorer toolchain add $(cat /tmp/tritons.txt)" in DOCKERFILE


def locked(name: str) -> dict[str, Version]:
    """The versions in a file of requirements, each of which has hashes and no address."""
    versions = {}
    for line in (ROOT / "docker" / name).read_text().replace("\\\n", " ").splitlines():
        requirement, *hashes = line.split()
        package, _, version = requirement.partition("==")
        assert hashes and all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes), line
        versions[package] = Version(version)
    return versions


def test_the_image_has_a_locked_version_with_hashes_of_each_dependency() -> None:
    """After a change of the dependencies, tools/lock-requirements is to be run."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = runpy.run_path(str(ROOT / "tools/lock-requirements"))["EXTRAS"]
    wanted = project["dependencies"] + [
        each for name in extras for each in project["optional-dependencies"][name]
    ]
    of_torch, others = locked("torch-requirements.txt"), locked("requirements.txt")
    assert not of_torch.keys() & others.keys()
    versions = of_torch | others
    for requirement in map(Requirement, wanted):
        assert versions[requirement.name] in requirement.specifier, requirement
    assert str(versions["triton"]) == TRITONS[0]


def test_all_that_pip_installs_in_the_image_is_locked() -> None:
    commands = [each for each in " ".join(instructions("RUN")).split("&&") if "pip install" in each]
    (build, *image) = commands
    assert "pip install --no-cache-dir build" in build  # what builds the wheel stays in the first stage
    assert len(image) == 2
    assert all("--no-deps" in each and ("--require-hashes" in each or "/wheels/" in each) for each in image)


def test_the_supported_tritons_are_in_the_range_of_the_dependency() -> None:
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    (triton,) = [each for each in map(Requirement, dependencies) if each.name == "triton"]
    assert TRITONS
    assert list(TRITONS) == sorted(TRITONS, key=Version, reverse=True)
    assert all(version in triton.specifier for version in TRITONS)


@pytest.mark.nightly
def test_the_wheel_holds_what_pip_needs_to_install_the_sandbox(wheel: zipfile.ZipFile) -> None:
    assert "explorer/sandbox/bubblewrap-requirements.txt" in wheel.namelist()


@pytest.mark.nightly
def test_make_takes_torch_from_the_index_that_is_named(tmp_path: Path) -> None:
    """A package called torch, newer than any, in an index of its own."""
    index = tmp_path / "simple/torch"
    index.mkdir(parents=True)
    name = "torch-2.999.0-py3-none-any.whl"
    (index / "index.html").write_text(f'<a href="{name}">{name}</a>')
    with zipfile.ZipFile(index / name, "w") as archive:
        folder = "torch-2.999.0.dist-info"
        archive.writestr(f"{folder}/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 2.999.0\n")
        archive.writestr(f"{folder}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{folder}/RECORD", "")
    venv = tmp_path / "venv"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "MAKE"))}
    variables = [f"VENV={venv}", f"PYTHON={sys.executable}", f"TORCH_INDEX_URL={index.parent.as_uri()}"]
    done = subprocess.run(
        ["make", f"{venv}/installed-torch", *variables],
        cwd=ROOT,
        env=environment | {"PIP_CONFIG_FILE": os.devnull},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert list(venv.glob("lib/python*/site-packages/torch-2.999.0.dist-info"))


def test_the_seccomp_profile_lets_the_sandbox_make_its_namespaces() -> None:
    profile = json.loads((ROOT / "docker" / "seccomp.json").read_text())
    refused = {name for rule in profile["syscalls"] for name in rule["names"]}
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    assert all(rule["action"] == "SCMP_ACT_ERRNO" for rule in profile["syscalls"])
    needed = {"clone", "clone3", "unshare", "setns", "mount", "umount2", "pivot_root", "prctl", "seccomp"}
    assert not refused & needed
    assert {"bpf", "ptrace", "kexec_load", "init_module", "userfaultfd", "perf_event_open"} <= refused


def test_what_is_copied_into_the_image_is_not_what_is_built_here() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv", "node_modules", "explorer/static/dist"} <= set(ignored)
