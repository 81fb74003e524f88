"""Inspection: the kernels and launches of a source, without compiling it."""

from __future__ import annotations

from flask import Blueprint, Response

from explorer.documents import API, InspectionDocument
from explorer.services import services
from explorer.views.http import json_response
from explorer.views.operation import documented
from explorer.views.requests import InspectionBody, read_inspection

blueprint = Blueprint("inspect", __name__, url_prefix=API)


@blueprint.post("/inspect")
@documented({200: InspectionDocument}, InspectionBody)
def inspect() -> Response:
    """Find the kernels of a source with their parameters and configurations, and its launches."""
    request = read_inspection(services())
    return json_response(InspectionDocument.of(services().queue.ask(request)))
