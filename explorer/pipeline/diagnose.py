"""Converts an exception of the compiler into a diagnostic on the user's line, with a hint."""

from __future__ import annotations

import bisect
import dataclasses
import re
from collections.abc import Iterable, Iterator
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

import triton

from explorer.model import Diagnostic, Location
from explorer.pipeline.functions import called_functions, file_of, place_of
from explorer.pipeline.import_stubs import HINT
from explorer.pipeline.missing_modules import ABSENT_FILE, ABSENT_FILES, ABSENT_PACKAGE
from explorer.pipeline.passes import PassFailed
from explorer.pipeline.stages import Artifact
from explorer.pipeline.stages import amdgcn as amdgcn_stage
from explorer.pipeline.stages import ptx as ptx_stage
from explorer.pipeline.user_source import is_users, source_numbers

if TYPE_CHECKING:
    from explorer.pipeline.specialize import Specialization

_PTXAS_ERROR = re.compile(r"^ptxas.*, line (\d+); (?:error|fatal)\s*: (.*)$", re.MULTILINE)
#: An error of ptxas without a line of the PTX. Triton's message and the last line of the log name no cause.
_PTXAS_FAILURE = re.compile(
    r"^ptxas.*?(?:error|fatal)\s*: (?!Ptx assembly aborted)(?:\((?P<code>C\d+)\) )?(?P<text>.+)$",
    re.MULTILINE,
)
#: The line of the PTX, in the text of an error that has no line in front.
_PTX_ROW = re.compile(r" at line (\d+)(?= in function\b)")
#: An error of LLVM's assembler, with the instruction. Triton 3.6 names no line of the AMDGCN.
_AMD_ASSEMBLER_ERROR = re.compile(
    r"^(?:triton-amdgpu-assembler:(?P<row>\d+):\d+: )?error: (?P<text>.+)\n"
    r"(?P<instruction>.+)\n\s*\^[ \t~]*$",
    re.MULTILINE,
)
#: ptxas says so in its log, and 13.1 also names the line of the PTX.
_LOST_PERFORMANCE = re.compile(
    r"^ptxas.*: \((?P<code>C75\d\d)\) (?P<text>Potential Performance Loss: .+?)(?: in line (?P<row>\d+))?$",
    re.MULTILINE,
)
#: The folder of an absolute path, without the name of the file.
ABSOLUTE_FOLDER = re.compile(r"(?:/[\w.+-]+)+/(?=[\w.+-]+)")


#: Triton's message about a global variable, which may be in the text of an exception.
_GLOBAL = re.compile(
    r"(?:NameError\(['\"])?Cannot access global variable (\w+) from within @jit'ed function\..*", re.DOTALL
)
_USES_GLOBAL = "The kernel uses the global variable {0}, which is not a constexpr."
#: The rest of Triton's message, with the name of the variable.
_ADVICE_ABOUT_GLOBAL = (
    "Assign it as `{0} = tl.constexpr(…)`, or pass it as an argument. The annotation `{0}: tl.constexpr = …` "
    "does not suffice. The environment variable TRITON_ALLOW_NON_CONSTEXPR_GLOBALS=1 permits such variables; "
    "Triton does not promise to support it forever."
)

#: Triton accepts a kernel that returns a value until the pass that lowers `tt.return`.
_RETURNS_VALUE = "failed to legalize operation 'tt.return'"

#: Messages about features that later versions of Triton do not have.
_REMOVED = re.compile(r"\bha(?:ve|s) been removed\b|too many indices for tensor of rank \d")


