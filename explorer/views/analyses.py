"""What can be found out about a compilation: one address for each analysis."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, Response, request

from explorer.analyses import ANALYSES, Analysis
from explorer.services import services
from explorer.views.http import encoded_json_part
from explorer.views.links import API
from explorer.views.operation import documented
from explorer.views.records import find_compilation

blueprint = Blueprint("analyses", __name__, url_prefix=f"{API}/compilations/<compilation_id>")


def _view(analysis: Analysis) -> Callable[[str], Response]:
    @documented({200: analysis.document}, None, *analysis.parameters)
    def show(compilation_id: str) -> Response:
        record = find_compilation(compilation_id)
        return encoded_json_part(record, services().analyst.answer(analysis, record, request.args))

    show.__doc__ = analysis.summary
    return show


for _analysis in ANALYSES:
    blueprint.add_url_rule(f"/{_analysis.name}", _analysis.name, _view(_analysis))
