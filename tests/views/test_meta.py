from contextlib import closing
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest
from tritons import TRITONS

from explorer import create_app
from explorer.model.hardware import TARGETS
from explorer.profiles.read import Profiles
from explorer.sandbox.versions import installed_versions
from explorer.services import Services
from explorer.settings import Settings

ROOT = Path(__file__).parents[2]


def test_targets_are_listed(client):
    rows = client.get("/api/v1/targets").get_json()
    assert [row["name"] for row in rows] == [target.name for target in TARGETS]
    assert rows[0].keys() == {"name", "title", "architecture", "vendor", "stages"}


def test_the_newest_triton_is_the_default(client, services):
    document = client.get("/api/v1/tritons").get_json()
    assert tuple(document["versions"]) == services.versions
    assert document["default"] == services.versions[0]


@pytest.mark.slow
def test_only_versions_that_a_server_offers_are_used(tmp_path, vector_add, caplog):
    newest, other = TRITONS
    with closing(Services(Settings(data_dir=tmp_path, slots=1, tritons=f"{other}, 0.1"))) as services:
        client = create_app(services.settings, services).test_client()
        assert client.get("/api/v1/tritons").get_json()["versions"] == [other]
        body = {"source": vector_add, "target": "cuda:90", "triton": newest}
        refused = client.post("/api/v1/compilations", json=body)
        assert refused.status_code == 400
        assert f"Available: {other}." in refused.get_json()["detail"]
        assert client.get("/healthz").get_json()["tritons"] == [other]
    assert "TRITON_EXPLORER_TRITONS names versions that are not installed: 0.1" in caplog.text


@pytest.mark.slow
def test_a_server_that_offers_no_installed_version_says_so(tmp_path):
    with closing(Services(Settings(data_dir=tmp_path, slots=1, tritons="0.1"))) as services:
        client = create_app(services.settings, services).test_client()
        health = client.get("/healthz")
        assert health.status_code == 503
        problem = f"TRITON_EXPLORER_TRITONS is '0.1'. Installed: {', '.join(installed_versions())}."
        assert problem in health.get_json()["problem"]


def test_every_example_of_the_gallery_can_be_had(client):
    rows = client.get("/api/v1/gallery").get_json()
    assert len(rows) >= 12
    for row in rows:
        example = client.get(f"/api/v1/gallery/{row['name']}").get_json()
        assert example["title"] == row["title"]
        assert "@" in example["source"]
    assert client.get("/api/v1/gallery/nothing").status_code == 404


def test_an_example_names_the_target_and_the_version_of_its_profile(client, services, monkeypatch):
    def row():
        rows = {row["name"]: row for row in client.get("/api/v1/gallery").get_json()}
        return rows["matmul"]["profiled_target"], rows["matmul"]["profiled_triton"]

    profile = Profiles(ROOT / "proton_profiles").of_example("matmul")
    assert profile is not None
    for triton, expected in (
        (services.versions[0], ("cuda:90", services.versions[0])),
        ("0.1", (None, None)),
    ):
        found = replace(profile, request=msgspec.structs.replace(profile.request, triton=triton))
        monkeypatch.setattr(services.profiles, "of_example", lambda name, found=found: found)
        assert row() == expected
    monkeypatch.setattr(services.profiles, "of_example", lambda name: None)
    assert row() == (None, None)


def test_health_names_the_sandbox_there_is(client, services, ticket):
    found = services.sandbox.bubblewrap
    document = client.get("/healthz").get_json()
    store = document.pop("store")
    assert store.pop("free_bytes") > 0
    assert store.pop("used_bytes") > 0
    assert store == {"problem": None, "quota_bytes": services.settings.store_quota_bytes}
    slots = {(slot["kind"], slot["triton"]): slot for slot in document.pop("slots")}
    assert slots["compile", services.versions[0]]["state"] == "ok"
    assert document.pop("queue").keys() == {"oldest_seconds", "limit_seconds"}
    # Other tests may have started some.
    assert document.pop("disassembler").keys() == {"ready", "problem"}
    assert document == {
        "status": "ok",
        "version": version("triton-explorer"),
        "sandbox": "full",
        "tritons": list(services.versions),
        "problem": None,
        "bubblewrap": {"path": str(found.path), "source": found.source, "version": found.version},
        "landlock_abi": services.sandbox.landlock_abi,
        "control_groups": services.sandbox.has_control_groups,
        "workers": None,
        "devices": {
            "interpreter": {"available": True, "reason": ""},
            "gpu": {
                "available": bool(services.gpus),
                "reason": services.queue.problem("gpu") or "",
                "names": [gpu.name for gpu in services.gpus],
                "target": services.gpu_target,
            },
        },
    }


def test_the_process_says_that_it_lives(client):
    assert client.get("/livez").get_json() == {"status": "ok"}


def test_metrics_count_jobs(client, ticket):
    response = client.get("/metrics")
    assert response.mimetype == "text/plain"
    assert b'triton_explorer_jobs_finished_total{status="complete",task="compile"}' in response.data
    assert b'triton_explorer_jobs_waiting{device="gpu"} 0.0' in response.data
