"""Test the HTML of the page and the files of its bundle."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from explorer.views import pages
from explorer.views.panes import PANES
from explorer.views.panes.pane import Pane

STATIC = Path(pages.__file__).parents[1] / "static"


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    client = app.test_client()
    # A file that is sent is closed only when it was read.
    client.get = functools.partial(client.get, buffered=True)  # type: ignore[method-assign]
    return client


@pytest.mark.parametrize("address", ["/", "/k/7Qm2xV9dKcAB", "/embed/7Qm2xV9dKcAB"])
def test_the_document_has_no_inline_code_and_names_the_nonce_of_its_policy(
    client: FlaskClient, address: str
) -> None:
    response = client.get(address)
    nonce = re.search(r'name="csp-nonce" content="([\w-]+)"', response.text)
    assert nonce
    assert f"'nonce-{nonce[1]}'" in response.headers["Content-Security-Policy"]
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=", response.text)


def test_a_link_to_nothing_is_not_found_and_still_the_page(client: FlaskClient) -> None:
    response = client.get("/k/7Qm2xV9dKcAB")
    assert response.status_code == 404
    assert response.text.startswith("<!doctype html>")
    assert client.get("/").status_code == 200


def test_every_file_that_the_document_names_is_served_for_ever(client: FlaskClient) -> None:
    addresses = re.findall(r'(?:src|href)="(/assets/[^"]+)"', client.get("/").text)
    assert len(addresses) > 4
    for address in addresses:
        response = client.get(address)
        assert response.status_code == 200
        assert "immutable" in response.headers["Cache-Control"]


def test_the_document_names_what_a_first_visit_asks_for(client: FlaskClient) -> None:
    text = client.get("/").text
    modules = re.findall(r'rel="modulepreload" href="/assets/(?:\w+/)?(\w+)-', text)
    assert {"app", "editor", "dock", "stage"} <= set(modules)
    assert not {"editing", "share_menu"} & set(modules)
    documents = re.findall(r'rel="preload" href="([^"]+)" as="fetch"', text)
    assert "/page.json" in documents
    assert all(client.get(document).status_code == 200 for document in documents)
    assert "/api/v1/compilations/" not in client.get("/k/7Qm2xV9dKcAB").text


@pytest.mark.parametrize(
    ("names", "most_bytes"), [(("theme.js",), 189_000), (("theme.js", "page.css"), 210_500)]
)
def test_what_a_first_visit_loads_is_small(names: tuple[str, ...], most_bytes: int) -> None:
    names = (*pages.first_load(), *map(pages.manifest().__getitem__, names))
    sizes = {name: (pages.DIST / f"{name}.br").stat().st_size for name in names}
    assert sum(sizes.values()) <= most_bytes, sizes


@pytest.mark.parametrize("encoding", ["br", "gzip"])
def test_files_come_compressed_to_those_who_can_read_them(client: FlaskClient, encoding: str) -> None:
    address = re.search(r'href="(/assets/chunks/dock-[^"]+)"', client.get("/").text)
    assert address
    plain = client.get(address[1], headers={"Accept-Encoding": "identity"})
    packed = client.get(address[1], headers={"Accept-Encoding": encoding})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == encoding
    assert packed.headers["Content-Type"] == plain.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert len(packed.data) < len(plain.data) / 2


@pytest.mark.parametrize("name", ["../page.css", "nothing.js", ".fingerprint", "%2e%2e/app.js", "app.js.br"])
def test_nothing_beside_the_bundle_is_served(client: FlaskClient, name: str) -> None:
    assert client.get(f"/assets/{name}").status_code == 404


def test_the_browser_learns_the_panes_in_their_order(client: FlaskClient) -> None:
    document = client.get("/page.json").json
    assert [pane["name"] for pane in document["panes"]] == [pane.name for pane in PANES]
    for pane in document["panes"]:
        module = client.get(pane["module"]).text
        # A pane that others share code with is in a file beside it.
        shared = re.findall(r'from"\.\./(chunks/[^"]+)"', module)
        text = module + "".join(client.get(f"/assets/{name}").text for name in shared)
        assert f'define("pane-{pane["name"].replace("_", "-")}"' in text
    assert {
        "name": "ttgir",
        "title": "TTGIR",
        "language": "ttgir",
        "summary": "tensor layouts",
        "is_editable": True,
    } in document["stages"]
    assert {stage["language"] for stage in document["stages"]} <= document["languages"].keys()
    assert document["languages"]["ttgir"]["vocabulary"] == "mlir"
    assert document["metrics"]["registers"] == {"title": "Registers per thread", "short": "registers"}
    assert document["metrics"]["spill_stores_bytes"]["short"] == "Spill stores"


def test_the_browser_checks_what_is_typed_by_the_names_of_the_pipeline(client: FlaskClient) -> None:
    document = client.get("/page.json").json
    assert document["default_target"] in [row["name"] for row in client.get("/api/v1/targets").json]
    pattern = re.compile(document["type_pattern"])
    assert {"i32", "bf16", "u64"} <= set(document["argument_types"])
    assert all(pattern.match(name) and pattern.match(f"*{name}") for name in document["argument_types"])
    assert pattern.match("tensordesc<fp16[64, 64]>")
    assert not pattern.match("fp17")


@pytest.mark.parametrize("pane", PANES, ids=lambda pane: pane.name)
def test_a_pane_is_one_file_here_and_one_in_the_browser(pane: Pane) -> None:
    assert (Path(pages.__file__).parent / f"panes/{pane.name}.py").is_file()
    source = (STATIC / f"panes/{pane.name}.js").read_text()
    assert f'customElements.define("pane-{pane.name.replace("_", "-")}"' in source
    assert pane.title and pane.summary.endswith(".")


def test_a_chat_is_not_shown_a_name_that_turns_around(client: FlaskClient, vector_add: str):
    request = {"source": vector_add, "target": "cuda:90", "kernel": "add\u202egpj"}
    url = client.post("/api/v1/compilations", json=request).get_json()["url"]
    assert r'content="add\u202egpj · triton·explorer"' in client.get(url).text


def test_a_chat_learns_what_a_link_shows(client: FlaskClient, ticket: dict[str, str]):
    text = client.get(ticket["url"]).text
    assert '<meta property="og:title" content="add_kernel · triton·explorer">' in text
    assert "sm_90 · Triton" in text
    assert "og:title" not in client.get("/").text


@pytest.mark.parametrize("found", [{}, None], ids=["an older bundle", "no bundle"])
def test_a_page_without_its_bundle_says_what_to_do(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, found: dict[str, str] | None
) -> None:
    if found is not None:
        (tmp_path / "manifest.json").write_text(json.dumps(found))
        (tmp_path / "first_load.json").write_text("[]")
    monkeypatch.setattr(pages, "DIST", tmp_path)
    response = client.get("/glossary")
    assert response.status_code == 503
    assert "Run `make bundle`." in response.text
    assert client.get("/api/v1/gallery").status_code == 200
