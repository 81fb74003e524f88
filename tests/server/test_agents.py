"""Test the tools for agents with the client of the MCP SDK: over HTTP, and over the standard input."""

import asyncio
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

ROOT = Path(__file__).parents[2]
EXAMPLE = re.findall(
    r"```(?:python|text)\n(.+?)```", (ROOT / "docs/agents.md").read_text(encoding="utf-8"), re.DOTALL
)
ENVIRONMENT = {"PYTHONPATH": str(ROOT)}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(running_server, vector_add):
    """A running server that has compiled something: tools do not wait long for the start of its sandbox."""
    list(running_server.events(running_server.post({"source": vector_add, "target": "cuda:80"})))
    return running_server


def run(task):
    """Run a coroutine in a thread: in this one, a browser of other tests may have an event loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, task).result()


def explained(where, **options):
    """Connect, list the tools and call one."""

    async def ask():
        async with Client(where, **options) as client:
            tools = (await client.list_tools()).tools
            answer = await client.call_tool("explain", {"word": "HGMMA"})
            return len(tools), answer.structured_content["explanations"]

    return run(ask())


async def compiled(client, source):
    """Compile a source, and return the answer when the compilation is finished."""
    answer = (await client.call_tool("compile", {"source": source})).structured_content
    # Tools answer after 45 seconds, in which a busy machine may not start a sandbox.
    while answer["status"] in ("queued", "running"):
        asked = {"compilation": answer["compilation"]}
        answer = (await client.call_tool("read_compilation", asked)).structured_content
    return answer


def stdio(*arguments):
    return StdioServerParameters(
        command=sys.executable, args=["-m", "explorer", "mcp", *arguments], env=ENVIRONMENT
    )


def test_the_documented_program_works(server):
    program, printed = EXAMPLE
    program = program.replace("http://127.0.0.1:8000", server.url)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == (printed, 0), done.stderr


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_old_and_new_clients_are_answered(server, mode):
    count, explanations = explained(f"{server.url}/mcp", mode=mode)
    assert count > 15
    assert "sass" in explanations


def test_the_links_of_answers_work(server, vector_add):
    async def compile_it(where):
        async with Client(where) as client:
            return await compiled(client, vector_add)

    first = run(compile_it(f"{server.url}/mcp"))
    assert first["page"] == f"{server.url}/k/{first['compilation']}"
    assert server.get(f"/api/v1/compilations/{first['compilation']}")["status"] == "complete"
    assert run(compile_it(stdio("--server", server.url))) == first


def test_requests_of_other_sites_are_refused(server):
    client = server.client()
    for headers in ({"Origin": "http://other.example"}, {"Host": "other.example"}):
        answer = client.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, **headers)
        assert answer.status == 400, headers
        assert "other" in answer.document["detail"]
    assert client.ask("GET", "/mcp").status == 405
    answer = client.ask(
        "POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, Accept="application/json"
    )
    assert answer.status == 200
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.document["id"] == 1


@pytest.mark.nightly
def test_a_command_without_a_server_compiles_by_itself(vector_add):
    async def compile_it():
        async with Client(stdio("--server", "none")) as client:
            return await compiled(client, vector_add)

    answer = run(compile_it())
    assert (answer["status"], answer["page"]) == ("complete", "")
