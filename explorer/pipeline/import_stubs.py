"""Stubs for missing modules, so that a script continues until it needs them.

A stub accepts attributes, calls, operators, and subclasses: each gives a further stub, which knows its name.
As a decorator, a stub returns the decorated object. A module of Triton that a missing module exports again,
such as `tl`, is the real module. A launch or a kernel that needs the content of a stub fails with that name.
Imports that the script tries, with a branch for their absence, are not replaced.
"""

from __future__ import annotations

import ast
import dis
import importlib
import importlib.util
import linecache
import re
import sys
import sysconfig
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple, NoReturn

import triton
from triton.backends.compiler import GPUTarget
from triton.runtime.driver import driver

from explorer.model import Diagnostic
from explorer.pipeline.errors import NeedsValue
from explorer.pipeline.user_files import ABOVE, shown_name
from explorer.pipeline.user_source import is_users, number_of

#: Packages that do not affect the launches. They are replaced without a note if they are not installed.
OPTIONAL_PACKAGES = ("pytest", "matplotlib", "pandas")

#: Compilers that PyTorch's operations import without using them here. Importing them takes seconds.
UNUSED_COMPILERS = ("torch._dynamo", "torch._inductor")

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

_SKIPPED_FRAMES = ("<frozen importlib", "<frozen zipimport")
_FIND_SPEC_FILE = importlib.util.find_spec.__code__.co_filename
#: The folders of Python, of this program and of the packages that come with it.
_LIBRARIES = (
    *(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    f"{Path(triton.__file__).parent}/",
    f"{Path(__file__).parents[1]}/",
)
_SHOWN_NAMES = 4

#: Conditions of missing modules, by words in their names, and whether they hold for a target. The first word
#: decides.
_CONDITIONS: tuple[tuple[re.Pattern[str], Callable[[GPUTarget], bool]], ...] = tuple(
    (re.compile(words, re.IGNORECASE), holds)
    for words, holds in (
        (r"xpu|npu|cpu|tpu|hpu|mps|musa|intel|ascend", lambda _target: False),
        (r"alike", lambda _target: True),
        (r"rdna", lambda target: str(target.arch).startswith("gfx1")),
        (r"cdna", lambda target: str(target.arch).startswith("gfx9")),
        (r"(?<![a-z])hip(?![a-z])|rocm|(?<![a-z])amd", lambda target: target.backend == "hip"),
        (r"nvidia|is_cuda", lambda target: target.backend == "cuda"),
        (r"tma(?![a-z])|tensor_?desc", lambda target: _capability(target) >= (9, 0)),
        (r"fp8|float8", lambda target: _capability(target) >= (8, 9) or "gfx9" in str(target.arch)),
        (r"cuda|gpu|version|support|triton|gluon", lambda _target: True),
    )
)

#: Names of NVIDIA's architectures in the names of conditions, and words that include all later architectures.
_ARCHITECTURES = re.compile(r"ampere|hopper|blackwell|sm_?(\d{2,3})", re.IGNORECASE)
_MAJOR_CAPABILITIES = {"ampere": 8, "hopper": 9, "blackwell": 10}
_OR_LATER = re.compile(r"later|newer|above|plus|least|support|require|has_", re.IGNORECASE)


class Capability(NamedTuple):
    """The compute capability of the target, in the forms that packages give it."""

    major: int
    minor: int

    def to_int(self) -> int:
        return self.major * 10 + self.minor


HINT = (
    "Add the file that has it: drop it on the editor, or pass its folder with --root on the command line. "
    "The operator of the server can make packages available to scripts."
)


ABSENT_PACKAGE = "is not installed here."
ABSENT_FILES = "are not in the paste."
ABSENT_FILE = "is not in the paste."


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

    def describe(self) -> Diagnostic:
        """Return the note that names the missing module and the omissions and assumptions."""
        parts = [f"{self.sentence} A stub takes its place."]
        if self.real:
            parts.append(f"Taken from Triton: {_listed(self.real)}.")
        if self.decorators:
            parts.append(f"Left out: {_listed([f'@{text}' for text in self.decorators.values()])}.")
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

    def __call__(self, *arguments: Any, **_options: Any) -> Any:
        is_decorator = len(arguments) == 1 or (arguments and not self._absence.sentence)
        if _is_class_statement(arguments):  # The stub is the metaclass.
            return type(*arguments)
        if is_decorator and _can_be_decorated(arguments[0]):
            decorated = getattr(arguments[0], "__name__", "a function")
            self._absence.decorators[self.__name__] = f"{self.__name__} of {decorated}"
            return arguments[0]
        if self.__name__.endswith("capability"):
            return _answer_about_capability(self.__name__.rpartition(".")[2], arguments)
        called = self.__name__.removesuffix("(…)")
        return self._derived(f"{called}(…)")

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
        value = _holds(self.__name__.rpartition(".")[2], driver.active.get_current_target())
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


def refuse_stubs(kernel: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Stop if a launch of `kernel` passes an object of a missing module."""
    for name, value in (*zip(kernel.arg_names, arguments, strict=False), *options.items()):
        stub = find_stub([value])
        if stub is not None:
            raise NeedsModule(
                f"This launch of {kernel.__name__} needs {stub.__name__} for {name}. {stub._absence.sentence}"
            )


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


def _capability(target: GPUTarget) -> Capability:
    """Return the compute capability of a target. It is (0, 0) for a GPU of AMD."""
    return Capability(*divmod(target.arch, 10)) if target.backend == "cuda" else Capability(0, 0)


def _holds(condition: str, target: GPUTarget) -> bool:
    """Return whether a condition of a missing module holds for `target`, as its name tells."""
    if found := _ARCHITECTURES.search(condition):
        number = found.group(1)
        asked = divmod(int(number), 10) if number else (_MAJOR_CAPABILITIES[found.group().lower()],)
        of_target = _capability(target)[: len(asked)]
        return bool(of_target >= asked if _OR_LATER.search(condition) else of_target == asked)
    return next((holds(target) for words, holds in _CONDITIONS if words.search(condition)), False)


def _answer_about_capability(function: str, arguments: tuple[Any, ...]) -> Any:
    """Return the compute capability, or compare it with an argument, as in `has_device_capability(90)`."""
    capability = Capability(*driver.active.get_device_capability())
    if not arguments or not function.startswith(("has", "is", "supports")):
        return capability
    asked = divmod(arguments[0], 10) if isinstance(arguments[0], int) else arguments[0]
    return capability == asked if function.startswith("is") else capability >= asked


def _is_class_statement(arguments: tuple[Any, ...]) -> bool:
    """Return whether the arguments are the name, the bases and the names of a class."""
    return tuple(map(type, arguments)) == (str, tuple, dict) and "__qualname__" in arguments[2]


def _can_be_decorated(value: Any) -> bool:
    """Return whether a call with this value decorates it: a kernel, a function or a class of the user."""
    if isinstance(value, type):
        return is_users(getattr(sys.modules.get(value.__module__), "__file__", None) or "")
    is_kernel = hasattr(type(value), "run") and hasattr(value, "fn")
    is_function = isinstance(value, FunctionType) and value.__name__ != "<lambda>"
    return is_kernel or is_function or isinstance(value, staticmethod | classmethod)


def _unpacked_count(frame: FrameType) -> int:
    """Return how many values the current instruction of `frame` unpacks; 0 for other instructions."""
    code, position = frame.f_code.co_code, frame.f_lasti
    is_unpacking = 0 <= position < len(code) and dis.opname[code[position]] == "UNPACK_SEQUENCE"
    return code[position + 1] if is_unpacking else 0


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_SHOWN_NAMES])
    return f"{shown} and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else shown


# --- finding ----------------------------------------------------------------------------------


class StubFinder(MetaPathFinder, Loader):
    """Makes stubs for modules, when it is placed on `sys.meta_path`. A subclass selects the modules."""

    def __init__(self) -> None:
        self._made: list[str] = []

    @abstractmethod
    def absence_of(self, name: str) -> Absence | None:
        """Return the reason why the module `name` gets a stub, or None if it gets none."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        absence = self.absence_of(name)
        if absence is None:
            return None
        return ModuleSpec(name, self, loader_state=absence, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self._made.append(spec.name)
        return ImportStub(shown_name(spec.name), spec.loader_state, is_module=True)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: a stub has no code."""

    def remove(self) -> None:
        """Remove the stubs that were made from the imported modules."""
        for name in self._made:
            sys.modules.pop(name, None)
            parent, _, child = name.rpartition(".")
            if parent in sys.modules:
                vars(sys.modules[parent]).pop(child, None)


class KnownFinder(StubFinder):
    """Makes stubs for certain packages and their submodules."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__()
        self._names = names

    def absence_of(self, name: str) -> Absence | None:
        known = next((known for known in self._names if name == known or name.startswith(f"{known}.")), None)
        return Absence() if known else None


class MissingFinder(StubFinder):
    """Makes stubs for all modules that the user's code imports and that no other finder finds."""

    def __init__(self) -> None:
        super().__init__()
        self.absences: dict[str, Absence] = {}

    def absence_of(self, name: str) -> Absence | None:
        importer = _importer()
        if importer is None or _expects_absence(importer.f_code.co_filename, importer.f_lineno):
            return None
        parent = sys.modules.get(name.rpartition(".")[0])
        if isinstance(parent, ImportStub):
            absence: Absence = parent._absence
            return absence
        key = ABOVE if name.startswith(ABOVE) else name
        if key not in self.absences:
            line = number_of(importer.f_code.co_filename, importer.f_lineno)
            self.absences[key] = Absence(_absence_sentence(name, parent), line)
        return self.absences[key]


def _absence_sentence(name: str, parent: ModuleType | None) -> str:
    if name.startswith(ABOVE):
        return f"The files that the relative imports refer to {ABSENT_FILES}"
    if parent is None and not name.replace(".", "_").isidentifier():
        return f"The file {name}.py {ABSENT_FILE}"
    if parent is None:
        return f"The package {name} {ABSENT_PACKAGE}"
    version = getattr(parent, "__version__", "")
    return f"The module {name} is not in {parent.__name__}{f' {version}' if version else ''}."


def _importer() -> FrameType | None:
    """Return the frame of the user's code that imports a module now, or None if other code does."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file) or (file.startswith("/") and not file.startswith(_LIBRARIES)):
            return frame
        is_import = file in (__file__, importlib.__file__) or file.startswith(_SKIPPED_FRAMES)
        if not is_import or file == _FIND_SPEC_FILE:  # `find_spec` tests whether a module exists.
            return None
        frame = frame.f_back
    return None


def _expects_absence(file: str, line: int) -> bool:
    """Return whether the import at `line` is in a `try` that continues without the module."""
    return any(
        first <= line <= last for first, last in _optional_lines(file, "".join(linecache.getlines(file)))
    )


@lru_cache(maxsize=64)
def _optional_lines(_file: str, source: str) -> tuple[tuple[int, int], ...]:
    """Return the first and last lines of the blocks in which an import may fail."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Try():
                goes_on = any(map(_goes_on_without, node.handlers))
            case ast.With():
                goes_on = any(map(_suppresses_import_error, node.items))
            case _:
                continue
        if goes_on:
            found.append((node.body[0].lineno, node.body[-1].end_lineno or 0))
    return tuple(found)


def _suppresses_import_error(item: ast.withitem) -> bool:
    call = item.context_expr
    return (
        isinstance(call, ast.Call)
        and _last_name(call.func) == "suppress"
        and any(map(_is_import_error, call.args))
    )


def _goes_on_without(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler catches a failed import and does not end the program."""
    caught = handler.type
    kinds: list[ast.expr | None] = [*caught.elts] if isinstance(caught, ast.Tuple) else [caught]
    last = handler.body[-1]
    ends = isinstance(last, ast.Raise) or (
        isinstance(last, ast.Expr)
        and isinstance(last.value, ast.Call)
        and _last_name(last.value.func) in ("exit", "quit", "_exit", "skip", "abort")
    )
    return not ends and any(kind is None or _is_import_error(kind) for kind in kinds)


def _is_import_error(kind: ast.expr) -> bool:
    return _last_name(kind) in ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


@contextmanager
def unused_compilers() -> Iterator[None]:
    """Make imports of PyTorch's compilers return stubs. Remove the stubs afterwards."""
    with _finding(
        KnownFinder(tuple(name for name in UNUSED_COMPILERS if name not in sys.modules)), first=True
    ):
        yield


@contextmanager
def missing_modules() -> Iterator[Callable[[], list[Diagnostic]]]:
    """Make the user's imports of missing modules return stubs. Remove the stubs afterwards.

    Yield a function that lists the notes about them.
    """
    missing = MissingFinder()
    with _finding(KnownFinder(OPTIONAL_PACKAGES)), _finding(missing):
        yield lambda: [absence.describe() for absence in missing.absences.values()]


@contextmanager
def _finding(finder: StubFinder, first: bool = False) -> Iterator[None]:
    sys.meta_path.insert(0 if first else len(sys.meta_path), finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        finder.remove()
