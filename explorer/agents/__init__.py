"""Tools for agents, in the Model Context Protocol (MCP): one function for each tool.

A tool asks the HTTP API and shortens its documents; it computes nothing that the API does not compute. The
transports are elsewhere: `explorer.cli.mcp` serves the standard input, and `explorer.server.agents` HTTP.
"""

from __future__ import annotations

from explorer.agents.api import Api
from explorer.agents.tool import Tool

__all__ = ["Api", "Tool"]
