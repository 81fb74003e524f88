"""Test that documents survive encoding to JSON and decoding."""

import json

import pytest

from explorer.model import Argument, Request, decode_request, to_plain


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
