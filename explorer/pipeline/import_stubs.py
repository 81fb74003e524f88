"""Stubs for missing modules, so that a script continues until it needs them.

A stub accepts attributes, calls, operators, and subclasses: each gives a further stub, which knows its name.
As a decorator, a stub returns the decorated object. A module of Triton that a missing module exports again,
such as `tl`, is the real module. A launch or a kernel that needs the content of a stub fails with that name.
"""

from __future__ import annotations

import ast
import dis
import importlib
import linecache
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from types import FrameType, FunctionType, ModuleType
from typing import Any, NoReturn

from triton.runtime.autotuner import Config, autotune
from triton.runtime.driver import driver

from explorer.model import Diagnostic
from explorer.pipeline.errors import NeedsValue
from explorer.pipeline.stub_conditions import answer_about_capability, decides, holds
from explorer.pipeline.user_files import shown_name
from explorer.pipeline.user_source import is_users

#: The version that a missing package reports. Scripts require a minimum version more often than a maximum.
STUB_VERSION = "9999.0"

#: Attributes that Triton looks up on a global name of a kernel before it uses the name.
_LOOKED_UP_BY_TRITON = ("__triton_builtin__", "__triton_aggregate__")

#: The modules of Triton that packages export again, by the ends of their names.
_EXPORTED_AGAIN = {
    "triton": "triton",
    "triton.language": "triton.language",
    "tl": "triton.language",
    "gluon": "triton.experimental.gluon",
    "gluon.language": "triton.experimental.gluon.language",
    "gl": "triton.experimental.gluon.language",
    "libdevice": "triton.language.extra.libdevice",
    "tldevice": "triton.language.extra.libdevice",
}

_SHOWN_NAMES = 4

#: The attribute of a kernel with the names of missing objects that would give it arguments.
_ABSENT_SOURCES = "_explorer_absent_sources"

HINT = (
    "Add the file that has it: drop it on the editor, or pass its folder with --root on the command line. "
    "The operator of the server can make packages available to scripts."
)


class NeedsModule(NeedsValue):
    """A launch needs an object of a missing module."""


class KernelNeedsModule(ImportError):
    """A kernel uses a name of a missing module."""

    def __repr__(self) -> str:  # Triton reports this exception.
        return str(self)


class Absence:
    """One missing package or module, and its use by a script.

    `sentence` names the missing module; it is empty for packages that do not affect the launches.
    """

    def __init__(self, sentence: str = "", line: int = 0) -> None:
        self.sentence = sentence
        self.line = line
        self.real: list[str] = []
        self.decorators: dict[str, str] = {}
        self.assumed: dict[str, bool] = {}
        self.given: dict[str, None] = {}

    def describe(self) -> Diagnostic:
        """Return the note that names the missing module and the omissions and assumptions."""
        parts = [f"{self.sentence} A stub takes its place."]
        if self.real:
            parts.append(f"Taken from Triton: {_listed(self.real)}.")
        if self.decorators:
            parts.append(f"Left out: {_listed([f'@{text}' for text in self.decorators.values()])}.")
        if self.given:
            parts.append(f"Given, perhaps for launches: {_listed([*self.given])}.")
        for word, value in (("true", True), ("false", False)):
            if names := [name for name, assumed in self.assumed.items() if assumed == value]:
                parts.append(f"Taken as {word}: {_listed(names)}.")
        return Diagnostic("note", " ".join(parts), line=self.line, hint=HINT)


