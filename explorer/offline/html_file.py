"""One HTML file with the page and all answers about some results, which works without a server.

Each answer is embedded as base64 of gzip in a `<script>` of a type that browsers do not run, so that no
output of a user's code can be read as markup. The executable scripts are listed by their hashes in the
Content-Security-Policy of the file, which forbids all network access. Plotly is embedded in the same way, and
run when the page first draws a plot.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from explorer.offline.answers import Answer, Fetch, answers_of_server, json_answer
from explorer.offline.run_answers import run_answers
from explorer.queries.saved_answers import SavedAnswers, packed
from explorer.store import Record

#: The parts of the page and the explanations: the same in all files.
_packed = lru_cache(maxsize=64)(packed)


def html_file(
    records: Sequence[Record],
    fetch: Fetch,
    *,
    saved: SavedAnswers,
    bundled_file: Callable[[str], bytes],
    preview: Mapping[str, str],
    lesson: str = "",
    of_lesson: Iterable[Answer] = (),
) -> bytes:
    """Return the file for compilations of one Triton version, with their finished runs. The page opens the
    first.

    `fetch` asks the application, `saved` are its answers about the compilations, `bundled_file` reads a file
    of the browser code by the name of its source, and `preview` has the title and description of the page.
    `lesson` is the lesson that the file opens with, in the form of an address, and `of_lesson` are the
    answers about it.

    Raises:
        Unavailable: an answer is missing and cannot be computed at the moment.
    """
    record = records[0]
    runs = [run_answers(each, fetch) for each in records]
    plotly = bundled_file("plotly.js") if any(each.has_plots for each in runs) else None
    theme, style, script = (bundled_file(name) for name in ("theme.js", "offline.css", "offline.js"))
    # Equal results have equal nonces, so that their files are equal. The code of the result cannot know its
    # nonce.
    nonce = sha256(record.id.encode()).hexdigest()[:24]
    of_server = [*_page_answers(fetch), *answers_of_server(record.request.triton, fetch)]
    of_results = [*of_lesson, *(answer for each in runs for answer in each.answers)]
    numbers, problems, bodies = _joined(saved, of_server, of_results)
    template = Environment(loader=PackageLoader("explorer"), autoescape=True).get_template("offline.html")
    html = template.render(
        host="file",
        compilation=record.id,
        lesson=lesson,
        preview=preview,
        policy=_policy([theme, script, *([plotly] if plotly else [])], nonce),
        csp_nonce=nonce,
        icon=base64.b64encode(bundled_file("icon.svg")).decode(),
        theme=_inline(theme),
        style=_inline(style),
        script=_inline(script),
        embedded_index=_inline(json.dumps([numbers, problems]).replace("<", "\\u003c").encode()),
        embedded_answers=bodies,
        plotly=_packed(plotly) if plotly else "",
    )
    return html.encode()


def _page_answers(fetch: Fetch) -> Iterator[Answer]:
    """Yield the parts of the page, and the workers. The code of the panes is in the script of the file."""
    page = fetch("/page.json").expect_success().document()
    for pane in page["panes"]:
        pane["module"] = ""
    yield json_answer("/page.json", page)
    for address in page["workers"].values():
        yield fetch(address).expect_success()


def _joined(
    saved: SavedAnswers, of_server: Iterable[Answer], of_results: Iterable[Answer]
) -> tuple[dict[str, int], dict[str, int], list[str]]:
    """Return the number of the body of each address, the status of errors, and the packed bodies."""
    numbers, problems, bodies = dict(saved.numbers), dict(saved.problems), list(saved.bodies)
    for answers, pack in ((of_server, _packed), (of_results, packed)):
        for answer in answers:
            numbers[answer.address] = len(bodies)
            bodies.append(pack(answer.body))
            if answer.status != 200:
                problems[answer.address] = answer.status
    return numbers, problems, bodies


def _policy(scripts: list[bytes], nonce: str) -> str:
    hashes = " ".join(f"'sha256-{base64.b64encode(sha256(script).digest()).decode()}'" for script in scripts)
    directives = {
        "default-src": "'none'",
        # Graphviz is WebAssembly in a worker; a worker made from a blob has the policy of the file.
        "script-src": f"{hashes} 'wasm-unsafe-eval'",
        "worker-src": "blob:",
        "style-src": f"'nonce-{nonce}'",
        "img-src": "data:",
        "font-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def _inline(text: bytes) -> Markup:
    """Return a text of the bundle as markup; the text must not end the element that contains it."""
    lower = text.lower()
    assert b"</script" not in lower and b"</style" not in lower and b"<!--" not in lower
    return Markup(text.decode())  # noqa: S704  the bundle is ours
