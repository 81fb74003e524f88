"""Turn what the compiler raises into a message on the user's line, with what to do about it."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

from explorer.model import Diagnostic
from explorer.pipeline.functions import called_functions, file_of, place_of
from explorer.pipeline.passes import PassFailed
from explorer.pipeline.stages import Artifact
from explorer.pipeline.stages import ptx as ptx_stage
from explorer.pipeline.user_source import SOURCE_FILE

if TYPE_CHECKING:
    from explorer.pipeline.specialize import Specialization

_PTXAS_ERROR = re.compile(r"^ptxas.*, line (\d+); (?:error|fatal)\s*: (.*)$", re.MULTILINE)
#: The folder of an absolute path, up to the file's own name.
ABSOLUTE_FOLDER = re.compile(r"(?:/[\w.+-]+)+/(?=[\w.+-]+)")


def diagnose(
    error: Exception, messages: list[Diagnostic], specialization: Specialization, ptx: str, stage: str
) -> Diagnostic:
    """Say what has gone wrong while lowering, on the line where it has.

    `messages` are what the compiler's C++ side has written about it; `ptx` is what the assembler was given.
    """
    from triton.compiler.errors import CompilationError
    from triton.runtime.errors import PTXASError

    if isinstance(error, CompilationError):
        return _diagnose_source(error, specialization, stage)
    where = f" (pass {error.name})" if isinstance(error, PassFailed) else ""
    for message in messages:
        if message.severity == "error":
            line = message.line or specialization.described.line
            return dataclasses.replace(
                message, message=message.message + where, line=line, hint=_hint(message.message)
            )
    text = str(error) or type(error).__name__
    if isinstance(error, PTXASError):
        return _diagnose_assembler(text, specialization, ptx)
    return Diagnostic("error", text + where, stage, specialization.described.line, hint=_hint(text))


def _diagnose_source(error: Any, specialization: Specialization, stage: str) -> Diagnostic:
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
            if function is not None and file_of(function) == SOURCE_FILE and hasattr(current.node, "lineno"):
                place = place_of(function, current.node)
            # Where there is no node, Triton has put words in the place of the source.
            words = "" if hasattr(current.node, "lineno") else str(current)
            message = current.error_message or words or message
        else:
            message = str(current) or type(current).__name__
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    message = message or "The kernel cannot be compiled."
    return Diagnostic("error", message, stage, *place, hint=_hint(message))


def _hint(message: str) -> str:
    """Say what to do about the compiler's most common complaints."""
    if "power of 2" in message or "power of two" in message:
        return "Round it up to a power of two and mask what is out of bounds."
    if re.search(r"\bmodule '.*' has no attribute", message):
        return "This Triton version has no such function: see its documentation, or choose another version."
    if message.startswith("KeyError('__main__."):
        return "A kernel or a function that it calls cannot call itself: Triton has no recursion."
    if message.startswith("invalid function identifier"):
        return "Its name goes into the binary, which takes a to z, A to Z, digits and _ only: rename it."
    return ""


def _diagnose_assembler(message: str, specialization: Specialization, ptx: str) -> Diagnostic:
    """Say what the assembler complains of, on the line of the source that its line of PTX comes from."""
    complaint = _PTXAS_ERROR.search(message)
    if complaint is None:
        text = ABSOLUTE_FOLDER.sub("", message.strip().splitlines()[0])
        return Diagnostic("error", f"ptxas failed: {text}", "sass", specialization.described.line)
    row, text = int(complaint.group(1)), complaint.group(2).strip()
    up_to_there = "".join(ptx.splitlines(keepends=True)[:row])
    read = ptx_stage.read(Artifact(up_to_there))
    own = [
        frame
        for indices in read.table.lines[-1:]
        for index in indices
        for frame in read.table.locations[index].frames
        if not frame.file
    ]
    line, column = (own[0].line, own[0].column) if own else (specialization.described.line, 0)
    instruction = up_to_there.splitlines()[-1].strip()
    return Diagnostic("error", f"ptxas refused the PTX: {text} (in `{instruction}`)", "sass", line, column)
