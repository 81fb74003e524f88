import pytest


@pytest.mark.both_forms
def test_kernels_and_launches_are_listed(client, vector_add):
    response = client.post("/api/v1/inspect", json={"source": vector_add})
    document = response.get_json()
    assert response.status_code == 200
    (kernel,) = document["kernels"]
    assert kernel["name"] == "add_kernel"
    assert [parameter["name"] for parameter in kernel["parameters"]][-1] == "BLOCK_SIZE"
    assert [launch["kernel"] for launch in document["launches"]] == ["add_kernel"]


def test_a_syntax_error_is_on_its_line(client):
    document = client.post(
        "/api/v1/inspect", json={"source": "import triton\n\ndef f(:\n    pass\n"}
    ).get_json()
    (error,) = document["diagnostics"]
    assert error["severity"] == "error"
    assert error["line"] == 3
    assert document["kernels"] == []


def test_lines_are_numbered_through_all_files_and_assumed_numbers_are_listed(client, vector_add):
    reads = "def count(x):\n    return x.long().sum().item()\n"
    source = f"{vector_add}\nfrom tools import count\nadd_kernel[(1,)](x, y, x, count(x), BLOCK_SIZE=64)\n"
    body = {"source": source, "path": "main.py", "files": {"tools.py": reads}, "assumed": {"tools.py:2": 96}}
    document = client.post("/api/v1/inspect", json=body).get_json()
    script, tools = document["source_files"]
    assert (script["path"], script["first_line"]) == ("main.py", 1)
    assert (tools["path"], tools["first_line"]) == ("tools.py", script["last_line"] + 1)
    (number,) = document["assumed"]
    line = tools["first_line"] + 1
    assert number == {"place": "tools.py:2", "line": line, "value": 96, "is_given": True}
    assert document["launches"][-1]["arguments"][3]["value"] == 96
