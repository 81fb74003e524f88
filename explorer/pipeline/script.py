"""Executes the user's source as a script, and reports errors on the user's line."""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import ModuleType, TracebackType
from typing import Any

from explorer.model import Diagnostic, Severity
from explorer.pipeline import user_source
from explorer.pipeline.errors import UserError
from explorer.pipeline.fake_gpu import CompiledProgram, NeedsValue, Recorder, TooManyLaunches
from explorer.pipeline.import_stubs import HINT, NeedsModule, stub_attributes
from explorer.pipeline.missing_modules import missing_modules
from explorer.pipeline.output import Output
from explorer.pipeline.script_tests import (
    MissingFixture,
    Skipped,
    TestCall,
    chosen_words,
    describe_calls,
    find_tests,
    stand_in_for_pytest,
)
from explorer.pipeline.time_limit import own_seconds, script_seconds
from explorer.pipeline.user_files import package_of, user_files
from explorer.pipeline.user_source import SOURCE_FILE

#: Packages that scripts use besides the standard library.
PACKAGES = ("torch", "triton", "numpy", "packaging", "einops", "tabulate")

#: The most notes about assumed numbers.
MOST_ASSUMED = 8

_ARGUMENTS_HINT = (
    "Enter the script's arguments in the launch panel, or on the command line with --script-args, such as "
    '--script-args "--rows 64".'
)

#: A timer of less than a microsecond would be none.
_SHORTEST_TIMER_SECONDS = 0.01
#: The time in which code that was stopped must have ended. Otherwise it is stopped again.
_END_SECONDS = 1.0


class TooLong(BaseException):
    """The user's code exceeds its time limit."""


class StopScript(BaseException):
    """Stops the script: the caller has the information it needs."""


