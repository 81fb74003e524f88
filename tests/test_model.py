"""Test that documents survive encoding to JSON and decoding."""

import json
from dataclasses import MISSING, fields, is_dataclass
from pkgutil import walk_packages

import msgspec
import pytest

import explorer.model
from explorer.model import Argument, Request, Run, decode_request, to_plain


@pytest.mark.parametrize(
    "request_",
    [
        Request("source", "cuda:90", "3.9.0"),
        Request("source", "cuda:90", "3.9.0", arguments="*fp16:16, i32", options={"num_warps": 4}),
        Request(
            "source",
            "hip:gfx942",
            "3.6.0",
            kernel="kernel",
            config=2,
            arguments=(
                Argument("x_ptr", "*fp16", None, "divisible by 16", (4, 8), (8, 1)),
                Argument("BLOCK", "constexpr", 128, "constexpr"),
            ),
        ),
    ],
    ids=["launch", "signature", "form"],
)
def test_a_request_survives_json(request_: Request) -> None:
    assert decode_request(json.dumps(to_plain(request_)).encode()) == request_


def test_a_field_that_stored_json_lacks_is_encoded() -> None:
    stored = msgspec.json.decode('{"device":"interpreter"}', type=Run)
    assert json.loads(msgspec.json.encode(stored)) == to_plain(Run("interpreter"))


def test_every_default_is_encoded() -> None:
    """Msgspec leaves a default that the class has as an attribute out of decoded objects and their JSON."""
    modules = [
        __import__(each.name, fromlist=["*"])
        for each in walk_packages(explorer.model.__path__, "explorer.model.")
    ]
    types = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    found = {each for each in types if is_dataclass(each) and each.__module__.startswith("explorer.model")}
    assert Run in found
    left_out = [
        f"{each.__name__}.{field.name}"
        for each in found
        for field in fields(each)
        if field.default is not MISSING and getattr(each, field.name) == field.default
    ]
    assert left_out == []
