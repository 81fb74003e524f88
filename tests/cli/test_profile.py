"""Test the commands that run kernels, in Triton's interpreter, and record profiles."""

import functools
import http.client
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from recorded import TRACE
from recorded_gpu import TARGET
from served import Server

from explorer.cli.api import API, Api, _Connection, server_sender
from explorer.model.hardware import DEFAULT_TARGET

from .conftest import PYTHONPATH, ROOT, run

pytestmark = pytest.mark.slow

VECTOR_ADD = ROOT / "explorer/examples/vector_add.py"
#: The same of fewer elements, which is sooner interpreted.
SHORT_VECTOR_ADD = VECTOR_ADD.read_text(encoding="utf-8").replace("(1_000_000,", "(10_000,")


#: The command line on a machine with a GPU.
RECORDED_GPU = "recorded_gpu"


@pytest.fixture(scope="module")
def gpu_server(tmp_path_factory):
    """A running server with a GPU. Its interpreter is off: a run there would be no run on the GPU."""
    folder = tmp_path_factory.mktemp("data")
    environment = {"PYTHONPATH": PYTHONPATH}
    server = Server(folder, environment, (RECORDED_GPU,), interpreter_slots=0)
    yield server
    server.close()


@pytest.fixture
def short(tmp_path):
    script = tmp_path / "short.py"
    script.write_text(SHORT_VECTOR_ADD)
    return script


def without_times(run):
    """Return the text of a run's document, without what two runs do not have in common."""
    left_out = dict.fromkeys(("id", "created", "milliseconds"))
    assert all(run[name] for name in left_out)
    return json.dumps({**run, **left_out, "run": {**run["run"], "attempt": None}})


@pytest.mark.parametrize(
    ("what", "is_asked"),
    [
        pytest.param(
            ["--measure", "check", "--benchmark", "--size", "size=4096"], True, marks=pytest.mark.nightly
        ),
        pytest.param(["--repeats", "1001"], True, marks=pytest.mark.nightly),
        pytest.param(["--device", "gpu"], False, marks=pytest.mark.nightly),
    ],
    ids=lambda what: " ".join(what) if isinstance(what, list) else "",
)
def test_the_output_does_not_depend_on_who_is_asked(server, short, what, is_asked):
    before = server.is_asked
    device = () if "--device" in what else ("--device", "interpreter")
    asked = run("profile", short, *device, *what, server=server.url)
    assert (server.is_asked > before) == is_asked
    alone = run("profile", short, *device, *what)
    assert (asked.returncode, asked.stdout, asked.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    assert asked.stdout or asked.stderr


@pytest.mark.nightly
def test_documents_and_files_do_not_depend_on_who_is_asked(server, short, tmp_path):
    results = []
    for number, url in enumerate((server.url, "none")):
        folder = tmp_path / str(number)
        ask = functools.partial(run, "profile", short, "--device", "interpreter", server=url)
        printed = json.loads(ask("--json").stdout)
        assert ask("--output", folder).stderr == f"Wrote {folder}\n"
        files = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.*")}
        written = json.loads(files.pop("run.json"))
        measured = {f"measurements/{name}.json": each for name, each in printed["measured"].items()}
        assert {name: json.loads(text) for name, text in files.items()} == measured
        assert without_times(written) == without_times(printed["run"])
        results.append((list(printed), printed["request"], without_times(written), files))
    assert results[0] == results[1]


@pytest.mark.nightly
def test_a_server_with_a_gpu_is_asked_also_from_a_machine_without_one(gpu_server, tmp_path):
    before = gpu_server.is_asked
    asked = json.loads(run("profile", VECTOR_ADD, "--json", server=gpu_server.url).stdout)
    assert gpu_server.is_asked > before
    assert asked["run"]["run"]["device"] == "gpu"
    assert asked["request"]["target"] == TARGET
    alone = json.loads(run("profile", VECTOR_ADD, "--json", program=RECORDED_GPU).stdout)
    assert without_times(asked["run"]) == without_times(alone["run"])
    assert (asked["request"], asked["measured"]) == (alone["request"], alone["measured"])
    summary = run("profile", VECTOR_ADD, "--device", "gpu", server=gpu_server.url).stdout
    assert summary == run("profile", VECTOR_ADD, "--device", "gpu", program=RECORDED_GPU).stdout
    assert "4 µs (3.90 µs to 4.20 µs), cold L2, proton" in summary
    folder = tmp_path / "run"
    run("profile", VECTOR_ADD, "--output", folder, server=gpu_server.url)
    assert (folder / "sweep.csv").read_text().startswith('"size"')
    assert (folder / "autotuning.csv").exists()
    assert (folder / "files/trace.json").read_bytes() == TRACE
    refused = run("profile", VECTOR_ADD, "--measure", "counts", server=gpu_server.url)
    assert "add --device interpreter. A GPU has check" in refused.stderr


def test_each_run_measures_once_more(gpu_server):
    arguments = ("profile", VECTOR_ADD, "--seed", "7", "--json")
    runs = [json.loads(run(*arguments, server=gpu_server.url).stdout)["run"] for _ in range(2)]
    assert runs[0]["id"] != runs[1]["id"]
    assert runs[1]["run"]["attempt"] == runs[0]["run"]["attempt"] + 1


@pytest.mark.nightly
def test_a_server_without_the_device_is_not_asked(server, gpu_server, short):
    before = server.is_asked, gpu_server.is_asked
    here = run("profile", VECTOR_ADD, server=server.url, program=RECORDED_GPU)
    assert here.stdout.startswith("add_kernel NVIDIA H200")
    interpreted = run("profile", short, "--device", "interpreter", server=gpu_server.url)
    assert interpreted.stdout.startswith("add_kernel interpreter")
    assert (server.is_asked, gpu_server.is_asked) == before


def test_without_any_gpu_the_server_s_interpreter_is_asked(server, short):
    before = server.is_asked
    done = run("profile", short, "--measure", "check", server=server.url)
    assert done.stdout.startswith("add_kernel interpreter")
    assert server.is_asked > before


def test_a_kernel_that_does_not_compile_is_told(gpu_server, tmp_path):
    script = tmp_path / "broken.py"
    script.write_text(SHORT_VECTOR_ADD.replace("x + y, mask=mask)", "x + nothing, mask=mask)"))
    failed = run("profile", script, server=gpu_server.url)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert f"{script}:" in failed.stderr and "nothing is not defined" in failed.stderr


@pytest.mark.nightly
def test_progress_is_shown_and_an_interrupted_run_is_cancelled(server, tmp_path):
    script = tmp_path / "endless.py"
    script.write_text(
        SHORT_VECTOR_ADD.replace("def reference", "import time\n\ndef reference").replace(
            "    return x + y", "    time.sleep(60)\n    return x + y"
        )
    )
    ours, terminal = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH, "TRITON_EXPLORER_SERVER": server.url}
    command = [sys.executable, "-m", "explorer", "profile", str(script), "--device", "interpreter"]
    with subprocess.Popen(
        command,
        stderr=terminal,
        stdout=subprocess.PIPE,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
    ) as process:
        shown = b""
        deadline = time.monotonic() + 60
        while b"%  " not in shown and process.poll() is None and time.monotonic() < deadline:
            if select.select([ours], [], [], 1)[0]:
                shown += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    os.close(terminal)
    os.close(ours)
    assert re.search(rb"\r\x1b\[K +\d+%  \w+", shown)
    api = Api(server_sender(server.url))
    compilation = api.post(f"{API}/compilations", {"source": script.read_text(), "target": DEFAULT_TARGET})
    while (left := api.document(f"{compilation['api']}/runs")["runs"][0])["status"] == "running":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert left["status"] == "failed"
    assert "cancel" in left["problem"].lower()


