"""What every job has in common: its last event is `Done`, and what goes wrong becomes an event."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from typing import Literal

from explorer.model import Diagnostic, Done, Event
from explorer.pipeline.errors import UserError
from explorer.pipeline.targets import UnknownTarget

Emit = Callable[[Event], None]


def perform_work(work: Callable[[Emit], None], emit: Emit, what: str) -> None:
    """Call `work`, and tell of its end by `Done`. `what` names it: "The compile".

    This is the one place where anything that goes wrong becomes an event.
    """
    start = time.perf_counter()
    status: Literal["complete", "failed"] = "failed"
    emit = _without_repeated_diagnostics(emit)
    try:
        work(emit)
        status = "complete"
    except UserError as error:
        emit(error.diagnostic)
    except UnknownTarget as error:
        emit(Diagnostic("error", str(error)))
    except MemoryError:
        emit(
            Diagnostic(
                "error",
                f"{what} ran out of memory.",
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
        emit(internal_error(error))
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


def internal_error(error: Exception) -> Diagnostic:
    """Make a message of an error that nobody has foreseen."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" ({last[0].filename.rsplit('/', 1)[-1]}:{last[0].lineno})" if last else ""
    return Diagnostic("error", f"{type(error).__name__}: {error}{place}")
