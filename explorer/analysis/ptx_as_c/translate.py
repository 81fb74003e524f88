"""The translation of a text of PTX: functions, declarations and the order of lines."""

from __future__ import annotations

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from explorer.analysis.graphs import read_ptx
from explorer.analysis.graphs.blocks import Function
from explorer.analysis.graphs.graph import NothingToDraw
from explorer.analysis.graphs.long_lines import with_short_lines
from explorer.analysis.ptx_as_c.body import Body, Written
from explorer.analysis.ptx_as_c.pointers import find_pointers
from explorer.analysis.ptx_as_c.registers import Registers
from explorer.analysis.ptx_as_c.statements import Statement, declared_type, read_declarations, read_statement
from explorer.analysis.ptx_as_c.structure import Piece, Structure

_INDENT = "    "
_MOST_COLUMNS = 100
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(?:\.ptr[\w.\s]*?\s)?([\w$]+)(?:\[(\d+)\])?\s*(?:,|$)"
)
_SHARED = re.compile(r"\.shared\s+\.align\s+(\d+)\s+\.b8\s+([\w$]+)\[(\d*)\]")
_C_PARAMETERS = {"f32": "float", "f64": "double", "pred": "bool"}
_RESERVED_WORDS = (
    "auto bool break case char const continue default do double else enum extern false float for "
    "goto if inline int long register restrict return short signed sizeof static struct switch true "
    "typedef union unsigned void volatile while asm shared local constant half bfloat16 min max abs "
    "threadIdx blockIdx blockDim gridDim global_smem loaded NULL INFINITY fma fmaf isnan"
)
_RESERVED = frozenset(_RESERVED_WORDS.split())


@dataclass(frozen=True)
class Names:
    """Names from the compiler.

    `arguments` are name and type of the kernel's arguments, as MLIR writes types, in the order of the
    parameters. `lines` has the name in the source for each line of PTX (from 1) whose location has a name,
    and `places` a number for the location of each line that has a location.
    """

    arguments: tuple[tuple[str, str], ...] = ()
    lines: Mapping[int, str] = field(default_factory=dict)
    places: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class CLine:
    """A line of C, and the lines of PTX (from 1) that it was made from, in order."""

    text: str
    ptx_lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class VerbatimInstruction:
    """An instruction that is left as PTX, and how often."""

    opcode: str
    count: int


@dataclass(frozen=True)
class Translation:
    """The C of a text. `verbatim` are the instructions that are left as PTX, in the order of opcodes.

    `named` is the number of variables with a name of the source, of `variables`.
    """

    lines: tuple[CLine, ...]
    instructions: int
    verbatim: tuple[VerbatimInstruction, ...]
    variables: int
    named: int


def translate(text: str, names: Names | None = None) -> Translation:
    """Translate PTX.

    Raises:
        NothingToDraw: there is no function with instructions in it.
    """
    text = with_short_lines(text)
    functions = [each for each in read_ptx.read(text) if each.blocks]
    if not functions:
        raise NothingToDraw("The text has no function with instructions.")
    lines = text.split("\n")
    shared = [
        CLine(f"extern shared char {found[2]}[{found[3]}];", (number,))
        for number, line in enumerate(lines, 1)
        if (found := _SHARED.search(line))
    ]
    result = list(shared)
    verbatim = Counter[str]()
    instructions = variables = named = 0
    for function in functions:
        one = _Function(function, lines, names or Names())
        if result:
            result.append(CLine(""))
        result.extend(one.lines())
        verbatim.update(one.body.verbatim.values())
        instructions += sum(len(block.instructions) for block in function.blocks)
        variables += len(one.declared)
        named += sum("_" in each for each in one.declared)
    return Translation(
        tuple(result),
        instructions,
        tuple(VerbatimInstruction(*each) for each in sorted(verbatim.items())),
        variables,
        named,
    )


@dataclass
class _Line:
    """A line before it is indented. `opens` and `closes` count braces; `written` is the statement on it."""

    text: str
    lines: frozenset[int]
    uses: frozenset[str] = frozenset()
    closes: bool = False
    opens: bool = False
    written: Written | None = None
    is_label: bool = False


