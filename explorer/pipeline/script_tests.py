"""The tests of a script, which are called where the script makes no launch by itself.

In: the names that the script defines. Out: the calls of its `test_*` functions and of its test classes, of
pytest and of unittest, with the first parameters before the others. While a script is executed, a stand-in
takes the place of pytest: it keeps the parameters and the fixtures, and runs nothing.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import sys
import tempfile
import unittest
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

from explorer.pipeline.fake_gpu import replaced
from explorer.pipeline.import_stubs import Absence, ImportStub
from explorer.pipeline.user_source import SOURCE_FILE

#: The most parameter sets of one test that are called, and the most that are compared with chosen words.
MOST_SETS = 4
_MOST_COMPARED = 10_000

#: The most calls that a note lists, and the longest value in it.
_SHOWN_CALLS = 6
_SHOWN_CHARACTERS = 30

_FIXTURE = "__explorer_fixture__"


class Skipped(Exception):
    """A test skips itself."""


class MissingFixture(Exception):
    """A test has a parameter that no fixture of the script gives."""


# --- the stand-in for pytest ------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    """A mark such as `pytest.mark.parametrize(…)`. As a decorator, it adds itself to `pytestmark`."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and (inspect.isfunction(args[0]) or isinstance(args[0], type)):
            args[0].pytestmark = [*getattr(args[0], "pytestmark", []), self]  # type: ignore[union-attr]
            return args[0]
        return Mark(self.name, args, kwargs)

    def skips(self) -> bool:
        """Return whether tests with this mark are skipped."""
        condition = self.kwargs.get("condition", next(iter(self.args), False))
        return self.name == "skip" or (
            self.name == "skipif" and not isinstance(condition, str) and bool(condition)
        )


class _Marks:
    """`pytest.mark`."""

    def __getattr__(self, name: str) -> Mark:
        if name.startswith("__"):
            raise AttributeError(name)
        return Mark(name)


@dataclass(frozen=True)
class _Parameters:
    """`pytest.param(…)`: the values of one parameter set."""

    values: tuple[Any, ...]
    marks: tuple[Mark, ...]


def _param(*values: Any, marks: Any = (), id: object = None) -> _Parameters:  # noqa: A002, ARG001  pytest's
    return _Parameters(values, tuple(marks) if isinstance(marks, list | tuple) else (marks,))


def _fixture(function: Any = None, **options: Any) -> Any:
    def mark(decorated: Any) -> Any:
        setattr(decorated, _FIXTURE, options)
        return decorated

    return mark if function is None else mark(function)


@contextlib.contextmanager
def _raises(expected: Any, *_arguments: Any, **_options: Any) -> Iterator[Any]:
    found = SimpleNamespace(value=None)
    with contextlib.suppress(expected):
        yield found


@contextlib.contextmanager
def stand_in_for_pytest() -> Iterator[Callable[[bool], None]]:
    """Make imports of pytest return a stand-in. Yield a function that says whether tests are being called.

    `pytest.skip` has an effect in tests only.
    """
    is_calling = False

    def skip(reason: str = "", **_options: Any) -> None:
        if is_calling:
            raise Skipped(reason)

    def set_calling(value: bool) -> None:
        nonlocal is_calling
        is_calling = value

    stub = ImportStub("pytest", Absence(), is_module=True)
    vars(stub).update(
        mark=_Marks(), param=_param, fixture=_fixture, skip=skip, xfail=skip, raises=_raises,
        approx=lambda value, **_options: value, fail=_fail, main=lambda *_arguments, **_options: 0,
    )  # fmt: skip
    previous = sys.modules.get("pytest")
    sys.modules["pytest"] = stub
    try:
        with replaced([(unittest, "main", lambda *_arguments, **_options: None)]):
            yield set_calling
    finally:
        sys.modules.pop("pytest", None)
        if previous is not None:
            sys.modules["pytest"] = previous


def _fail(reason: str = "", **_options: Any) -> NoReturn:
    raise AssertionError(reason)


# --- finding and calling the tests -------------------------------------------------------------


