"""Saved pages of a result or a tour. Their data are the answers of this application."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from flask import Flask, has_request_context, request

from explorer.documents import API, ApiLinks
from explorer.errors import NotFinished
from explorer.offline.answers import Answer, Fetch, json_answer
from explorer.offline.html_file import html_file
from explorer.queries import saved_answers
from explorer.queries.saved_answers import SavedAnswers
from explorer.services import services_of
from explorer.store import Record
from explorer.tours import Tour
from explorer.views.http import CLIENT_IS_WAITING, client_is_waiting
from explorer.views.pages import bundled_file, preview_of

#: The variables of WSGI that identify the waiting client.
_OF_CLIENT = (
    "REMOTE_ADDR",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_AUTHORIZATION",
    "HTTP_COOKIE",
    CLIENT_IS_WAITING,
)


def saved_page(app: Flask, record: Record) -> bytes:
    """Return a compilation as one HTML file.

    Raises:
        NotFinished: the compilation is not finished.
        ResultTooLarge: its texts are too large to be read and compressed.
        Unavailable: an answer is missing and cannot be computed at the moment.
    """
    if not record.is_finished:
        raise NotFinished("The compilation is not finished. Save the page when it is.")
    return html_file(
        [record],
        fetcher(app),
        saved=_answers(app, record),
        bundled_file=bundled_file,
        preview=preview_of(record),
    )


def saved_tour(app: Flask, tour: Tour, records: Sequence[Record]) -> bytes:
    """Return a tour with the results of its steps, in their order, as one HTML file.

    Raises:
        ResultTooLarge: the texts of a result are too large to be read and compressed.
        Unavailable: an answer is missing and cannot be computed at the moment.
    """
    fetch = fetcher(app)
    api = f"{API}/tours/{tour.name}"
    of_steps = (
        f"{ApiLinks(record.id).api}/tours/{tour.name}/{number}" for number, record in enumerate(records, 1)
    )
    triton = records[0].request.triton
    results = json_answer(f"{api}/results?triton={triton}", [record.id for record in records])
    distinct = list({record.id: record for record in records}.values())
    return html_file(
        distinct,
        fetch,
        saved=saved_answers.joined(_answers(app, record) for record in distinct),
        bundled_file=bundled_file,
        preview={"title": f"{tour.title} · triton·explorer", "description": tour.question},
        lesson=f"tour={tour.name}.1",
        of_lesson=[results, *(fetch(address).expect_success() for address in (api, *of_steps))],
    )


def _answers(app: Flask, record: Record) -> SavedAnswers:
    answers = services_of(app).query_service.answers(saved_answers.PARTS, record, client_is_waiting())
    return saved_answers.joined(msgspec.json.decode(answer, type=SavedAnswers) for answer in answers)


def fetcher(app: Flask) -> Fetch:
    """Return a function that sends a GET request to an application, without a connection.

    The request is sent for the client of the current request, if there is one.
    """
    environ = request.environ if has_request_context() else {}
    header = services_of(app).settings.account_header.upper().replace("-", "_")
    client = {name: environ[name] for name in (*_OF_CLIENT, f"HTTP_{header}") if name in environ}
    hosts = app.config["TRUSTED_HOSTS"] or ["localhost"]
    base_url = f"http://{hosts[0].removeprefix('.')}"

    def fetch(address: str) -> Answer:
        # Each request has its own application context: `flask.g` does not belong to the answered request.
        context = app.test_request_context(address, base_url=base_url, environ_overrides=client)
        with app.app_context(), context:
            response = app.full_dispatch_request()
            response.direct_passthrough = False
            answer = Answer(address, response.get_data(), response.status_code)
            response.close()
        return answer

    return fetch
