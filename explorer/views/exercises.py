"""Exercises: kernels to change until the compiler's answer meets a goal."""

from __future__ import annotations

from typing import Literal

import msgspec
from flask import Blueprint, Response

from explorer.documents import API
from explorer.errors import NotFound
from explorer.exercises import EXERCISES, Exercise, find_exercise, load_exercises
from explorer.views.http import json_response, let_server_keep
from explorer.views.operation import documented

blueprint = Blueprint("exercises", __name__, url_prefix=f"{API}/exercises")


class ExerciseRow(msgspec.Struct, frozen=True):
    """An exercise in the list."""

    name: str
    title: str
    level: Literal["easy", "medium", "hard"]


@blueprint.get("")
@documented({200: tuple[ExerciseRow, ...]})
def show_all() -> Response:
    """Return the exercises, from easy to hard."""
    rows = tuple(ExerciseRow(each.name, each.title, each.level) for each in load_exercises())
    return let_server_keep(json_response(rows))


@blueprint.get("/<name>")
@documented({200: Exercise})
def show(name: str) -> Response:
    """Return an exercise with its source, goals, hints and solution."""
    exercise = find_exercise(name)
    if exercise is None:
        raise NotFound(f"There is no exercise {name!r}. Known are {', '.join(EXERCISES)}.")
    return let_server_keep(json_response(exercise))
