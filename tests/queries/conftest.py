"""Compilations that the queries are tested with, compiled once."""

import json
from dataclasses import replace

import msgspec
import pytest

from explorer.examples import find_example
from explorer.model import Request
from explorer.queries import findings
from explorer.queries.query import Subject
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


@pytest.fixture
def compiled(services):
    """Compile a source, with other options and constants."""
    return lambda source, target="cuda:90", triton=None, **changes: services.queue.complete(
        Request(source, target, services.triton_version(triton), **changes)
    )


@pytest.fixture
def find(query_service, compiled):
    def find(source, *target, **changes):
        record = compiled(source, *target, **changes)
        assert record.status == "complete", record.result.error_messages
        return json.loads(query_service.answer(findings.QUERY, (record,), {}))

    return find


@pytest.fixture
def answered(services):
    """Find in this process."""

    def answered(record):
        def answer(query, parameters):
            return msgspec.json.encode(query.find(replace(subject, parameters=parameters)))

        subject = Subject((record,), {}, services.queue, answer)
        return findings.find(subject)

    return answered
