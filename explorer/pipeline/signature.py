"""Parses and writes signatures: "*fp16:16, *fp16:16, i32:16, 128"."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import triton.language as tl
from triton.experimental.gluon import language as gluon_language
from triton.runtime.jit import JITCallable

from explorer.model import Argument, Diagnostic
from explorer.model.signature_types import TYPES, is_type
from explorer.pipeline.errors import UserError

_NAMED = re.compile(r"^\s*([A-Za-z_]\w*)\s*=(?!=)\s*")


@dataclass(frozen=True)
class Item:
    """One item of a signature: either `type`, or `constant` as text. `column` is where it begins."""

    column: int
    text: str
    name: str | None = None
    type: str | None = None
    hint: str = ""


def parse(signature: str) -> list[Item]:
    """Split a signature into items. Raise UserError with the position of an error."""
    items = []
    for column, text in _split(signature):
        named = _NAMED.match(text)
        name = named.group(1) if named else None
        start = named.end() if named else len(text) - len(text.lstrip())
        body = text[start:].strip()
        if not body:
            raise _error(column + start, "an argument is missing")
        kind, _, hint = body.rpartition(":") if re.search(r":\s*\w*$", body) else (body, "", "")
        kind, hint = kind.strip(), hint.strip()
        if is_type(kind):
            if hint not in ("", "1", "16"):
                raise _error(
                    column + start,
                    f"unknown hint ':{hint}'",
                    "':16' means divisible by 16, ':1' means equal to 1.",
                )
            if hint and kind.startswith(("fp", "bf")):
                raise _error(column + start, f"{kind} takes no hint")
            items.append(Item(column + start, body, name, kind, hint))
        elif body.startswith("*"):
            known = ", ".join(TYPES)
            raise _error(
                column + start, f"unknown element type {kind.lstrip('*')!r}", f"Known types: {known}."
            )
        else:
            items.append(Item(column + start, body, name))
    return items


def constant(text: str, namespace: dict[str, Any]) -> Any:
    """Return the value of `text`: a literal, a type, or an expression of the source's global names.

    Raises ValueError if the text has no value.
    """
    dtype = dtype_of(text)
    if dtype is not None:
        return dtype
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        pass
    try:
        # The expression has the rights of the source, and is evaluated in the same jail.
        return eval(text, {**vars(gluon_language), **namespace})  # noqa: S307  the user's code
    except Exception:  # User code may raise any exception.
        raise ValueError(f"{text!r} is not a type, a literal or a name of the source") from None


def dtype_of(text: str) -> Any:
    """Return the element type that `text` names: "fp16", "tl.float16"; None if there is none."""
    if text in TYPES:
        return tl.dtype("int1" if text in ("i1", "u1") else _LONG.get(text, text))
    last = text.rpartition(".")[2]
    if "." in text and isinstance(found := getattr(tl, last, None), tl.dtype):
        return found
    return None


_LONG = {
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}


def write(arguments: tuple[Argument, ...], constants: dict[str, Any]) -> str:
    """Write arguments as a signature that `parse` reads. `constants` has the values of the constexprs."""
    return ", ".join(
        write_constant(constants[argument.name])
        if argument.name in constants
        else argument.type + {"divisible by 16": ":16", "equal to 1": ":1"}.get(argument.specialization, "")
        for argument in arguments
    )


def write_constant(value: Any) -> str:
    """Write a constant as text that `constant` reads, if possible."""
    if isinstance(value, tl.constexpr):
        value = value.value
    if isinstance(value, JITCallable):
        return str(value.__name__)
    if isinstance(value, tl.dtype):
        name = str(value)
        return name if dtype_of(name) is not None else f"tl.{value.name}"
    return repr(value)


def _split(signature: str) -> Iterator[tuple[int, str]]:
    """Yield (column, text) of the parts between commas outside of brackets and quotes."""
    start, depth, quote = 0, 0, ""
    if not signature.strip():
        return
    for position, character in enumerate(signature):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
            if depth < 0:
                raise _error(position, f"{character!r} closes nothing")
        elif character == "," and not depth:
            yield start, signature[start:position]
            start = position + 1
    if quote or depth:
        raise _error(len(signature), "a quote or bracket is not closed")
    if signature[start:].strip() or start == 0:
        yield start, signature[start:]


def _error(column: int, message: str, hint: str = "") -> UserError:
    example = 'Write it like "*fp16:16, *fp16:16, i32:16, 128".'
    return UserError(
        Diagnostic("error", f"Signature, character {column + 1}: {message}.", hint=hint or example)
    )
