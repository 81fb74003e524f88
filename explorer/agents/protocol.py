"""The tools as a server of the Model Context Protocol, without a transport.

The package `mcp` is an optional dependency that this module needs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.lowlevel import Server

from explorer.agents import (
    comparisons,
    compilations,
    findings,
    memory,
    operations,
    registers,
    runs,
    texts,
)
from explorer.agents.api import Api
from explorer.agents.tool import Tool
from explorer.errors import ExplorerError, InvalidRequest

_FUNCTIONS: tuple[Callable[..., Awaitable[Any]], ...] = (
    compilations.compile,
    compilations.read_compilation,
    findings.findings,
    findings.improve_kernel,
    texts.list_passes,
    texts.diff_pass,
    texts.search_passes,
    texts.read_stage,
    texts.search_stage,
    operations.follow_operation,
    memory.explain_shared_memory,
    memory.bank_conflicts,
    memory.memory_accesses,
    memory.layouts,
    registers.live_registers,
    comparisons.compare,
    comparisons.compare_stage,
    runs.run,
    runs.read_run,
    runs.list_runs,
    runs.roofline,
    compilations.explain,
)
TOOLS = {tool.name: tool for tool in map(Tool.of, _FUNCTIONS)}

_INSTRUCTIONS = """\
Shows everything the Triton compiler does to a kernel. Call compile first: its answer has the ID that the \
other tools take. Long answers come in pages: `next` says what to call. Show the user the links in `page`.
"""
#: The advice after an error, by its kind.
_HINTS = {
    "invalid_request": "Correct the arguments.",
    "not_found": "Call read_compilation to see the available parts, or compile with the source.",
    "not_finished": "Call read_compilation, which waits until the compilation is finished.",
    "not_answerable": "Call read_compilation and read its diagnostics.",
    "no_device": "Call run with device=interpreter, or list_runs for recorded profiles.",
    "too_many_requests": "Wait some seconds, then call the tool again.",
    "queue_full": "Wait some seconds, then call the tool again.",
}
#: The tools that create results. The other tools only read.
_CHANGING = ("compile", "improve_kernel", "run")


def make_server(api: Api) -> Server[Any]:
    """Return a server whose tools use an API."""

    async def list_tools(_context: Any, _parameters: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in TOOLS.values()])

    async def call_tool(_context: Any, parameters: types.CallToolRequestParams) -> types.CallToolResult:
        return await _called(api, parameters.name, parameters.arguments or {})

    return Server(
        "triton-explorer",
        version=version("triton-explorer"),
        title="triton-explorer",
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _called(api: Api, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    """Call a tool. An error of the call is its result, so that the agent can correct the call."""
    try:
        if name not in TOOLS:
            raise InvalidRequest(f"There is no tool {name[:100]!r}. Known are {', '.join(TOOLS)}.")
        answer = await TOOLS[name].call(api, arguments)
    except msgspec.ValidationError as error:
        known = ", ".join(TOOLS[name].parameters.__struct_fields__)
        return _refused("invalid_request", f"Invalid argument: {error}. Known are {known}.")
    except ExplorerError as error:
        return _refused(error.kind, error.line)
    text = msgspec.json.encode(answer)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text.decode())],
        structured_content=msgspec.json.decode(text),
    )


def _refused(kind: str, text: str) -> types.CallToolResult:
    hint = _HINTS.get(kind, "")
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=f"{text} {hint}".strip())], is_error=True
    )


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=_schema(tool.parameters),
        output_schema=_schema(tool.answer),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.name not in _CHANGING,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def _schema(wanted: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a type, with its own fields at the root, as the protocol requires."""
    (_,), types_by_name = msgspec.json.schema_components([wanted], ref_template="#/$defs/{name}")
    root = types_by_name.pop(wanted.__name__)
    return {**root, **({"$defs": types_by_name} if types_by_name else {})}
