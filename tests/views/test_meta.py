from explorer.pipeline.targets import TARGETS


def test_targets_are_listed(client):
    rows = client.get("/api/v1/targets").get_json()
    assert [row["name"] for row in rows] == [target.name for target in TARGETS]
    assert rows[0].keys() == {"name", "title", "architecture", "vendor", "stages"}


def test_the_newest_triton_is_the_default(client, services):
    document = client.get("/api/v1/tritons").get_json()
    assert tuple(document["versions"]) == services.versions
    assert document["default"] == services.versions[0]


def test_every_example_of_the_gallery_can_be_had(client):
    rows = client.get("/api/v1/gallery").get_json()
    assert len(rows) >= 12
    for row in rows:
        example = client.get(f"/api/v1/gallery/{row['name']}").get_json()
        assert example["title"] == row["title"]
        assert "@" in example["source"]
    assert client.get("/api/v1/gallery/nothing").status_code == 404


def test_health_names_the_sandbox_there_is(client, services, ticket):
    document = client.get("/healthz").get_json()
    assert document == {
        "status": "ok",
        "sandbox": "full",
        "tritons": list(services.versions),
        "problem": None,
        "devices": {
            "interpreter": {"available": True, "reason": ""},
            "gpu": {
                "available": bool(services.gpus),
                "reason": services.queue.problem("gpu") or "",
                "names": [gpu.name for gpu in services.gpus],
            },
        },
    }


def test_metrics_count_jobs(client, ticket):
    response = client.get("/metrics")
    assert response.mimetype == "text/plain"
    assert b'triton_explorer_jobs_finished_total{status="complete",task="compile"}' in response.data
    assert b'triton_explorer_jobs_waiting{device="gpu"} 0.0' in response.data
