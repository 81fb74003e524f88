"""The page: one HTML document at `/`, at every permalink and in every frame, and the browser code.

The document has no data and no inline code. The browser gets all data from the API, and the list of panes
and stages from `/page.json`.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from flask import Blueprint, Response, abort, render_template, request, send_from_directory, url_for

from explorer.documents.files import MOST_FILES
from explorer.errors import NotFound, Unavailable
from explorer.examples import DEFAULT_EXAMPLE
from explorer.model.hardware import (
    BANK_BYTES,
    DEFAULT_TARGET,
    SECTOR_BYTES,
    THREADS_PER_BLOCK,
    find_target,
)
from explorer.model.languages import language_documents
from explorer.model.limits import MOST_CELLS
from explorer.model.metrics import metric_titles
from explorer.model.signature_types import TYPE_PATTERN, TYPES
from explorer.pipeline.stages import STAGES
from explorer.services import services
from explorer.store import Record
from explorer.views.accounts import account_of_page
from explorer.views.http import json_response, let_server_keep
from explorer.views.meta import measure_documents
from explorer.views.panes import PANES
from explorer.views.privacy import is_about_private
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
    """Return the page. The browser reads the ID of the result from the address."""
    return render_page("site", compilation_id)


@blueprint.get("/embed/<compilation_id>")
def embed(compilation_id: str) -> tuple[str, int]:
    """Return the page for a frame of another site. The fragment names the panes, as in a permalink."""
    allow_frames()
    return render_page("embed", compilation_id)


def render_page(host: str, compilation_id: str | None) -> tuple[str, int]:
    """Return the document and its status. `host` is its place: on the site, or in a frame."""
    status, preview = 200, None
    if compilation_id is not None:
        try:
            record = stored_compilation(compilation_id)
            services().store.keep(record.id)
            preview = None if is_about_private() else preview_of(record)
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
        **account_of_page(),
    )
    return html, status


def first_documents(compilation_id: str | None) -> list[str]:
    """Return the addresses that the page requests first, for the browser to preload."""
    documents = [url_for(name) for name in FIRST_DOCUMENTS]
    if compilation_id is not None:
        documents.append(url_for("compilations.show", compilation_id=compilation_id))
    return documents


def preview_of(record: Record) -> dict[str, str]:
    """Return the preview of a permalink: the kernel, and its target, Triton version and status."""
    target = find_target(record.request.target)
    facts = [
        f"{target.title}, {target.architecture}",
        f"Triton {record.request.triton}",
        _status_words(record),
    ]
    name = record.kernel or ("Program with torch.compile" if record.status == "kernels_found" else "Kernel")
    return {
        "title": f"{visible(name)} · triton·explorer",
        "description": " · ".join(facts),
    }


def _status_words(record: Record) -> str:
    inspection = record.result.inspection
    if record.status == "kernels_found" and inspection and inspection.output_code:
        return inspection.output_code.found_words
    return record.status


@blueprint.get("/page.json")
def parts() -> Response:
    """Return the parts of the page: panes, stages, and the example of a first visit.

    `metrics` are the titles of metrics; `measures` are the measures of a run; `limits` are figures of all
    GPUs that the page draws with.
    `most_cells` is the maximum number of compilations of a matrix.
    `source_limits` are the maximum number of files of a script, and the maximum length of all texts.
    `argument_types` are the types that the page offers; `type_pattern` matches the types of a signature.
    """
    document = {
        "first_example": DEFAULT_EXAMPLE,
        "default_target": DEFAULT_TARGET,
        "source_limits": {"files": MOST_FILES, "bytes": services().settings.source_limit_bytes},
        "most_cells": MOST_CELLS,
        "argument_types": TYPES,
        "type_pattern": TYPE_PATTERN,
        "panes": [{**dataclasses.asdict(pane), "module": bundle(f"panes/{pane.name}.js")} for pane in PANES],
        "workers": {Path(name).stem: bundle(name) for name in manifest() if name.startswith("workers/")},
        "stages": [
            {
                "name": stage.name,
                "title": stage.title,
                "language": stage.language,
                "summary": stage.summary,
                "is_editable": stage.kernel is not None,
            }
            for stage in STAGES
        ],
        "languages": language_documents(),
        "metrics": metric_titles(),
        "measures": [msgspec.to_builtins(measure) for measure in measure_documents()],
        "limits": {
            "threads_per_block": THREADS_PER_BLOCK,
            "sector_bytes": SECTOR_BYTES,
            "bank_bytes": BANK_BYTES,
        },
    }
    return let_server_keep(json_response(document))


@blueprint.get("/assets/<path:name>")
def asset(name: str) -> Response:
    """Return a bundled file, compressed if the browser accepts it. Its name changes with its content."""
    if Path(name).name.startswith(".") or name.endswith(tuple(ENCODINGS.values())):
        abort(404)
    if name.startswith("workers/graph_layout"):
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
    return let_server_keep(response)


def table_page(name: str, contents: str, table_url: str, preview: Mapping[str, str] | None) -> str:
    """Render the page of a matrix or a session. `preview` is None if there is none with this ID."""
    return render_template(
        "table_page.html",
        bundle=bundle,
        host="site",
        preview=preview,
        name=name,
        contents=contents,
        table_url=table_url,
    )


def bundle(name: str) -> str:
    """Return the address of the bundled file made from `explorer/static/<name>`."""
    return url_for("pages.asset", name=bundled_name(name))


def bundled_file(name: str) -> bytes:
    """Return the content of the bundled file made from `explorer/static/<name>`."""
    return (DIST / bundled_name(name)).read_bytes()


def bundled_name(name: str) -> str:
    """Return the name of the bundled file made from `explorer/static/<name>`.

    Raises:
        Unavailable: the bundle does not contain the file.
    """
    try:
        return manifest()[name]
    except KeyError:
        raise Unavailable(
            f"The bundle of the page is older than the code: it lacks {name}. Run `make bundle`."
        ) from None


def manifest() -> dict[str, str]:
    """Return the names of the bundled files by the names of their sources."""
    names: dict[str, str] = read_dist("manifest.json")
    return names


def first_load() -> list[str]:
    """Return the names of the bundled modules that a first visit needs."""
    names: list[str] = read_dist("first_load.json")
    return names


def read_dist(name: str) -> Any:
    """Return a document that the bundler wrote.

    Raises:
        Unavailable: the page is not bundled.
    """
    file = DIST / name
    try:
        return read_json(file, file.stat().st_mtime_ns)
    except FileNotFoundError:
        raise Unavailable("The page is not bundled, or is being bundled. Run `make bundle`.") from None


@functools.lru_cache(maxsize=4)
def read_json(file: Path, modified_ns: int) -> Any:  # noqa: ARG001  part of the cache's key
    """Return the content of `file`, and cache it until the file is modified."""
    return json.loads(file.read_text(encoding="utf-8"))


@functools.cache
def stored(name: str) -> bool:
    """Return whether the bundle has a file. Its files never change without changing names."""
    return (DIST / name).resolve().is_relative_to(DIST.resolve()) and (DIST / name).is_file()


def mime_type(name: str) -> str | None:
    """Return the media type of a bundled text, independent of the machine's table; None for other files."""
    return {".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2"}.get(Path(name).suffix)
