"""The address of the tools for agents (MCP). The web server answers there without a thread."""

from __future__ import annotations

from importlib.util import find_spec

from flask import Blueprint, Response, request

from explorer.errors import NotFound

blueprint = Blueprint("agents", __name__)

#: A server that can answer sets this variable of the request to a list. The view adds an entry to the list
#: when the request has passed the checks of every request: its host, its origin.
ANSWERED_BY_SERVER = "triton_explorer.agents"


@blueprint.post("/mcp")
def answer() -> Response:
    """Let the server answer a message of the Model Context Protocol.

    Raises:
        NotFound: the server cannot answer.
    """
    if find_spec("mcp") is None:
        raise NotFound(
            "This server has no tools for agents: the package mcp is missing. "
            "Install triton-explorer[mcp], then start the server again."
        )
    if ANSWERED_BY_SERVER not in request.environ:
        raise NotFound("Only a running server has tools for agents. Start one with `triton-explorer serve`.")
    request.environ[ANSWERED_BY_SERVER].append(True)
    return Response(status=202)
