"""The saved page: its data are what this application answers."""

from __future__ import annotations

import msgspec
from flask import Flask, has_request_context, request

from explorer.errors import NotFinished
from explorer.offline.answers import Answer, Fetch
from explorer.offline.html_file import html_file
from explorer.queries import saved_answers
from explorer.services import services_of
from explorer.store import Record
from explorer.views.http import CLIENT_IS_WAITING, client_is_waiting
from explorer.views.pages import bundled_file, preview_of

#: The variables of WSGI that say who waits for the response.
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
        ResultTooLarge: its texts are too large to be answered and compressed.
        Unavailable: an answer is missing and cannot be computed at the moment.
    """
    if not record.is_finished:
        raise NotFinished("The compilation is not finished. Save the page when it is.")
    answers = services_of(app).query_service.answers(saved_answers.PARTS, record, client_is_waiting())
    saved = saved_answers.joined(
        msgspec.json.decode(answer, type=saved_answers.SavedAnswers) for answer in answers
    )
    return html_file(record, fetcher(app), saved=saved, bundled_file=bundled_file, preview=preview_of(record))


def fetcher(app: Flask) -> Fetch:
    """Return a function that sends a GET request to an application, without a connection.

    It is sent for the client of the current request, if there is one.
    """
    environ = request.environ if has_request_context() else {}
    header = services_of(app).settings.account_header.upper().replace("-", "_")
    client = {name: environ[name] for name in (*_OF_CLIENT, f"HTTP_{header}") if name in environ}
    hosts = app.config["TRUSTED_HOSTS"] or ["localhost"]
    base_url = f"http://{hosts[0].removeprefix('.')}"

    def fetch(address: str) -> Answer:
        # Each request has its own application context: `flask.g` is not that of the request being answered.
        context = app.test_request_context(address, base_url=base_url, environ_overrides=client)
        with app.app_context(), context:
            response = app.full_dispatch_request()
            response.direct_passthrough = False
            answer = Answer(address, response.get_data(), response.status_code)
            response.close()
        return answer

    return fetch
