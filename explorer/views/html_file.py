"""One HTML file with the page and everything about one result inside: it works from a disk, without a server.

The answers of the API are packed into it, each as base64 of gzip in a `<script>` of a type that no browser
runs, so that nothing a user's code has written can be read as markup. The scripts that do run are named by
their hashes in the file's own policy, which forbids the network altogether. Plotly is packed like an answer,
and run by the page when it has something to plot.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable
from hashlib import sha256

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from explorer.errors import NotFinished
from explorer.services import Services
from explorer.store import Record
from explorer.views.pages import bundled_file, manifest, parts_document, preview_of
from explorer.views.recording import Answer, recorded_answers
from explorer.views.saved_runs import saved_runs
from explorer.views.security import policy_text

_GZIP_LEVEL = 6


def html_file(record: Record, services: Services) -> bytes:
    """The file, with the runs of the compilation that are done by now.

    Raises:
        NotFinished: the compilation is still under way.
        Unavailable: something has still to be found out for it, and cannot be just now.
    """
    if not record.is_finished:
        raise NotFinished("The file can be made once the compilation is done. Try again then.")
    workers = {name: f"/assets/{file}" for name, file in manifest().items() if name.startswith("workers/")}
    page = json.dumps(parts_document(lambda name: workers.get(name, ""))).encode()
    answers = [Answer("/page.json", page), *recorded_answers(record, services.analyst)]
    answers += [Answer(address, bundled_file(name)) for name, address in workers.items()]
    runs = saved_runs(record, services)
    answers += runs.answers
    plotly = bundled_file("plotly.js") if runs.has_plots else None
    theme, style, script = (bundled_file(name) for name in ("theme.js", "offline.css", "offline.js"))
    # The same result is the same file; nobody else can put an element into it.
    nonce = sha256(record.id.encode()).hexdigest()[:24]
    numbers, packed = _pack(answers)
    problems = {answer.address: answer.status for answer in answers if answer.status != 200}
    template = Environment(loader=PackageLoader("explorer"), autoescape=True).get_template("offline.html")
    html = template.render(
        host="file",
        compilation=record.id,
        preview=preview_of(record),
        policy=_policy([theme, script, *([plotly] if plotly else [])], nonce),
        csp_nonce=nonce,
        icon=base64.b64encode(bundled_file("icon.svg")).decode(),
        theme=_inline(theme),
        style=_inline(style),
        script=_inline(script),
        recording=_inline(json.dumps([numbers, problems]).replace("<", "\\u003c").encode()),
        packed=packed,
        plotly=_packed(plotly) if plotly else "",
    )
    return html.encode()


def _pack(answers: Iterable[Answer]) -> tuple[dict[str, int], list[str]]:
    """The number of the answer of each address, and the answers; equal ones are packed once."""
    numbers: dict[bytes, int] = {}
    addresses = {answer.address: numbers.setdefault(answer.body, len(numbers)) for answer in answers}
    return addresses, [_packed(body) for body in numbers]


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, _GZIP_LEVEL, mtime=0)).decode()


def _policy(scripts: list[bytes], nonce: str) -> str:
    hashes = " ".join(f"'sha256-{base64.b64encode(sha256(script).digest()).decode()}'" for script in scripts)
    directives = {
        "default-src": "'none'",
        # For Graphviz: a worker that is made of what the file brings along has the policy of the file.
        "script-src": f"{hashes} 'wasm-unsafe-eval'",
        "worker-src": "blob:",
        "style-src": f"'nonce-{nonce}'",
        "img-src": "data:",
        "font-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return policy_text(directives)


def _inline(text: bytes) -> Markup:
    """A text of our own bundle, which stands in the file as it is."""
    lower = text.lower()
    assert b"</script" not in lower and b"</style" not in lower and b"<!--" not in lower
    return Markup(text.decode())  # noqa: S704
