"""Our Pygments lexers: the one source of highlighting for the page, the CLI and exports."""

from explorer.lexers.highlight import Span, count_lines, highlight_ansi, highlight_lines
from explorer.lexers.registry import LEXERS, lexer_for

__all__ = ["LEXERS", "Span", "count_lines", "highlight_ansi", "highlight_lines", "lexer_for"]
