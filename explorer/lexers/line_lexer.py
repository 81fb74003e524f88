"""The base of our lexers: one table of rules, no state, no token across a line break.

In: any text. Out: Pygments tokens that cover it, character by character. Three promises hold by construction:

* lexing any run of whole lines gives the tokens that lexing the whole text gives for them;
* no character is lost or changed;
* time is linear, also on a hostile line of a megabyte, as long as the rules keep to two habits:
  quantifiers are possessive, and a rule that may fail after a long scan either stands at the start of a line
  (`^`) or is followed by a rule that consumes the same run.

Pygments' own `RegexLexer` tries one regular expression after the other in Python; here they are joined
into one alternation, which is several times as fast.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from pygments.lexer import Lexer
from pygments.token import Error, Text

#: A Pygments token type; Pygments has no type annotations.
TokenType = Any

#: White space inside a line: any number of characters, and at least one.
SPACE = r"[^\S\n]*+"
GAP = r"[^\S\n]++"

#: A string in double quotes; an unclosed string ends with its line.
STRING = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?+'

#: A comment in `/* */`; an unclosed comment ends with its line.
BLOCK_COMMENT = r"/\*[^*\n]*+(?:\*(?!/)[^*\n]*+)*+(?:\*/)?+"


class Vocabulary(dict[str, TokenType]):
    """The token types of words, with a default for all other words."""

    def __init__(self, default: TokenType, words: dict[TokenType, str]) -> None:
        super().__init__({word: token for token, listed in words.items() for word in listed.split()})
        self.default = default

    def __missing__(self, word: str) -> TokenType:
        return self.default


#: The result of a match: one token type, one token type per group of the pattern, or a table of words.
Action = TokenType | tuple[TokenType, ...] | Vocabulary
Rule = tuple[str, Action]


class LineLexer(Lexer):  # type: ignore[misc]  # Pygments is untyped
    """A lexer that `rules` define completely: the first pattern that matches decides.

    A pattern must not match a line break, and has groups only if its action is a tuple: then they cover
    the match between them, in order.
    """

    rules: ClassVar[tuple[Rule, ...]] = ()
    _pattern: ClassVar[re.Pattern[str]]
    _actions: ClassVar[dict[int, Action]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        patterns, actions, group = [], {}, 0
        for pattern, action in (*cls.rules, (r"[^\S\n]+|\n", Text), (r".", Error)):
            # An empty group behind each rule identifies the rule that matched. A group around the rule would
            # hide the rule's first character from the search, which then could not skip quickly.
            patterns.append(f"(?:{pattern})()")
            group += re.compile(pattern).groups + 1
            actions[group] = action
        cls._pattern = re.compile("|".join(patterns), re.MULTILINE)
        cls._actions = actions

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, TokenType, str]]:
        actions = self._actions
        for match in self._pattern.finditer(text):
            group = match.lastindex
            assert group is not None
            action = actions[group]
            if type(action) is tuple:
                for inner, token in enumerate(action, group - len(action)):
                    if value := match[inner]:
                        yield match.start(inner), token, value
            elif type(action) is Vocabulary:
                yield match.start(), action[match[0]], match[0]
            else:
                yield match.start(), action, match[0]

    @staticmethod
    def analyse_text(text: str) -> float:  # noqa: ARG004 - Pygments calls it with the text
        """Never guess: these lexers are requested by name."""
        return 0.0


def any_of(words: Iterable[str]) -> str:
    """Return a pattern that matches exactly these words."""
    return rf"\b(?:{'|'.join(words)})\b"