class ImportStub(ModuleType):
    """A missing module, or an object that was reached through a missing module."""

    __path__: list[str]

    def __init__(self, name: str, absence: Absence, is_module: bool = False) -> None:
        super().__init__(name)
        vars(self).update(_absence=absence, _is_module=is_module, __path__=[])

    def __getattr__(self, name: str) -> Any:
        if name in _LOOKED_UP_BY_TRITON:
            raise KernelNeedsModule(f"The kernel uses {self.__name__}. {self._absence.sentence}")
        if name == "__version__":
            return STUB_VERSION
        if name == "__all__":
            return []
        if name.startswith("__"):
            raise AttributeError(name)
        found = self._real_module(name) or self._derived(f"{self.__name__}.{name}")
        vars(self)[name] = found
        return found

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        is_decorator = len(arguments) == 1 or (arguments and not self._absence.sentence)
        if _is_class_statement(arguments):  # The stub is the metaclass.
            return type(*arguments)
        if is_decorator and _can_be_decorated(arguments[0]):
            return self._decorate(arguments[0])
        if self.__name__.endswith("capability"):
            return answer_about_capability(self.__name__.rpartition(".")[2], arguments)
        given = filter(_is_kernel, (*arguments, *options.values()))
        self._absence.given.update(dict.fromkeys(f"{_name_of(value)} to {self.__name__}" for value in given))
        result = self._derived(f"{self.__name__.removesuffix('(…)')}(…)")
        vars(result)["_options"] = options
        return result

    def __getitem__(self, _item: Any) -> Any:
        return self._derived(f"{self.__name__}[…]")

    def __setitem__(self, _item: Any, _value: Any) -> None:
        """Accept an item."""

    def __enter__(self) -> ImportStub:
        return self

    def __exit__(self, *_error: object) -> None:
        """Accept the end of the context."""

    def __iter__(self) -> Iterator[Any]:
        """Give as many stubs as an assignment to several names takes, otherwise none."""
        count = _unpacked_count(sys._getframe(1))
        return iter([self._derived(f"{self.__name__}[{index}]") for index in range(count)])

    def __len__(self) -> int:
        return 0

    def __contains__(self, _item: object) -> bool:
        return False

    def __bool__(self) -> bool:
        if self._is_module:
            return True
        value = holds(self.__name__.rpartition(".")[2], driver.active.get_current_target())
        self._absence.assumed[self.__name__] = value
        return value

    def __repr__(self) -> str:
        return f"<{self.__name__}, not available>"

    def __format__(self, _specification: str) -> str:
        return repr(self)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (_stub_class(self, bases),)

    def __instancecheck__(self, _instance: object) -> bool:
        return False

    def __subclasscheck__(self, _subclass: type) -> bool:
        return False

    @classmethod
    def __torch_function__(
        cls, _function: Any, _types: Any, arguments: tuple[Any, ...] = (), options: Any = None
    ) -> Any:
        return find_stub([*arguments, *(options or {}).values()])

    def needed(self, *_arguments: Any) -> NoReturn:
        """Stop: the launches would depend on the value."""
        raise NeedsModule(f"This needs {self.__name__}. {self._absence.sentence}")

    def _real_module(self, name: str) -> ModuleType | None:
        """Return the module of Triton that a missing package of the user exports again as `name`."""
        last_two = f"{self.__name__.rpartition('.')[2]}.{name}"
        real = _EXPORTED_AGAIN.get(last_two) or _EXPORTED_AGAIN.get(name)
        if real is None or not self._absence.sentence:
            return None
        self._absence.real.append(f"{self.__name__}.{name}")
        return importlib.import_module(real)

    def _decorate(self, decorated: Any) -> Any:
        """Return `decorated`, with stubs for the attributes that the user's code reads from it.

        A decorator that was called with a list of configurations tunes a kernel.
        """
        configs = vars(self).get("_options", {}).get("configs")
        is_list = isinstance(configs, list | tuple) and configs and not find_stub([configs])
        if _is_kernel(decorated) and is_list and all(isinstance(each, Config) for each in configs):
            self._absence.real.append(self.__name__)
            return autotune(configs, key=[])(decorated)
        self._absence.decorators[self.__name__] = f"{self.__name__} of {_name_of(decorated)}"
        if _is_kernel(decorated):
            note_absent_source(decorated, self)
        for attribute in _read_attributes(decorated) - set(dir(decorated)):
            setattr(decorated, attribute, self._derived(f"{self.__name__}.{attribute}"))
        return decorated

    def _derived(self, name: str) -> ImportStub:
        return ImportStub(name, self._absence)

    def _same(self, *_arguments: Any) -> ImportStub:
        return self

    __int__ = __float__ = __complex__ = __index__ = __trunc__ = needed
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = __rmatmul__ = _same
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = (
        _same
    )
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rshift__ = _same
    __neg__ = __pos__ = __abs__ = __invert__ = __round__ = __lt__ = __le__ = __gt__ = __ge__ = _same


def stub_attributes(module: str, sentence: str) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module of which a part is missing: stubs for all but special names."""
    absence = Absence(sentence)

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return ImportStub(f"{shown_name(module)}.{name}", absence)

    return find


def find_stub(values: list[Any]) -> ImportStub | None:
    """Return the first stub among `values` and in the lists and tuples among them."""
    for value in values:
        if isinstance(value, ImportStub):
            return value
        if type(value) in (list, tuple) and (found := find_stub(list(value))) is not None:
            return found
    return None


def without_stubs(
    kernel: Any, arguments: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a launch of `kernel`, with the answers of conditions such as `is_hopper()`.

    Raises:
        NeedsModule: the launch passes another object of a missing module.
    """

    def known(name: str, value: Any) -> Any:
        if isinstance(value, ImportStub) and decides(value.__name__.rpartition(".")[2]):
            return bool(value)
        if (stub := find_stub([value])) is not None:
            raise NeedsModule(
                f"This launch of {kernel.__name__} needs {stub.__name__} for {name}. {stub._absence.sentence}"
            )
        return value

    # Triton reports arguments without a name.
    names = (*kernel.arg_names, *("an argument" for _ in arguments[len(kernel.arg_names) :]))
    values = tuple(map(known, names, arguments))
    return values, {name: known(name, value) for name, value in options.items()}


