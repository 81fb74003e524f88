"""Turns the user's source into kernels and launches.

In: a source and a target. Out: the kernels that it defines, the launches that running it makes, and
what went wrong, each with the objects that compiling needs.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import ModuleType, TracebackType
from typing import Any

from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from explorer.model import Diagnostic, Kernel, Launch, Severity
from explorer.pipeline import user_source
from explorer.pipeline.arguments import describe_arguments, shown_options, to_scalar
from explorer.pipeline.errors import UserError
from explorer.pipeline.fake_gpu import NeedsValue, RecordedLaunch, Recorder, TooManyLaunches, fake_gpu
from explorer.pipeline.functions import definition_line
from explorer.pipeline.output import Output
from explorer.pipeline.parameters import describe_kernel, helper_names
from explorer.pipeline.targets import Target
from explorer.pipeline.user_source import SOURCE_FILE


@dataclass(frozen=True)
class FoundKernel:
    """A kernel and its objects. `interface` is the outermost of its decorators' objects."""

    info: Kernel
    jit_function: Any
    interface: Any
    autotuner: Any = None


@dataclass(frozen=True)
class FoundLaunch:
    """A launch and what the just-in-time compiler made of its arguments."""

    info: Launch
    kernel: FoundKernel
    recorded: RecordedLaunch


@dataclass
class Found:
    """What a source holds. `namespace` holds its global names, `output` what running it has printed."""

    kernels: list[FoundKernel] = field(default_factory=list)
    launches: list[FoundLaunch] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    namespace: dict[str, Any] = field(default_factory=dict)
    output: str = ""


def load(source: str, target: Target) -> Found:
    """Run `source` as a script against a fake GPU of `target`.

    Raises nothing for what is wrong with the source: that is in `diagnostics`.
    """
    found = Found()
    source = user_source.normalize(source)
    try:
        tree = user_source.parse(source)
    except UserError as error:
        found.diagnostics.append(error.diagnostic)
        return found
    user_source.register(source)
    with fake_gpu(target) as recorder:
        script = _Script(tree, recorder)
        script.run()
    found.diagnostics += script.diagnostics
    found.namespace, found.output = script.namespace, script.output.getvalue()
    _collect(found, tree, recorder.launches)
    return found


class _Script:
    """One run of the user's code, top-level statement by top-level statement where one fails."""

    def __init__(self, tree: ast.Module, recorder: Recorder) -> None:
        self._tree = tree
        self._recorder = recorder
        self.diagnostics: list[Diagnostic] = []
        self.output = Output()
        self._skipped: set[int] = set()
        self._module = ModuleType("__main__")
        self.namespace = self._module.__dict__
        self.namespace["__file__"] = SOURCE_FILE
        self.namespace[user_source.SKIPPING] = self

    def __enter__(self) -> None:
        """Enter a statement that only looks at results."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: TracebackType | None) -> bool:
        """Skip the rest of that statement if it needs a value that is not known."""
        if not isinstance(error, NeedsValue):
            return False
        self._skipped.add(self._recorder.user_line())
        return True

    def run(self) -> None:
        with _as_main(self._module), self.output.captured():
            self._run(self._tree.body)
        if self._skipped:
            numbers = ", ".join(map(str, sorted(self._skipped)[:8]))
            lines = f"line {numbers}" if len(self._skipped) == 1 else f"lines {numbers}"
            message = "Nothing is computed here: checks and prints that need results are skipped"
            self.diagnostics.append(Diagnostic("note", f"{message} ({lines}).", line=min(self._skipped)))

    def _run(self, statements: list[ast.stmt]) -> None:
        """Run `statements`; where one fails, do of the rest what can be done."""
        failure: BaseException | None = None
        try:
            code = user_source.compile_statements(statements)
            exec(code, self.namespace)  # noqa: S102  the user's code is what this process is for
        except SystemExit as error:
            if isinstance(error.code, int | str) and error.code != 0:
                message = (
                    error.code if isinstance(error.code, str) else f"The script exits with {error.code}."
                )
                self._report(error, "error", message, "The log has what it printed.")
            return
        except TooManyLaunches as error:
            message = f"Only the first {self._recorder.limit} different launches are kept."
            self._report(error, "note", message)
            failure = error
        except NeedsValue as error:
            message = (
                f"This needs {error}, and nothing is computed here: the rest of the statement is skipped."
            )
            self._report(error, "note", message, "The launches before this line are kept.")
            failure = error
        except BaseException as error:  # user code may raise anything, and it has a line
            self._report(error, "error", _describe(error), _hint(error))
            failure = error
        if failure is not None:
            failed = _top_level_line(failure.__traceback__)
            self._go_on([statement for statement in statements if statement.lineno > failed], failure)

    def _go_on(self, statements: list[ast.stmt], failure: BaseException) -> None:
        """Run what does not depend on the statement that failed.

        After one that only lacked a value that is everything, and after an error what defines
        kernels, so that they are listed.
        """
        defining = (
            ast.Import,
            ast.ImportFrom,
            ast.FunctionDef,
            ast.ClassDef,
            ast.Assign,
            ast.AnnAssign,
            ast.Try,
        )
        if not isinstance(failure, NeedsValue):
            self._recorder.limit = 0
            statements = [statement for statement in statements if isinstance(statement, defining)]
        for statement in statements:
            with contextlib.suppress(BaseException):
                exec(user_source.compile_statements([statement]), self.namespace)  # noqa: S102

    def _report(self, error: BaseException, severity: Severity, message: str, hint: str = "") -> None:
        place = _place(error)
        self.diagnostics.append(replace(place, severity=severity, message=message, hint=hint))


@contextlib.contextmanager
def _as_main(module: ModuleType) -> Iterator[None]:
    """Be the main program, without arguments, for as long as the user's code runs."""
    previous_module, previous_arguments = sys.modules["__main__"], sys.argv
    sys.modules["__main__"], sys.argv = module, [SOURCE_FILE]
    try:
        with warnings.catch_warnings():
            # The user hears of their own code, not of what libraries say about each other.
            warnings.simplefilter("ignore")
            warnings.filterwarnings("default", module="__main__")
            yield
    finally:
        sys.modules["__main__"], sys.argv = previous_module, previous_arguments


