"""Selects one launch of a script at the moment when it is made.

Launches are numbered as in the compilation (`fake_gpu.runtime.Recorder`): each kernel with each
specialization once, autotuned kernels with the first configuration. The wanted launch is made with the
configuration and the options of the request.
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
class WantedLaunch:
    """The launch to select: the first launch of `kernel`, or number `index`; and how to make it.

    `options` are compiler options and constexpr arguments.
    """

    kernel: str
    index: int | None = None
    config: int | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SelectedLaunch:
    """A launch that is being made. `arguments` are the arguments of the kernel, in the order of its
    parameters.

    `compiled` is the compiled kernel on a GPU, or its replacement in the interpreter.
    """

    launch: RecordedLaunch
    grid: tuple[int, int, int]
    arguments: tuple[Any, ...]
    compiled: Any


class _OtherConfiguration(BaseException):
    """The wanted launch is about to be made with another configuration or other options than requested."""


class LaunchSelector(Recorder):
    """Records launches that are really made, and passes the wanted launch to `on_selected` before it is made.

    While `is_open` is false, no launch is selected: the script makes additional launches.
    """

    def __init__(
        self, target: GPUTarget, wanted: WantedLaunch, on_selected: Callable[[SelectedLaunch], None]
    ) -> None:
        super().__init__(target, limit=sys.maxsize)
        self.wanted = wanted
        self.selected: SelectedLaunch | None = None
        self.has_launched = False
        self.is_open = True
        self._on_selected = on_selected
        self._is_final = False

    def call(
        self, interface: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], run: Callable[[], Any]
    ) -> Any:
        """Execute a call. Repeat it if it would make the wanted launch with other settings than requested."""
        if self.is_calling:
            return run()
        try:
            result = super().call(interface, arguments, keywords, run)
        except _OtherConfiguration:
            self._is_final = True
            self.config, self.overrides = self.wanted.config, dict(self.wanted.options)
            try:
                result = super().call(interface, arguments, keywords, run)
            finally:
                self._is_final = False
                self.config, self.overrides = None, {}
        self.finish_call()
        return result

    def make_again(self, selected: SelectedLaunch) -> SelectedLaunch:
        """Repeat the call of a selected launch as requested. Return the launch that it makes."""
        call = selected.launch.call
        if call is not None:
            self.call(call.interface, call.arguments, call.keywords, call.make)
        if self.selected is None:
            raise user_error(
                f"The script launches a compiled form of {self.wanted.kernel}: "
                "this launch cannot be made in another way.",
                selected.launch.line,
                "Launch the kernel itself: kernel[grid](…).",
            )
        return self.selected

    def finish_call(self) -> None:
        """Record that a call has ended without an error."""
        self.has_launched = self.selected is not None

    def launching(self, launch: RecordedLaunch, grid: Any, arguments: tuple[Any, ...], compiled: Any) -> None:
        """Record that `launch` is about to be made. Must be called before each launch."""
        if self.selected is not None or not self.is_open:
            return
        if not (self._is_final or self._is_wanted(launch)):
            return
        if not self._is_final and self.is_calling and self._must_differ(launch):
            raise _OtherConfiguration
        sizes = (*(int(size) for size in grid), 1, 1)
        # Another call may have launched the same specialization before.
        launch = replace(launch, call=self._call or launch.call, line=user_line())
        self.selected = SelectedLaunch(launch, (sizes[0], sizes[1], sizes[2]), arguments, compiled)
        self._on_selected(self.selected)
        if not self.is_calling:  # The user's code launches a kernel that it compiled before.
            self.has_launched = True

    def _is_wanted(self, launch: RecordedLaunch) -> bool:
        if launch.jit_function.__name__ != self.wanted.kernel:
            return False
        index = self.wanted.index
        return index is None or (index < len(self.launches) and self.launches[index] is launch)

    def _must_differ(self, launch: RecordedLaunch) -> bool:
        return bool(self.wanted.options) or self.wanted.config not in (None, launch.config)
