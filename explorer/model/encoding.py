"""Requests and events as JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from explorer.model.events import Event
from explorer.model.requests import Argument, Request, Run, RunInput


def to_plain(value: Any) -> Any:
    """Turn dataclasses into dicts, all the way down, without copying what is plain already."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: to_plain(item) for key, item in value.items()}
    return value


def decode_request(data: bytes) -> Request:
    """Read a request from JSON that our own side of the wall has written: nothing is checked."""
    fields = json.loads(data)
    if isinstance(fields.get("arguments"), list):
        fields["arguments"] = tuple(_decode_argument(**argument) for argument in fields["arguments"])
    if fields.get("run") is not None:
        fields["run"] = _decode_run(**fields["run"])
    return Request(**fields)


def _decode_run(inputs: list[dict[str, Any]], **fields: Any) -> Run:
    """Lists become tuples here, too."""
    made = tuple(
        RunInput(**{**each, "shape": None if each["shape"] is None else tuple(each["shape"])})
        for each in inputs
    )
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    return Run(inputs=made, **plain)


def _decode_argument(
    shape: list[int] | None = None, strides: list[int] | None = None, **fields: Any
) -> Argument:
    """Lists become tuples: an argument must be hashable."""
    return Argument(
        **fields,
        shape=None if shape is None else tuple(shape),
        strides=None if strides is None else tuple(strides),
    )


def encode_event(event: Event) -> bytes:
    """One line of JSON with the event's kind under "event". Lone surrogates become "?"."""
    plain = {"event": event.kind, **to_plain(event)}
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", errors="replace") + b"\n"
