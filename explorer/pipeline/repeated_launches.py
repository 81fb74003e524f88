"""Makes the launches of an executed script again: with other options, or for another GPU of the vendor."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from dataclasses import replace

from explorer.model import Diagnostic, Request
from explorer.model.hardware import Target
from explorer.pipeline.errors import NeedsValue, user_error
from explorer.pipeline.fake_gpu import RecordedLaunch, Recorder, TooManyLaunches, fake_gpu
from explorer.pipeline.module import FoundLaunch, SourceContents, describe_launch
from explorer.pipeline.script import describe

_ERRORS = (Exception, NeedsValue, TooManyLaunches)


def repeat_launch(launch: FoundLaunch, request: Request, target: Target) -> RecordedLaunch:
    """Make a launch again, with the configuration and the options of a request.

    Raises:
        UserError: the launch fails.
    """
    call = launch.recorded.call
    assert call is not None
    with _repeating(target, request.assumed) as recorder:
        recorder.config = request.config if request.config is not None else launch.recorded.config
        recorder.overrides = dict(request.options)
        try:
            call.make()
        except _ERRORS as error:
            if not recorder.launches:
                raise user_error(f"{type(error).__name__}: {error}", launch.info.line) from error
    return recorder.launches[0]


def depends_on_target(found: SourceContents, target: Target, assumed: Mapping[str, int]) -> bool:
    """Return whether the script could make other launches on another GPU of the vendor.

    The launches are made again: `for_target` does not suit launches that differ then.
    """
    if found.reads_target:
        return True
    repeated, problem = _repeat(found, target, assumed)
    try:
        return problem is not None or not all(
            map(_are_equal, repeated, (launch.recorded for launch in found.launches))
        )
    except Exception:  # The arguments are objects of user code, which compares them.
        return True


def for_target(found: SourceContents, target: Target, assumed: Mapping[str, int]) -> SourceContents:
    """Return the contents of a source that does not depend on the target, for `target`.

    The compiler of a target may refuse the options of a launch. This launch ends the list, as it would end
    the script.
    """
    repeated, problem = _repeat(found, target, assumed)
    return replace(
        found,
        launches=[
            describe_launch(launch.info.index, recorded, launch.kernel)
            for launch, recorded in zip(found.launches, repeated, strict=False)
        ],
        diagnostics=[*found.diagnostics, problem] if problem is not None else found.diagnostics,
    )


def _repeat(
    found: SourceContents, target: Target, assumed: Mapping[str, int]
) -> tuple[list[RecordedLaunch], Diagnostic | None]:
    """Make all launches again. Return the launches before the first that fails, and its error."""
    repeated: list[RecordedLaunch] = []
    with _repeating(target, assumed) as recorder:
        for launch in found.launches:
            original, line = launch.recorded, launch.info.line
            if original.call is None:
                return repeated, Diagnostic("error", "The launch cannot be made again.", line=line)
            original.jit_function.device_caches.clear()  # They contain the target.
            recorder.config = original.config
            try:
                original.call.make()
            except _ERRORS as error:
                return repeated, Diagnostic("error", describe(error), line=line)
            repeated.append(replace(recorder.launches[-1], grid=original.grid, line=original.line))
            if len(recorder.launches) != len(repeated):
                return repeated, Diagnostic("error", "The launch is not alone in its call.", line=line)
    return repeated, None


@contextlib.contextmanager
def _repeating(target: Target, assumed: Mapping[str, int]) -> Iterator[Recorder]:
    """Record launches on a fake GPU. What they print has been printed before."""
    with contextlib.redirect_stdout(io.StringIO()), fake_gpu(target, assumed) as recorder:
        yield recorder


def _are_equal(one: RecordedLaunch, other: RecordedLaunch) -> bool:
    return (
        one.jit_function is other.jit_function
        and (one.signature, one.constexprs, one.attrs, one.options)
        == (other.signature, other.constexprs, other.attrs, other.options)
        and one.config == other.config
    )
