"""Makes the launches of an executed script again: with other options, or for another GPU of the vendor.

In: the contents of a source. Out: a recorded launch, or the contents with the launches for another target.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from dataclasses import replace

from explorer.model import Request
from explorer.model.hardware import Target
from explorer.pipeline.errors import NeedsValue, user_error
from explorer.pipeline.fake_gpu import RecordedLaunch, Recorder, TooManyLaunches, fake_gpu
from explorer.pipeline.module import FoundLaunch, SourceContents, describe_launch
from explorer.pipeline.script import stopping_after

#: The limit on making all launches again. Beyond it, the script is executed again.
_REPEAT_SECONDS = 1.0


def repeat_launch(launch: FoundLaunch, request: Request, target: Target) -> RecordedLaunch:
    """Make a launch again, with the configuration and the options of a request.

    Raises:
        UserError: the launch fails.
    """
    call = launch.recorded.call
    assert call is not None
    with _repeating(target, request.assumed) as recorder:
        recorder.config = request.config if request.config is not None else launch.recorded.config
        recorder.overrides = {**request.options, **request.constants}
        try:
            call.make()
        except (Exception, NeedsValue, TooManyLaunches) as error:
            if not recorder.launches:
                raise user_error(f"{type(error).__name__}: {error}", launch.info.line) from error
    return recorder.launches[0]


def depends_on_target(found: SourceContents, target: Target, assumed: Mapping[str, int]) -> bool:
    """Return whether the script could make other launches on another GPU of the vendor.

    The launches are made again for `target`, which must change nothing. A GPU of another vendor is out of the
    question: a script that reads `torch.version.hip` cannot be noticed, and options differ.
    """
    repeated = None if found.reads_target else _repeat(found, target, assumed)
    if repeated is None:
        return True
    try:
        return not all(map(_are_equal, repeated, (launch.recorded for launch in found.launches)))
    except BaseException:  # The arguments may be objects of user code, which compares them.
        return True


def for_target(found: SourceContents, target: Target, assumed: Mapping[str, int]) -> SourceContents | None:
    """Return the contents of a source that does not depend on the target, for `target`.

    Return None if the compiler of the target refuses a launch: the script has to be executed for the target.
    """
    repeated = _repeat(found, target, assumed)
    if repeated is None:
        return None
    launches = [
        describe_launch(launch.info.index, recorded, launch.kernel)
        for launch, recorded in zip(found.launches, repeated, strict=True)
    ]
    return replace(found, launches=launches)


def _repeat(found: SourceContents, target: Target, assumed: Mapping[str, int]) -> list[RecordedLaunch] | None:
    """Make all launches again. Return None if a call fails, or does not make exactly one launch."""
    repeated: list[RecordedLaunch] = []
    try:
        with _repeating(target, assumed) as recorder, stopping_after(_REPEAT_SECONDS):
            for launch in found.launches:
                original = launch.recorded
                if original.call is None:
                    return None
                original.jit_function.device_caches.clear()  # They contain the target.
                recorder.config = original.config
                original.call.make()
                if len(recorder.launches) != len(repeated) + 1:
                    return None
                repeated.append(replace(recorder.launches[-1], grid=original.grid, line=original.line))
    except BaseException:  # User code may raise anything.
        return None
    return repeated


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
