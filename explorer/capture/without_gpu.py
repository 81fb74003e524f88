"""Runs a program against the fake GPU: its kernels are compiled, and its launches compute nothing."""

from __future__ import annotations

import atexit
import sys
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from explorer.capture.recorder import Recorder


def use_fake_gpu(target_name: str, recorder: Recorder) -> None:
    """Make PyTorch and Triton use a fake GPU until the process ends.

    Raises:
        UnknownTarget: there is no such target.
    """
    from triton.compiler import compiler
    from triton.compiler.compiler import ASTSource
    from triton.experimental.gluon._runtime import GluonASTSource

    from explorer.model.hardware import find_target
    from explorer.pipeline import fake_gpu as fake
    from explorer.pipeline.fake_gpu.runtime import FakeKernel, RecordedLaunch

    target = find_target(target_name)
    compile_kernel = compiler.compile  # the recorder's, which also sees failures

    class CompiledKernel(FakeKernel):
        """A kernel that is compiled as on a GPU, and launched nowhere."""

        def __init__(self, launches: Any, launch: RecordedLaunch) -> None:
            super().__init__(launches, launch)
            source_class = GluonASTSource if launch.jit_function.is_gluon() else ASTSource
            source = source_class(launch.jit_function, launch.signature, launch.constexprs, launch.attrs)
            compiled = compile_kernel(source, target=launches.target, options=launch.options)
            self.asm, self.metadata, self.hash = compiled.asm, compiled.metadata, compiled.hash

        def run(self, *_arguments: Any) -> None:
            recorder.launched(self.hash)

    class Launches(fake.Recorder):
        def make_kernel(self, launch: RecordedLaunch) -> FakeKernel:
            return CompiledKernel(self, launch)

    stack = ExitStack()
    program = fake.CompiledProgram()
    stack.callback(_report_failures, program.failures)
    launches = stack.enter_context(fake.fake_gpu(target, program=program))
    launches.__class__ = Launches
    launches.limit = sys.maxsize
    # Registered after the recorder's exit function, and so called before it.
    atexit.register(stack.close)
    _explain_missing_values(fake.NeedsValue)


def _report_failures(failures: list[tuple[str, Exception]]) -> None:
    """Report which functions were executed without `torch.compile`, and why."""
    for name, error in failures:
        reason = str(error).strip().partition("\n")[0]
        print(
            f"triton-explorer: {name} is executed without torch.compile, which fails here: "
            f"{type(error).__name__}: {reason}",
            file=sys.stderr,
        )


def _explain_missing_values(needs_value: type[BaseException]) -> None:
    """Explain why a program stops that reads a value that only a GPU could compute."""
    show = sys.excepthook

    def show_with_reason(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        show(kind, error, trace)
        if issubclass(kind, needs_value):
            print(
                f"triton-explorer: the program needs {error}, which the fake GPU does not compute. "
                "The kernels until here are captured.",
                file=sys.stderr,
            )

    sys.excepthook = show_with_reason
