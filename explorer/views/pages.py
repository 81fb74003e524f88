"""The page: one HTML document at `/`, at every permalink and in every frame, and the browser code it loads.

The document holds no data and no inline code. The browser asks the API for everything it shows, and
`/page.json` for the panes and stages there are.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, abort, jsonify, render_template, request, send_from_directory, url_for

from explorer.errors import NotFound
from explorer.examples import DEFAULT_EXAMPLE
from explorer.pipeline.signature_types import TYPE_PATTERN, TYPES
from explorer.pipeline.stages import STAGES
from explorer.pipeline.targets import find_target
from explorer.services import DEFAULT_TARGET
from explorer.store import Record
from explorer.views.panes import PANES
from explorer.views.records import stored_compilation
from explorer.views.security import allow_frames, allow_wasm
from explorer.views.visible import visible

blueprint = Blueprint("pages", __name__)

DIST = Path(__file__).parents[1] / "static/dist"
ENCODINGS = {"br": ".br", "gzip": ".gz"}
FIRST_DOCUMENTS = ("pages.parts", "meta.list_targets", "meta.list_tritons", "meta.list_examples")
ONE_YEAR_SECONDS = 365 * 24 * 3600


@blueprint.get("/")
@blueprint.get("/k/<compilation_id>")
def page(compilation_id: str | None = None) -> tuple[str, int]:
    """The page; which result it shows, the browser reads from the address, and says if there is none."""
    return render_page("site", compilation_id)


@blueprint.get("/embed/<compilation_id>")
def embed(compilation_id: str) -> tuple[str, int]:
    """A result to look at in a frame of any other page; the fragment says which panes, as in a permalink."""
    allow_frames()
    return render_page("embed", compilation_id)


def render_page(host: str, compilation_id: str | None) -> tuple[str, int]:
    """The document and its status; `host` says where it is looked at: on the site, or in a frame."""
    status, preview = 200, None
    if compilation_id is not None:
        try:
            preview = preview_of(stored_compilation(compilation_id))
        except NotFound:
            status = 404
    html = render_template(
        "page.html",
        bundle=bundle,
        host=host,
        compilation=compilation_id or "",
        preview=preview,
        modules=[url_for("pages.asset", name=name) for name in first_load()],
        documents=first_documents(compilation_id if status == 200 else None),
    )
    return html, status


def first_documents(compilation_id: str | None) -> list[str]:
    """What the page asks for as soon as it runs: a browser that knows of it asks earlier."""
    documents = [url_for(name) for name in FIRST_DOCUMENTS]
    if compilation_id is not None:
        documents.append(url_for("compilations.show", compilation_id=compilation_id))
    return documents


def preview_of(record: Record) -> dict[str, str]:
    """What a chat shows of a permalink: the kernel as title, target, Triton and status below."""
    target = find_target(record.request.target)
    facts = [f"{target.title}, {target.architecture}", f"Triton {record.request.triton}", record.status]
    return {
        "title": f"{visible(record.kernel or 'Kernel')} · triton·explorer",
        "description": " · ".join(facts),
    }


@blueprint.get("/page.json")
def parts() -> Response:
    """What the page is made of: the panes in the order of the menu, the stages, how a first visit begins."""
    return jsonify(parts_document(bundle))


def parts_document(address: Callable[[str], str]) -> dict[str, Any]:
    """The parts; `address` says where the file made from a source is.

    `argument_types` are the names that are offered, `type_pattern` is what a signature may say of one.
    """
    return {
        "first_example": DEFAULT_EXAMPLE,
        "default_target": DEFAULT_TARGET,
        "argument_types": TYPES,
        "type_pattern": TYPE_PATTERN,
        "panes": [{**dataclasses.asdict(pane), "module": address(f"panes/{pane.name}.js")} for pane in PANES],
        "workers": {Path(name).stem: address(name) for name in manifest() if name.startswith("workers/")},
        "stages": [{"name": stage.name, "title": stage.title} for stage in STAGES],
    }


@blueprint.get("/assets/<path:name>")
def asset(name: str) -> Response:
    """A file of the bundle, compressed if the browser can take it; its name changes with its content."""
    if Path(name).name.startswith(".") or name.endswith(tuple(ENCODINGS.values())):
        abort(404)
    if name.startswith("workers/"):
        allow_wasm()
    accepted = (encoding for encoding in ENCODINGS if request.accept_encodings[encoding])
    encoding = next((each for each in accepted if stored(name + ENCODINGS[each])), None)
    response = send_from_directory(
        DIST, name + ENCODINGS.get(encoding or "", ""), max_age=ONE_YEAR_SECONDS, mimetype=mime_type(name)
    )
    response.cache_control.immutable = True
    response.vary.add("Accept-Encoding")
    if encoding:
        response.content_encoding = encoding
    return response


def bundle(name: str) -> str:
    """The address of the bundled file made from `explorer/static/<name>`."""
    return url_for("pages.asset", name=manifest()[name])


def bundled_file(name: str) -> bytes:
    """The content of the bundled file made from `explorer/static/<name>`."""
    return (DIST / manifest()[name]).read_bytes()


def manifest() -> dict[str, str]:
    """The names of the bundled files by the names of their sources."""
    names: dict[str, str] = read_dist("manifest.json")
    return names


def first_load() -> list[str]:
    """The modules that a first visit needs, by the names of their bundled files."""
    names: list[str] = read_dist("first_load.json")
    return names


def read_dist(name: str) -> Any:
    """What the bundler has written down.

    Raises:
        FileNotFoundError: the page was never bundled (a checkout without `python hatch_build.py`).
    """
    file = DIST / name
    return read_json(file, file.stat().st_mtime_ns)


@functools.lru_cache(maxsize=4)
def read_json(file: Path, modified_ns: int) -> Any:  # noqa: ARG001
    """The content of `file`, read once for each time it was modified."""
    return json.loads(file.read_text(encoding="utf-8"))


@functools.cache
def stored(name: str) -> bool:
    """Whether the bundle has a file `name`; no file of it ever changes under its name."""
    return (DIST / name).resolve().is_relative_to(DIST.resolve()) and (DIST / name).is_file()


def mime_type(name: str) -> str | None:
    """The type of a text of the bundle, whatever the machine's own table says; None: look it up."""
    return {".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2"}.get(Path(name).suffix)
