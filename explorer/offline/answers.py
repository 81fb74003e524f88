"""What the API answers, by address: the data of a saved page."""

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
            NotAnswerable: it cannot answer.
            NotFound: there is nothing at the address.
            Unavailable: it cannot answer at the moment.
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
    # What needs a server is not offered: other versions of Triton, and other scripts.
    yield json_answer(f"{API}/tritons", {"versions": [triton], "default": triton})
    yield json_answer(f"{API}/gallery", [])
    for vocabulary in vocabularies():
        yield fetch(f"{API}/explanations/{vocabulary}").expect_success()
    yield fetch(f"{API}/glossary").expect_success()


def json_answer(address: str, document: Any) -> Answer:
    """Return an answer with a document of the page's own."""
    return Answer(address, msgspec.json.encode(document))
