"""Test the end of the server of tools on the standard input."""

import json
import socket
import subprocess
import sys

from .conftest import PYTHONPATH

VERSION = "2025-06-18"
CLIENT = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
CALL = {"name": "read_compilation", "arguments": {"compilation": "abc"}}


def test_the_command_ends_with_its_input_although_a_call_waits_for_a_server():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        command = [sys.executable, "-m", "explorer", "mcp", "--server"]
        with subprocess.Popen(
            [*command, f"http://127.0.0.1:{silent.getsockname()[1]}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": PYTHONPATH},
        ) as process:

            def send(method, parameters, **number):
                message = {"jsonrpc": "2.0", "method": method, "params": parameters, **number}
                process.stdin.write(json.dumps(message) + "\n")
                process.stdin.flush()

            try:
                send("initialize", CLIENT, id=1)
                assert json.loads(process.stdout.readline())["id"] == 1
                send("notifications/initialized", {})
                send("tools/call", CALL, id=2)
                connection, _ = silent.accept()
                with connection:
                    assert connection.recv(4).startswith(b"GET")
                    process.stdin.close()
                    assert process.wait(10) == 0
            finally:
                process.kill()