class _Function:
    """One function."""

    def __init__(self, function: Function, lines: Sequence[str], names: Names) -> None:
        self._function = function
        self._names = names
        last = max((each.last_line for each in function.blocks), default=function.first_line)
        own = lines[function.first_line - 1 : last]
        types = read_declarations(list(own))
        local = frozenset(name for name in types if not name.endswith("*"))
        self._header = self._parameters(own, function.first_line)
        self._arguments = self._named_arguments()
        statements = [
            [
                statement
                for each in block.instructions
                if (statement := read_statement(each.text, each.line, local)) is not None
            ]
            for block in function.blocks
        ]
        every = [each for block in statements for each in block]
        registers = Registers.of(every, types)
        register_names = self._register_names(every, registers)
        parameters = {symbol: (name, kind) for symbol, name, kind, _ in self._arguments}
        pointers = find_pointers(every, {symbol: kind for symbol, (_, kind) in parameters.items()}, registers)
        self.body = Body(registers, register_names, parameters, pointers, statements)
        self._sizes = {name: declared_type(register, types) for register, name in register_names.items()}
        self.declared: dict[str, str] = {}

    def _parameters(self, own: Sequence[str], first: int) -> list[tuple[int, str, str, str]]:
        """Return line, symbol, type and length of the parameters."""
        found = []
        for number, line in enumerate(own, first):
            if line.strip().startswith("{"):
                break
            code = line.split("//", 1)[0].rstrip().rstrip(")")
            found += [(number, each[2], each[1], each[3] or "") for each in _PARAMETER.finditer(code)]
        return found

    def _named_arguments(self) -> list[tuple[str, str, str, int]]:
        """Return symbol, name, type in C and line of each parameter."""
        known = self._names.arguments
        # Triton adds pointers to scratch memory behind the arguments.
        added = len(self._header) - len(known)
        is_known = known and 0 <= added <= 2 and not any(length for *_, length in self._header)
        taken: set[str] = set()
        result = []
        for place, (line, symbol, kind, length) in enumerate(self._header):
            name, c_kind = f"param_{place}", _parameter_type(kind)
            if is_known:
                name = (
                    known[place][0]
                    if place < len(known)
                    else ("global_scratch", "profile_scratch")[place - len(known)]
                )
                c_kind = _argument_type(known[place][1], c_kind) if place < len(known) else "char *"
            name = re.sub(r"\W", "_", name)
            while name in _RESERVED or name in taken or re.fullmatch(r"[a-z]{1,2}\d+", name):
                name += "_"
            taken.add(name)
            result.append((symbol, f"{name}[{length}]" if length else name, c_kind, line))
        return [(symbol, name.split("[")[0], kind, line) for symbol, name, kind, line in result]

    def _register_names(self, every: list[Statement], registers: Registers) -> dict[str, str]:
        """Name the registers: after themselves, and after a value of the source where the locations agree."""
        written: defaultdict[str, list[Statement]] = defaultdict(list)
        read: defaultdict[str, list[Statement]] = defaultdict(list)
        for statement in every:
            for name in statement.writes:
                written[name].append(statement)
            for name in statement.reads:
                read[name].append(statement)
        result = {}
        for register in sorted({*registers.writes, *registers.reads}):
            short = re.sub(r"\W", "", register)
            name = self._name_of(written[register], read[register])
            result[register] = f"{name}_{short}" if name else short
        return result

    def _name_of(self, written: list[Statement], read: list[Statement]) -> str:
        """Return the name of the source for a register; "" if the compiler names none.

        The locations of all instructions that compute the register have the name, and an instruction with
        another location reads it. A register that only the same location reads is an intermediate step.
        """
        lines, places = self._names.lines, self._names.places
        computed = [each for each in written if each.name != "mov"] or written
        found = {lines.get(each.line, "") for each in computed}
        if len(found) != 1:
            return ""
        own = {places.get(each.line) for each in computed}
        is_result = any(places.get(each.line) not in own for each in read)
        return found.pop() if is_result else ""

    # Lines.

    def lines(self) -> list[CLine]:
        blocks = self._function.blocks
        pieces = Structure(self._function, self._label).pieces()
        written: dict[int, list[Written]] = {}
        conditions: dict[int, dict[str, tuple[str, frozenset[int], frozenset[str]]]] = {}
        needed: defaultdict[int, list[str]] = defaultdict(list)
        for piece in pieces:
            if piece.condition:
                needed[piece.block].append(piece.condition)
        for index in range(len(blocks)):
            written[index] = self.body.write(index)
            conditions[index] = {}
            for condition in needed[index]:
                value = self.body.condition(condition)
                conditions[index][condition] = (value.text, value.lines, value.reads)
        lines = [line for piece in pieces for line in self._piece(piece, written, conditions)]
        return self._laid_out(_with_guards(_without_unread(lines)))

    def _label(self, block: int) -> str:
        labels = self._function.blocks[block].labels
        name = re.sub(r"\W+", "_", labels[0]).strip("_") if labels else ""
        return name or f"block_{block}"

    def _piece(
        self,
        piece: Piece,
        written: Mapping[int, list[Written]],
        conditions: Mapping[int, Mapping[str, tuple[str, frozenset[int], frozenset[str]]]],
    ) -> list[_Line]:
        if piece.kind == "block":
            return [_Line(each.text, each.lines, each.uses, written=each) for each in written[piece.block]]
        if piece.kind == "label":
            return [_Line(f"{self._label(piece.block)}:", frozenset(), is_label=True)]
        if piece.kind == "open" and not piece.words:
            return []
        text, lines, uses = "", frozenset[int](), frozenset[str]()
        if piece.condition:
            text, lines, uses = conditions[piece.block][piece.condition]
        if piece.kind in ("jump", "close") and (piece.kind == "jump" or piece.condition):
            lines |= self._exit_line(piece.block)
        elif piece.kind == "open":
            lines |= self._exit_line(piece.block) if piece.condition else frozenset()
        words = piece.words
        if piece.kind == "jump":
            words = f"if ({text}) {words}" if text else words
        elif "{}" in words:
            words = words.replace("{}", text)
        return [_Line(words, lines, uses, piece.kind == "close", words.endswith("{"))]

    def _exit_line(self, block: int) -> frozenset[int]:
        instructions = self._function.blocks[block].instructions
        return frozenset({instructions[-1].line}) if instructions else frozenset()

    def _laid_out(self, lines: list[_Line]) -> list[CLine]:
        inline = self._inline(lines)
        result = [*self._head(), *self._declarations(lines, inline)]
        depth = 1
        for index, line in enumerate(lines):
            if line.closes:
                depth -= 1
            text = line.text
            if index in inline and line.written:
                kind = line.written.type
                text = f"{kind}{'' if kind.endswith('*') else ' '}{text}"
            indent = _INDENT * (depth - line.is_label)
            result.extend(_wrapped(text, indent, tuple(sorted(line.lines))))
            if line.opens:
                depth += 1
        result.append(CLine("}"))
        return result

    def _inline(self, lines: list[_Line]) -> set[int]:
        """Return the lines that declare their variable: the first that names it, around all others."""
        has_jumps = any(line.is_label for line in lines)
        scope: tuple[int, ...] = ()
        scopes: list[tuple[int, ...]] = []
        count = 0
        mentions: defaultdict[str, list[int]] = defaultdict(list)
        for index, line in enumerate(lines):
            if line.closes:
                scope = scope[:-1]
            scopes.append(scope)
            if line.opens:
                count += 1
                scope = (*scope, count)
            variable = line.written.variable if line.written else ""
            for name in line.uses | ({variable} if variable else frozenset()):
                mentions[name].append(index)
        found = set()
        for name, at in mentions.items():
            first = lines[at[0]].written
            writes = sum(
                bool(each.written and each.written.variable == name) for each in (lines[i] for i in at)
            )
            reads_itself = first is not None and re.search(
                rf"\b{re.escape(name)}\b", first.text.split("=", 1)[-1]
            )
            if (
                first is not None
                and first.variable == name
                and not first.guard
                and not reads_itself
                and (writes == 1 or not has_jumps)
                and all(scopes[each][: len(scopes[at[0]])] == scopes[at[0]] for each in at)
            ):
                found.add(at[0])
        self._collect(lines)
        return found

    def _collect(self, lines: list[_Line]) -> None:
        """Find the variables and their types."""
        vectors = {name: kind for name, kind, _ in self.body._vectors.values()}
        types = {self.body.names[register]: self.body.type_of(register) for register in self.body.names}
        types.update(vectors)
        for line in lines:
            for name in sorted(line.uses | ({line.written.variable} if line.written else set())):
                if name:
                    self.declared.setdefault(name, types.get(name, "uint32_t"))

    def _head(self) -> list[CLine]:
        first = self._function.first_line
        name = re.sub(r"\W", "_", self._function.name)
        if not self._arguments:
            return [CLine(f"void {name}(void)", (first,)), CLine("{")]
        lengths = {symbol: length for _, symbol, _, length in self._header}
        result = [CLine(f"void {name}(", (first,))]
        for place, (symbol, argument, kind, line) in enumerate(self._arguments):
            comma = "," if place + 1 < len(self._arguments) else ")"
            space = "" if kind.endswith("*") else " "
            length = f"[{lengths[symbol]}]" if lengths[symbol] else ""
            result.append(CLine(f"{_INDENT}{kind}{space}{argument}{length}{comma}", (line,)))
        return [*result, CLine("{")]

    def _declarations(self, lines: list[_Line], inline: set[int]) -> list[CLine]:
        """Declare the variables that are not declared where they are written."""
        done = {written.variable for index in inline if (written := lines[index].written)}
        by_type: defaultdict[str, list[str]] = defaultdict(list)
        for name, kind in self.declared.items():
            if name not in done:
                by_type[kind].append(name)
        result = []
        for kind, names in by_type.items():
            star = "*" if kind.endswith("*") else ""
            text = f"{kind.removesuffix('*').strip()} {', '.join(star + name for name in names)};"
            result.extend(_wrapped(text, _INDENT, ()))
        return result


