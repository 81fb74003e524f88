"""Shared fixtures of the server tests: one sandbox, and applications that use it."""

from __future__ import annotations

import ast
import atexit
import os
from contextlib import ExitStack, closing
from pathlib import Path

import hypothesis
import pytest
from api import Api
from brokers import broker, rabbitmq, redis
from captured import cache, capture, captured
from databases import database_url, postgresql
from forms import FORMS, depends_on_form, form, urls_of
from recorded import write_recording
from s3_server import blobs_url, bucket, faulty_url, proxy, s3_server, s3_server_of_form
from scheduling import CrashSafeScheduling
from served import Server, Worker
from shares import read_share, share_of

from explorer import create_app
from explorer.jobs.isolated_process import Limits
from explorer.model.python_source import parse
from explorer.queries import QueryService
from explorer.queries.isolated_worker import IsolatedWorkers
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

VECTOR_ADD = (Path(__file__).parents[1] / "explorer/examples/vector_add.py").read_text(encoding="utf-8")
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
        "scripts",
        "server",
        "wall",
    ),
}


def pytest_addoption(parser):
    parser.addoption("--form", choices=FORMS, default=FORMS[0], help="which form of the service is tested")
    parser.addoption("--share", type=read_share, help="which share of the slow tests is run, such as 2/4")
    parser.addoption(
        "--except", type=read_share, help="leave out what --form distributed runs of this share, such as 2/4"
    )
    parser.addoption("--chaos-rounds", type=int, default=3, help="how many processes tests/chaos kills")
    parser.addoption("--chaos-seed", type=int, default=0, help="which processes tests/chaos kills")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Keep tests with shared costly fixtures in one process: those of a file, or of one gallery fixture.

    In the distributed form, leave out what does not depend on it, and skip what is about the embedded form.
    With `--share`, leave out the slow tests of the other shares. With `--except`, leave out what is run with
    `--form distributed` and this share.
    """
    all_items = list(items)
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        shared = parameters.get("gallery") or item.path.relative_to(config.rootpath).as_posix()
        item.add_marker(pytest.mark.xdist_group(shared))
        if not SLOW_FIXTURES.isdisjoint(item.fixturenames):
            item.add_marker(pytest.mark.slow)
    of_form = list(filter(depends_on_form, items))
    if config.getoption("form") == "distributed":
        items[:] = of_form
        for item in items:
            if marker := item.get_closest_marker("embedded"):
                item.add_marker(pytest.mark.skip(reason=f"embedded form only: {marker.args[0]}"))
    if share := config.getoption("share"):
        items[:] = share_of(items, *share)
    if share := config.getoption("except"):
        of_share = share_of(of_form, *share)
        run_elsewhere = {item for item in of_share if not item.get_closest_marker("embedded")}
        items[:] = [item for item in items if item not in run_elsewhere]
    if left_out := set(all_items) - set(items):
        config.hook.pytest_deselected(items=list(left_out))


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


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A running server, shared by the tests of a file."""
    server = Server(tmp_path_factory.mktemp("data"))
    yield server
    server.close()


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
