"""Starts and stops the capture of this process."""

from __future__ import annotations

import atexit
import functools
import os
import sys
from collections.abc import Callable
from multiprocessing import util
from pathlib import Path
from typing import Any

from explorer.capture.folder import DEFAULT_LIMIT_BYTES, CaptureFolder
from explorer.capture.inductor import watch_output_code
from explorer.capture.recorder import Recorder, note_run_code

_ends: list[Callable[[], None]] = []


def start(folder: str | os.PathLike[str], *, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> Recorder:
    """Record all that Triton compiles in this process from now on, in a folder.

    Other processes may use the same folder. It grows to about `limit_bytes` at most.

    Raises:
        RuntimeError: a capture is active in this process.
        OSError: the folder cannot be written.
    """
    if _ends:
        raise RuntimeError("A capture is active in this process. Call explorer.capture.stop() first.")
    import triton
    from triton import knobs
    from triton.compiler import compiler

    note_run_code()
    recorder = Recorder(CaptureFolder(Path(folder).absolute(), limit_bytes))
    previous = knobs.compilation.listener

    def listener(**happened: Any) -> None:
        if previous is not None:
            previous(**happened)
        recorder.compiled(**happened)

    original = compiler.compile

    @functools.wraps(original)
    def compile_and_note(src: Any, target: Any = None, options: Any = None, *rest: Any, **more: Any) -> Any:
        try:
            return original(src, target, options, *rest, **more)
        except Exception as error:  # Any failure is recorded, and raised again.
            from triton.runtime import driver

            recorder.failed(src, target or driver.active.get_current_target(), options or {}, error)
            raise

    end_watch = watch_output_code(recorder.output_code_loaded)
    places = (triton, triton.compiler, compiler)
    knobs.compilation.listener = listener
    for place in places:
        place.compile = compile_and_note

    def end() -> None:
        recorder.note_process(at_once=True)
        if recorder.has_seen_kernels:
            print(recorder.summary(), file=sys.stderr)
        end_watch()
        if knobs.compilation.listener is listener:
            knobs.compilation.listener = previous
        for place in places:
            if place.compile is compile_and_note:
                place.compile = original

    _ends.append(end)
    atexit.register(stop)
    # A process that `multiprocessing` has forked does not call the functions of `atexit`.
    os.register_at_fork(after_in_child=recorder.begin_process)
    util.register_after_fork(recorder, lambda _: util.Finalize(None, stop, exitpriority=0))
    return recorder


def stop() -> None:
    """Stop the capture of this process, if there is one, and report it on the standard error."""
    while _ends:
        _ends.pop()()