@dataclass(frozen=True)
class TestCall:
    """A call of a test with one parameter set."""

    __test__ = False  # This is no test of the project.

    name: str
    function: Callable[..., Any]
    owner: type | None
    given: Mapping[str, Any]
    indirect: frozenset[str]
    namespace: Mapping[str, Any]

    def __str__(self) -> str:
        values = [f"{name}={_shown(value)}" for name, value in self.given.items()]
        return f"{self.name}({', '.join(values)})"

    def make(self) -> None:
        """Call the test with its parameters and fixtures. A test that skips itself raises `Skipped`."""
        with ExitStack() as ending:
            if self.owner is not None and issubclass(self.owner, unittest.TestCase):
                self._call_method(self.owner(self.name.rpartition(".")[2]), ending)
                return
            instance = self.owner() if self.owner is not None else None
            fixtures = _Fixtures(self, instance, ending)
            for name in ("setup_class", "setup_method"):
                if (set_up := getattr(instance, name, None)) is not None:
                    set_up(*[self.function] * len(inspect.signature(set_up).parameters))
            fixtures.make_automatic()
            function = self.function if instance is None else self.function.__get__(instance)
            function(**fixtures.arguments(function, dict(self.given)))

    def _call_method(self, case: unittest.TestCase, ending: ExitStack) -> None:
        try:
            type(case).setUpClass()
            ending.callback(type(case).tearDownClass)
            case.setUp()
            ending.callback(case.doCleanups)
            ending.callback(case.tearDown)
            getattr(case, self.name.rpartition(".")[2])()
        except unittest.SkipTest as error:
            raise Skipped(str(error)) from None


