"""Turn what the compiler raises into a message on the user's line, with what to do about it."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

from explorer.model import Diagnostic
from explorer.pipeline.functions import called_functions, file_of, place_of
from explorer.pipeline.passes import PassFailed

if TYPE_CHECKING:
    from explorer.pipeline.specialize import Specialization

#: The folder of an absolute path, up to the file's own name.
ABSOLUTE_FOLDER = re.compile(r"(?:/[\w.+-]+)+/(?=[\w.+-]+)")


def diagnose(
    error: Exception, messages: list[Diagnostic], specialization: Specialization, source_path: str, stage: str
) -> Diagnostic:
    """Say what has gone wrong while lowering, on the line where it has.

    `messages` are what the compiler's C++ side has written about it.
    """
    from triton.compiler.errors import CompilationError
    from triton.runtime.errors import PTXASError

    if isinstance(error, CompilationError):
        return _diagnose_source(error, specialization, source_path, stage)
    where = f" (pass {error.name})" if isinstance(error, PassFailed) else ""
    for message in messages:
        if message.severity == "error":
            line = message.line or specialization.described.line
            return dataclasses.replace(
                message, message=message.message + where, line=line, hint=_hint(message.message)
            )
    text = str(error) or type(error).__name__
    if isinstance(error, PTXASError):
        text = "ptxas refused the PTX: " + _first_ptxas_error(text)
    return Diagnostic("error", text + where, stage, specialization.described.line, hint=_hint(text))


def _diagnose_source(error: Any, specialization: Specialization, source_path: str, stage: str) -> Diagnostic:
    """Say what is wrong in the kernel's own source.

    Triton wraps the error of a called function in one for each caller: the deepest one whose source is
    the user's has the line, and the deepest of all has the message.
    """
    from triton.compiler.errors import CompilationError

    functions = {function.src: function for function in called_functions(specialization.jit_function)}
    place = (specialization.described.line, 0, 0, 0)
    message = ""
    current: BaseException | None = error
    while current is not None:
        if isinstance(current, CompilationError):
            function = functions.get(current.src)
            if function is not None and file_of(function) == source_path and hasattr(current.node, "lineno"):
                place = place_of(function, current.node)
            message = current.error_message or message
        else:
            message = str(current) or type(current).__name__
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    message = message or "The kernel cannot be compiled."
    return Diagnostic("error", message, stage, *place, hint=_hint(message))


def _hint(message: str) -> str:
    """Say what to do about the compiler's most common complaints."""
    if "power of 2" in message or "power of two" in message:
        return "Round it up to a power of two and mask what is out of bounds."
    if "no attribute" in message:
        return "This Triton version has no such function: see its documentation, or choose another version."
    return ""


def _first_ptxas_error(message: str) -> str:
    """Return the assembler's own first complaint out of Triton's report of it."""
    found = re.search(r"^ptxas .*$", message, re.MULTILINE)
    return ABSOLUTE_FOLDER.sub("", found.group() if found else message.strip().splitlines()[0])
