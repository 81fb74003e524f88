"""The glossary: the terms that the page uses, each in a sentence or two with its source.

In: `terms.toml`. Out: a `Term` for each, by name. `explorer.explanations` describes operations, instructions
and passes.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from explorer.exercises import Exercise, load_exercises
from explorer.tours import Tour, TourStep, load_tours


class TermSource(msgspec.Struct, frozen=True):
    """The page of documentation that defines a term."""

    title: str
    url: str


class TourMention(msgspec.Struct, frozen=True):
    """A step of a tour, from 1 on, whose text has a term."""

    tour: str
    step: int
    title: str


class ExerciseMention(msgspec.Struct, frozen=True):
    """An exercise whose text has a term."""

    exercise: str
    title: str


class Term(msgspec.Struct, frozen=True):
    """A term. `words` are its forms in running text, in small letters; plurals with "s" are found, too.

    `labels` are whole column heads and names of facts, in small letters, that mean the term.
    """

    name: str
    title: str
    group: str
    words: tuple[str, ...]
    labels: tuple[str, ...]
    text: str
    source: TermSource
    tours: tuple[TourMention, ...]
    exercises: tuple[ExerciseMention, ...]

    def is_meant_by(self, label: str) -> bool:
        """Return whether a column head, or the name of a fact, is about this term."""
        return label.lower() in self.labels or self.is_in(label)

    def is_in(self, text: str) -> bool:
        """Return whether a text has one of the words of this term."""
        return any(_pattern(word).search(text) for word in self.words)


@cache
def load_glossary() -> tuple[Term, ...]:
    """Read all terms, in the order of their groups."""
    document = tomllib.loads((files(__name__) / "terms.toml").read_text(encoding="utf-8"))
    sources = {name: TermSource(*each) for name, each in document["sources"].items()}
    return tuple(
        _term(name, group, fields, sources)
        for group, terms in document["terms"].items()
        for name, fields in terms.items()
    )


@cache
def find_term(name: str) -> Term | None:
    return next((term for term in load_glossary() if term.name == name), None)


def _term(name: str, group: str, fields: dict[str, Any], sources: dict[str, TermSource]) -> Term:
    words = tuple(fields.get("words", (fields["title"].lower(),)))
    labels, source = tuple(fields.get("labels", ())), sources[fields["source"]]
    term = Term(name, fields["title"], group, words, labels, fields["text"], source, (), ())
    tours, exercises = _tours(term, load_tours()), _exercises(term, load_exercises())
    return msgspec.structs.replace(term, tours=tours, exercises=exercises)


def _tours(term: Term, tours: tuple[Tour, ...]) -> tuple[TourMention, ...]:
    """Return the first step of each tour that has a term in its title, caption or answer."""
    found = []
    for tour in tours:
        for number, step in enumerate(tour.steps, 1):
            if term.is_in(_text(step)):
                found.append(TourMention(tour.name, number, tour.title))
                break
    return tuple(found)


def _text(step: TourStep) -> str:
    return f"{step.title}. {step.caption} {step.question.why if step.question else ''}"


def _exercises(term: Term, exercises: tuple[Exercise, ...]) -> tuple[ExerciseMention, ...]:
    """Return the exercises that have a term in their title, task, goals or last words."""
    return tuple(
        ExerciseMention(each.name, each.title)
        for each in exercises
        if term.is_in(" ".join((each.title, each.task, each.after, *(goal.says for goal in each.goals))))
    )


@cache
def _pattern(word: str) -> re.Pattern[str]:
    """Match a word of a term; `explorer/static/glossary/pieces.js` does the same."""
    return re.compile(rf"(?<![\w.]){re.escape(word)}s?(?![\w]|\.\w)", re.IGNORECASE)