class _Fixtures:
    """The fixtures of one call."""

    def __init__(self, call: TestCall, instance: Any, ending: ExitStack) -> None:
        self._call, self._instance, self._ending = call, instance, ending
        self._made: dict[str, Any] = {}
        own = {name: getattr(instance, name) for name in dir(instance)} if instance is not None else {}
        self._defined = {
            getattr(value, _FIXTURE).get("name") or name: value
            for name, value in {**call.namespace, **own}.items()
            if inspect.isroutine(value) and hasattr(value, _FIXTURE)
        }

    def make_automatic(self) -> None:
        """Make the fixtures that each test uses."""
        for name, value in self._defined.items():
            if getattr(value, _FIXTURE).get("autouse"):
                self.value(name)

    def arguments(self, function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a function: the given arguments, and the values of its fixtures."""
        found = {name: value for name, value in given.items() if name not in self._call.indirect}
        for name, parameter in inspect.signature(function).parameters.items():
            is_single = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
            if name not in found and is_single and parameter.default is parameter.empty:
                found[name] = self.value(name)
        return found

    def value(self, name: str) -> Any:
        """Return the value of a fixture, which is made once for each call."""
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Any:
        defined = self._defined.get(name)
        if defined is not None:
            values = [*(getattr(defined, _FIXTURE).get("params") or [None])]
            value = self._call.given[name] if name in self._call.indirect else values[0]
            value = value.values[0] if isinstance(value, _Parameters) else value
            self._made["request"] = self._request(value)
            made = defined(**self.arguments(defined, {}))
            if inspect.isgenerator(made):
                self._ending.callback(next, made, None)
                made = next(made)
            return made
        match name:
            case "device":
                return "cuda"
            case "request":
                return self._request(None)
            case "tmp_path" | "tmpdir":
                return Path(self._ending.enter_context(tempfile.TemporaryDirectory()))
            case "benchmark":
                return lambda function, *arguments, **options: function(*arguments, **options)
            case "monkeypatch" | "capsys" | "capfd" | "caplog" | "recwarn" | "pytestconfig":
                return ImportStub(name, Absence())
        raise MissingFixture(name)

    def _request(self, value: Any) -> SimpleNamespace:
        stub = ImportStub("request", Absence())
        return SimpleNamespace(
            param=value, getfixturevalue=self.value, config=stub, node=stub, function=self._call.function
        )


def chosen_words(arguments: Sequence[str]) -> list[str]:
    """Return the words after `-k`, the option of pytest that chooses tests, among the script's arguments."""
    chosen = [after for option, after in itertools.pairwise(arguments) if option == "-k"]
    return [word for each in chosen for word in each.split() if word != "and"]


def find_tests(namespace: Mapping[str, Any], words: Sequence[str] = ()) -> list[TestCall]:
    """List the calls of the tests of a script: all with their first parameters, then with the second.

    With `words`, these are the calls whose description, such as `test_add(size=64)`, contains all words.
    """
    of_tests: list[list[TestCall]] = []
    of_module = namespace.get("pytestmark", ())
    marks = [*of_module] if isinstance(of_module, list | tuple) else [of_module]
    for name, value in list(namespace.items()):
        if isinstance(value, type) and value.__module__ == namespace.get("__name__"):
            is_case = issubclass(value, unittest.TestCase)
            if not is_case and not name.startswith("Test"):
                continue
            for method in dir(value):
                function = getattr(value, method, None)
                if method.startswith("test") and inspect.isfunction(function):
                    of_class = [*marks, *getattr(value, "pytestmark", ())]
                    is_skipped = any(getattr(each, "__unittest_skip__", False) for each in (value, function))
                    if not is_skipped:
                        called = f"{name}.{method}"
                        of_tests.append(_calls(called, function, value, of_class, namespace, words))
        elif name.startswith("test") and inspect.isfunction(value) and _is_of_script(value):
            of_tests.append(_calls(name, value, None, marks, namespace, words))
    in_turn = itertools.zip_longest(*of_tests)
    return [call for calls in in_turn for call in calls if call is not None]


def describe_calls(called: list[TestCall]) -> str:
    """Return the text of the note about the calls."""
    shown = ", ".join(map(str, called[:_SHOWN_CALLS]))
    more = f" and {len(called) - _SHOWN_CALLS} more" if len(called) > _SHOWN_CALLS else ""
    return f"The script makes no launch by itself. Its tests were called: {shown}{more}."


def _calls(
    name: str,
    function: Any,
    owner: type | None,
    marks: list[Any],
    namespace: Mapping[str, Any],
    words: Sequence[str],
) -> list[TestCall]:
    found = [mark for mark in [*getattr(function, "pytestmark", ()), *marks] if isinstance(mark, Mark)]
    if any(mark.skips() for mark in found):
        return []
    choices: list[list[dict[str, Any]]] = []
    indirect: set[str] = set()
    for mark in found:
        if mark.name == "parametrize":
            most = _MOST_COMPARED if words else MOST_SETS
            names, sets = _parameter_sets(*mark.args, most=most, **mark.kwargs)
            choices.append(sets)
            is_indirect = mark.kwargs.get("indirect", False)
            indirect.update(names if is_indirect is True else is_indirect or ())
    calls = (
        TestCall(
            name,
            function,
            owner,
            {key: value for values in reversed(chosen) for key, value in values.items()},
            frozenset(indirect),
            namespace,
        )
        for chosen in itertools.islice(itertools.product(*choices), _MOST_COMPARED)
    )
    wanted = (call for call in calls if all(word in str(call) for word in words))
    return list(itertools.islice(wanted, MOST_SETS))


def _parameter_sets(
    argnames: Any, argvalues: Any, *, most: int, **_options: Any
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the names and the first sets of `pytest.mark.parametrize`, without the sets that are skipped."""
    names = [name.strip() for name in argnames.split(",")] if isinstance(argnames, str) else list(argnames)
    sets = []
    for each in itertools.islice(argvalues, most):
        if isinstance(each, _Parameters):
            if any(isinstance(mark, Mark) and mark.skips() for mark in each.marks):
                continue
            values = each.values
        else:
            is_single = isinstance(argnames, str) and len(names) == 1
            values = (each,) if is_single else each
        sets.append(dict(zip(names, values, strict=False)))
    return names, sets


def _is_of_script(function: Any) -> bool:
    return bool(inspect.unwrap(function).__code__.co_filename == SOURCE_FILE)


def _shown(value: Any) -> str:
    text = getattr(value, "__name__", None) or repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"
