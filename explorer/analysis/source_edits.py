"""Changes of single lines of a Python source, which keep its other text as it is.

In: the source, and a place that the compiler names or a name of the kernel. Out: the lines as they become;
none if the source has nothing there that the change fits.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import UnionType

from explorer.analysis.block_offsets import block_offsets
from explorer.analysis.python_loops import PythonSource, called_name, is_call, nodes_of
from explorer.errors import InvalidRequest
from explorer.model import LineEdit, Scalar
from explorer.model.source_lines import lines_of

_LANGUAGE = "triton.language"
#: The accesses, with the number of the arguments that are no masks.
_KEPT_ARGUMENTS = {"load": 1, "store": 2}
#: Arguments after the mask of a store and the other values of a load are no masks.
_MOST_ARGUMENTS = 3
#: A line, a range of its bytes, and the text that takes their place.
_Replacement = tuple[int, int, int, str]
_Argument = ast.expr | ast.keyword
#: Operands that need no parentheses.
_PRIMARY = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)


class EditableSource(PythonSource):
    """The syntax tree of a source whose lines can change."""

    def with_stages(self, line: int, count: int) -> LineEdit | None:
        """Give the loop at `line` a number of pipeline stages: `tl.range(…, num_stages=count)`."""
        for node in self._nodes:
            if not isinstance(node, ast.For) or node.lineno != line or not isinstance(node.iter, ast.Call):
                continue
            call, name = node.iter, self._text(node.iter.func)
            if call.end_lineno != line or any(each.arg == "num_stages" for each in call.keywords):
                return None
            language = self._language()
            if name == "range" and language:
                name = f"{language}.range"
            elif name != f"{language}.range":
                return None
            end = (call.end_col_offset or 0) - 1
            arguments = self._lines[line - 1][call.func.end_col_offset or 0 : end].rstrip().rstrip(b",")
            changed = f"{name}{arguments.decode()}, num_stages={count})"
            return self._replaced(line, call.col_offset, end + 1, changed)
        return None

    def in_64_bits(self, places: Iterable[tuple[int, int]]) -> list[LineEdit]:
        """Convert the left operands of the operations at places to 64 bits, and of equal operations.

        The compiler computes equal operations of a function once, and names the place of one of them.
        """
        language = self._language()
        found: dict[int, ast.expr] = {}
        for node in filter(None, (self._operation_at(*each) for each in places)):
            operands, function = self._operands(node), self._function_around(node)
            for each in ast.walk(function) if function else self._nodes:
                if not isinstance(each, ast.BinOp) or type(each.op) is not type(node.op):
                    continue
                if self._operands(each) == operands:
                    found[id(each)] = each.left
        return self._changed(
            each
            for left in found.values()
            if language and not isinstance(left, ast.Constant)
            for each in self._around(left, f"{language}.cast", f", {language}.int64")
        )

    def _operation_at(self, line: int, column: int) -> ast.BinOp | None:
        """Return the operation at a position (from 1).

        Of the operations that begin there, it is the innermost product, otherwise the innermost sum. If none
        begins there, it is the operation whose right operand does, otherwise the only product of the line.
        """
        operations = [
            node
            for node in self._nodes
            if isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Mult | ast.Add | ast.Sub)
            and node.lineno == node.left.end_lineno == line
        ]
        found = [each for each in operations if each.col_offset + 1 == column]
        if not found:
            # Triton 3.6 gives an operation the position of its last operand, from 0.
            found = [each for each in operations if each.right.col_offset == column]
        if not found:
            found = [each for each in operations if isinstance(each.op, ast.Mult)]
            if len(found) > 1:
                return None
        return min(found, key=lambda each: (not _is_product(each), each.end_col_offset or 0), default=None)

    def _operands(self, node: ast.BinOp) -> Collection[str]:
        """Return the texts of the operands, in any order if it does not matter."""
        left, right = ("".join(self._text(each).split()) for each in (node.left, node.right))
        return (left, right) if isinstance(node.op, ast.Sub) else {left, right}

    def _function_around(self, node: ast.expr) -> ast.FunctionDef | None:
        """Return the innermost function that has a node."""
        around = [
            each
            for each in self._nodes
            if isinstance(each, ast.FunctionDef) and each.lineno <= node.lineno <= (each.end_lineno or 0)
        ]
        return max(around, key=lambda each: each.lineno, default=None)

    def _around(self, node: ast.expr, function: str, arguments: str) -> Iterator[_Replacement]:
        """Yield what makes an operand the first argument of a call. `arguments` are the others."""
        first, start, last, end = node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0
        has_parentheses = (
            self._lines[first - 1][start - 1 : start] + self._lines[last - 1][end : end + 1] == b"()"
        )
        if has_parentheses:
            start -= 1
        yield first, start, start, function + "(" * (not has_parentheses)
        yield last, end, end, arguments + ")" * (not has_parentheses)

    def in_32_bits(self, line: int, constexprs: Collection[str]) -> LineEdit | None:
        """Divide in 32 bits, and convert the result to 64 bits, in a line with one division."""
        found = [
            node
            for node in self._nodes
            if isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.FloorDiv | ast.Mod)
            and node.lineno == node.end_lineno == line
        ]
        if len(found) != 1 or not (language := self._language()):
            return None
        (node,) = found

        def narrow(operand: ast.expr) -> str:
            text = self._text(operand)
            names = {each.id for each in ast.walk(operand) if isinstance(each, ast.Name)}
            # An argument that is 1 is no tensor, and has no `to`.
            is_constant = names.issubset(constexprs)
            return self._operand(operand) if is_constant else f"{language}.cast({text}, {language}.int32)"

        sign = "//" if isinstance(node.op, ast.FloorDiv) else "%"
        changed = f"({narrow(node.left)} {sign} {narrow(node.right)}).to({language}.int64)"
        return self._replaced(line, node.col_offset, node.end_col_offset or 0, changed)

    def without_64_bits(self, lines: Collection[int]) -> list[LineEdit]:
        """Remove `.to(tl.int64)` and `tl.cast(…, tl.int64)` in lines."""
        language, found = self._language(), []
        for node in self._nodes:
            if not isinstance(node, ast.expr) or node.lineno not in lines or node.lineno != node.end_lineno:
                continue
            end = node.end_col_offset or 0
            match node:
                case ast.Call(func=ast.Attribute(attr="to", value=value), args=[kind], keywords=[]) if (
                    self._text(kind) == f"{language}.int64"
                ):
                    # A value in parentheses ends before the last of them.
                    start = self._lines[node.lineno - 1].index(b".", value.end_col_offset)
                    found.append((node.lineno, start, end, ""))
                case ast.Call(func=function, args=[value, kind], keywords=[]) if (
                    self._text(function) == f"{language}.cast" and self._text(kind) == f"{language}.int64"
                ):
                    is_primary = isinstance(value, _PRIMARY)
                    start = value.col_offset if is_primary else function.end_col_offset or 0
                    found.append((node.lineno, node.col_offset, start, ""))
                    found.append((node.lineno, value.end_col_offset or 0, end, "" if is_primary else ")"))
        return self._changed(found)

    def without_masks(self, lines: Collection[int]) -> list[LineEdit]:
        """Remove the masks, and what they need, from the loads and stores in lines."""
        found: list[_Replacement] = []
        names = {f"{self._language()}.{name}": kept for name, kept in _KEPT_ARGUMENTS.items()}
        for node in self._nodes:
            if not isinstance(node, ast.Call) or not node.args or node.lineno not in lines:
                continue
            kept = names.get(self._text(node.func))
            if kept and len(node.args) <= _MOST_ARGUMENTS:
                given: list[_Argument] = [*node.args, *node.keywords]
                named = [each for each in node.keywords if each.arg in ("mask", "other")]
                masks: list[_Argument] = [*node.args[kept:], *named]
                if all(each.lineno == each.end_lineno for each in masks):
                    found += (
                        self._argument(each, next(one for one in given[i::-1] if one not in masks))
                        for i, each in enumerate(given)
                        if each in masks
                    )
        return self._changed(found)

    def _argument(self, node: _Argument, before: _Argument) -> _Replacement:
        """Return what removes an argument of one line, with a comma. `before` is the last one to stay."""
        text, start, end = self._lines[node.lineno - 1], node.col_offset, node.end_col_offset or 0
        if before.end_lineno == node.lineno:
            start = text.rindex(b",", before.end_col_offset, start)
        is_alone = start == node.col_offset
        while end < len(text) and (
            not _is_balanced(text[start:end]) or (is_alone and text[end : end + 1] in (b",", b" "))
        ):
            end += 1
        return node.lineno, start, end, ""

    def with_precision(self, line: int, precision: str) -> list[LineEdit]:
        """Replace the `input_precision` or `allow_tf32` that the matrix product at `line` has."""
        for node in self._nodes:
            if not isinstance(node, ast.Call) or called_name(node) != "dot":
                continue
            if node.lineno <= line <= (node.end_lineno or line):
                named = [each for each in node.keywords if each.arg in ("input_precision", "allow_tf32")]
                given: list[_Argument] = [*named, *node.args[3:4]]
                for each in given:
                    if each.lineno == each.end_lineno:
                        text = f'input_precision="{precision}"'
                        return self._changed([(each.lineno, each.col_offset, each.end_col_offset or 0, text)])
        return []

    def in_blocks(
        self, kernel: str, counts: Mapping[str, int], grid: Sequence[int]
    ) -> Iterator[tuple[str, list[LineEdit]]]:
        """Give the programs or turns of a kernel consecutive elements, where each takes every n-th element.

        `i + tl.arange(0, N) * n` becomes `i * N + tl.arange(0, N)` if `i` counts from 0 to n: the number of
        the program, or the variable of a loop. `counts` are the values of integer arguments in the launch.
        All offsets together stay the same, but not the offsets of one program. Yield each new expression with
        all lines that have it.
        """
        function = self.function(kernel)
        if function is None:
            return
        found: dict[str, list[_Replacement]] = {}
        for index, product, text in block_offsets(function, counts, grid, self._text):
            start = min(index.col_offset, product.col_offset)
            end = max(index.end_col_offset or 0, product.end_col_offset or 0)
            is_in_line = index.lineno == product.lineno == index.end_lineno == product.end_lineno
            if is_in_line and _is_balanced(self._lines[index.lineno - 1][start:end]):
                found.setdefault(text, []).append((index.lineno, start, end, text))
        for text, places in found.items():
            yield text, self._changed(places)

    def as_constants(self, kernel: str, names: Collection[str]) -> list[LineEdit]:
        """Make arguments of a kernel constants of the compiler: `n: tl.constexpr`.

        Return none if an argument is not there or is in `do_not_specialize`.
        """
        function, language = self.function(kernel), self._language()
        if function is None or not language:
            return []
        kept = {
            each.value
            for decorator in function.decorator_list
            for keyword in getattr(decorator, "keywords", ())
            if str(keyword.arg).startswith("do_not_specialize")
            for each in ast.walk(keyword.value)
            if isinstance(each, ast.Constant)
        }
        arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        found = [
            (each.lineno, each.col_offset, each.end_col_offset or 0, f"{each.arg}: {language}.constexpr")
            for index, each in enumerate(arguments)
            if each.arg in names and not {index, each.arg} & kept and each.lineno == each.end_lineno
        ]
        return self._changed(found) if len(found) == len(names) else []

    def with_multiples(self, kernel: str, multiples: Mapping[str, int]) -> list[LineEdit]:
        """Tell the compiler what arguments of a kernel are multiples of, such as n of 8.

        In products, comparisons and as a divisor, n becomes `n // 8 * 8`, which has the same value: the
        compiler ignores a hint about an argument itself, and one about a product needs its dimensions.
        """
        function, language = self.function(kernel), self._language()
        if function is None or not language:
            return []
        set_again = {
            each.id
            for each in ast.walk(function)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        known = {name: multiple for name, multiple in multiples.items() if name not in set_again}
        return self._changed(found for each in function.body for found in _rounded(each, known))

    def in_fp32(self, kernel: str) -> list[LineEdit]:
        """Replace `tl.float64` by `tl.float32` in a kernel."""
        function, language = self.function(kernel), self._language()
        return self._changed(
            (each.lineno, each.col_offset, each.end_col_offset or 0, f"{language}.float32")
            for each in (ast.walk(function) if function else ())
            if isinstance(each, ast.Attribute)
            and each.attr == "float64"
            and self._text(each) == f"{language}.float64"
        )

    def in_launch(
        self, kernel: str, line: int | None, values: Mapping[str, Scalar]
    ) -> tuple[list[LineEdit], list[str]]:
        """Write options and constants into the launch at `line`: `kernel[grid](x, num_warps=8)`.

        Return the changed lines, and the names that the launch cannot have: an expression or another
        decorator than `jit` decides them, or there is no such call.
        """
        launch, function = self._launch(kernel, line), self.function(kernel)
        if launch is None or function is None or not all(map(_is_jit, function.decorator_list)):
            return [], list(values)
        arguments = (*function.args.posonlyargs, *function.args.args)
        given = dict(zip((each.arg for each in arguments), launch.args, strict=False))
        given.update((each.arg, each.value) for each in launch.keywords if each.arg)
        is_open = any(isinstance(each, ast.Starred) for each in launch.args) or any(
            each.arg is None for each in launch.keywords
        )
        left: list[str] = []
        replaced: list[_Replacement] = []
        added = ""
        for name, value in values.items():
            node = given.get(name)
            if isinstance(node, ast.Constant):
                replaced.append((node.lineno, node.col_offset, node.end_col_offset or 0, repr(value)))
            elif node is None and not is_open:
                added += f", {name}={value!r}"
            else:
                left.append(name)
        nodes = (*launch.args, *(each.value for each in launch.keywords))
        last = max(((each.end_lineno or 0, each.end_col_offset or 0) for each in nodes), default=None)
        end = launch.end_lineno or 0, (launch.end_col_offset or 0) - 1
        # The last argument can end in a parenthesis that is none of the call.
        for row, column in filter(None, (last, end)):
            edits = self._changed([*replaced, (row, column, column, added)] if added else replaced)
            if edits:
                return edits, left
        return [], list(values)

    def _launch(self, kernel: str, line: int | None) -> ast.Call | None:
        """Return the only call of a kernel with a grid that a line has."""
        calls = [
            node
            for node in self._nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Subscript)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == kernel
            and line is not None
            and node.lineno <= line <= (node.end_lineno or 0)
        ]
        return calls[0] if len(calls) == 1 else None

    def with_texts(self, texts: ast.List, more: Iterable[str]) -> LineEdit | None:
        """Add texts at the end of a list of texts in one line."""
        if texts.lineno != texts.end_lineno:
            return None
        start, end = texts.col_offset, texts.end_col_offset or 0
        before = self._lines[texts.lineno - 1][start : end - 1].rstrip().rstrip(b",").decode()
        added = ", ".join(f'"{each}"' for each in more)
        return self._replaced(texts.lineno, start, end, f"{before}{', ' if texts.elts else ''}{added}]")

    def _operand(self, node: ast.expr) -> str:
        """Return the text of an operand, in parentheses if it is an operation."""
        return self._text(node) if isinstance(node, _PRIMARY) else f"({self._text(node)})"

    def _replaced(self, line: int, start: int, end: int, text: str) -> LineEdit | None:
        """Return a line with other text in place of a range of bytes; None if it is no Python then."""
        return next(iter(self._changed([(line, start, end, text)])), None)

    def _changed(self, replacements: Iterable[_Replacement]) -> list[LineEdit]:
        """Return the lines with other texts in place of ranges that do not overlap.

        Return none if the source is no Python then.
        """
        changed: dict[int, bytes] = {}
        for line, start, end, text in sorted(replacements, reverse=True):
            old = changed.get(line, self._lines[line - 1])
            changed[line] = old[:start] + text.encode() + old[end:]
        lines = [changed.get(number, line) for number, line in enumerate(self._lines, 1)]
        if not changed or not nodes_of(b"\n".join(lines).decode("utf-8", "replace")):
            return []
        return [LineEdit(line, text.decode("utf-8", "replace")) for line, text in sorted(changed.items())]

    def function(self, name: str) -> ast.FunctionDef | None:
        """Return the first function of a name."""
        found = (each for each in self._nodes if isinstance(each, ast.FunctionDef) and each.name == name)
        return next(found, None)

    def _language(self) -> str:
        """Return the name of `triton.language` in the source; "" if it has none."""
        for node in self._nodes:
            if isinstance(node, ast.Import):
                for each in node.names:
                    if each.name == _LANGUAGE:
                        return each.asname or _LANGUAGE
            if isinstance(node, ast.ImportFrom) and node.module == "triton":
                for each in node.names:
                    if each.name == "language":
                        return each.asname or "language"
        return ""


def _rounded(node: ast.AST, multiples: Mapping[str, int]) -> Iterator[_Replacement]:
    """Yield the replacements in a node where the compiler must know what names are multiples of."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        names: list[tuple[ast.expr, str]] = []
        match node:
            case ast.Call() if is_call(node, "multiple_of"):
                pass
            case ast.BinOp(op=ast.Mult()):
                names = [(node.left, "({})"), (node.right, "({})")]
                waiting += (node.left, node.right)
            case ast.BinOp(op=ast.FloorDiv() | ast.Mod()):
                names = [(node.right, "({})")]
                waiting.append(node.left)
            case ast.Compare():
                terms = [term for each in (node.left, *node.comparators) for term in _terms(each)]
                names = [(each, "{}") for each in terms]
                waiting += terms
            case ast.If() | ast.While():
                waiting += (*node.body, *node.orelse)
            case _:
                waiting += ast.iter_child_nodes(node)
        for name, form in names:
            if isinstance(name, ast.Name) and name.id in multiples:
                text = form.format(f"{name.id} // {multiples[name.id]} * {multiples[name.id]}")
                yield name.lineno, name.col_offset, name.end_col_offset or 0, text


def _terms(node: ast.expr) -> list[ast.expr]:
    """Return the terms of a sum or difference."""
    return _leaves(node, ast.Add | ast.Sub)


def _leaves(node: ast.expr, operators: type[ast.operator] | UnionType) -> list[ast.expr]:
    """Return the operands of nested operations. A long expression is nested deeply."""
    found, waiting = [], [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, operators):
            waiting += (node.right, node.left)
        else:
            found.append(node)
    return found


def _is_product(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)


def _is_jit(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(function, ast.Name | ast.Attribute) and (
        (function.id if isinstance(function, ast.Name) else function.attr) == "jit"
    )


def _is_balanced(text: bytes) -> bool:
    return text.count(b"(") == text.count(b")")


def edited(source: str, edits: Iterable[LineEdit]) -> str:
    """Return the source with changed lines.

    Raises:
        InvalidRequest: the source has no such line.
    """
    changed = {each.line: each.text for each in edits}
    if not changed:
        return source
    lines = lines_of(source)
    for number in changed:
        if not 1 <= number <= len(lines):
            raise InvalidRequest(f"The source has no line {number}: its lines are 1 to {len(lines)}.")
    return "\n".join(changed.get(number, line) for number, line in enumerate(lines, 1))
