"""Shared fixtures of the server tests: one sandbox, and applications that use it."""

import ast
import atexit
import os
import shutil
from contextlib import ExitStack, closing
from pathlib import Path

import hypothesis
import pytest
from api import Api
from brokers import broker, rabbitmq, redis
from captured import cache, capture, captured
from databases import database_url, postgresql
from forms import form, urls_of
from measured_recordings import write_measured_recording
from recorded import write_recording
from recorded_results import copy_recorded_results
from s3_server import blobs_url, bucket, faulty_url, proxy, s3_server, s3_server_of_form
from scheduling import CrashSafeScheduling
from served import Server, Worker
from sources import SCALE
from tritons import TRITONS

from explorer import create_app
from explorer.jobs.isolated_process import Limits
from explorer.model.python_source import parse
from explorer.queries import QueryService
from explorer.queries.isolated_worker import IsolatedWorkers
from explorer.sandbox.settings import default_slots
from explorer.services import services_of
from explorer.settings import Settings

# Fixtures of other modules.
__all__ = [
    "blobs_url",
    "broker",
    "bucket",
    "cache",
    "capture",
    "captured",
    "database_url",
    "faulty_url",
    "form",
    "postgresql",
    "proxy",
    "rabbitmq",
    "redis",
    "s3_server",
    "s3_server_of_form",
]

ROOT = Path(__file__).parents[1]
VECTOR_ADD = (ROOT / "explorer/examples/vector_add.py").read_text(encoding="utf-8")
ENDLESS = "while True:\n    pass\n"

# Triton's bindings list on the standard error what they have not freed when the interpreter ends, behind
# the last line of the tests.
atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))

# pytest parses the source of a test that fails while other threads parse. In CPython before 3.11.8, this can
# end the process of the tests.
vars(ast)["parse"] = parse

# How long an example takes says more of the machine than of the code.
hypothesis.settings.register_profile("any machine", deadline=None)
hypothesis.settings.load_profile("any machine")


#: Fixtures that start a server, a sandbox or a compiler. Every test that uses one is marked `slow`.
SLOW_FIXTURES = {
    *(
        "app",
        "broker",
        "captured",
        "compiled",
        "gallery",
        "interpret",
        "jail",
        "passes",
        "rabbitmq",
        "real_texts",
        "redis",
        "running_server",
        "scripts",
        "server",
        "wall",
    ),
}


def pytest_addoption(parser):
    parser.addoption("--chaos-rounds", type=int, default=3, help="how many processes tests/chaos kills")
    parser.addoption("--chaos-seed", type=int, default=0, help="which processes tests/chaos kills")


def pytest_generate_tests(metafunc):
    """Run tests marked `both_forms` in each form of the service.

    The embedded form has the parameter None, as tests without this mark have, so that all share its fixtures.
    """
    if metafunc.definition.get_closest_marker("both_forms"):
        metafunc.parametrize(
            "form", [None, "distributed"], ids=["embedded", "distributed"], indirect=True, scope="session"
        )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Keep tests with shared costly fixtures in one process: the tests of a file, or of a gallery fixture.

    One process runs all tests of the distributed form, and runs them first: their servers start once.
    A slow test that runs with each version of Triton runs with the newest version for each change, and with
    the other versions in `make nightly`. The gallery is compiled by all versions for each change.
    """
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        file = item.path.relative_to(config.rootpath).as_posix()
        item.add_marker(pytest.mark.xdist_group(_form_of(item) or parameters.get("gallery") or file))
        if _form_of(item) or not SLOW_FIXTURES.isdisjoint(item.fixturenames):
            item.add_marker(pytest.mark.slow)
        is_older = any(each in TRITONS[1:] for each in parameters.values() if isinstance(each, str))
        if is_older and "gallery" not in parameters and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.nightly)
            item.add_marker(pytest.mark.older_triton)
    items.sort(key=lambda item: not _form_of(item))


def _form_of(item):
    """Return "distributed" for a test that runs in this form, otherwise an empty text."""
    is_distributed = hasattr(item, "callspec") and item.callspec.params.get("form") == "distributed"
    return "distributed" if is_distributed else ""


def pytest_make_parametrize_id(val, argname):
    """Name a long text by its length: the processes of the tests send each other the names of all tests."""
    return f"{argname} of length {len(val)}" if isinstance(val, str | bytes) and len(val) > 500 else None


def pytest_xdist_make_scheduler(config, log):
    return CrashSafeScheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def state_home(tmp_path_factory):
    """Let commands remember things in a folder of the tests."""
    with pytest.MonkeyPatch.context() as environment:
        folder = tmp_path_factory.mktemp("state")
        environment.setenv("XDG_STATE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session")
def vector_add():
    return VECTOR_ADD


@pytest.fixture(scope="session")
def endless():
    """Return a source that runs until it is stopped."""
    return ENDLESS


@pytest.fixture(scope="session")
def settings(tmp_path_factory, form):
    recordings = tmp_path_factory.mktemp("recordings")
    write_recording(recordings, VECTOR_ADD)
    data = tmp_path_factory.mktemp("data")
    if form == "embedded":
        copy_recorded_results(data)
    return Settings(data_dir=data, slots=1, wall_limit_seconds=60, recordings_dir=recordings, **urls_of(data))


@pytest.fixture(scope="session")
def app(settings):
    """The application with its queue and store, and its sandbox or its worker."""
    with ExitStack() as running:
        if settings.broker_url:
            running.enter_context(closing(Worker.of(settings)))
        app = create_app(settings)
        running.callback(services_of(app).close)
        yield app


@pytest.fixture(scope="session")
def services(app):
    return services_of(app)


@pytest.fixture
def strict(app):
    """Let queries take two seconds of processor time."""
    services = services_of(app)
    usual = services.query_service
    workers = IsolatedWorkers(Limits(processor_seconds=2))
    services.query_service = QueryService(services.store, services.queue, workers)
    yield
    services.query_service.close()
    services.query_service = usual


@pytest.fixture(scope="session")
def recordings(tmp_path_factory):
    """A folder with all profiles, a hand-written profile of `SCALE`, and one of a vector addition."""
    folder = tmp_path_factory.mktemp("recordings")
    for file in (ROOT / "proton_profiles").glob("*.json"):
        shutil.copy(file, folder)
    write_recording(folder, SCALE, example="scale", kernel="scale")
    write_measured_recording(folder)
    return folder


@pytest.fixture(scope="session")
def running_server(tmp_path_factory, recordings):
    """A running server with all Triton versions, shared by the tests of this process.

    Tests keep apart by the addresses of their clients, and by their sources.
    """
    folder = tmp_path_factory.mktemp("shared-server")
    copy_recorded_results(folder)
    server = Server(
        folder,
        recordings_dir=recordings,
        slots=default_slots(),
        tritons="",
        # An endless script that a test leaves behind keeps its slot for half of this time.
        wall_limit_seconds=40,
    )
    yield server
    server.close()


@pytest.fixture(scope="session")
def server(running_server):
    return running_server


@pytest.fixture
def client(app):
    return app.test_client()


@pytest.fixture
def api(client):
    return Api(client)


@pytest.fixture(scope="session")
def ticket(app, vector_add):
    return Api(app.test_client()).compile(vector_add)


@pytest.fixture
def index(client, ticket):
    return client.get(ticket["api"]).get_json()
