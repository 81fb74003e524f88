"""What the tests of the server side share: one sandbox, and applications around it."""

from __future__ import annotations

import atexit
import os
from pathlib import Path

import hypothesis
import pytest
from recorded import write_recording

from explorer import create_app
from explorer.services import services_of
from explorer.settings import Settings

VECTOR_ADD = (Path(__file__).parents[1] / "explorer/examples/vector_add.py").read_text(encoding="utf-8")
ENDLESS = "while True:\n    pass\n"

# Triton's bindings list on the standard error what they have not freed when the interpreter ends, behind
# the last line of the tests.
atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))

# How long an example takes says more of the machine than of the code.
hypothesis.settings.register_profile("any machine", deadline=None)
hypothesis.settings.load_profile("any machine")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Give one process what shares what is costly: the tests of a file, or of the gallery by one Triton."""
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        shared = parameters.get("gallery") or item.path.relative_to(config.rootpath).as_posix()
        item.add_marker(pytest.mark.xdist_group(shared))


@pytest.fixture(scope="session")
def vector_add():
    return VECTOR_ADD


@pytest.fixture(scope="session")
def endless():
    """A source that runs until it is stopped."""
    return ENDLESS


@pytest.fixture(scope="session")
def settings(tmp_path_factory):
    recordings = tmp_path_factory.mktemp("recordings")
    write_recording(recordings, VECTOR_ADD)
    data = tmp_path_factory.mktemp("data")
    return Settings(data_dir=data, slots=1, wall_limit_seconds=20, recordings_dir=recordings)


@pytest.fixture(scope="session")
def app(settings):
    """The whole application: sandbox, queue, store."""
    app = create_app(settings)
    yield app
    services_of(app).close()


@pytest.fixture(scope="session")
def services(app):
    return services_of(app)


@pytest.fixture
def client(app):
    return app.test_client()
