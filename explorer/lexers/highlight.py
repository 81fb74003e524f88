"""Highlighting of texts: for the page (short classes) and for a terminal (ANSI)."""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Callable, Iterator, Sequence

from pygments import format as format_tokens
from pygments.formatters import Terminal256Formatter
from pygments.lexer import Lexer
from pygments.token import STANDARD_TYPES

from explorer.lexers.line_lexer import TokenType
from explorer.model.languages import find_language

#: Pygments' short class ("nf", "kt", …; "" for plain text) and the characters it covers.
Span = tuple[str, str]


@functools.lru_cache(32)
def lexer_for(language: str) -> Lexer:
    lexer: Callable[[], Lexer] = pkgutil.resolve_name(find_language(language).lexer)
    return lexer()


def highlight_lines(text_or_lines: str | Sequence[str], language: str) -> list[list[Span]]:
    """Highlight whole lines: return a list of spans for each line, with equal neighbors merged.

    A line ends at a line feed only, and a line feed at the end starts no further line. The joined spans of a
    line are the line. Any range of lines gives the same spans as in the whole text, except of Python, whose
    strings may span lines: Python needs the whole text.
    """
    if isinstance(text_or_lines, str):
        text, count = text_or_lines, count_lines(text_or_lines)
    else:
        text, count = "\n".join(text_or_lines), len(text_or_lines)
    line: list[Span] = []
    lines = [line]
    for short_class, run in _runs(text, language):
        if "\n" not in run:
            line.append((short_class, run))
            continue
        first, *rest = run.split("\n")
        if first:
            line.append((short_class, first))
        lines.extend([(short_class, part)] if part else [] for part in rest)
        line = lines[-1]
    return lines[:count]


def highlight_ansi(text: str, language: str) -> str:
    """Highlight a text for a terminal with 256 colors."""
    tokens = ((token, value) for _, token, value in lexer_for(language).get_tokens_unprocessed(text))
    return str(format_tokens(tokens, Terminal256Formatter(style="monokai")))


def count_lines(text: str) -> int:
    """Count lines as `highlight_lines` does."""
    return text.count("\n") + (not text.endswith("\n") and text != "")


class _ShortClasses(dict[TokenType, str]):
    """The class of a token type, or of the nearest type above it that has one."""

    def __missing__(self, token: TokenType) -> str:
        ancestors = reversed(token.split())
        known = next(STANDARD_TYPES[ancestor] for ancestor in ancestors if ancestor in STANDARD_TYPES)
        # White space is plain text: a separate class would only split spans.
        self[token] = "" if known == "w" else known
        return self[token]


_SHORT_CLASSES = _ShortClasses()


def _runs(text: str, language: str) -> Iterator[Span]:
    """Join neighboring tokens of one class. Pieces are joined once: hostile text may be one long sequence."""
    current, pieces = "", list[str]()
    for _, token, value in lexer_for(language).get_tokens_unprocessed(text):
        short_class = _SHORT_CLASSES[token]
        if short_class != current:
            if pieces:
                yield current, "".join(pieces)
            current, pieces = short_class, []
        pieces.append(value)
    if pieces:
        yield current, "".join(pieces)
