"""Which lexer reads which language. A new language is one line here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType

from pygments.lexer import Lexer
from pygments.lexers.diff import DiffLexer
from pygments.lexers.python import PythonLexer
from pygments.lexers.special import TextLexer

from explorer.lexers.amdgcn import AmdgcnLexer
from explorer.lexers.llvm import LlvmLexer
from explorer.lexers.mlir import MlirLexer
from explorer.lexers.ptx import PtxLexer
from explorer.lexers.python_ast import PythonAstLexer
from explorer.lexers.sass import SassLexer

LEXERS: Mapping[str, Callable[[], Lexer]] = MappingProxyType(
    {
        "python": PythonLexer,
        "python-ast": PythonAstLexer,
        "ttir": MlirLexer,
        "ttgir": MlirLexer,
        "glir": MlirLexer,
        "mlir-llvm": MlirLexer,
        "llir": LlvmLexer,
        "ptx": PtxLexer,
        "sass": SassLexer,
        "amdgcn": AmdgcnLexer,
        "diff": DiffLexer,
        "text": TextLexer,
    }
)


@functools.cache
def lexer_for(language: str) -> Lexer:
    """Find the lexer of a language by its name.

    Raises:
        KeyError: no such language.
    """
    return LEXERS[language]()
