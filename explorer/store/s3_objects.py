"""The objects below one prefix of an S3 bucket: requests with time limits, and the reasons of failures.

Credentials come from the environment variables of AWS, which obstore reads.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qsl, urlsplit

from explorer.errors import SettingsError, StoreError
from explorer.monitoring.metrics import timed_blob

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig, S3Config, S3Store

Result = TypeVar("Result")

_VARIABLE = "TRITON_EXPLORER_BLOBS_URL"
_OPTIONS = ("endpoint", "region", "timeout_seconds")
_TIMEOUT_SECONDS = 10.0
_CONNECT_SECONDS = 3.0
_RETRIES = 3
#: If a request has waited longer and got no answer, further requests fail at once for the pause.
_SLOW_SECONDS = 1.0
_PAUSE_SECONDS = 5.0
#: The status of an answer, in the message of a failure.
_STATUS = re.compile(r"status code: (\d+[ \w]*)")
_LONGEST_REASON = 300
#: An empty object that shows whether the store can be written, and its clock.
_PROBE = "probe"
#: Other processes write the object, too. A store that replaces objects in two steps lacks it for a moment.
_PROBE_ATTEMPTS = 3
#: How often the clock of the store is read.
_CLOCK_SECONDS = 600.0


@dataclass(frozen=True)
class S3Location:
    """The location of the objects. `endpoint` is the URL of the store.

    Without `endpoint` or `region`, the environment variables of AWS apply. A request without an answer within
    `timeout_seconds` has failed. A request that fails earlier is repeated within that time.
    """

    bucket: str
    prefix: str = ""
    endpoint: str = ""
    region: str = ""
    timeout_seconds: float = _TIMEOUT_SECONDS

    @classmethod
    def of(cls, url: str) -> S3Location:
        """Read a URL such as `s3://bucket/prefix?endpoint=http://127.0.0.1:9000`.

        Raises:
            SettingsError: the URL has another form.
        """
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        unknown = [name for name in options if name not in _OPTIONS]
        if parts.scheme != "s3" or not parts.netloc or unknown:
            raise SettingsError(
                f"{_VARIABLE} must be s3://<bucket>/<prefix>, with the options {', '.join(_OPTIONS)} after a "
                f"question mark, got {url!r}."
            )
        timeout = options.pop("timeout_seconds", str(_TIMEOUT_SECONDS))
        if not re.fullmatch(r"\d+(\.\d+)?", timeout) or not float(timeout):
            raise SettingsError(f"timeout_seconds in {_VARIABLE} must be a positive number, got {timeout!r}.")
        return cls(parts.netloc, parts.path.strip("/"), timeout_seconds=float(timeout), **options)

    def __str__(self) -> str:
        at = f" at {self.endpoint}" if self.endpoint else ""
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/") + at


@dataclass(frozen=True)
class S3Object:
    """An object in a list. `modified` is the time of the store."""

    name: str
    bytes: int
    modified: datetime


class S3Objects:
    """The objects of a location. Safe to use from many threads.

    No request is sent before the first call, so that a process may fork before it.

    Raises:
        SettingsError: obstore is not installed.
    """

    def __init__(self, location: S3Location) -> None:
        try:
            import obstore  # an optional dependency
            from obstore.store import S3Store
        except ImportError as error:
            raise SettingsError(
                f"{_VARIABLE} is set, but obstore is not installed. Install triton-explorer[s3]."
            ) from error
        self.location = location
        self._failures = obstore.exceptions.BaseError
        self._outage = _Outage()
        #: The time of the S3 store, and when that was by the monotonic clock.
        self._clock: tuple[datetime, float] | None = None
        timeout = timedelta(seconds=location.timeout_seconds)
        client: ClientConfig = {
            "timeout": timeout,
            "connect_timeout": timedelta(seconds=min(location.timeout_seconds, _CONNECT_SECONDS)),
        }
        if location.endpoint.startswith("http://"):
            client["allow_http"] = True
        config: S3Config = {}
        if location.endpoint:
            config["endpoint"] = location.endpoint
        if location.region:
            config["region"] = location.region
        retries: RetryConfig = {"max_retries": _RETRIES, "retry_timeout": timeout}
        self._store: S3Store = S3Store(
            location.bucket,
            prefix=location.prefix or None,
            config=config,
            client_options=client,
            retry_config=retries,
        )

    def get(self, name: str) -> bytes | None:
        """Return the content of an object; None if the bucket exists but the object does not."""
        try:
            return self._ask(lambda: bytes(self._store.get(name).bytes()), "read", f"read {name} from")
        except _Missing as error:
            if "NoSuchKey" not in str(error.__cause__):
                next(self.pages(), None)
            return None

    def head(self, name: str) -> S3Object | None:
        """Return the length and the time of an object; None if it or the bucket does not exist."""
        try:
            found = self._ask(lambda: self._store.head(name), "find", f"find {name} in")
        except _Missing:
            return None
        return S3Object(name, found["size"], found["last_modified"])

    def put(self, name: str, data: bytes) -> None:
        """Store an object, replacing an object with the same name."""
        self._ask(lambda: self._store.put(name, data, use_multipart=False), "write", f"write {name} to")

    def now(self) -> datetime:
        """Return the time of the S3 store, whose clock may differ from the local clock.

        Raises:
            StoreError: the S3 store cannot be written.
        """
        known = self._clock
        if known is None or time.monotonic() - known[1] > _CLOCK_SECONDS:
            for _ in range(_PROBE_ATTEMPTS):
                self.put(_PROBE, b"")
                found = self.head(_PROBE)
                if found is not None:
                    break
            else:
                raise StoreError(f"The S3 store has lost the object {_PROBE} ({self.location}).")
            known = self._clock = found.modified, time.monotonic()
        modified, at = known
        return modified + timedelta(seconds=time.monotonic() - at)

    def check(self) -> None:
        """Store an object without content.

        Raises:
            StoreError: the object cannot be stored; the message says why.
        """
        self.put(_PROBE, b"")

    def delete(self, names: Collection[str]) -> None:
        if names:
            self._ask(lambda: self._store.delete(list(names)), "remove", "remove objects from")

    def pages(self) -> Iterator[list[S3Object]]:
        """Yield all objects, many at a time."""
        pages = iter(self._store.list(chunk_size=1000))
        while page := self._ask(lambda: next(pages, None), "list", "list"):
            yield [S3Object(each["path"], each["size"], each["last_modified"]) for each in page]

    def _ask(self, request: Callable[[], Result], operation: str, what: str) -> Result:
        """Send a request. `what` describes it in the message of a failure.

        Raises:
            StoreError: the request has failed; the message says why, and what to do.
        """
        self._outage.check()
        begin = time.monotonic()
        try:
            with timed_blob("s3", operation, expected=FileNotFoundError):
                result = request()
        except (FileNotFoundError, self._failures) as error:
            failure = self._failure(what, error)
            if isinstance(failure, _Missing) or _STATUS.search(str(error)):
                self._outage.end()
            elif time.monotonic() - begin > _SLOW_SECONDS:
                self._outage.begin(failure)
            raise failure from error
        self._outage.end()
        return result

    def _failure(self, what: str, error: Exception) -> StoreError:
        if isinstance(error, FileNotFoundError) or "NoSuchBucket" in str(error):
            return _Missing(
                f"The S3 store has no bucket {self.location.bucket!r} ({self.location}). "
                f"Create it, or correct {_VARIABLE}."
            )
        failed = f"Cannot {what} {self.location}: {self._reason(error)}."
        if "RequestTimeTooSkewed" in str(error):
            return StoreError(f"{failed} The clock of this server is wrong. Set it.")
        if re.search(r"status code: 40[13]\b", str(error)):
            return StoreError(
                f"{failed} Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the server, and that they "
                "permit to get, put, delete and list objects."
            )
        return StoreError(f"{failed} Check that the S3 store works, and that {_VARIABLE} names it.")

    def _reason(self, error: Exception) -> str:
        """Return the reason of a failure: the status and the code of the answer, or why there is none."""
        text = str(error)
        if "kind: Timeout" in text:
            return f"no answer within {self.location.timeout_seconds:g} seconds"
        if "kind: Connect" in text:
            return "it cannot be connected to"
        found = [_STATUS.search(text), re.search(r"<Code>(\w+)</Code>", text)]
        answered = ", ".join(match[1].strip() for match in found if match)
        return answered or " ".join(text.partition("\n\n")[0].split())[:_LONGEST_REASON].rstrip(".")


class _Missing(StoreError):
    """An object or its bucket does not exist."""


class _Outage:
    """Lets requests fail at once while a store does not answer, except for one request now and then."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._failure: StoreError | None = None
        self._next_try = 0.0

    def check(self) -> None:
        """Raise the last failure, unless it is time to try again: then only one caller does."""
        if self._failure is None:
            return
        with self._changing:
            if self._failure is not None:
                if time.monotonic() < self._next_try:
                    raise StoreError(self._failure.detail) from self._failure
                self._next_try = time.monotonic() + _PAUSE_SECONDS

    def begin(self, failure: StoreError) -> None:
        """Note that the store has not answered."""
        with self._changing:
            self._failure, self._next_try = failure, time.monotonic() + _PAUSE_SECONDS

    def end(self) -> None:
        self._failure = None
