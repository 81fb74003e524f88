"""The answers of the API by address: the data of a saved page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from explorer.documents import API
from explorer.errors import NotAnswerable, NotFound, Unavailable
from explorer.explanations import vocabularies


@dataclass(frozen=True)
class Answer:
    """The body that the application answers at an address, and the HTTP status."""

    address: str
    body: bytes
    status: int = 200

    def document(self) -> Any:
        """Decode a body of JSON."""
        return msgspec.json.decode(self.body)

    def expect_success(self) -> Answer:
        """Return the answer itself if the application succeeded.

        Raises:
            NotAnswerable: the application cannot answer.
            NotFound: there is nothing at the address.
            Unavailable: the application cannot answer at the moment.
        """
        if self.status == 200:
            return self
        detail = self.document()["detail"]
        if self.status == NotAnswerable.status:
            raise NotAnswerable(detail)
        if self.status == NotFound.status:
            raise NotFound(detail)
        raise Unavailable(detail)


#: Sends a GET request to the application.
Fetch = Callable[[str], Answer]


def answers_of_server(triton: str, fetch: Fetch) -> Iterator[Answer]:
    """Yield the answers that do not depend on the compilation but on its version of Triton."""
    yield fetch(f"{API}/targets").expect_success()
    # Other versions of Triton and other scripts are not offered: they need a server.
    yield json_answer(f"{API}/tritons", {"versions": [triton], "default": triton})
    yield json_answer(f"{API}/gallery", [])
    for vocabulary in vocabularies():
        yield fetch(f"{API}/explanations/{vocabulary}").expect_success()
    yield fetch(f"{API}/glossary").expect_success()


def json_answer(address: str, document: Any) -> Answer:
    """Return an answer with a document that exists only in the page."""
    return Answer(address, msgspec.json.encode(document))
