"""Two servers with one database of PostgreSQL and one data folder share their jobs."""

from contextlib import ExitStack, closing

import pytest
from served import Server
from slow_jobs import events, submit, until_stage, wait_for_status

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def start(tmp_path_factory, postgresql):
    """Return a function that starts one more server."""
    folder, url = tmp_path_factory.mktemp("data"), postgresql.new_database()
    with ExitStack() as servers:
        yield lambda: servers.enter_context(closing(Server(folder, database_url=url)))


@pytest.fixture(scope="module")
def servers(start):
    return start(), start()


def test_a_job_of_one_server_is_followed_on_the_other(servers):
    first, second = servers
    ticket = submit(first, 4, "followed")
    begun = until_stage(second, ticket)
    assert first.client().document(ticket)["status"] == "running"
    assert second.client().document(ticket)["status"] == "running"
    assert submit(second, 4, "followed")["id"] == ticket["id"]
    assert second.client().ask("GET", begun[-1][2]["url"]).status == 200
    rest = list(events(second, ticket, last=begun[-1][0]))
    assert rest[-1][1] == "done"
    assert begun + rest == list(events(first, ticket))
    assert [number for number, *_ in begun + rest] == list(range(1, len(begun + rest) + 1))


def test_a_job_of_one_server_is_cancelled_on_the_other(servers):
    first, second = servers
    ticket = submit(first, 25, "canceled")
    until_stage(second, ticket)
    assert second.client().ask("DELETE", f"{ticket['api']}?follower=page").status == 204
    wait_for_status(first, ticket, "failed")
    *_, message, done = events(second, ticket)
    assert (message[2]["message"], done[2]["status"]) == ("Canceled.", "failed")


def test_a_job_of_a_server_that_was_killed_is_taken_over(start, servers):
    first, second = start(), servers[1]
    ticket = submit(first, 4, "taken over")
    stream = events(second, ticket)
    seen = [next(stream)]
    while seen[-1][1] != "stage":
        seen.append(next(stream))
    first.kill()
    seen += stream
    assert (seen[-1][1], seen[-1][2]["status"]) == ("done", "complete")
    assert [number for number, *_ in seen] == list(range(1, len(seen) + 1))
    assert second.client().document(ticket)["status"] == "complete"
    names = [document["name"] for _, kind, document in seen if kind == "stage"]
    assert len(names) == len(set(names))
