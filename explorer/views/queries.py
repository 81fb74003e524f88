"""Answers of queries: one route for each query about a compilation, a run or a pair of compilations."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, Response, request

from explorer.documents import API
from explorer.errors import NotAnswerable
from explorer.queries import QUERIES, Kind, Query
from explorer.services import services
from explorer.store import Record
from explorer.views.http import client_is_waiting, encoded_json_part, revalidated, text_part
from explorer.views.operation import documented
from explorer.views.records import find_compilation
from explorer.views.runs import COMPILATION, FoundRun

blueprint = Blueprint("queries", __name__, url_prefix=API)

_SUBJECTS: dict[Kind, str] = {
    "compilation": "/compilations/<compilation_id>",
    "run": "/runs/<run_id>",
    "pair": "/compilations/<compilation_id>/compare/<other_id>",
}


def _view(query: Query) -> Callable[..., Response]:
    in_query = [each for each in query.parameters if f"{each.name}>" not in query.rule]
    of_kind = (COMPILATION,) if query.about == "run" else ()

    @documented({200: query.document}, None, *in_query, *of_kind)
    def show(**in_path: str | int) -> Response:
        fields = request.args.to_dict()
        records = _records(query, in_path, fields)
        parameters = fields | {name: str(value) for name, value in in_path.items()}
        answer = services().query_service.answer(query, records, parameters, client_is_waiting())
        known = [record for record in records if record is not None]
        least_final = next((record for record in known if not record.is_final), known[0])
        is_text = query.document == "text/plain"
        if not query.is_lasting:
            return revalidated(Response(answer, mimetype="text/plain" if is_text else "application/json"))
        return (text_part if is_text else encoded_json_part)(least_final, answer)

    show.__doc__ = query.summary
    return show


def _records(query: Query, in_path: dict[str, str | int], fields: dict[str, str]) -> list[Record | None]:
    """Take the subject of a query out of the request; return its records."""
    if query.about == "run":
        found = FoundRun.of(str(in_path.pop("run_id")))
        fields.pop("compilation", None)
        if query.needs_compilation:
            _check_compilation(found)
        return services().run_records(found.record, found.compilation)
    compilation = find_compilation(str(in_path.pop("compilation_id")))
    if query.about == "pair":
        return [compilation, find_compilation(str(in_path.pop("other_id")))]
    return [compilation]


def _check_compilation(found: FoundRun) -> None:
    """Check that the compilation of a run's kernel is known and finished.

    Raises:
            NotAnswerable: it is not, or the request names the compilation of a different kernel.
    """
    if found.stranger is not None:
        run, other = found.record, found.stranger
        raise NotAnswerable(
            f"The run is of {run.kernel} for {run.request.target}, and this compilation is of {other.kernel} "
            f"for {other.request.target}. Samples apply only to the kernel that they were taken from."
            if (run.kernel, run.request.target) != (other.kernel, other.request.target)
            else f"The run is of another {run.kernel} than this compilation: the sources differ."
        )
    if found.compilation is None:
        raise NotAnswerable("Name the compilation to show the samples on: ?compilation=<id>.")
    if not found.compilation.is_finished:
        raise NotAnswerable("The compilation is not finished. Try again when it is.")


for _query in QUERIES:
    blueprint.add_url_rule(f"{_SUBJECTS[_query.about]}{_query.rule}", _query.name, _view(_query))