def _without_unread(lines: list[_Line]) -> list[_Line]:
    """Leave out values that nothing reads: they have become parts of the expressions that read them."""
    while True:
        mentions = Counter(name for line in lines for name in line.uses)
        kept_lines = Counter(number for line in lines for number in line.lines)
        kept = [
            line
            for line in lines
            if line.written is None
            or line.written.has_effect
            or not line.written.variable
            or mentions[line.written.variable]
            or any(kept_lines[number] == 1 for number in line.lines)
        ]
        if len(kept) == len(lines):
            return kept
        lines = kept


def _with_guards(lines: list[_Line]) -> list[_Line]:
    """Write statements with a guard as `if`; consecutive statements with the same guard share an `if`."""
    result: list[_Line] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        guard = line.written.guard_text if line.written else ""
        if not guard:
            result.append(line)
            index += 1
            continue
        group = [line]
        names = set(re.findall(r"\w+", guard))
        while index + len(group) < len(lines):
            previous, following = group[-1].written, lines[index + len(group)]
            changes = previous is not None and previous.text.split(" = ")[0] in names
            if changes or not following.written or following.written.guard_text != guard:
                break
            group.append(following)
        if len(group) == 1:
            result.append(replace(line, text=f"if ({guard}) {line.text}"))
        else:
            guards = frozenset().union(*(each.lines for each in group))
            result.append(_Line(f"if ({guard}) {{", guards, line.uses, opens=True))
            result.extend(group)
            result.append(_Line("}", frozenset(), closes=True))
        index += len(group)
    return result