def diagnose(
    error: Exception, messages: list[Diagnostic], specialization: Specialization, ptx: str, stage: str
) -> Diagnostic:
    """Return the diagnostic for a failure during lowering, with its source line.

    `messages` are the messages of the compiler's C++ code; a message that the diagnostic replaces is removed.
    `ptx` is the input of the assembler.
    """
    from triton.compiler.errors import CompilationError
    from triton.runtime.errors import PTXASError

    if isinstance(error, CompilationError):
        return _diagnose_source(error, specialization, stage)
    where = f" (pass {error.name})" if isinstance(error, PassFailed) else ""
    worked_on = error.worked_on if isinstance(error, PassFailed) else None
    first_line = worked_on.lines[0] if worked_on else specialization.described.line
    for message in messages:
        if message.message.startswith(_RETURNS_VALUE):
            text = f"{specialization.jit_function.__name__} returns a value. A kernel returns nothing."
            hint = "Choose a kernel that calls it, or store the value in memory in place of the return."
            messages.remove(message)
            return dataclasses.replace(message, message=text, line=message.line or first_line, hint=hint)
        if message.severity == "error":
            hint = _hint(message.message) or (worked_on.words if worked_on and not message.line else "")
            return dataclasses.replace(
                message, message=message.message + where, line=message.line or first_line, hint=hint
            )
    text = str(error) or type(error).__name__
    if isinstance(error, PTXASError):
        return _diagnose_assembler(text, specialization, ptx)
    hint = _hint(text) or (worked_on.words if worked_on else "")
    if isinstance(error, PassFailed):  # MLIR's pass manager survives most crashes of a pass.
        text = "The pass has failed or crashed without a message."
        hint = hint or "This may be a bug in the compiler. Try another Triton version."
    return Diagnostic("error", text + where, stage, first_line, hint=hint)


def _diagnose_source(error: Any, specialization: Specialization, stage: str) -> Diagnostic:
    """Return the diagnostic for an error in the kernel's source.

    Triton wraps the error of a called function in one error per caller. The deepest error in a function of
    the user's source has the line, and the deepest of all errors has the message.
    """
    from triton.compiler.errors import CompilationError

    functions = {function.src: function for function in called_functions(specialization.jit_function)}
    place = (specialization.described.line, 0, 0, 0)
    message = ""
    current: BaseException | None = error
    while current is not None:
        if isinstance(current, CompilationError):
            function = functions.get(current.src)
            if function is not None and is_users(file_of(function)) and hasattr(current.node, "lineno"):
                place = place_of(function, current.node)
            # Without a node, Triton stores a text in place of the source.
            words = "" if hasattr(current.node, "lineno") else str(current)
            message = current.error_message or words or message
        else:
            message = _without_a_variant(current) or str(current) or type(current).__name__
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    if (found := _GLOBAL.search(message)) is not None:
        hint = _ADVICE_ABOUT_GLOBAL.format(found[1])
        return Diagnostic("error", _USES_GLOBAL.format(found[1]), stage, *place, hint=hint)
    message = message or "The kernel cannot be compiled."
    return Diagnostic("error", message, stage, *place, hint=_hint(message))


def _without_a_variant(error: BaseException) -> str:
    """Return which types an external function takes, if `error` is Triton's search for other types.

    The text of this `KeyError` names the types alone.
    """
    frame = next(
        (f for f, _ in walk_tb(error.__traceback__) if f.f_code.co_name == "extern_elementwise"), None
    )
    if frame is None or not isinstance(error, KeyError):
        return ""
    searched, variants = error.args[0], frame.f_locals["arg_type_symbol_dict"]
    taken = " or ".join(f"({', '.join(map(str, types))})" for types in variants)
    return f"The external function takes {taken}, not ({', '.join(map(str, searched))})."


def _hint(message: str) -> str:
    """Return a hint for the most frequent error messages of the compiler."""
    if _REMOVED.search(message):
        return f"Triton {triton.__version__} does not accept this; an older version may."
    if message.endswith((ABSENT_PACKAGE, ABSENT_FILES, ABSENT_FILE)):
        return HINT
    if "power of 2" in message or "power of two" in message:
        return "Round it up to a power of two and mask the elements out of bounds."
    if re.search(r"\bmodule '.*' has no attribute", message):
        return "This Triton version has no such function."
    if message.startswith("KeyError('__main__."):
        return "Triton does not support recursion. Use a loop."
    if message.startswith("The external function takes "):
        return "Convert the arguments, as in x.to(tl.float32)."
    if message.startswith("invalid function identifier"):
        return "Its name goes into the binary, which takes a to z, A to Z, digits and _ only: rename it."
    return ""


def assembler_line(error: Exception) -> int:
    """Return the line of the PTX that the assembler rejected; 0: none."""
    found = _PTXAS_ERROR.search(str(error)) or _PTX_ROW.search(str(error))
    return int(found.group(1)) if found else 0


