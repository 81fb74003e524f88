"""`mcp`: serve the tools for agents on the standard input and output."""

from __future__ import annotations

import argparse
import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

from explorer.cli.api import Sender, sender_to
from explorer.cli.tools import Commands, add_command, add_unsafe
from explorer.errors import InvalidRequest

if TYPE_CHECKING:
    from explorer.agents.api import Reader

Found = TypeVar("Found")


def add(commands: Commands) -> None:
    parser = add_command(commands, "mcp", run, "serve tools for agents (MCP) on standard input and output")
    parser.add_argument(
        "--server",
        metavar="URL",
        help="server that the tools ask, or none (default: the server of the data folder, if it runs)",
    )
    add_unsafe(parser)


def run(options: argparse.Namespace) -> int:
    """Serve until the standard input ends.

    Raises:
        InvalidRequest: the package mcp is missing, or the text is not the address of a server.
    """
    try:
        import anyio
        from mcp.server.stdio import stdio_server

        from explorer.agents.protocol import make_server
    except ModuleNotFoundError as error:
        raise InvalidRequest(
            f"The package {error.name} is missing. Install triton-explorer[mcp], then start again."
        ) from error

    async def serve(api: _Api) -> None:
        server = make_server(api)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    with ExitStack() as stack:
        anyio.run(serve, _Api(options, stack))
    return 0


class _Api:
    """The API of a server, or of an application in this process, found or started for the first tool."""

    def __init__(self, options: argparse.Namespace, stack: ExitStack) -> None:
        self._options = options
        self._stack = stack
        self._finding = threading.Lock()
        self._found: tuple[str, Sender] | None = None

    @property
    def url(self) -> str:
        """The address of the server; "" before it is found, and without one."""
        return self._found[0] if self._found else ""

    async def send(self, method: str, path: str, body: bytes | None, read: Reader[Found]) -> Found:
        def answered() -> Found:
            response = self._sender()(method, path, body)
            return read(response.status, response.body)

        return await _in_thread(answered)

    async def follow(self, path: str, seconds: float) -> None:
        """Read an event stream in a thread, which continues after the time is over."""
        import anyio

        with anyio.move_on_after(seconds):
            await _in_thread(lambda: self._sender()("GET", path))

    def _sender(self) -> Sender:
        with self._finding:
            if self._found is None:
                self._found = self._stack.enter_context(sender_to(self._options.server, self._options))
            return self._found[1]


async def _in_thread(function: Callable[[], Found]) -> Found:
    """Call a function in a thread, which the end of the process does not wait for, as for one of a pool."""
    future: Future[Found] = Future()
    future.set_running_or_notify_cancel()  # so that the thread can set the result of an abandoned call

    def work() -> None:
        try:
            future.set_result(function())
        except BaseException as error:  # the caller raises it
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return await asyncio.wrap_future(future)
