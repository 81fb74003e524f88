"""What a source holds, without compiling it."""

from __future__ import annotations

from flask import Blueprint, Response

from explorer.documents import InspectionDocument
from explorer.services import services
from explorer.views.http import json_response
from explorer.views.links import API
from explorer.views.operation import documented
from explorer.views.requests import InspectionBody, read_inspection

blueprint = Blueprint("inspect", __name__, url_prefix=API)


@blueprint.post("/inspect")
@documented({200: InspectionDocument}, InspectionBody)
def inspect() -> Response:
    """Find kernels with their parameters and autotune configurations, and launches with their arguments."""
    request = read_inspection(services())
    return json_response(InspectionDocument.of(services().queue.ask(request)))