class Script:
    """One execution of the user's code. After a failure, it continues by top-level statements."""

    def __init__(
        self,
        tree: ast.Module,
        recorder: Recorder,
        name: str = "__main__",
        files: Mapping[str, str] | None = None,
        path: str = "",
        program: CompiledProgram | None = None,
        arguments: Sequence[str] = (),
    ) -> None:
        """Create a module called `name`. With "__main__", the main part of the script is executed, too.

        `files` are the texts of the files that the script may import, by their paths, and `path` is the path
        of the script. `program` gets the output of `torch.compile`. `arguments` are the script's own.
        """
        self._tree = tree
        self._recorder = recorder
        self.diagnostics: list[Diagnostic] = []
        self.output = Output()
        self._skipped: set[int] = set()
        self._goes_on = True
        self._is_over = False
        self._set_calling_tests: Callable[[bool], None] = lambda _value: None
        self._module = ModuleType(name)
        self.namespace = self._module.__dict__
        #: The global names of the script and of the modules that were pasted together with it.
        self.all_names = [self.namespace]
        self.namespace["__file__"] = SOURCE_FILE
        self.namespace[user_source.SKIPPING] = self
        self._files = files or {}
        self._path = path
        self._program = program
        self._arguments = arguments
        if package := package_of(tree, path):
            self.namespace["__package__"] = package

    def __enter__(self) -> None:
        """Enter a statement that only checks or prints results."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: TracebackType | None) -> bool:
        """Skip the rest of that statement if it needs an unknown value other than for a launch."""
        if not isinstance(error, NeedsValue) or error.stops_launch:
            return False
        self._skipped.add(user_source.user_line())
        return True

    def run(self, goes_on: bool = True) -> None:
        """Execute the script. With `goes_on`, continue after a failure with what can still run."""
        self._goes_on = goes_on
        with self._executing(), stopping_after(script_seconds()) if goes_on else contextlib.nullcontext():
            self._run(self._tree.body)
            self._call_tests()
        if self._skipped:
            message = "The fake GPU computes nothing: checks and prints that need results are skipped"
            lines = _listed_lines(sorted(self._skipped)[:8])
            self.diagnostics.append(Diagnostic("note", f"{message} ({lines}).", line=min(self._skipped)))
        for number in list(self._recorder.assumed.values())[:MOST_ASSUMED]:
            words = "as requested" if number.is_given else "is assumed"
            message = f"A number is read from a tensor that only a GPU could compute. {number.value} {words}."
            hint = (
                f"Change it in the launch panel, or on the command line with --assume {number.place}=NUMBER."
            )
            self.diagnostics.append(Diagnostic("note", message, line=number.line, hint=hint))

    def call(self, function: Callable[[], Any]) -> None:
        """Call `function` as the script would. Its errors are added to the diagnostics."""
        with self._executing():
            try:
                function()
            except StopScript:
                return
            except BaseException as error:  # User code may raise any exception. The diagnostic has its line.
                self._report(error, "error", describe(error), hint_for(error))

    @contextlib.contextmanager
    def _executing(self) -> Iterator[None]:
        """Make the module the main program, and its imports importable. Note missing modules."""
        names = {user_source.SKIPPING: self}
        with (
            _as_main(self._module, self._arguments),
            self.output.capture(),
            user_files(self._files, names, self._rest_of_package) as finder,
            missing_modules() as notes,
            stand_in_for_pytest() as self._set_calling_tests,
        ):
            yield
            self.all_names += finder.pasted
            self.diagnostics += notes()

    def _rest_of_package(self, package: str, error: Exception) -> Callable[[str], Any]:
        """Report the error that ended a package's `__init__.py`. Return the source of its other names."""
        message = f"{describe(error)} The package {package} keeps what it had defined."
        self.diagnostics.append(replace(diagnostic_at(error), severity="warning", message=message))
        return stub_attributes(package, f"Its __init__.py ended with {type(error).__name__}.")

    def _run(self, statements: list[ast.stmt]) -> None:
        """Execute `statements`. If one fails, continue with what can still be executed."""

        def execute() -> None:
            code = user_source.compile_statements(statements)
            exec(code, self.namespace)  # noqa: S102  the user's code is what this process is for

        failure = self._reporting(execute)
        self._is_over = failure is not None and not isinstance(failure, NeedsValue)
        has_ended = isinstance(failure, StopScript | TooLong)
        if failure is not None and not has_ended and self._goes_on:
            failed = _top_level_line(failure.__traceback__)
            self.go_on([statement for statement in statements if statement.lineno > failed], failure)

    def _call_tests(self) -> None:
        """Call the tests of a script that makes no launch by itself. An error of one does not end others."""
        makes_launches = self._recorder.launches or (self._program is not None and self._program.graphs)
        if self._is_over or makes_launches or self._module.__name__ != "__main__":
            return
        called: list[TestCall] = []
        tests: list[TestCall] = []
        words = chosen_words(self._arguments)

        def find() -> None:
            tests.extend(find_tests(self.namespace, words))
            if words and not tests and find_tests(self.namespace):
                message = f"No test has {' and '.join(words)} in its name and parameters."
                hint = (
                    "Shorten the text after -k in the script's arguments. Without it, a note lists the calls."
                )
                self.diagnostics.append(Diagnostic("warning", message, hint=hint))

        self._reporting(find, "warning", "The tests cannot be called: ")
        self._set_calling_tests(True)
        for test in tests:
            try:
                failure = self._reporting(test.make, "warning", f"{test}: ")
            except Skipped:
                continue
            except MissingFixture as error:
                message = f"{test.name} is not called: the script does not define its fixture {error}."
                line = user_source.number_of(SOURCE_FILE, test.function.__code__.co_firstlineno)
                if test.name not in {other.name for other in called}:
                    self.diagnostics.append(Diagnostic("note", message, line=line))
                continue
            called.append(test)
            if isinstance(failure, StopScript | TooManyLaunches | TooLong):
                break
        self._set_calling_tests(False)
        if called:
            hint = (
                "The launches of each call are in the list of launches. The script's arguments choose other "
                'calls: -k "test_name size=64".'
            )
            line = user_source.number_of(SOURCE_FILE, called[0].function.__code__.co_firstlineno)
            self.diagnostics.append(Diagnostic("note", describe_calls(called), line=line, hint=hint))

    def _reporting(
        self, execute: Callable[[], None], severity: Severity = "error", where: str = ""
    ) -> BaseException | None:
        """Execute the user's code, report its failure, and return it. `where` begins its message."""
        try:
            execute()
        except (Skipped, MissingFixture):
            raise
        except SystemExit as error:
            if not isinstance(error.code, int | str) or error.code == 0:
                return None
            if refusal := _refusal_of_arguments(error):
                message, hint = f"The script's arguments: {refusal}.", _ARGUMENTS_HINT
            else:
                is_text = isinstance(error.code, str)
                message = str(error.code) if is_text else f"The script exited with status {error.code}."
                hint = "See the log for its output."
            self._report(error, severity, where + message, hint)
            return error
        except StopScript as error:
            return error
        except TooManyLaunches as error:
            message = (
                f"The script makes more launches than the limit. The first {self._recorder.limit} are kept."
            )
            self._report(error, "note", message)
            return error
        except TooLong as error:
            self._report_stop(error)
            return error
        except NeedsModule as error:
            self._report(error, severity, where + str(error), HINT)
            return error
        except NeedsValue as error:
            message = f"This needs {error}, which the fake GPU does not compute. The rest is skipped."
            kept = "The launches before this line are kept." if self._recorder.launches else ""
            self._report(error, "note", where + message, kept)
            return error
        except BaseException as error:  # User code may raise any exception. The diagnostic has its line.
            self._report(error, severity, where + describe(error), hint_for(error))
            return error
        return None

    def go_on(self, statements: list[ast.stmt], failure: BaseException) -> None:
        """Execute the statements that do not depend on the failed statement.

        If the statement only needed an unknown value, these are all statements after it. After an error,
        these are the statements that define kernels, so that the kernels are listed.
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
            # The first failure is reported. Its consequences are not.
            with contextlib.suppress(BaseException):
                exec(user_source.compile_statements([statement]), self.namespace)  # noqa: S102  the user's code

    def _report_stop(self, error: TooLong) -> None:
        """Report that the time of the script is over. The results until then are kept."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        stopped = f"The script was stopped after {script_seconds():g} seconds."
        if self._program is None:
            found = len(self._recorder.launches)
            kept = "Its launches until then are kept." if found else "It had made no launch."
            hint = "Reduce loops and sizes."
        else:
            found = self._program.kernel_count
            kept = "The kernels until then are kept." if found else "torch.compile had not written a kernel."
            target = self._recorder.target
            architecture = f"{target.backend}:{target.arch}"
            hint = (
                "Record all kernels where no time limit applies: triton-explorer capture --target "
                f"{architecture} --output kernels -- python {self._path or 'program.py'}. Show them with "
                "triton-explorer push kernels --to ADDRESS. The operator sets the limit with "
                "TRITON_EXPLORER_TORCH_COMPILE_WALL_LIMIT_SECONDS."
            )
        if found:
            self._report(error, "note", f"{stopped} {kept}", hint)
        else:  # A line that takes long is not wrong: the message names it.
            line = diagnostic_at(error).line
            # The lines of files beside the script have later numbers.
            is_of_script = 0 < line <= user_source.source_numbers().files[0].last_line
            where = f" Line {line} of the source was being executed." if is_of_script else ""
            self.diagnostics.append(Diagnostic("error", f"{stopped} {kept}{where}", hint=hint))

    def _report(self, error: BaseException, severity: Severity, message: str, hint: str = "") -> None:
        place = diagnostic_at(error)
        if isinstance(error, UserError):
            own = error.diagnostic
            self.diagnostics.append(own if own.line else replace(own, line=place.line))
            return
        self.diagnostics.append(replace(place, severity=severity, message=message, hint=hint))


