"""Texts of others in what the server writes for people: what cannot be seen is written as its escape.

The browser's half, for all that it shows, is `static/visible.js`.
"""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    """The text; characters of formats, such as those that turn its direction, as Python writes them."""
    return "".join(repr(each)[1:-1] if unicodedata.category(each) == "Cf" else each for each in text)