def note_absent_source(kernel: Any, value: Any) -> None:
    """Note that `value`, if it is a stub, would give arguments to a kernel or one of its decorators."""
    if (stub := find_stub([value])) is not None:
        vars(kernel).setdefault(_ABSENT_SOURCES, []).append(stub.__name__)


def absent_sources(kernel: Any) -> list[str]:
    """Return the names of the stubs that would give arguments to a kernel."""
    names = list(vars(kernel).get(_ABSENT_SOURCES, []))
    return names + absent_sources(kernel.fn) if _is_kernel(kernel) else names


def _stub_class(stub: ImportStub, bases: tuple[Any, ...]) -> Any:
    """Return a base class for classes that derive from a missing class, and from the others of `bases`."""

    def initialize(self: Any, *_arguments: Any, **_options: Any) -> None:
        """Accept the arguments of the missing class, and initialize the next class."""
        with suppress(TypeError):  # The next class may need arguments.
            super(made, self).__init__()

    def accept(_class: Any, *_arguments: Any, **_options: Any) -> None:
        """Accept the arguments of a class statement."""

    def find(_self: Any, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stub._derived(f"{stub.__name__}.{name}")

    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        """Call `forward`, as modules of PyTorch do."""
        return self.forward(*arguments, **options)

    # The metaclass of a class is derived from the metaclasses of all of its bases.
    kinds = {type(base) for base in bases if isinstance(base, type)} | {type}
    most_derived = max(kinds, key=lambda kind: len(type.mro(kind)))
    metaclass = type("StubType", (most_derived,), {"__getattr__": find})
    body = {
        "__getattr__": find,
        "__init_subclass__": classmethod(accept),
        "__call__": call,
        "__init__": initialize,
    }
    made: Any = metaclass(stub.__name__.rpartition(".")[2], (), body)
    return made


def _is_class_statement(arguments: tuple[Any, ...]) -> bool:
    """Return whether the arguments are the name, the bases and the names of a class."""
    return tuple(map(type, arguments)) == (str, tuple, dict) and "__qualname__" in arguments[2]


def _can_be_decorated(value: Any) -> bool:
    """Return whether a call with this value decorates it: a kernel, a function or a class of the user."""
    if isinstance(value, type):
        return is_users(getattr(sys.modules.get(value.__module__), "__file__", None) or "")
    is_function = isinstance(value, FunctionType) and value.__name__ != "<lambda>"
    return _is_kernel(value) or is_function or isinstance(value, staticmethod | classmethod)


def _is_kernel(value: Any) -> bool:
    return hasattr(type(value), "run") and hasattr(value, "fn")


def _name_of(value: Any) -> str:
    """Return the name of a function, or of the function of a kernel."""
    while _is_kernel(value):
        value = value.fn
    return getattr(value, "__name__", "a function")


def _read_attributes(decorated: Any) -> set[str]:
    """Return the attributes that the file of a function or kernel reads from its name."""
    while _is_kernel(decorated):
        decorated = decorated.fn
    if not isinstance(decorated, FunctionType):
        return set()
    file = decorated.__code__.co_filename
    reads = _attributes_by_name(file, "".join(linecache.getlines(file)))
    return {attribute for name, attribute in reads if name == decorated.__name__}


@lru_cache(maxsize=64)
def _attributes_by_name(_file: str, source: str) -> frozenset[tuple[str, str]]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    reads = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return frozenset((node.value.id, node.attr) for node in reads if isinstance(node.value, ast.Name))


def _unpacked_count(frame: FrameType) -> int:
    """Return how many values the current instruction of `frame` unpacks; 0 for other instructions."""
    code, position = frame.f_code.co_code, frame.f_lasti
    is_unpacking = 0 <= position < len(code) and dis.opname[code[position]] == "UNPACK_SEQUENCE"
    return code[position + 1] if is_unpacking else 0


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN_NAMES])
    return f"{shown} and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else shown