def _diagnose_assembler(message: str, specialization: Specialization, ptx: str) -> Diagnostic:
    """Return the diagnostic for an error of the assembler, on the source line of the PTX line."""
    complaint = _PTXAS_ERROR.search(message)
    if complaint is None:
        return _diagnose_failure(message, specialization, ptx)
    row, text = int(complaint.group(1)), complaint.group(2).strip()
    line, column = _source_position(ptx, row) or (specialization.described.line, 0)
    instruction = ptx.splitlines()[:row][-1].strip()  # an error at the end is on the line after the last
    return Diagnostic("error", f"ptxas rejected the PTX: {text} (in `{instruction}`)", "sass", line, column)


def _diagnose_failure(message: str, specialization: Specialization, ptx: str) -> Diagnostic:
    """Return the diagnostic for a failure of ptxas, with the reason in its log if there is one."""
    reason = _PTXAS_FAILURE.search(message)
    code = f" {reason['code']}" if reason and reason["code"] else ""
    text = ABSOLUTE_FOLDER.sub("", reason["text"] if reason else message.strip().splitlines()[0])
    row = _PTX_ROW.search(text)
    line, column = (_source_position(ptx, int(row[1])) if row else None) or (specialization.described.line, 0)
    hint = "Fewer warps leave more registers to each thread." if "Insufficient registers" in text else ""
    return Diagnostic(
        "error", f"ptxas{code} failed: {_PTX_ROW.sub('', text)}", "sass", line, column, hint=hint
    )


def read_amd_assembler_errors(
    output: str, specialization: Specialization, amdgcn: str
) -> tuple[list[Diagnostic], str]:
    """Return the errors in the output of AMD's assembler, each on its source line, and the rest of it.

    `amdgcn` is the input of the assembler. A message has the line of the stage AMDGCN.
    """
    read = amdgcn_stage.read(Artifact(amdgcn))
    rows = [line.strip() for line in amdgcn.splitlines()]
    errors: list[Diagnostic] = []

    def position(indices: tuple[int, ...]) -> tuple[int, int] | None:
        return _users_position(read.table.locations[index] for index in indices)

    def take(found: re.Match[str]) -> str:
        instruction = found["instruction"].strip()
        row = int(found["row"] or 0) or (rows.index(instruction) + 1 if instruction in rows else 0)
        shown = bisect.bisect_left(read.raw_lines, row)
        # A line of inline assembly that is not indented has no location of its own.
        line, column = next(filter(None, map(position, reversed(read.table.lines[:shown]))), (0, 0))
        where = f"line {shown} of AMDGCN: " if shown else ""
        message = f"The assembler rejected the AMDGCN: {found['text']} ({where}`{instruction}`)"
        errors.append(Diagnostic("error", message, "amdgcn", line or specialization.described.line, column))
        return ""

    rest = _AMD_ASSEMBLER_ERROR.sub(take, output)
    return errors, rest


def assembler_warnings(log: str, specialization: Specialization, ptx: str) -> Iterator[Diagnostic]:
    """Yield the warnings in the log of ptxas about lost performance.

    Each is on the source line of the PTX line that it names, or on the line of the kernel if it names none.
    """
    for found in _LOST_PERFORMANCE.finditer(log):
        position = _source_position(ptx, int(found["row"])) if found["row"] else None
        line, column = position or (specialization.described.line, 0)
        yield Diagnostic("warning", f"ptxas {found['code']}: {found['text']}.", "sass", line, column)


def _source_position(ptx: str, row: int) -> tuple[int, int] | None:
    """Return the line and the column of the user's source that a line of the PTX comes from."""
    read = ptx_stage.read(Artifact("".join(ptx.splitlines(keepends=True)[:row])))
    return _users_position(read.table.locations[index] for line in read.table.lines[-1:] for index in line)


def _users_position(locations: Iterable[Location]) -> tuple[int, int] | None:
    """Return the first line of the user's source among locations, and its column."""
    positions = (
        (line, frame.column)
        for location in locations
        for frame in location.frames
        if (line := source_numbers().number(frame.file, frame.line))
    )
    return next(positions, None)
