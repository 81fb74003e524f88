"""Describes a kernel's parameters, with guesses for a form where there is no launch to go by."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from typing import Any, Literal

from explorer.model import Argument, Config, Kernel, Parameter
from explorer.pipeline.arguments import to_scalar

#: Functions of the language whose first argument points to memory.
_MEMORY = re.compile(r"^(load|store|atomic_\w+|make_block_ptr|make_tensor_descriptor)$")

_POINTER_NAME = re.compile(
    r"(^|_)ptrs?\d*($|_)|ptr$|^p_|_p$|^(Q|K|V|O|X|Y|Z|W|B|A|C|Out|DO|DQ|DK|DV|DX|DY|DW|DB|M|L)$"
)
_INDEX_NAME = re.compile(r"idx|index|indices|offset|seqlen|_ids?(_|$)|table|slot|mapping|expert|topk", re.I)
_FLOAT_NAME = re.compile(
    r"(^|_)(eps|epsilon|scale|alpha|beta|gamma|p|prob|lr|momentum|theta|decay|slope|factor|rate"
    r"|temperature|softcap)($|_)",
    re.I,
)
_BLOCK_NAME = re.compile(r"block|tile|chunk", re.I)
_FLAG_NAME = re.compile(
    r"^(is|has|use|do|with|enable|store|return|even|allow|need)_|causal|masked|varlen", re.I
)
_DIMENSION_NAME = re.compile(r"dim|^d$|^h$|head|^b[ktv]$", re.I)
_COUNT_NAME = re.compile(r"group|num_stages|stages|split|unroll|ctas?$|warps", re.I)


def language_of(jit_function: Any) -> Literal["triton", "gluon"]:
    """Tell which language the kernel is written in."""
    return "gluon" if jit_function.is_gluon() else "triton"


def describe_kernel(jit_function: Any, autotuner: Any, line: int) -> Kernel:
    """Describe `jit_function`; `autotuner` is the object of its `autotune` decorator or None."""
    configs = tuple(
        Config(
            index,
            {name: to_scalar(value) for name, value in config.kwargs.items()},
            config_options(config),
        )
        for index, config in enumerate(autotuner.configs if autotuner is not None else ())
    )
    usage = _Usage(jit_function)
    preset = configs[0].arguments if configs else {}
    parameters = tuple(_describe(parameter, usage, preset) for parameter in jit_function.params)
    return Kernel(jit_function.__name__, line, language_of(jit_function), parameters, configs)


def config_options(config: Any) -> dict[str, Any]:
    """Return the compiler options that an autotune configuration sets."""
    return {name: value for name, value in config.all_kwargs().items() if name not in config.kwargs}


def helper_names(tree: ast.Module) -> set[str]:
    """Return the names of functions that other jitted functions of the source call."""
    called: set[str] = set()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or not any(map(_is_jit, function.decorator_list)):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id != function.name:
                called.add(node.id)
    return called


def _is_jit(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == "jit"


class _Usage(ast.NodeVisitor):
    """What a kernel's body does with its parameters."""

    def __init__(self, jit_function: Any) -> None:
        self.pointers: set[str] = set()
        self.descriptors: set[str] = set()
        self.has_dot = False
        self._origin: dict[str, str] = {}
        try:
            self.visit(ast.parse(textwrap.dedent("".join(jit_function.raw_src))))
        except SyntaxError:
            return

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        origin = self._leftmost(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name) and origin is not None:
                self._origin.setdefault(target.id, origin)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        called = node.func
        if not isinstance(called, ast.Attribute):
            return
        if _MEMORY.match(called.attr):
            if isinstance(called.value, ast.Name) and called.value.id not in ("tl", "gl", "ttgl", "language"):
                self.descriptors.add(called.value.id)
                return
            keywords = {keyword.arg: keyword.value for keyword in node.keywords}
            address = node.args[0] if node.args else keywords.get("base", keywords.get("pointer"))
            origin = self._leftmost(address) if address is not None else None
            if origin is not None:
                self.pointers.add(origin)
        elif called.attr in ("dot", "dot_scaled"):
            self.has_dot = True

    def _leftmost(self, node: ast.expr) -> str | None:
        """Return the parameter at the left end of a sum: where an address begins."""
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            node = node.left
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to":
            return self._leftmost(node.func.value)
        if not isinstance(node, ast.Name):
            return None
        return self._origin.get(node.id, node.id)


def _describe(parameter: Any, usage: _Usage, preset: dict[str, Any]) -> Parameter:
    has_default = parameter.default is not inspect.Parameter.empty
    default = to_scalar(parameter.default) if has_default else None
    guess = _guess(parameter, usage, preset, default if has_default else ...)
    return Parameter(
        parameter.name, parameter.annotation, parameter.is_constexpr, default, has_default, guess
    )


def _guess(parameter: Any, usage: _Usage, preset: dict[str, Any], default: Any) -> Argument:
    """Guess an argument; its type is empty where there is nothing to go by."""
    name = parameter.name
    if parameter.is_constexpr:
        return _guess_constant(name, usage, preset.get(name, default))
    if parameter.annotation_type:
        kind = parameter.annotation_type
        divisible = kind.startswith("*") or (kind[0] in "iu" and kind not in ("i1", "u1"))
        return Argument(name, kind, None, "divisible by 16" if divisible else "")
    if name in usage.pointers or (_POINTER_NAME.search(name) and name not in usage.descriptors):
        element = "i32" if _INDEX_NAME.search(name) else "fp16" if usage.has_dot else "fp32"
        return Argument(name, f"*{element}", None, "divisible by 16")
    if name in usage.descriptors or name.endswith("_desc"):
        return Argument(name, "")
    if isinstance(default, bool):
        return Argument(name, "i1")
    if isinstance(default, float) or _FLOAT_NAME.search(name):
        return Argument(name, "fp32")
    return Argument(name, "i32", None, "divisible by 16")


def _guess_constant(name: str, usage: _Usage, known: Any) -> Argument:
    if known is not ...:
        return Argument(name, "constexpr", known, "constexpr")
    value: Any
    if _COUNT_NAME.search(name):
        value = 8 if "group" in name.lower() else 2
    elif _BLOCK_NAME.search(name):
        value = (32 if name.upper().endswith("K") else 64) if usage.has_dot else 128
    elif _FLAG_NAME.search(name):
        value = False
    elif _DIMENSION_NAME.search(name):
        value = 64
    else:
        return Argument(name, "")
    return Argument(name, "constexpr", value, "constexpr")
