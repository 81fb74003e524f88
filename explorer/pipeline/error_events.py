"""The frame of all jobs: the last event is `Done`, and every error becomes an event."""

from __future__ import annotations

import sys
import sysconfig
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from explorer.model import Diagnostic, Done, Event, Outcome
from explorer.model.hardware import UnknownTarget
from explorer.pipeline import time_limit
from explorer.pipeline.errors import UserError
from explorer.pipeline.user_source import shown_at

Emit = Callable[[Event], None]

#: Folders of this installation, the innermost first.
_FOLDERS = sorted(
    {
        *(path for name in ("purelib", "platlib", "stdlib") if (path := sysconfig.get_path(name))),
        *(folder for folder in sys.path if folder.startswith("/")),
        str(Path(__file__).parents[2]),
        sys.prefix,
        sys.base_prefix,
    },
    key=len,
    reverse=True,
)


def perform_work(work: Callable[[Emit], Outcome], emit: Emit, what: str) -> None:
    """Call `work`, and emit `Done` with the outcome that it returns. `what` names the work: "The compile".

    This is the only place that converts an unexpected error to an event.
    """
    time_limit.begin_job()
    status: Outcome = "failed"
    emit = _without_repeated_diagnostics(emit)
    try:
        status = work(emit)
    except UserError as error:
        emit(error.diagnostic)
    except UnknownTarget as error:
        emit(Diagnostic("error", str(error)))
    except MemoryError:
        emit(
            Diagnostic(
                "error",
                f"{what} ran out of memory.",
                hint="Reduce the tensors or blocks of the script.",
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
    except Exception as error:  # A defect of the pipeline: the job still ends with a diagnostic.
        emit(internal_error(error))
    emit(Done(status, round(time_limit.elapsed_seconds() * 1000, 3)))


def _without_repeated_diagnostics(emit: Emit) -> Emit:
    """Return an `emit` that drops repeated diagnostics: one error in a source may have two consequences.

    Messages do not reveal the folder of this installation. Their columns count in the pasted text.
    """
    emitted: set[Diagnostic] = set()

    def emit_once(event: Event) -> None:
        if isinstance(event, Diagnostic):
            event = shown_at(replace(event, message=without_folders(event.message)))
            if event in emitted:
                return
            emitted.add(event)
        emit(event)

    return emit_once


def without_folders(message: str) -> str:
    """Return a message in which the paths of files of this installation begin with their package."""
    for folder in _FOLDERS:
        message = message.replace(f"{folder}/", "")
    return message


def internal_error(error: Exception) -> Diagnostic:
    """Return the diagnostic for an unexpected error."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" ({last[0].filename.rsplit('/', 1)[-1]}:{last[0].lineno})" if last else ""
    return Diagnostic("error", f"{type(error).__name__}: {error}{place}")
