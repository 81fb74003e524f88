"""Test that the manifests of Compose and Kubernetes name existing files and settings. `make lint` checks
their schemas."""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from explorer.cli.main import make_parser
from explorer.settings import PREFIX, Settings

ROOT = Path(__file__).parents[1]
KUBERNETES = ROOT / "kubernetes"
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
MANIFESTS = [ROOT / "compose.yaml", *sorted(KUBERNETES.glob("*.yaml")), ROOT / "docs/operations.md"]


def commands() -> Iterator[list[str]]:
    """Yield the commands of the containers that do not run the image's own."""
    for service in COMPOSE["services"].values():
        if service["image"] == "triton-explorer" and "entrypoint" in service:
            yield service["entrypoint"]
    for document in yaml.safe_load_all((KUBERNETES / "worker.yaml").read_text()):
        if document["kind"] == "Deployment":
            yield from (each["command"] for each in document["spec"]["template"]["spec"]["containers"])


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_the_settings_in_manifests_exist(path: Path) -> None:
    known = {PREFIX + field.name.upper() for field in dataclasses.fields(Settings)}
    named = set(re.findall(rf"{PREFIX}[A-Z_]+", path.read_text()))
    assert named <= known


def test_the_commands_in_manifests_exist() -> None:
    found = list(commands())
    assert len(found) == 2
    for program, *arguments in found:
        assert program == "triton-explorer"
        make_parser().parse_args(arguments)


def test_all_manifests_of_kubernetes_are_applied() -> None:
    listed = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]
    assert {*listed, "kustomization.yaml"} == {path.name for path in KUBERNETES.glob("*.yaml")}


def test_files_that_containers_read_exist() -> None:
    text = (ROOT / "compose.yaml").read_text()
    mounted = re.findall(r'"(?:\./|seccomp=)([^":]+)', text)
    assert set(mounted) == {"cluster/haproxy.cfg", "docker/seccomp.json"}
    assert all((ROOT / path).is_file() for path in mounted)


def test_probes_name_a_host_that_the_server_accepts() -> None:
    hosts = yaml.safe_load((KUBERNETES / "settings.yaml").read_text())["data"]["TRITON_EXPLORER_HOSTS"]
    (deployment, *_) = yaml.safe_load_all((KUBERNETES / "web.yaml").read_text())
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["httpHeaders"] == [{"name": "Host", "value": hosts}]
