"""Converts requests and events to JSON and back."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from explorer.model.events import Event
from explorer.model.requests import Argument, Captured, Edits, Origin, Original, Request, Run, RunInput


def to_plain(value: Any) -> Any:
    """Convert dataclasses to dicts, recursively."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: to_plain(item) for key, item in value.items()}
    return value


def decode_request(data: bytes) -> Request:
    """Decode a request from JSON without checks: the project's own code has written it."""
    fields = json.loads(data)
    if isinstance(fields.get("arguments"), list):
        fields["arguments"] = tuple(_decode_argument(**argument) for argument in fields["arguments"])
    if fields.get("captured") is not None:
        captured = fields["captured"]
        fields["captured"] = Captured(
            **{**captured, "origins": tuple(Origin(**origin) for origin in captured["origins"])}
        )
    if fields.get("edits") is not None:
        edits = fields["edits"]
        fields["edits"] = Edits(**{**edits, "without_passes": tuple(edits["without_passes"])})
    if fields.get("run") is not None:
        fields["run"] = _decode_run(**fields["run"])
    return Request(**fields)


def _decode_run(inputs: list[dict[str, Any]], original: dict[str, Any] | None = None, **fields: Any) -> Run:
    """Convert lists to tuples."""
    made = tuple(
        RunInput(**{**each, "shape": None if each["shape"] is None else tuple(each["shape"])})
        for each in inputs
    )
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    return Run(inputs=made, original=None if original is None else Original(**original), **plain)


def _decode_argument(
    shape: list[int] | None = None, strides: list[int] | None = None, **fields: Any
) -> Argument:
    """Convert lists to tuples, so that an argument is hashable."""
    return Argument(
        **fields,
        shape=None if shape is None else tuple(shape),
        strides=None if strides is None else tuple(strides),
    )


def encode_event(event: Event) -> bytes:
    """Encode an event as a line of JSON with its kind under "event". Lone surrogates become "?"."""
    plain = {"event": event.kind, **to_plain(event)}
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", errors="replace") + b"\n"