def _wrapped(text: str, indent: str, lines: tuple[int, ...]) -> list[CLine]:
    if len(indent) + len(text) <= _MOST_COLUMNS or text.startswith("asm("):
        return [CLine(indent + text, lines)]
    parts = textwrap.wrap(
        text,
        _MOST_COLUMNS,
        initial_indent=indent,
        subsequent_indent=indent + _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [CLine(part, lines) for part in parts]


def _parameter_type(kind: str) -> str:
    if kind in _C_PARAMETERS:
        return _C_PARAMETERS[kind]
    size = re.sub(r"\D", "", kind) or "32"
    return "char" if kind == "b8" else f"{'int' if kind[0] == 's' else 'uint'}{size}_t"


def _argument_type(mlir: str, otherwise: str) -> str:
    """Return the type in C of an argument of MLIR, such as `!tt.ptr<f32>`."""
    pointer = re.match(r"!tt\.ptr<([\w!.]+)", mlir)
    scalars = {"f32": "float", "f64": "double", "f16": "half", "bf16": "bfloat16", "i1": "int8_t"}
    if pointer:
        kind = pointer[1]
        whole = re.fullmatch(r"i(8|16|32|64)", kind)
        return f"{scalars.get(kind) or (f'int{whole[1]}_t' if whole else 'char')} *"
    whole = re.match(r"i(8|16|32|64)\b", mlir)
    if mlir in ("f32", "f64"):
        return scalars[mlir]
    return f"int{whole[1]}_t" if whole and whole[1] in otherwise else otherwise
