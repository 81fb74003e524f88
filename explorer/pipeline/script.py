"""Runs the user's source as a script, and says what goes wrong in it on the user's line."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import ModuleType, TracebackType
from typing import Any

from explorer.model import Diagnostic, Severity
from explorer.pipeline import user_source
from explorer.pipeline.errors import UserError
from explorer.pipeline.fake_gpu import NeedsValue, Recorder, TooManyLaunches
from explorer.pipeline.output import Output
from explorer.pipeline.user_source import SOURCE_FILE


class Finished(BaseException):
    """Whoever has made the script run has seen enough of it."""


class Script:
    """One run of the user's code, top-level statement by top-level statement where one fails."""

    def __init__(self, tree: ast.Module, recorder: Recorder, name: str = "__main__") -> None:
        """Prepare a module called `name`: "__main__" for what starts the script itself to run, too."""
        self._tree = tree
        self._recorder = recorder
        self.diagnostics: list[Diagnostic] = []
        self.output = Output()
        self._skipped: set[int] = set()
        self._goes_on = True
        self._module = ModuleType(name)
        self.namespace = self._module.__dict__
        self.namespace["__file__"] = SOURCE_FILE
        self.namespace[user_source.SKIPPING] = self

    def __enter__(self) -> None:
        """Enter a statement that only looks at results."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: TracebackType | None) -> bool:
        """Skip the rest of that statement if it needs a value that is not known."""
        if not isinstance(error, NeedsValue):
            return False
        self._skipped.add(user_source.user_line())
        return True

    def run(self, goes_on: bool = True) -> None:
        """Run the script; with `goes_on`, what can still be run after a failure, too."""
        self._goes_on = goes_on
        with _as_main(self._module), self.output.captured():
            self._run(self._tree.body)
        if self._skipped:
            numbers = ", ".join(map(str, sorted(self._skipped)[:8]))
            lines = f"line {numbers}" if len(self._skipped) == 1 else f"lines {numbers}"
            message = "Nothing is computed here: checks and prints that need results are skipped"
            self.diagnostics.append(Diagnostic("note", f"{message} ({lines}).", line=min(self._skipped)))

    def call(self, function: Callable[[], Any]) -> None:
        """Call `function` as the script would; what goes wrong in it is among the diagnostics."""
        with _as_main(self._module), self.output.captured():
            try:
                function()
            except Finished:
                return
            except BaseException as error:  # user code may raise anything, and it has a line
                self._report(error, "error", describe(error), hint_for(error))

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
        except Finished:
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
            self._report(error, "error", describe(error), hint_for(error))
            failure = error
        if failure is not None and self._goes_on:
            failed = _top_level_line(failure.__traceback__)
            self.go_on([statement for statement in statements if statement.lineno > failed], failure)

    def go_on(self, statements: list[ast.stmt], failure: BaseException) -> None:
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
        place = place_of(error)
        if isinstance(error, UserError):
            own = error.diagnostic
            self.diagnostics.append(own if own.line else replace(own, line=place.line))
            return
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


def place_of(error: BaseException | None) -> Diagnostic:
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


def describe(error: BaseException) -> str:
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


def hint_for(error: BaseException) -> str:
    if isinstance(error, ImportError):
        packages = [
            name for name in ("torch", "triton", "numpy", "packaging") if importlib.util.find_spec(name)
        ]
        return (
            f"There are the standard library and {', '.join(packages)}. Remove the import, or paste what "
            "the kernel needs from it; a kernel can also be compiled by a signature, without the script."
        )
    return ""
