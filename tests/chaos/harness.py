"""A cluster that tests harm while it works. It records the accepted requests, and checks them at the end."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import subprocess
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from s3_server import FaultyProxy
from tritons import TRITONS

from cluster.parts import Cluster, free_ports
from cluster.supervisor import Supervisor

#: A kernel whose stages contain a unique number. The compiler waits for it between `ast` and `ttir`.
SOURCE = """
import time
import triton
import triton.language as tl

@tl.core.builtin
def wait(_semantic=None):
    time.sleep({seconds})
    return tl.constexpr({number})

@triton.jit
def kernel(x):
    tl.store(x, wait())
"""
#: A request is repeated so long while nobody answers.
_PATIENCE_SECONDS = 120
_TRY_SECONDS = 30
_PAUSE_SECONDS = 0.2
_COMPARED_STAGES = ("ttir", "ttgir", "ptx", "sass")
_FIRST_NUMBER = 100_000

Ticket = dict[str, str]


@dataclass
class Outcome:
    """The results of the accepted requests. `wrong` and `lost` must be empty."""

    complete: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        failed = "".join(f"\n  {count} {reason}" for reason, count in self.failed.most_common())
        return (
            f"{self.complete} complete, {self.failed.total()} failed with a reason, {len(self.lost)} lost, "
            f"{len(self.wrong)} wrong{failed}"
        )


class Disk:
    """A small file system that is mounted at a folder. It can be full."""

    def __init__(self, folder: Path, mebibytes: int) -> None:
        folder.mkdir(parents=True)
        options = ["-t", "tmpfs", "-o", f"size={mebibytes}m,mode=0711", "tmpfs"]
        subprocess.run(["mount", *options, str(folder)], check=True)
        self._folder = folder
        self._rest = folder / "rest"

    def fill(self) -> None:
        with suppress(OSError), self._rest.open("ab", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))

    def free(self) -> None:
        self._rest.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the file system, also while processes use it."""
        subprocess.run(["umount", "--lazy", str(self._folder)], check=True)


