"""Test the log: the content of a line, and that a flood of messages does not fill the disk."""

import io
import json
import logging

import pytest
from waiting import wait_for

from explorer.monitoring.log import BoundedHandler, JsonFormatter, TextFormatter
from explorer.monitoring.work_context import WorkContext, working_for

WINDOW_SECONDS = 0.5


@pytest.fixture
def log():
    """A separate logger, and the text that it writes lines of JSON to."""
    logger = logging.Logger("test")
    stream = io.StringIO()
    handler = BoundedHandler(stream, most_warnings=20, window_seconds=WINDOW_SECONDS)
    handler.setFormatter(JsonFormatter())
    logger.addHandler(handler)
    yield logger, stream
    handler.close()


def lines_of(stream):
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_names_the_request_and_the_job(log):
    logger, stream = log
    with working_for(WorkContext("request-1", "job-1")):
        logger.warning("It has %d\nlines", 2, extra={"fields": {"task": "compile"}})
    logger.info("Another one")
    first, second = lines_of(stream)
    assert first.pop("time").endswith("+00:00")
    assert first == {
        "level": "warning",
        "logger": "test",
        "message": "It has 2\nlines",
        "request_id": "request-1",
        "job_id": "job-1",
        "task": "compile",
    }
    assert "request_id" not in second


def test_a_terminal_gets_text():
    record = logging.LogRecord("test", logging.WARNING, "", 0, "Too %s", ("much",), None)
    with working_for(WorkContext("request-1")):
        assert TextFormatter().format(record)[len("12:00:00 ") :] == "warning: Too much (request request-1)"


def test_a_flood_is_counted_and_not_written(log):
    logger, stream = log
    for number in range(10_000):
        logger.error("The disk %d is full", number)
    for number in range(5):
        logger.error("The database %d is away", number)

    def written_and_omitted():
        messages = [line["message"] for line in lines_of(stream)]
        omitted = [message.split()[0] for message in messages if "more messages" in message]
        written = sum(message.startswith("The disk") for message in messages)
        return written, sum(int(count.replace(",", "")) for count in omitted)

    # A slow machine writes a summary before the last message.
    wait_for(lambda: sum(written_and_omitted()) == 10_000)
    assert written_and_omitted()[0] <= 100
    messages = [line["message"] for line in lines_of(stream)]
    summaries = [message for message in messages if "more messages" in message]
    assert summaries[0].endswith("The disk %d is full")
    assert sum(message.startswith("The database") for message in messages) == 5


def test_long_messages_and_tracebacks_are_cut(log):
    logger, stream = log
    try:
        raise ValueError("x" * 1_000_000)
    except ValueError:
        logger.exception("y" * 1_000_000)
    (line,) = lines_of(stream)
    assert len(line["message"]) < 5_000
    assert len(line["traceback"]) < 20_000
