"""Compilations that the queries are tested with, compiled once."""

import pytest

from explorer.examples import find_example
from explorer.model import Request
from explorer.services import services_of


@pytest.fixture(scope="session")
def compile_source(app):
    """Compile a source, once for each target, Triton and options; return its record."""
    services = services_of(app)

    def compile_source(source, target="cuda:90", triton=None, **options):
        request = Request(source, target, services.triton_version(triton), options=options)
        return services.queue.complete(request)

    return compile_source


@pytest.fixture(scope="session")
def compile_example(compile_source):
    """Compile an example of the gallery, once for each target and Triton; return its record."""

    def compile_example(name, target="cuda:90", triton=None):
        return compile_source(find_example(name).source, target, triton)

    return compile_example


@pytest.fixture(scope="session")
def query_service(app):
    return services_of(app).query_service
