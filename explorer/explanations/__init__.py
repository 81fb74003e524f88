"""Explanations of passes, operations and instructions: one TOML file for each vocabulary."""

from __future__ import annotations

import functools
import tomllib
from importlib.resources import files

_SUFFIX = ".toml"


@functools.cache
def vocabularies() -> tuple[str, ...]:
    names = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


@functools.cache
def explanations(vocabulary: str) -> dict[str, str]:
    """Return the explanation of each word of a vocabulary.

    Raises:
        KeyError: there is no such vocabulary.
    """
    if vocabulary not in vocabularies():
        raise KeyError(vocabulary)
    text = (files(__name__) / f"{vocabulary}{_SUFFIX}").read_text(encoding="utf-8")
    return {word: str(explanation) for word, explanation in tomllib.loads(text).items()}
