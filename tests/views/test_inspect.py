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
