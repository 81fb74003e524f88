"""Escapes invisible characters of foreign texts, in pages and messages of the server.

`static/core/visible.js` does the same in the browser.
"""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    """Return a text with format characters as escapes, for example characters that change its direction."""
    return "".join(repr(each)[1:-1] if unicodedata.category(each) == "Cf" else each for each in text)