def test_an_interrupted_request_does_not_prevent_the_next_one(server, monkeypatch):
    """The next one cancels the run."""

    def interrupt(_connection):
        raise KeyboardInterrupt

    with _Connection(server.url) as connection:
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(http.client.HTTPConnection, "getresponse", interrupt)
            connection.send("GET", "/healthz")
        assert connection.send("GET", "/healthz").status == 200


def test_a_run_is_summarised(ask, short):
    result = ask("profile", short, "--device", "interpreter")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("add_kernel interpreter, Triton ")
    assert "output_ptr matches" in result.stdout
    assert "loaded 80 kB" in result.stdout


def test_a_run_is_written_as_files_and_as_json(ask, tmp_path):
    folder = tmp_path / "run"
    measures = ("--device", "interpreter", "--measure", "check", "--size", "size=4096", "--benchmark")
    result = ask("profile", VECTOR_ADD, *measures, "--output", folder)
    assert result.returncode == 0, result.stderr
    document = json.loads((folder / "run.json").read_text())
    assert document["run"]["sizes"] == {"size": 4096}
    assert {row["name"] for row in document["measurements"]} >= {"check", "launch"}
    for row in document["measurements"]:
        assert (folder / row["url"]).is_file()
    printed = json.loads(ask("profile", VECTOR_ADD, *measures, "--json").stdout)
    assert printed["request"]["source"] == VECTOR_ADD.read_text()
    assert printed["measured"]["check"]["outputs"][0]["matches"]
    assert printed["measured"]["launch"]["arguments"][0]["shape"] == [4096]


def test_a_kernel_that_is_wrong_is_told_with_its_worst_element(ask, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(SHORT_VECTOR_ADD.replace("x + y, mask=mask)", "x + y + (x > 3), mask=mask)"))
    result = ask("profile", wrong, "--device", "interpreter", "--measure", "check")
    assert "output_ptr DIFFERS" in result.stdout
    assert "worst at [" in result.stdout


def test_a_result_that_is_no_number_is_told_in_words(ask, tmp_path):
    wrong = tmp_path / "wrong.py"
    nowhere = SHORT_VECTOR_ADD.replace(
        "x + y, mask=mask)", 'tl.where(x > 3, float("nan"), x + y), mask=mask)'
    )
    wrong.write_text(nowhere)
    result = ask("profile", wrong, "--device", "interpreter", "--measure", "check")
    assert re.search(r"worst at \[\d+\]: NaN or infinite, should be \d", result.stdout), result.stderr


def test_a_measure_that_the_device_lacks_is_refused_before_anything_runs(ask, short):
    result = ask("profile", short, "--device", "interpreter", "--measure", "check", "--measure", "time")
    assert result.returncode == 1
    assert "time is measured on a GPU." in result.stderr
    assert "The interpreter has check, counts." in result.stderr
    result = ask("profile", short, "--device", "gpu", "--measure", "counts")
    assert "add --device interpreter" in result.stderr


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this machine has a GPU")
def test_recordings_need_a_gpu(tmp_path):
    result = run("record", "vector_add", "--output", tmp_path)
    assert result.returncode == 1
    assert "Profiles are recorded on a machine with a GPU" in result.stderr
    assert "no example 'nothing'. It has vector_add" in run("record", "nothing").stderr
