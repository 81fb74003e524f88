"""The user's source as code: parsed, compiled, and able to skip statements that only use results."""

from __future__ import annotations
import __future__

import ast
import contextlib
import linecache
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from types import CodeType, FrameType

from explorer.model import Diagnostic, LineNumber
from explorer.model.source_lines import SourceLines
from explorer.pipeline.errors import UserError
from explorer.pipeline.pasted import PastedCode, find_code

#: The file name of the user's code. It appears in locations and tracebacks.
SOURCE_FILE = "kernel.py"

#: The prefix of the names of the files beside the script, so that none is mistaken for the script.
BESIDE = "./"

#: The name of the context manager, in the compiled code, that skips statements that need the value of a
#: result.
SKIPPING = "__skip_what_needs_values__"

#: The numbers of the lines of the script that was registered last.
_numbers = SourceLines("")

#: The code of that script, if it was pasted in another form than Python.
_pasted = PastedCode("", "")

#: Whether the functions of that script stay unchanged, because a compiler traces them.
_keeps_functions = False

_LOOKS_ONLY = re.compile(
    r"^(print|display|log|info|debug|warning|assert\w*|allclose|testing)$", re.IGNORECASE
)


def normalize(source: str) -> str:
    """Return `source` as Python reads it from a file: without a byte order mark, lines ending in newlines."""
    return source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def parse(source: str) -> ast.Module:
    """Parse `source`. Raise UserError with the position of a syntax error."""
    if "\0" in source:
        before = source[: source.index("\0")]
        raise UserError(
            Diagnostic(
                "error",
                "The source contains a null character, which Python does not allow.",
                line=before.count("\n") + 1,
                column=len(before) - before.rfind("\n"),
                hint="Remove it. In a string, write \\0.",
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
                "The source is nested too deeply for the parser.",
                hint="Split long expressions and deep nesting into parts.",
            )
        ) from None
    except ValueError as error:
        raise UserError(Diagnostic("error", f"The source cannot be parsed: {error}")) from None


def register(source: str, file: str = SOURCE_FILE) -> None:
    """Make a source available to `inspect` and tracebacks, without a file."""
    lines = [f"{line}\n" for line in source.removesuffix("\n").split("\n")]
    linecache.cache[file] = (len(source), None, lines, file)


def register_script(
    source: str, path: str = "", files: Mapping[str, str] | None = None, *, keeps_functions: bool = False
) -> PastedCode:
    """Register the script that is executed next, and number its lines and the lines of the files beside it.

    Return the code that the source contains. With `keeps_functions`, checks and prints are skipped outside of
    functions only.
    """
    global _numbers, _keeps_functions, _pasted  # A process executes one script at a time.
    _pasted = find_code(normalize(source))
    register(_pasted.text)
    _keeps_functions = keeps_functions
    _numbers = SourceLines(source, path, files)
    return _pasted


def shown_at(diagnostic: Diagnostic) -> Diagnostic:
    """Return a diagnostic with the columns that its lines have in the text that was pasted."""
    if diagnostic.stage_line or not diagnostic.column:
        return diagnostic
    end_line = diagnostic.end_line or diagnostic.line
    return replace(
        diagnostic,
        column=diagnostic.column + _pasted.indents.get(diagnostic.line, 0),
        end_column=diagnostic.end_column and diagnostic.end_column + _pasted.indents.get(end_line, 0),
    )


def file_of_module(path: str) -> str:
    """Return the name that the code of a file beside the script is compiled with."""
    return SOURCE_FILE if path in _pasted.files else BESIDE + path


def source_numbers() -> SourceLines:
    """Return the numbers of the lines of the script and of the files beside it."""
    return _numbers


def number_of(file: str, line: LineNumber) -> LineNumber:
    """Return the number of a line of a file that was compiled as `file`. 0: the file is not the user's."""
    return _numbers.number("" if file == SOURCE_FILE else file, line) if is_users(file) else 0


def is_users(file: str) -> bool:
    """Return whether code was compiled as the script or as a file beside it."""
    return file == SOURCE_FILE or file.startswith(BESIDE)


def embedded_tree(text: str) -> ast.Module | None:
    """Return the syntax tree of code that the script holds as a string, with the line numbers of the script.

    Return None if the lines of the script differ from the lines of the string, because of escapes.
    """
    script = "".join(linecache.getlines(SOURCE_FILE))
    before, found, _ = script.partition(text)
    if not found:
        return None
    return ast.increment_lineno(ast.parse(text, SOURCE_FILE), before.count("\n"))


def embedded_trees(tree: ast.Module, decorator: str = "triton.jit") -> list[ast.Module]:
    """Return the syntax trees of the kernels that a script holds as strings."""
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and f"@{decorator}" in node.value
    ]
    found = []
    for text in texts:
        with contextlib.suppress(SyntaxError, ValueError, KeyError):
            if (embedded := embedded_tree(text)) is not None:
                found.append(embedded)
    return found


def user_line() -> LineNumber:
    """Return the line of the user's innermost frame, or 0."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            return number_of(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return 0


def compile_statements(statements: list[ast.stmt], file: str = SOURCE_FILE) -> CodeType:
    """Compile `statements` so that checks and prints that need the value of a result are skipped."""
    module = _Lenient().visit(ast.Module(list(statements), []))
    flags = __future__.annotations.compiler_flag if _postpones_annotations(statements) else 0
    code: CodeType = compile(module, file, "exec", flags=flags, dont_inherit=True)
    return code


def _postpones_annotations(statements: list[ast.stmt]) -> bool:
    return any(
        isinstance(statement, ast.ImportFrom)
        and statement.module == "__future__"
        and any(name.name == "annotations" for name in statement.names)
        for statement in statements
    )


class _Lenient(ast.NodeTransformer):
    """Wraps statements that only use results in a context that skips them."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        if not _keeps_functions:
            self.generic_visit(node)
        return node

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
    """Return whether `value` is like `"passed" if close else "failed"`."""
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
