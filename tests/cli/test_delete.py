"""Test `delete` with a running server."""

import os
import stat

from .conftest import SIGNATURE, run


def result_of(server, kernel, **options):
    """Compile a kernel with a separate command. Return the address of the page of the result."""
    arguments = ("compile", kernel, "--signature", SIGNATURE, "--json")
    compiled = run(*arguments, server=server.url, **options)
    assert compiled.returncode == 0, compiled.stderr
    found = server.post({"source": kernel.read_text(), "target": "cuda:90", "arguments": SIGNATURE})
    return server.url + found["url"]


def test_who_has_submitted_a_result_deletes_it_by_its_address(server, kernel, state_home):
    kernel.write_text(kernel.read_text() + "# deleted by its address\n")
    page = result_of(server, kernel)
    deleted = run("delete", page, server=server.url)
    assert (deleted.returncode, deleted.stdout) == (0, "1 result deleted.\n")
    again = run("delete", page, server=server.url)
    assert again.returncode == 1
    assert "may have deleted it" in again.stderr
    secret = state_home / "triton-explorer/deletion-token"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert len(secret.read_text()) == 48


def test_another_user_cannot_delete_it(server, kernel, tmp_path, monkeypatch):
    kernel.write_text(kernel.read_text() + "# of another user\n")
    result_id = result_of(server, kernel).rpartition("/")[2]
    monkeypatch.setitem(os.environ, "XDG_STATE_HOME", str(tmp_path))
    refused = run("delete", result_id, server=server.url)
    assert refused.returncode == 1
    assert "Only the submitter of a result can delete it" in refused.stderr
    assert server.get(f"/api/v1/compilations/{result_id}")["status"] == "complete"


def test_an_address_of_something_else_is_refused(server):
    refused = run("delete", f"{server.url}/metrics", server=server.url)
    assert refused.returncode == 1
    assert "is not the address of a result" in refused.stderr
