"""An entry point for tests of the sandbox: executes the source as Python, with `emit` defined."""

import time

from explorer import model

#: When the zygote of a Triton version imported this.
imported_ns = time.monotonic_ns()


def warm_up():
    """Import nothing: these tests cover the sandbox, not the compiler."""


ready: list[bool] = []


def get_ready():
    """Note that the process of a job has called this, once."""
    ready.append(True)


def perform(request, emit):
    exec(compile(request.source, "kernel.py", "exec"), {"emit": emit, "request": request, "model": model})
    emit(model.Done("complete", 1.0))
