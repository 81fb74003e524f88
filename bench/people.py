"""Users for Locust: users who compile new kernels, and users who read stored results.

Each has a separate address, which the server takes from X-Forwarded-For.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import time
from typing import Any

from locust import FastHttpUser, between, task

#: `compile` and `read`: how many people do so. `compiles_after` and `reads_after`: the least and the most
#: seconds between two kernels or results. `source` is compiled. `results` has the stages to read, by ID.
_WORK = json.loads(os.environ["TRITON_EXPLORER_BENCH_WORK"])
_numbers = itertools.count()


class _Person(FastHttpUser):
    abstract = True

    def on_start(self) -> None:
        """Take an address, and come at any time."""
        number = next(_numbers)
        address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        self.headers = {"X-Forwarded-For": address, "Accept-Encoding": "br, gzip"}
        time.sleep(random.uniform(0, self.wait_time()))

    def read(self, path: str, name: str) -> Any:
        return self.client.get(path, name=name, headers=self.headers)


class Compiles(_Person):
    """Compiles a kernel that nobody has compiled before, and looks at its machine code."""

    fixed_count = _WORK["compile"]
    wait_time = between(*_WORK["compiles_after"])

    @task
    def compile(self) -> None:
        """Submit a kernel and follow its events to the end."""
        source = f"{_WORK['source']}\n# {time.time_ns()} {random.random()}\n"
        begin = time.perf_counter()
        body = {"source": source, "target": "cuda:90"}
        answer = self.client.post("/api/v1/compilations", json=body, name="submission", headers=self.headers)
        if answer.status_code not in (200, 202):
            return
        ticket = answer.json()
        events = self.read(ticket["events"], "events").text or ""
        is_complete = '"status":"complete"' in events.rpartition("event: done")[2].replace(" ", "")
        self.environment.events.request.fire(
            request_type="",
            name="compilation",
            response_time=(time.perf_counter() - begin) * 1000,
            response_length=len(events),
            exception=None if is_complete else RuntimeError(f"It did not complete: {events[-300:]}"),
        )
        self.read(ticket["api"], "document")
        self.read(f"{ticket['api']}/stages/sass", "stage")


class Reads(_Person):
    """Opens links of stored results."""

    fixed_count = _WORK["read"]
    wait_time = between(*_WORK["reads_after"])

    @task
    def open_link(self) -> None:
        """Send the requests of the page of a result."""
        result, stages = random.choice(list(_WORK["results"].items()))
        self.read(f"/k/{result}", "page")
        self.read(f"/api/v1/compilations/{result}", "document")
        for stage in stages:
            self.read(f"/api/v1/compilations/{result}/stages/{stage}", "stage")
