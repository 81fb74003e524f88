"""Test `token`, and commands that send one to a running server."""

import os
import re

import pytest
from forms import urls_of

from .conftest import SIGNATURE, run


@pytest.mark.nightly
def test_a_token_is_made_listed_used_and_revoked(server, kernel, monkeypatch):
    monkeypatch.setitem(os.environ, "TRITON_EXPLORER_DATA_DIR", str(server.folder))
    for name, url in urls_of(server.folder).items():
        monkeypatch.setitem(os.environ, f"TRITON_EXPLORER_{name.upper()}", url)
    made = run("token", "add", "build machine", "--role", "gpu")
    token = made.stdout.strip()
    assert re.fullmatch(r"te_[\w-]{32}", token), made.stderr
    listed = run("token", "list").stdout
    assert token not in listed
    token_id, _, end, used, roles, name = listed.split(maxsplit=5)
    assert (end, used, roles, name) == ("never", "never", "gpu", "build machine\n")

    kernel.write_text(kernel.read_text() + "# of the build machine\n")
    monkeypatch.setitem(os.environ, "TRITON_EXPLORER_TOKEN", token)
    compile_kernel = ("compile", kernel, "--signature", SIGNATURE)
    assert run(*compile_kernel, server=server.url).returncode == 0
    assert "account build machine" in run("store", "stats", "--json").stdout

    assert run("token", "revoke", token_id).returncode == 0
    refused = run("delete", "unknown", server=server.url)
    assert refused.returncode == 1
    assert "unknown, has expired, or was revoked" in refused.stderr
    again = run("token", "revoke", token_id)
    assert (again.returncode, run("token", "list").stdout) == (1, "")