@contextlib.contextmanager
def stopping_after(seconds: float) -> Iterator[None]:
    """Raise `TooLong` in the user's code when its time is over, so that time to compile remains."""
    end = own_seconds() + seconds

    def stop(_signal: int, _frame: object) -> None:
        remaining = end - own_seconds()
        if remaining <= 0:
            # The interpreter ignores an exception in a finalizer or a callback of the garbage collector.
            signal.setitimer(signal.ITIMER_REAL, _END_SECONDS)
            raise TooLong
        signal.setitimer(signal.ITIMER_REAL, max(remaining, _SHORTEST_TIMER_SECONDS))

    previous_handler = signal.signal(signal.SIGALRM, stop)
    previous_timer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *previous_timer)
        signal.signal(signal.SIGALRM, previous_handler)


@contextlib.contextmanager
def _as_main(module: ModuleType, arguments: Sequence[str]) -> Iterator[None]:
    """Make the module the main program, with its arguments, while the user's code is executed."""
    previous_module, previous_arguments = sys.modules["__main__"], sys.argv
    sys.modules["__main__"], sys.argv = module, [SOURCE_FILE, *arguments]
    try:
        with warnings.catch_warnings():
            # Warnings of libraries about each other are not the user's concern.
            warnings.simplefilter("ignore")
            warnings.filterwarnings("default", module="__main__")
            yield
    finally:
        sys.modules["__main__"], sys.argv = previous_module, previous_arguments


