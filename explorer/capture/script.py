"""Writes the script that launches a kernel as the program did, out of the objects of the running program.

The script has the kernel, the functions that it calls and the globals that they use, and one launch with
tensors of the same shapes, strides and types. Values that cannot be written are listed in `problems`.
"""

from __future__ import annotations

import ast
import builtins
import math
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from explorer.model.python_source import parse

#: Packages whose names are imported; definitions of other modules are written into the script.
_IMPORTED = {"triton", "torch", "numpy"} | set(sys.stdlib_module_names)
#: The limit for literals: nobody would read a longer literal.
_LONGEST_LITERAL = 10_000
_BUILTINS = set(vars(builtins))


class CannotWrite(Exception):
    """A value has no text in Python. The message says which."""


class ScriptWriter:
    """Collects what a kernel needs, in the order in which it must be defined."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        #: For each function: file, first line of `def` there, number of lines, first line in the script.
        self.origins: list[tuple[str, int, int, int]] = []
        self._imports: dict[str, None] = {}
        self._parts: list[tuple[str, tuple[str, int] | None]] = []
        self._names: dict[str, Any] = {}
        self._functions: dict[int, str] = {}

    def write(self, launch: str) -> str:
        """Return the script with all collected definitions. `launch` comes last."""
        always = ("import torch", "import triton", "import triton.language as tl")
        lines = list(dict.fromkeys([*always, *self._imports]))
        for text, place in self._parts:
            if place is not None:
                lines += ["", ""]
                decorator, _, text = text.partition("\n")
                lines.append(decorator)
                self.origins.append((place[0], place[1], text.count("\n") + 1, len(lines) + 1))
            lines += text.split("\n")
        lines += ["", "", *launch.split("\n"), ""]
        return "\n".join(lines)

    def function(self, function: Any) -> str:
        """Define a `jit` function with all that it uses, and return its name in the script."""
        known = self._functions.get(id(function))
        if known is not None:
            return known
        name = str(function.__name__)
        self._functions[id(function)] = name
        self._claim(name, function)
        self._globals_of(function)
        file = str(function.fn.__code__.co_filename)
        source = str(function.src).rstrip("\n")
        self._parts.append((f"{self._decorator(function)}\n{source}", (file, _definition_line(function))))
        return name

    def value(self, value: Any) -> str:
        """Return an expression for a value.

        Raises:
            CannotWrite: it has none.
        """
        from triton.language.core import constexpr, dtype
        from triton.runtime.jit import JITCallable

        match value:
            case None | bool() | int() | str() | bytes():
                if type(value) not in (type(None), bool, int, str, bytes):
                    return self._other(value)
                return _checked(repr(value))
            case float():
                return repr(value) if math.isfinite(value) else f'float("{value!r}")'
            case constexpr():
                return f"tl.constexpr({self.value(value.value)})"
            case dtype():
                return f"tl.dtype({value.name!r})" if type(value) is dtype else self._other(value)
            case JITCallable():
                return self._callable(value)
            case tuple() if type(value) is tuple:
                return _checked(f"({', '.join(map(self.value, value))}{',' if len(value) == 1 else ''})")
            case list() if type(value) is list:
                return _checked(f"[{', '.join(map(self.value, value))}]")
            case dict() if type(value) is dict:
                pairs = (f"{self.value(key)}: {self.value(item)}" for key, item in value.items())
                return _checked(f"{{{', '.join(pairs)}}}")
        return self._other(value)

    def import_name(self, module: str, name: str, alias: str = "") -> str:
        """Import a name from a module, and return its name in the script."""
        self._imports[
            f"from {module} import {name}" + (f" as {alias}" if alias and alias != name else "")
        ] = None
        return alias or name

    # --- globals ----------------------------------------------------------------------------------

    def _globals_of(self, function: Any) -> None:
        scope = function.get_capture_scope()
        tree = parse(function.src)
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for name in sorted(names - _local_names(tree)):
            if name in scope and not (name in _BUILTINS and scope[name] is getattr(builtins, name)):
                self._global(name, scope[name], tree)

    def _global(self, name: str, value: Any, tree: ast.AST) -> None:
        """Define a global name of a function, unless it is defined."""
        from triton.runtime.jit import JITCallable

        value = _jit_function_of(value)
        is_same = name in self._names and self._names[name] is value
        if is_same and not (isinstance(value, ModuleType) and not _is_imported(value.__name__)):
            return
        try:
            if isinstance(value, JITCallable) and not _is_imported(value.__module__ or ""):
                if (defined := self.function(value)) != name:
                    self._claim(name, value)
                    self._parts.append((f"{name} = {defined}", None))
                return
            if isinstance(value, ModuleType):
                self._module(name, value, tree)
                return
            if not self._claim(name, value):
                return
            text = self.value(value)
            if text != name:
                self._parts.append((f"{name} = {text}", None))
        except CannotWrite as error:
            self.problems.append(f"{name}: {error}")

    def _module(self, name: str, module: ModuleType, tree: ast.AST) -> None:
        """Import a module of a library, or define a module with the used names."""
        if _is_imported(module.__name__):
            self._claim(name, module)
            self._imports[
                f"import {module.__name__} as {name}" if name != module.__name__ else f"import {name}"
            ] = None
            return
        if name not in self._names:
            self._claim(name, module)
            self._imports["import types"] = None
            self._parts.append((f"{name} = types.ModuleType({name!r})", None))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
                attribute = getattr(module, node.attr, None)
                key = f"{name}.{node.attr}"
                if key in self._names:
                    continue
                self._names[key] = attribute
                try:
                    text = self.value(_jit_function_of(attribute))
                    self._parts.append((f"{key} = {text}", None))
                except CannotWrite as error:
                    self.problems.append(f"{key}: {error}")

    def _claim(self, name: str, value: Any) -> bool:
        """Use a name for a value. Return False if it has a value already."""
        if name not in self._names:
            self._names[name] = value
            return True
        present = self._names[name]
        if present is not value and not (type(present) is type(value) and _is_equal(present, value)):
            self.problems.append(f"{name}: it has two values in the modules of the kernel's functions")
        return False

    def _callable(self, value: Any) -> str:
        if _is_imported(value.__module__ or ""):
            return self._other(value)
        return self.function(value)

    def _other(self, value: Any) -> str:
        """Return an expression for an object of a library.

        Raises:
            CannotWrite: none of the libraries has it.
        """
        import torch

        if isinstance(value, torch.dtype | torch.device):
            return str(value) if isinstance(value, torch.dtype) else f"torch.device({str(value)!r})"
        module = getattr(value, "__module__", None) or ""
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or ""
        is_named = isinstance(value, type | FunctionType | BuiltinFunctionType) or hasattr(value, "fn")
        if is_named and _is_imported(module) and name.isidentifier() and _has(module, name, value):
            return self.import_name(module, name)
        raise CannotWrite(f"a value of the type {type(value).__qualname__} cannot be written as Python")

    def _decorator(self, function: Any) -> str:
        """Return the decorator of a function, with the options that change its code."""
        options = {
            name: value
            for name in (
                "do_not_specialize",
                "do_not_specialize_on_alignment",
                "noinline",
                "debug",
                "version",
            )
            if (value := getattr(function, name, None))
        }
        kind = "triton.jit"
        if type(function).__name__ == "GluonJITFunction":
            kind = self.import_name("triton.experimental", "gluon") + ".jit"
        elif type(function).__name__ == "ConstexprFunction":
            return "@triton.constexpr_function"
        if not options:
            return f"@{kind}"
        return f"@{kind}({', '.join(f'{name}={value!r}' for name, value in options.items())})"


def _local_names(tree: ast.AST) -> set[str]:
    """Return the names that a function binds itself."""
    stored = (ast.Store, ast.Del)
    return {
        node.arg if isinstance(node, ast.arg) else node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, stored))
    }


def _definition_line(function: Any) -> int:
    """Return the line of `def` in the function's file."""
    above = next(
        (index for index, line in enumerate(function.raw_src) if line.lstrip().startswith("def ")), 0
    )
    return int(function.starting_line_number) + above


def _jit_function_of(value: Any) -> Any:
    """Return the function below `autotune` and `heuristics`, or the value."""
    from triton.runtime.jit import JITCallable, KernelInterface

    for _ in range(16):
        if (
            isinstance(value, JITCallable)
            or not isinstance(value, KernelInterface)
            or not hasattr(value, "fn")
        ):
            break
        value = value.fn
    return value


def _is_imported(module: str) -> bool:
    return module.partition(".")[0] in _IMPORTED


def _has(module: str, name: str, value: Any) -> bool:
    return getattr(sys.modules.get(module), name, None) is value


def _is_equal(first: Any, second: Any) -> bool:
    try:
        return bool(first == second)
    except Exception:  # any exception of a type of the program
        return False


def _checked(text: str) -> str:
    if len(text) > _LONGEST_LITERAL:
        raise CannotWrite(f"its text has {len(text):,} characters")
    return text
