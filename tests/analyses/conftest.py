"""Compilations that the analyses are asked about, made once."""

import pytest

from explorer.examples import find_example
from explorer.model import Request
from explorer.services import services_of


@pytest.fixture(scope="session")
def compile_example(app):
    """Compile an example of the gallery, once for each target and Triton; return its record."""
    services = services_of(app)

    def compile_example(name, target="cuda:90", triton=None):
        request = Request(
            source=find_example(name).source, target=target, triton=services.triton_version(triton)
        )
        return services.queue.complete(request)

    return compile_example


@pytest.fixture(scope="session")
def analyst(app):
    return services_of(app).analyst
