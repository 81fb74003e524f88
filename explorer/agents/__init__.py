"""Tools for agents, in the Model Context Protocol (MCP): one function for each tool.

A tool requests documents of the HTTP API and shortens them; the API computes everything. The transports are
elsewhere: `explorer.cli.mcp` serves the standard input, and `explorer.server.agents` HTTP.
"""

from explorer.agents.api import Api
from explorer.agents.tool import Tool

__all__ = ["Api", "Tool"]
