"""The languages of texts, one entry each, with the properties that the server and the page use.

Add a language with one entry in `_LANGUAGES`. `lexer`, `control_flow` and `purpose` are import paths
("package.module:name"), because the named code must not be imported on both sides of the wall.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

GraphKind = Literal["data flow", "control flow"]
Renaming = Literal["none", "values", "registers"]


@dataclass(frozen=True, slots=True)
class Language:
    """A language.

    `family` groups languages with a similar syntax; the page folds, filters and links by it.
    `suffix` is the suffix of exported files.
    `lexer` is a Pygments lexer class.
    `hue` names a color of the page (`--<hue>` and `.hue-<hue>` in tokens.css); "": none.
    `operation` finds a line that is an operation or an instruction; None: no line is. Its group `kind`
    matches the name of the operation or instruction.
    `vocabulary` names a file of `explorer/explanations`; the first group of `word` matches the word of a line
    to explain. The page reads `word` as a regular expression of JavaScript.
    `has_data_flow`: the data flow of its values is drawn, by the MLIR reader.
    `control_flow` is a function that reads the basic blocks to draw.
    `purpose` is a function that returns the purpose of an instruction of machine code.
    `unstable` are replacements that a comparison makes first: parts that depend on other lines, such as
    addresses.
    `renaming` says which names may differ in two equal texts: names of SSA values, names of the registers of
    a machine, or none.
    """

    name: str
    family: str
    suffix: str
    lexer: str
    hue: str = ""
    operation: re.Pattern[str] | None = None
    vocabulary: str = ""
    word: str = ""
    has_data_flow: bool = False
    control_flow: str = ""
    purpose: str = ""
    unstable: tuple[tuple[str, str], ...] = ()
    renaming: Renaming = "values"

    @property
    def graph(self) -> GraphKind | None:
        """The kind of graph of a text: data flow or control flow; None: no graph is drawn."""
        if self.has_data_flow:
            return "data flow"
        return "control flow" if self.control_flow else None


#: %rd12 of PTX, %.frozen12 of LLVM IR: names that end with a number, as comparisons know them: %rd_12.
_NUMBERED_NAMES = ((r"%([\w.$-]*[A-Za-z.$-])(\d+)(?![\w.$-])", r"%\1_\2"),)
#: The parts of SASS that follow from the schedule and the registers: control codes, addresses, and the
#: operands that the next instruction reuses.
_SCHEDULE = ((r"(?m)^B[\d-]{6}:\S++\s++(?=/\*)", ""), (r"/\*[0-9a-f]{4,}\*/", ""), (r"\.reuse\b", ""))
_OPERATION_OF_MLIR = re.compile(
    r'^\s*+(?:%[\w$.:,\s%#-]*+=\s)?+\s*+"?+(?!\w++\.func\b|llvm\.mlir\.global\b)'
    r"(?P<kind>[a-z_]\w*+\.[a-z_][\w.]*)\b"
)
_MLIR_LLVM = Language(
    "mlir-llvm",
    family="mlir",
    suffix="mlir",
    lexer="explorer.lexers.mlir:MlirLexer",
    operation=_OPERATION_OF_MLIR,
    has_data_flow=True,
)
_TTGIR = replace(
    _MLIR_LLVM,
    name="ttgir",
    suffix="ttgir",
    hue="ttgir",
    vocabulary="mlir",
    word=r'^\s*(?:%[^=]+=\s*)?"?([a-z_]\w*\.[\w.]+)',
)

_LANGUAGES = (
    Language("text", "", "txt", "pygments.lexers.special:TextLexer", renaming="none"),
    Language("diff", "", "diff", "pygments.lexers.diff:DiffLexer", renaming="none"),
    Language("python", "", "py", "pygments.lexers.python:PythonLexer", renaming="none"),
    Language(
        "python-ast",
        family="",
        suffix="txt",
        lexer="explorer.lexers.python_ast:PythonAstLexer",
        hue="ast",
        renaming="none",
    ),
    replace(_TTGIR, name="ttir", suffix="ttir", hue="ttir"),
    replace(_TTGIR, name="glir", suffix="glir", hue="glir"),
    _TTGIR,
    _MLIR_LLVM,
    Language(
        "llir",
        family="llir",
        suffix="ll",
        lexer="explorer.lexers.llvm:LlvmLexer",
        hue="llir",
        # An instruction is indented; so are the cases of a switch, which begin with a type and a value.
        operation=re.compile(
            r"^\s+(?:%[\w$.\"-]+ = )?(?!i\d+ -?\d+, label )(?:(?:must|no)?tail )?(?P<kind>[a-z]\w*)\b(?!:)"
        ),
        control_flow="explorer.analysis.graphs.read_llvm:read",
        unstable=_NUMBERED_NAMES,
    ),
    Language(
        "ptx",
        family="ptx",
        suffix="ptx",
        lexer="explorer.lexers.ptx:PtxLexer",
        hue="ptx",
        operation=re.compile(r"^\s*(?:\{\s*)?(?:@!?%\w+\s+)?(?!\.)(?P<kind>[a-z][\w.:]*)(?:\s.*)?;"),
        vocabulary="ptx",
        word=r"^\s*(?:@!?[%\w]+\s+)?([a-z][\w.:]*)(?=[\s;])",
        control_flow="explorer.analysis.graphs.read_ptx:read",
        unstable=_NUMBERED_NAMES,
    ),
    Language("c", family="", suffix="c", lexer="explorer.lexers.c:CLexer", hue="ptx", renaming="none"),
    Language(
        "sass",
        family="sass",
        suffix="sass",
        lexer="explorer.lexers.sass:SassLexer",
        hue="sass",
        operation=re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+\s+)?(?P<kind>\w+|\S)"),
        vocabulary="sass",
        word=r"/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)",
        control_flow="explorer.analysis.graphs.read_sass:read",
        purpose="explorer.analysis.assembly.instruction_mix:purpose_of_sass",
        unstable=_SCHEDULE,
        renaming="registers",
    ),
    Language(
        "amdgcn",
        family="amdgcn",
        suffix="s",
        lexer="explorer.lexers.amdgcn:AmdgcnLexer",
        hue="amdgcn",
        operation=re.compile(r"^\s+(?P<kind>[a-z]\w*)(?:\s|$)"),
        vocabulary="amdgcn",
        word=r"^\s+([a-z]\w*)",
        control_flow="explorer.analysis.graphs.read_amdgcn:read",
        purpose="explorer.analysis.assembly.instruction_mix:purpose_of_amdgcn",
        renaming="registers",
    ),
)
LANGUAGES: Mapping[str, Language] = MappingProxyType({language.name: language for language in _LANGUAGES})


def find_language(name: str) -> Language:
    """Return a language by its name; plain text for an unknown name, which a forged result may have."""
    return LANGUAGES.get(name) or LANGUAGES["text"]


def language_documents() -> dict[str, dict[str, Any]]:
    """Return the properties of each language that the page needs, by its name."""
    return {
        language.name: {
            "family": language.family,
            "hue": language.hue,
            "vocabulary": language.vocabulary,
            "word": language.word,
            "graph": language.graph,
        }
        for language in _LANGUAGES
    }
