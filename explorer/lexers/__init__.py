"""Pygments lexers of our own, and highlighting for the page, the command line and exports.

`explorer.model.languages` says which lexer reads which language.
"""

from explorer.lexers.highlight import Span, count_lines, highlight_ansi, highlight_lines

__all__ = ["Span", "count_lines", "highlight_ansi", "highlight_lines"]
