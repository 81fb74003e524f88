"""Runs in the interpreter of each supported Triton version."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tritons import TRITONS

from explorer.model import Request, Run, to_plain
from explorer.sandbox.versions import installed_versions

HEAD = """\
import torch
import triton
import triton.language as tl
"""


class RunEvents:
    """The events of a run: documents by name, diagnostics, and output of the script."""

    def __init__(self, events):
        self.events = events
        self.documents = {
            event["name"]: json.loads(event["document"])
            for event in events
            if event["event"] == "measurement"
        }
        self.diagnostics = [event for event in events if event["event"] == "diagnostic"]
        self.errors = [event for event in self.diagnostics if event["severity"] == "error"]
        self.log = "".join(event["text"] for event in events if event["event"] == "log")

    @property
    def status(self):
        return self.events[-1].get("status")

    def __getattr__(self, name):
        try:
            return self.documents[name]
        except KeyError:
            raise AttributeError(f"no document {name}; told was: {self.diagnostics}") from None

    def operation(self, name, line=None):
        """The counts of an operation: of all its lines together, or of one."""
        found = [
            each
            for each in self.counts["operations"]
            if each["operation"] == name and line in (None, each["line"])
        ]
        numbers = ("executions", "requested_bytes", "sectors", "flops")
        return {number: sum(each[number] for each in found) for number in numbers}


@pytest.fixture(scope="session", params=TRITONS)
def interpret(request, tmp_path_factory):
    """Return a function from a source to the events of its run in the interpreter."""
    folder_of_triton = installed_versions()[request.param]
    paths = [str(path) for path in (folder_of_triton, Path(__file__).parents[2]) if path is not None]
    environment = {
        **os.environ,
        "TRITON_INTERPRET": "1",
        "TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
        "PYTHONPATH": os.pathsep.join(paths),
        **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    }
    command = [sys.executable, str(Path(__file__).with_name("serve_runs.py"))]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def run(source, *, target="cuda:90", measures=("check", "counts"), with_head=True, request=(), **options):
        wanted = Request(
            (HEAD if with_head else "") + source,
            target,
            "",
            task="run",
            run=Run("interpreter", measures=measures, **options),
            **dict(request),
        )
        server.stdin.write(json.dumps(to_plain(wanted)).encode() + b"\n")
        server.stdin.flush()
        events: list[dict[str, Any]] = []
        while not events or events[-1]["event"] not in ("done", "crash"):
            events.append(json.loads(server.stdout.readline()))
        return RunEvents(events)

    yield run
    server.stdin.close()
    server.wait()
    server.stdout.close()
