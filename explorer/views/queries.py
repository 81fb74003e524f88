"""Answers of queries: one route for each query about a compilation, a run or a pair of compilations."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, Response, request

from explorer.documents import API
from explorer.errors import NotAnswerable
from explorer.queries import QUERIES, Kind, Query, QueryService
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


def _view(query: Query, *, computes: bool = True) -> Callable[..., Response]:
    """Return the view of a query. Unless it `computes`, it returns the cached answer."""
    in_query = [each for each in query.parameters if f"{each.name}>" not in query.rule]
    of_kind = (COMPILATION,) if query.about == "run" else ()

    @documented({200: query.document}, None, *in_query, *of_kind)
    def show(**in_path: str | int) -> Response:
        fields = request.args.to_dict()
        records = _records(query, in_path, fields)
        parameters = fields | {name: str(value) for name, value in in_path.items()}
        service = services().query_service
        if computes:
            answer = service.answer(query, records, parameters, client_is_waiting())
        else:
            answer = _cached(service, query, records, parameters)
        known = [record for record in records if record is not None]
        least_final = next((record for record in known if not record.is_final), known[0])
        is_text = query.document == "text/plain"
        if not query.is_lasting:
            return revalidated(Response(answer, mimetype="text/plain" if is_text else "application/json"))
        return (text_part if is_text else encoded_json_part)(least_final, answer)

    show.__doc__ = query.summary if computes else f"{query.summary}\n\nOnly an earlier answer is returned."
    return show


def _cached(
    service: QueryService, query: Query, records: list[Record | None], parameters: dict[str, str]
) -> bytes:
    """Return the cached answer to a query about a compilation.

    Raises:
        NotAnswerable: there is none.
    """
    record = records[0]
    answer = None if record is None else service.cached(query, record, parameters)
    if answer is None:
        raise NotAnswerable(
            "The answer needs further compilations. A POST request to this address starts them."
        )
    return answer


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
    _rule = f"{_SUBJECTS[_query.about]}{_query.rule}"
    blueprint.add_url_rule(_rule, _query.name, _view(_query, computes=not _query.submits))
    if _query.submits:
        blueprint.add_url_rule(_rule, f"submit_{_query.name}", _view(_query), methods=["POST"])
