"""Everything that this package raises on purpose: one tree.

    ExplorerError                  500
    ├── SettingsError              500   a setting that cannot be understood
    ├── StoreError                 500   the data folder or the database cannot be used
    ├── InvalidRequest             400   the body, or one of its fields, is not what was documented
    │   ├── UnknownTarget          400
    │   └── UnknownTriton          400
    ├── NotFound                   404   no such compilation, run, stage, pass, example or page
    ├── MethodNotAllowed           405
    ├── NoDevice                   409   nothing here can run a kernel on that
    ├── NotFinished                409   what is asked for exists once the compilation is done
    ├── NotAnswerable              422   nothing can be said about this compilation or run
    ├── SourceTooLarge             413
    ├── AddressTooLong             414
    ├── UnsupportedMediaType       415
    ├── HeadersTooLarge            431
    └── Unavailable                503   try again later
        ├── QueueFull              503
        └── SandboxUnavailable     503   this machine cannot run user code safely

`status` is the HTTP status, `kind` a word for programs, `title` a few words for people, and the
exception's own message says what happened and what to do.
"""

from __future__ import annotations


class ExplorerError(Exception):
    """Base of all: what a caller may catch, and what the one error handler shows."""

    status: int = 500
    kind: str = "internal_error"
    title: str = "Something went wrong"

    @property
    def detail(self) -> str:
        """What happened, and what to do."""
        return str(self)


class SettingsError(ExplorerError):
    kind = "invalid_setting"
    title = "A setting is wrong"


class StoreError(ExplorerError):
    kind = "store_error"
    title = "The store cannot be used"


class InvalidRequest(ExplorerError):
    status = 400
    kind = "invalid_request"
    title = "The request cannot be understood"


class UnknownTarget(InvalidRequest):
    kind = "unknown_target"
    title = "Unknown target"


class UnknownTriton(InvalidRequest):
    kind = "unknown_triton"
    title = "Unknown Triton version"


class NotFound(ExplorerError):
    status = 404
    kind = "not_found"
    title = "Not found"


class MethodNotAllowed(ExplorerError):
    status = 405
    kind = "method_not_allowed"
    title = "Method not allowed"


class NoDevice(ExplorerError):
    status = 409
    kind = "no_device"
    title = "This device is not available here"


class NotFinished(ExplorerError):
    status = 409
    kind = "not_finished"
    title = "Not finished yet"


class SourceTooLarge(ExplorerError):
    status = 413
    kind = "source_too_large"
    title = "The source is too large"


class NotAnswerable(ExplorerError):
    status = 422
    kind = "not_answerable"
    title = "This cannot be answered"


class AddressTooLong(ExplorerError):
    status = 414
    kind = "address_too_long"
    title = "The address is too long"


class HeadersTooLarge(ExplorerError):
    status = 431
    kind = "headers_too_large"
    title = "The headers of the request are too large"


class UnsupportedMediaType(ExplorerError):
    status = 415
    kind = "unsupported_media_type"
    title = "Send JSON"


class Unavailable(ExplorerError):
    status = 503
    kind = "unavailable"
    title = "Not available right now"
    retry_after_seconds: int = 5


class QueueFull(Unavailable):
    kind = "queue_full"
    title = "Too many jobs are waiting"


class SandboxUnavailable(Unavailable):
    kind = "sandbox_unavailable"
    title = "The sandbox cannot run here"
    retry_after_seconds = 60