# --- what went wrong --------------------------------------------------------------------------


def _user_frames(error: BaseException | None) -> list[tuple[Any, int]]:
    frames = []
    trace = error.__traceback__ if error is not None else None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == SOURCE_FILE:
            frames.append((trace.tb_frame.f_code, trace.tb_lasti))
        trace = trace.tb_next
    return frames


def _place(error: BaseException | None) -> Diagnostic:
    """Return a diagnostic without words at the user's innermost line."""
    if isinstance(error, SyntaxError) and error.filename == SOURCE_FILE:
        return Diagnostic("error", "", line=error.lineno or 0, column=error.offset or 0)
    frames = _user_frames(error)
    if not frames:
        return Diagnostic("error", "")
    code, instruction = frames[-1]
    line, end_line, column, end_column = list(code.co_positions())[instruction // 2]
    return Diagnostic(
        "error",
        "",
        line=line or code.co_firstlineno,
        column=0 if column is None else column + 1,
        end_line=end_line or 0,
        end_column=0 if end_column is None else end_column + 1,
    )


def _top_level_line(trace: TracebackType | None) -> int:
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == SOURCE_FILE and code.co_name == "<module>":
            return trace.tb_lineno
        trace = trace.tb_next
    return sys.maxsize


def _describe(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        return f"There is no module {error.name if package in sys.modules else package!r} here."
    try:
        text = str(error)
    except BaseException:  # the user's own exception may not even have a text
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _hint(error: BaseException) -> str:
    if isinstance(error, ImportError):
        packages = [
            name for name in ("torch", "triton", "numpy", "packaging") if importlib.util.find_spec(name)
        ]
        return (
            f"There are the standard library and {', '.join(packages)}. Remove the import, or paste what "
            "the kernel needs from it; a kernel can also be compiled by a signature, without the script."
        )
    return ""


# --- what was found ---------------------------------------------------------------------------


def _collect(found: Found, tree: ast.Module, launches: list[RecordedLaunch]) -> None:
    """Order the kernels of the namespace and of the launches by line, and describe both."""
    interfaces: dict[int, tuple[Any, Any]] = {}
    for value in list(found.namespace.values()):
        jit_function = _jit_function_of(value)
        if jit_function is not None and jit_function.fn.__code__.co_filename == SOURCE_FILE:
            current = interfaces.get(id(jit_function))
            if current is None or current[1] is jit_function:
                interfaces[id(jit_function)] = (jit_function, value)
    launched = set()
    for launch in launches:
        launched.add(id(launch.jit_function))
        interface = launch.call.interface if launch.call is not None else launch.jit_function
        interfaces.setdefault(id(launch.jit_function), (launch.jit_function, interface))
    helpers = helper_names(tree) | {
        constant.__name__
        for launch in launches
        for constant in launch.constexprs.values()
        if isinstance(constant, JITFunction)
    }
    candidates = [
        entry
        for key, entry in interfaces.items()
        if key in launched or entry[0].__name__ not in helpers or entry[0] is not entry[1]
    ] or list(interfaces.values())
    candidates.sort(key=lambda entry: definition_line(entry[0]))
    kernels = {}
    for jit_function, interface in candidates:
        autotuner = _autotuner_of(interface)
        info = describe_kernel(jit_function, autotuner, definition_line(jit_function))
        kernels[id(jit_function)] = FoundKernel(info, jit_function, interface, autotuner)
    found.kernels = list(kernels.values())
    found.launches = [
        _describe_launch(index, launch, kernels[id(launch.jit_function)])
        for index, launch in enumerate(launches)
    ]


def _describe_launch(index: int, launch: RecordedLaunch, kernel: FoundKernel) -> FoundLaunch:
    info = Launch(
        index,
        kernel.info.name,
        launch.line,
        launch.grid,
        describe_arguments(launch),
        {name: to_scalar(value) for name, value in shown_options(launch.options).items()},
        launch.config,
    )
    return FoundLaunch(info, kernel, launch)


def _jit_function_of(value: Any) -> Any:
    """Return the JITFunction under decorators such as `autotune`, None if there is none."""
    for _ in range(16):
        if isinstance(value, JITFunction):
            return value
        if not hasattr(type(value), "run") or not hasattr(value, "fn"):
            return None
        value = value.fn
    return None


def _autotuner_of(interface: Any) -> Any:
    while not isinstance(interface, JITFunction):
        if isinstance(interface, Autotuner):
            return interface
        interface = interface.fn
    return None