# --- errors -----------------------------------------------------------------------------------


def _user_frames(error: BaseException | None) -> list[tuple[Any, int]]:
    frames = []
    trace = error.__traceback__ if error is not None else None
    while trace is not None:
        if user_source.is_users(trace.tb_frame.f_code.co_filename):
            frames.append((trace.tb_frame.f_code, trace.tb_lasti))
        trace = trace.tb_next
    return frames


def diagnostic_at(error: BaseException | None) -> Diagnostic:
    """Return a diagnostic without a message at the user's innermost line."""
    if isinstance(error, SyntaxError) and user_source.is_users(str(error.filename)):
        line = user_source.number_of(str(error.filename), error.lineno or 0)
        return Diagnostic("error", "", line=line, column=error.offset or 0)
    frames = _user_frames(error)
    if not frames:
        return Diagnostic("error", "")
    code, instruction = frames[-1]
    line, end_line, column, end_column = list(code.co_positions())[instruction // 2]
    return Diagnostic(
        "error",
        "",
        line=user_source.number_of(code.co_filename, line or code.co_firstlineno),
        column=0 if column is None else column + 1,
        end_line=user_source.number_of(code.co_filename, end_line or 0),
        end_column=0 if end_column is None else end_column + 1,
    )


def _refusal_of_arguments(error: SystemExit) -> str:
    """Return the message with which argparse or click has refused the script's arguments, or ""."""
    refusal: Any = error.__context__  # click before 8.5 exits while it handles its error
    message = ""
    trace = error.__traceback__
    while trace is not None:
        names = trace.tb_frame.f_locals
        if trace.tb_frame.f_code is argparse.ArgumentParser.error.__code__:
            message = str(names.get("message", ""))
        if trace.tb_frame.f_globals.get("__name__") == "click.core":
            refusal = getattr(names.get("report"), "__self__", refusal)
        trace = trace.tb_next
    if type(refusal).__module__ == "click.exceptions":
        with contextlib.suppress(Exception):
            message = str(refusal.format_message()).rstrip(".")
    return message


def _listed_lines(lines: list[int]) -> str:
    """Return lines in words: "lines 3, 5", and "line 3, line 2 of tools.py" if they are in several files."""
    if any(user_source.source_numbers().place(line)[0] for line in lines):
        return ", ".join(map(user_source.source_numbers().words, lines))
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"


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
        return f"The module {error.name if package in sys.modules else package!r} is not installed."
    try:
        text = str(error)
    except BaseException:  # Converting the user's own exception to text may fail.
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def hint_for(error: BaseException) -> str:
    if isinstance(error, ImportError):
        packages = [name for name in PACKAGES if importlib.util.find_spec(name)]
        return (
            f"Available: the standard library and {', '.join(packages)}. Remove the import, or paste what "
            "the kernel needs. A kernel can also be compiled from a signature, without the script."
        )
    return ""
