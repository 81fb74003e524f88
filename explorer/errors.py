"""The exceptions of this package, in one tree.

    ExplorerError                  500
    ├── SettingsError              500   a setting is invalid
    ├── ToolchainError             500   a Triton version cannot be added or removed
    ├── InvalidRequest             400   the body or one of its fields is invalid
    │   ├── UnknownTarget          400
    │   └── UnknownTriton          400
    ├── Unauthorized               401   the token is unknown
    ├── Forbidden                  403   the caller may not do this
    ├── NotFound                   404   no such compilation, run, stage, pass, example or page
    ├── MethodNotAllowed           405
    ├── RequestTooSlow             408   the client did not send the request in time
    ├── NoDevice                   409   the device is not available on this machine
    ├── NotFinished                409   available when the compilation is finished
    ├── NotAnswerable              422   the query has no answer for this compilation or run
    │   └── ResultTooLarge         422   … because it needs too much time or memory
    ├── SourceTooLarge             413
    ├── AddressTooLong             414
    ├── UnsupportedMediaType       415
    ├── RangeNotSatisfiable        416   the file is shorter than the requested range
    ├── TooManyRequests            429   try again later: the client has used its share
    │   └── QuotaUsed              429   … today
    ├── HeadersTooLarge            431
    └── Unavailable                503   try again later
        ├── QueueFull              503
        ├── SandboxUnavailable     503   this machine cannot run user code safely
        └── StoreError             503   the data folder or the database cannot be used
            ├── StoreLocked        503   another process has locked the database
            ├── DamagedText        503   a stored text is missing or damaged
            └── StoreFull          507   the disk or a quota is full

`status` is the HTTP status, `kind` a name for programs, and `title` a heading for people. The message of an
exception says what happened and what to do. `retry_after_seconds` is the time until a retry can succeed; 0:
never.
"""

from __future__ import annotations


class ExplorerError(Exception):
    """Base of all exceptions, which the error handler of the views shows."""

    status: int = 500
    kind: str = "internal_error"
    title: str = "Internal error"
    retry_after_seconds: int = 0

    @property
    def detail(self) -> str:
        """The message of the exception: what happened and what to do."""
        return str(self)

    @property
    def line(self) -> str:
        """The title and the message. A message that begins with the words of the title stands alone."""
        return self.detail if self.detail.startswith(self.title) else f"{self.title}: {self.detail}"


class SettingsError(ExplorerError):
    kind = "invalid_setting"
    title = "Invalid setting"


class ToolchainError(ExplorerError):
    kind = "toolchain_error"
    title = "Triton version"


class InvalidRequest(ExplorerError):
    status = 400
    kind = "invalid_request"
    title = "Invalid request"


class UnknownTarget(InvalidRequest):
    kind = "unknown_target"
    title = "Unknown target"


class UnknownTriton(InvalidRequest):
    kind = "unknown_triton"
    title = "Unknown Triton version"


class Unauthorized(ExplorerError):
    status = 401
    kind = "unauthorized"
    title = "Not signed in"


class Forbidden(ExplorerError):
    status = 403
    kind = "forbidden"
    title = "Not allowed"


class NotFound(ExplorerError):
    status = 404
    kind = "not_found"
    title = "Not found"


class MethodNotAllowed(ExplorerError):
    status = 405
    kind = "method_not_allowed"
    title = "Method not allowed"


class RequestTooSlow(ExplorerError):
    status = 408
    kind = "request_too_slow"
    title = "The request took too long"


class NoDevice(ExplorerError):
    status = 409
    kind = "no_device"
    title = "Device not available"


class NotFinished(ExplorerError):
    status = 409
    kind = "not_finished"
    title = "Not finished"


class SourceTooLarge(ExplorerError):
    status = 413
    kind = "source_too_large"
    title = "The source is too large"


class NotAnswerable(ExplorerError):
    status = 422
    kind = "not_answerable"
    title = "No answer"


class ResultTooLarge(NotAnswerable):
    kind = "result_too_large"
    title = "The result is too large"


class AddressTooLong(ExplorerError):
    status = 414
    kind = "address_too_long"
    title = "The address is too long"


class RangeNotSatisfiable(ExplorerError):
    status = 416
    kind = "range_not_satisfiable"
    title = "The range is not in the file"


class TooManyRequests(ExplorerError):
    status = 429
    kind = "too_many_requests"
    title = "Too many requests"

    def __init__(self, detail: str, retry_after_seconds: int = 5) -> None:
        super().__init__(detail)
        self.retry_after_seconds = retry_after_seconds


class QuotaUsed(TooManyRequests):
    kind = "quota_used"
    title = "The quota of this day is used up"
    retry_after_seconds = 3600


class HeadersTooLarge(ExplorerError):
    status = 431
    kind = "headers_too_large"
    title = "The request headers are too large"


class UnsupportedMediaType(ExplorerError):
    status = 415
    kind = "unsupported_media_type"
    title = "Unsupported media type"


class Unavailable(ExplorerError):
    status = 503
    kind = "unavailable"
    title = "Temporarily unavailable"
    retry_after_seconds = 5


class QueueFull(Unavailable):
    kind = "queue_full"
    title = "Too many jobs are waiting"


class SandboxUnavailable(Unavailable):
    kind = "sandbox_unavailable"
    title = "Sandbox not available"
    retry_after_seconds = 60


class StoreError(Unavailable):
    kind = "store_error"
    title = "The store cannot be used"
    retry_after_seconds = 30


class StoreLocked(StoreError):
    kind = "store_locked"
    title = "The database is locked"


class DamagedText(StoreError):
    kind = "damaged_text"
    title = "A stored text is damaged"
    retry_after_seconds = 5


class StoreFull(StoreError):
    status = 507
    kind = "store_full"
    title = "The store is full"
