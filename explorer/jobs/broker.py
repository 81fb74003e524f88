"""Celery: messages that a job waits, from web servers to workers.

A message says that a job waits in a queue, with the job's ID. The broker may lose, delay or repeat messages:
the database has the waiting jobs, and workers also look for jobs there from time to time.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from explorer.errors import SettingsError

if TYPE_CHECKING:
    from celery import Celery

_TASK = "triton-explorer.job"
_PREFIX = "triton-explorer."
_SCHEMES = ("amqp", "amqps", "redis", "rediss")
_CONNECTION_SECONDS = 4.0
#: The broker drops a message after this time: workers have found the job in the database.
_MESSAGE_SECONDS = 600
#: Redis delivers a message again that was not acknowledged for this time; no job takes as long.
_VISIBILITY_SECONDS = 12 * 3600
#: How long a stopping worker holds a message before it returns the message to the broker.
_GIVE_BACK_SECONDS = 1.0
_log = logging.getLogger(__name__)


def check_broker_url(url: str) -> None:
    """Check the URL of a broker.

    Raises:
        SettingsError: the URL is invalid, or the client of the broker is not installed.
    """
    if (scheme := urlsplit(url).scheme) not in _SCHEMES:
        raise SettingsError(
            f"TRITON_EXPLORER_BROKER_URL must be amqp://… (RabbitMQ) or redis://…, got {scheme!r}."
        )
    _make_app(url)


class Sender:
    """Sends messages in a separate thread, so that no request waits for the broker."""

    def __init__(self, url: str) -> None:
        self._app = _make_app(url)
        self._messages: queue.SimpleQueue[tuple[str, str] | None] = queue.SimpleQueue()
        self._fails = False
        self._thread = threading.Thread(target=self._send_all, name="broker", daemon=True)
        self._thread.start()

    def send(self, queue_name: str, record_id: str) -> None:
        """Announce a job that waits in a queue."""
        self._messages.put((queue_name, record_id))

    def close(self) -> None:
        """Send the remaining messages, and stop."""
        self._messages.put(None)
        self._thread.join()
        self._app.close()

    def _send_all(self) -> None:
        from kombu.exceptions import OperationalError

        while (message := self._messages.get()) is not None:
            name, record_id = message
            try:
                self._app.send_task(
                    _TASK,
                    args=(name, record_id),
                    queue=_queue(name),
                    expiration=_MESSAGE_SECONDS,  # by the clock of the broker
                    retry_policy={"max_retries": 1, "interval_start": 0},
                )
                self._fails = False
            except OperationalError as error:
                if not self._fails:
                    _log.warning("The message broker cannot be reached; workers look for jobs: %s", error)
                self._fails = True


class Receiver:
    """Receives the messages of some queues, up to `at_once` at the same time, until it is stopped.

    Threads of Celery call `handle` with the name of the queue. A message is acknowledged when `handle`
    returns True, and given back to the broker otherwise. All receivers of a process have the same `handle`.
    """

    def __init__(
        self, url: str, queues: Collection[str], at_once: int, handle: Callable[[str], bool]
    ) -> None:
        from celery.exceptions import Reject

        app = _make_app(url)
        app.conf.task_queues = [_queue(name) for name in queues]

        @app.task(name=_TASK, shared=False)  # type: ignore[untyped-decorator]  # Celery has no types
        def job(queue_name: str, _record_id: str) -> None:
            if not handle(queue_name):
                time.sleep(_GIVE_BACK_SECONDS)  # this worker may receive it again until it has stopped
                raise Reject("the worker stops", requeue=True)

        app.set_default()  # Celery's threads take the task from the default application
        self._controller: Any = app.WorkController(
            concurrency=at_once,
            pool="threads",
            use_eventloop=False,  # the thread of each receiver waits for its own connection
            without_gossip=True,
            without_heartbeat=True,
            without_mingle=True,
        )
        self._thread = threading.Thread(target=self._controller.start, name="receiver", daemon=True)

    def start(self) -> None:
        """Begin to receive. While the broker is unreachable, the connection is tried again and again."""
        self._thread.start()

    def stop(self) -> None:
        """Stop receiving. Messages whose job is not done go back to the broker when the process ends."""
        self._controller.signal_consumer_close()


def _queue(name: str) -> Any:
    """Return the durable queue of the broker for a queue of jobs."""
    from kombu import Exchange, Queue

    return Queue(_PREFIX + name, Exchange(""), routing_key=_PREFIX + name)


def _make_app(url: str) -> Celery:
    """Return an application of Celery without results, that knows neither tasks nor queues.

    Raises:
        SettingsError: Celery is not installed.
    """
    try:
        from celery import Celery
    except ImportError as error:
        raise SettingsError("Celery is not installed. Install triton-explorer[distributed].") from error
    is_redis = url.startswith("redis")
    app = Celery("triton-explorer", broker=url, set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        broker_connection_max_retries=None,
        broker_connection_retry_on_startup=True,
        broker_connection_timeout=_CONNECTION_SECONDS,
        broker_heartbeat=0,
        broker_transport_options=(
            {"visibility_timeout": _VISIBILITY_SECONDS} if is_redis else {"confirm_publish": True}
        ),
        task_acks_late=True,
        task_ignore_result=True,
        task_reject_on_worker_lost=True,
        task_serializer="json",
        worker_enable_remote_control=False,
        worker_prefetch_multiplier=1,
    )
    return app