class Chaos:
    """A running cluster behind its load balancer, with a proxy between it and its S3 server.

    `disks` has the sizes, in MiB, of the disks of folders on separate disks.
    """

    def __init__(self, folder: Path, seed: int, disks: Mapping[str, int] | None = None) -> None:
        self.random = random.Random(seed)
        (port,) = free_ports("load_balancer").values()
        # Each Triton version and each slot takes seconds to start.
        settings = {"TRITON_EXPLORER_SLOTS": "1", "TRITON_EXPLORER_TRITONS": TRITONS[0]}
        self.cluster = Cluster(folder, port, workers=2, settings=settings)
        self._disks = disks or {}
        self.disks: dict[str, Disk] = {}
        self.s3 = FaultyProxy(self.cluster.s3_url)
        self.cluster.s3_url = self.s3.endpoint
        self.supervisor = Supervisor(self.cluster)
        #: The number in each accepted kernel, by its ticket's address.
        self.accepted: dict[str, int] = {}
        #: The submitted requests.
        self._bodies: dict[str, dict[str, str]] = {}
        #: The digests of the stages of each result, as they were first answered.
        self._stages: dict[str, dict[str, str]] = {}
        self._numbers = itertools.count(_FIRST_NUMBER + 10_000 * seed)

    def __enter__(self) -> Chaos:
        with ExitStack() as stack:
            stack.callback(self.s3.close)
            for name, mebibytes in self._disks.items():
                self.disks[name] = stack.enter_context(closing(Disk(self.cluster.folder / name, mebibytes)))
            stack.enter_context(self.supervisor)
            self.supervisor.wait_until_it_answers()
            self._running = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    # --- actions of users ---------------------------------------------------------------------------

    def submit(self, seconds: float = 0.0) -> Ticket:
        """Submit a kernel that nobody has submitted, again and again until it is accepted."""
        number = next(self._numbers)
        body = _compilation(number, seconds)
        ticket: Ticket = self.ask("/api/v1/compilations", body)
        self.accepted[ticket["api"]], self._bodies[ticket["api"]] = number, body
        return ticket

    def submit_again(self, ticket: Ticket) -> Ticket:
        """Submit a kernel that was accepted once more, as somebody does whose result is not complete."""
        return dict(self.ask("/api/v1/compilations", self._bodies[ticket["api"]]))

    def try_to_submit(self) -> Ticket | None:
        """Submit a kernel with a unique number once. Return None if it is refused with a reason."""
        number = next(self._numbers)
        body = _compilation(number, 0.0)
        request = self._request("/api/v1/compilations", body, "")
        try:
            with urllib.request.urlopen(request, timeout=_TRY_SECONDS) as answer:
                ticket: Ticket = json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                assert error.code in (503, 507), error
                assert json.load(error)["detail"]
            return None
        self.accepted[ticket["api"]], self._bodies[ticket["api"]] = number, body
        return ticket

    def ask(self, path: str, body: object = None, server: str = "") -> Any:
        """Return a document, from the load balancer or from one web server. Failures are tried again."""
        return json.loads(self.read(path, body, server))

    def read(self, path: str, body: object = None, server: str = "") -> bytes:
        """Return the content at an address. Failures of servers are tried again."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                with urllib.request.urlopen(
                    self._request(path, body, server), timeout=_TRY_SECONDS
                ) as answer:
                    return bytes(answer.read())
            except urllib.error.HTTPError as error:
                error.close()
                if error.code < 500 or time.monotonic() > deadline:
                    raise
            except OSError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(_PAUSE_SECONDS)

    def events(self, ticket: Ticket, server: str = "") -> Iterator[str]:
        """Yield the kinds of the events as they arrive, until the stream breaks off or ends."""
        with (
            suppress(OSError),
            urllib.request.urlopen(
                self._request(ticket["events"], None, server), timeout=_TRY_SECONDS
            ) as lines,
        ):
            for line in lines:
                if line.startswith(b"event: "):
                    yield line[7:].strip().decode()

    def wait_for_event(self, ticket: Ticket, kind: str) -> None:
        """Wait until a job has published an event of a kind, or has ended."""
        for event in self.events(ticket):
            if event in (kind, "done"):
                return

    def result(self, ticket: Ticket) -> Any:
        """Wait for the result of a job, and return its document."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (document := self.ask(ticket["api"]))["status"] in ("queued", "running"):
            assert time.monotonic() < deadline, f"{ticket['api']} is still {document['status']}"
            time.sleep(_PAUSE_SECONDS)
        return document

    def _request(self, path: str, body: object, server: str) -> urllib.request.Request:
        url = f"http://127.0.0.1:{self.cluster.ports[server]}" if server else self.cluster.url
        content = None if body is None else json.dumps(body).encode()
        return urllib.request.Request(url + path, content, {"Content-Type": "application/json"})

    # --- harm ---------------------------------------------------------------------------------------

    def processes(self, part: str) -> list[psutil.Process]:
        """Return the process of a part and all its descendants, including the processes of its sandbox."""
        with suppress(KeyError, psutil.NoSuchProcess):
            process = psutil.Process(self.supervisor.process_ids()[part])
            return [process, *process.children(recursive=True)]
        return []

    def kill(self, part: str) -> str:
        """Kill a process of a part, chosen at random, with SIGKILL. Return its name.

        A part that is being started again is waited for.
        """
        while True:
            with suppress(IndexError, psutil.NoSuchProcess):
                victim = self.random.choice(self.processes(part))
                name = victim.name()
                victim.kill()
                return f"{name} of {part}"
            time.sleep(_PAUSE_SECONDS)

    def kill_all(self, part: str) -> None:
        """Kill all processes of a part at once, as the kernel does with a container."""
        for process in self.processes(part):
            with suppress(psutil.NoSuchProcess):
                process.kill()

    @property
    def servers(self) -> list[str]:
        """The parts that do jobs or answer requests: web servers and workers."""
        return [part.name for part in self.cluster.parts if part.name.startswith(("web", "worker"))]

    # --- invariants ---------------------------------------------------------------------------------

    def note_stages(self, ticket: Ticket) -> None:
        """Remember the bytes of a complete result, which its permalink answers from then on."""
        self._stages[ticket["api"]] = self._digests(ticket["api"])

    def _digests(self, api: str, server: str = "") -> dict[str, str]:
        return {
            stage: hashlib.sha256(self.read(f"{api}/stages/{stage}", None, server)).hexdigest()
            for stage in _COMPARED_STAGES
        }

    def check(self) -> Outcome:
        """Check all accepted requests on each web server, and return their outcome."""
        outcome = Outcome()
        webs = [name for name in self.servers if name.startswith("web")]
        for api, number in self.accepted.items():
            try:
                document = self.result({"api": api})
            except (AssertionError, urllib.error.HTTPError) as error:
                outcome.lost.append(f"{api}: {error}")
                continue
            if document["status"] == "failed":
                outcome.failed[_reason(document)] += 1
            else:
                outcome.complete += 1
            if problem := self._difference(api, number, document, webs):
                outcome.wrong.append(f"{api}: {problem}")
        return outcome

    def _difference(self, api: str, number: int, document: Any, webs: list[str]) -> str:
        """Return how a result differs between servers or from what it must be; empty if it does not."""
        others = [self.ask(api, server=name) for name in webs]
        if any(other["status"] != document["status"] for other in others):
            return f"its status is {document['status']} or {[other['status'] for other in others]}"
        if document["status"] == "failed":
            return (
                "" if api not in self._stages and _reason(document) else "it was complete, or gives no reason"
            )
        if f" {number} " not in self.read(f"{api}/stages/ttir").decode():
            return f"its TTIR lacks the number {number} of its source"
        digests = [self._digests(api, name) for name in webs]
        expected = self._stages.get(api, digests[0])
        return "" if all(found == expected for found in digests) else "its stages have changed"


def _compilation(number: int, seconds: float) -> dict[str, str]:
    """Return the body that submits a kernel."""
    source = SOURCE.format(number=number, seconds=seconds)
    return {"source": source, "target": "cuda:90", "arguments": "*i32:16"}


def _reason(document: Any) -> str:
    """Return the messages of a failed result."""
    errors = [each for each in document["diagnostics"] if each["severity"] == "error"]
    return " ".join(f"{each['message']} {each.get('hint') or ''}".strip() for each in errors)
