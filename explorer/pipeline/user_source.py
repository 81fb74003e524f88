"""The user's source as code: parsed, compiled, and able to skip what only looks at results."""

from __future__ import annotations
import __future__

import ast
import linecache
import re
import sys
from types import CodeType

from explorer.model import Diagnostic
from explorer.pipeline.errors import UserError

#: The name under which the user's code is compiled; it appears in locations and tracebacks.
SOURCE_FILE = "kernel.py"

#: The name by which the compiled code reaches the context that skips what needs a result's value.
SKIPPING = "__skip_what_needs_values__"

_LOOKS_ONLY = re.compile(
    r"^(print|display|log|info|debug|warning|assert\w*|allclose|testing)$", re.IGNORECASE
)


def normalize(source: str) -> str:
    """Return `source` as Python reads it from a file: without a byte order mark, with plain line ends."""
    return source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def parse(source: str) -> ast.Module:
    """Parse `source`. Raises UserError with the place of a syntax error."""
    if "\0" in source:
        before = source[: source.index("\0")]
        raise UserError(
            Diagnostic(
                "error",
                "The source contains a null character, which Python does not allow.",
                line=before.count("\n") + 1,
                column=len(before) - before.rfind("\n"),
                hint="Remove it; write \\0 for one in a string.",
            )
        )
    try:
        return ast.parse(source, SOURCE_FILE)
    except SyntaxError as error:
        raise UserError(
            Diagnostic(
                "error",
                f"{type(error).__name__}: {error.msg}",
                line=error.lineno or 0,
                column=error.offset or 0,
                end_line=error.end_lineno or 0,
                end_column=error.end_offset or 0,
            )
        ) from None
    except (RecursionError, MemoryError):
        raise UserError(
            Diagnostic(
                "error",
                "The source is nested too deeply to be parsed.",
                hint="Split long expressions and deep nesting into parts.",
            )
        ) from None
    except ValueError as error:
        raise UserError(Diagnostic("error", f"The source cannot be parsed: {error}")) from None


def register(source: str) -> None:
    """Let `inspect` and tracebacks find the source, without a file."""
    lines = [f"{line}\n" for line in source.removesuffix("\n").split("\n")]
    linecache.cache[SOURCE_FILE] = (len(source), None, lines, SOURCE_FILE)


def user_line() -> int:
    """Return the line of the user's innermost frame, 0 if there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == SOURCE_FILE:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return 0


def compile_statements(statements: list[ast.stmt]) -> CodeType:
    """Compile `statements` such that checks and prints that need a result's value are skipped."""
    module = _Lenient().visit(ast.Module(list(statements), []))
    flags = __future__.annotations.compiler_flag if _postpones_annotations(statements) else 0
    code: CodeType = compile(module, SOURCE_FILE, "exec", flags=flags, dont_inherit=True)
    return code


def _postpones_annotations(statements: list[ast.stmt]) -> bool:
    return any(
        isinstance(statement, ast.ImportFrom)
        and statement.module == "__future__"
        and any(name.name == "annotations" for name in statement.names)
        for statement in statements
    )


class _Lenient(ast.NodeTransformer):
    """Wraps statements that only look at results in a context that skips them."""

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        return _skippable(node)

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        return _skippable(node) if _only_looks(node) else node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        if not _chooses_text(node.value):
            return node
        unknown = ast.copy_location(ast.Constant("unknown"), node.value)
        return [ast.copy_location(ast.Assign(node.targets, unknown), node), _skippable(node)]

    def visit_If(self, node: ast.If) -> ast.stmt:
        if all(_only_looks(statement) for statement in (*node.body, *node.orelse)):
            return _skippable(node)
        self.generic_visit(node)
        return node


def _chooses_text(value: ast.expr) -> bool:
    """Tell whether `value` is like `"passed" if close else "failed"`."""
    return isinstance(value, ast.IfExp) and all(
        isinstance(branch, ast.Constant) and isinstance(branch.value, str)
        for branch in (value.body, value.orelse)
    )


def _only_looks(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assert | ast.Raise | ast.Pass):
        return True
    if isinstance(statement, ast.If):
        return all(_only_looks(inner) for inner in (*statement.body, *statement.orelse))
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    called = statement.value.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return bool(_LOOKS_ONLY.match(name))


def _skippable(node: ast.stmt) -> ast.stmt:
    context = ast.withitem(ast.copy_location(ast.Name(SKIPPING, ast.Load()), node), None)
    return ast.copy_location(ast.With([context], [node]), node)
