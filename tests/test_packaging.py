"""What is shipped: the wheel has the page in it, and the parts of the Dockerfile fit what they name."""

import json
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from explorer.cli import _parser
from explorer.examples import load_examples

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def instructions(name):
    """The arguments of each instruction of the Dockerfile of that name, continuation lines joined."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return [line.split(maxsplit=1)[1] for line in joined.splitlines() if line.split(maxsplit=1)[:1] == [name]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_the_wheel_holds_the_page_and_the_gallery(wheel):
    names = wheel.namelist()
    assert any(re.fullmatch(r"explorer/static/dist/app-\w+\.js", name) for name in names)
    assert any(name.endswith(".woff2") for name in names)
    assert {f"explorer/examples/{example.name}.py" for example in load_examples()} <= set(names)
    assert {"explorer/templates/page.html", "explorer/static/tokens.css"} <= set(names)
    assert "explorer/py.typed" in names
    recordings = {f"explorer/proton_profiles/{path.name}" for path in (ROOT / "proton_profiles").iterdir()}
    assert recordings <= set(names)


def test_the_wheel_brings_the_command_and_the_lexers(wheel):
    (entry_points,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    text = wheel.read(entry_points).decode()
    assert "triton-explorer = explorer.cli:main" in text
    assert "triton-ptx = explorer.lexers.ptx:PtxLexer" in text


def test_the_image_is_built_in_stages_and_run_by_an_ordinary_user():
    assert len(instructions("FROM")) == 2
    (user,) = instructions("USER")
    assert re.search(rf"useradd .*\b{user}\b", DOCKERFILE)
    assert DOCKERFILE.index("USER ") < DOCKERFILE.index("ENTRYPOINT ")


def test_the_images_entry_point_is_a_command_line_of_ours():
    (entry_point,) = instructions("ENTRYPOINT")
    program, *arguments = json.loads(entry_point)
    assert program == "triton-explorer"
    options = _parser().parse_args(arguments)
    assert (options.host, options.port) == ("0.0.0.0", 8000)
    assert str(options.data_dir) in instructions("VOLUME")
    assert instructions("EXPOSE") == [str(options.port)]


def test_the_images_health_check_asks_for_an_address_that_exists(app):
    (health_check,) = instructions("HEALTHCHECK")
    code = json.loads(health_check.partition("CMD ")[2])[2]
    compile(code, "healthcheck", "exec")
    path = re.search(r"http://127\.0\.0\.1:8000(/\w+)'", code)[1]
    assert path in {rule.rule for rule in app.url_map.iter_rules()}


def test_the_image_installs_the_tritons_that_make_serve_does():
    (tritons,) = [value for value in instructions("ARG") if value.startswith("TRITONS=")]
    makefile = (ROOT / "Makefile").read_text()
    assert (
        shlex.split(tritons)[0].partition("=")[2]
        == re.search(r"^TRITONS := (.*)$", makefile, re.MULTILINE)[1]
    )


def test_the_seccomp_profile_lets_the_sandbox_make_its_namespaces():
    profile = json.loads((ROOT / "docker" / "seccomp.json").read_text())
    refused = {name for rule in profile["syscalls"] for name in rule["names"]}
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    assert all(rule["action"] == "SCMP_ACT_ERRNO" for rule in profile["syscalls"])
    needed = {"clone", "clone3", "unshare", "setns", "mount", "umount2", "pivot_root", "prctl", "seccomp"}
    assert not refused & needed
    assert {"bpf", "ptrace", "kexec_load", "init_module", "userfaultfd", "perf_event_open"} <= refused


def test_what_is_copied_into_the_image_is_not_what_is_built_here():
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv", "node_modules", "explorer/static/dist"} <= set(ignored)
