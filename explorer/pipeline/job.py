"""One job, from a request to its last event; and what a process does once so that jobs start fast."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable
from typing import Literal

from explorer.model import Diagnostic, Done, Event, Inspection, Request
from explorer.pipeline.errors import UserError
from explorer.pipeline.targets import Target, UnknownTarget, find_target

Emit = Callable[[Event], None]

_WARM_UP_SOURCE = """
import torch
import triton
import triton.language as tl


@triton.jit
def warm_up_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + 1, mask=offsets < n)


x = torch.zeros(1000, device="cuda")
warm_up_kernel[(4,)](x, 1000, BLOCK=256)
"""


def perform(request: Request, emit: Emit) -> None:
    """Do one job and tell of it by events, the last of which is `Done`.

    This is the one place where anything that goes wrong becomes an event.
    """
    start = time.perf_counter()
    status: Literal["complete", "failed"] = "failed"
    emit = _without_repeated_diagnostics(emit)
    try:
        _perform(request, find_target(request.target), emit)
        status = "complete"
    except UserError as error:
        emit(error.diagnostic)
    except UnknownTarget as error:
        emit(Diagnostic("error", str(error)))
    except MemoryError:
        emit(
            Diagnostic(
                "error",
                "The compile ran out of memory.",
                hint="Make the tensors or blocks of the script smaller.",
            )
        )
    except RecursionError:
        emit(
            Diagnostic(
                "error",
                "The source is nested too deeply.",
                hint="Split long expressions and deep nesting into parts.",
            )
        )
    except Exception as error:
        emit(_internal_error(error))
    emit(Done(status, round((time.perf_counter() - start) * 1000, 3)))


def _without_repeated_diagnostics(emit: Emit) -> Emit:
    """What is wrong with a source may also be why there is nothing to compile: say it once."""
    told: set[Diagnostic] = set()

    def emit_once(event: Event) -> None:
        if isinstance(event, Diagnostic):
            if event in told:
                return
            told.add(event)
        emit(event)

    return emit_once


def _perform(request: Request, target: Target, emit: Emit) -> None:
    # What Triton 3.9 does by default, said aloud, so that it does not warn of what 3.10 will do.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    from triton.backends.compiler import GPUTarget

    from explorer.pipeline.compile import Compilation
    from explorer.pipeline.module import load
    from explorer.pipeline.specialize import resolve

    gpu_target = GPUTarget(target.backend, target.triton_architecture, target.warp_size)
    found = load(request.source, gpu_target)
    emit(
        Inspection(
            tuple(kernel.info for kernel in found.kernels),
            tuple(launch.info for launch in found.launches),
        )
    )
    for diagnostic in found.diagnostics:
        emit(diagnostic)
    if request.task == "inspect":
        return
    specialization = resolve(found, request, gpu_target)
    emit(specialization.described)
    Compilation(specialization, target, request.source, emit).run()


def _internal_error(error: Exception) -> Diagnostic:
    """Make a message of an error that nobody has foreseen."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" ({last[0].filename.rsplit('/', 1)[-1]}:{last[0].lineno})" if last else ""
    return Diagnostic("error", f"{type(error).__name__}: {error}{place}")


def warm_up() -> None:
    """Import and use once what every job needs, for each vendor, so that a forked child need not."""
    for target in ("cuda:90", "hip:gfx942"):
        perform(Request(_WARM_UP_SOURCE, target, ""), _expect_success)


def _expect_success(event: Event) -> None:
    """Raise what a warm-up has found wrong: an installation that cannot compile must not look healthy."""
    if isinstance(event, Diagnostic) and event.severity == "error":
        raise RuntimeError(f"The compiler does not work here: {event.message}")
