"""Takes one launch of the many that a script makes, at the moment when it is made.

Launches are numbered as the compiler's side numbers them (`fake_gpu.runtime.Recorder`): each kernel with each
specialisation once, autotuned ones with the first configuration. The one that is wanted is made with the
configuration and the options that are asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from triton.backends.compiler import GPUTarget

from explorer.pipeline.errors import user_error
from explorer.pipeline.fake_gpu.runtime import RecordedLaunch, Recorder
from explorer.pipeline.user_source import user_line


@dataclass(frozen=True)
class Wanted:
    """Which launch to take: the first of `kernel`, or number `index` of all, and how to make it."""

    kernel: str
    index: int | None = None
    config: int | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Taken:
    """A launch that is being made: `arguments` are all of the kernel's, in the order of its parameters.

    `compiled` is what Triton has made of the kernel, for a GPU, or what stands for it in the interpreter.
    """

    launch: RecordedLaunch
    grid: tuple[int, int, int]
    arguments: tuple[Any, ...]
    compiled: Any


class _AnotherWay(BaseException):
    """The wanted launch is about to be made, with another configuration or options than asked for."""


class Taker(Recorder):
    """Records launches that are really made, and hands the wanted one to `take` before it is.

    Without `is_open`, none is the wanted one: the script makes launches of its own beside.
    """

    def __init__(self, target: GPUTarget, wanted: Wanted, take: Callable[[Taken], None]) -> None:
        super().__init__(target, limit=sys.maxsize)
        self.wanted = wanted
        self.taken: Taken | None = None
        self.has_launched = False
        self.is_open = True
        self._take = take
        self._is_final = False

    def call(
        self, interface: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], run: Callable[[], Any]
    ) -> Any:
        """Do a call, and once more if it would make the wanted launch in another way than it is wanted."""
        if self.is_calling:
            return run()
        try:
            result = super().call(interface, arguments, keywords, run)
        except _AnotherWay:
            self._is_final = True
            self.config, self.overrides = self.wanted.config, dict(self.wanted.options)
            try:
                result = super().call(interface, arguments, keywords, run)
            finally:
                self._is_final = False
                self.config, self.overrides = None, {}
        self.finish_call()
        return result

    def make_again(self, taken: Taken) -> Taken:
        """Make the call of a launch taken before in the way that is wanted; return what that makes."""
        call = taken.launch.call
        if call is not None:
            self.call(call.interface, call.arguments, call.keywords, call.make)
        if self.taken is None:
            raise user_error(
                f"The script launches what {self.wanted.kernel} was compiled to before: "
                "this launch cannot be made in another way.",
                taken.launch.line,
                "Launch the kernel itself: kernel[grid](…).",
            )
        return self.taken

    def finish_call(self) -> None:
        """Note that a call has ended well."""
        self.has_launched = self.taken is not None

    def launching(self, launch: RecordedLaunch, grid: Any, arguments: tuple[Any, ...], compiled: Any) -> None:
        """Note that `launch` is about to be made; must be called before each."""
        if self.taken is not None or not self.is_open:
            return
        if not (self._is_final or self._is_wanted(launch)):
            return
        if not self._is_final and self.is_calling and self._must_differ(launch):
            raise _AnotherWay
        sizes = (*(int(size) for size in grid), 1, 1)
        # The same specialisation may have been launched before, by another call.
        launch = replace(launch, call=self._call or launch.call, line=user_line())
        self.taken = Taken(launch, (sizes[0], sizes[1], sizes[2]), arguments, compiled)
        self._take(self.taken)
        if not self.is_calling:  # the user's code launches what it has compiled before
            self.has_launched = True

    def _is_wanted(self, launch: RecordedLaunch) -> bool:
        if launch.jit_function.__name__ != self.wanted.kernel:
            return False
        index = self.wanted.index
        return index is None or (index < len(self.launches) and self.launches[index] is launch)

    def _must_differ(self, launch: RecordedLaunch) -> bool:
        return bool(self.wanted.options) or self.wanted.config not in (None, launch.config)
