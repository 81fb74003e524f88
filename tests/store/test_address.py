from dataclasses import replace

from explorer.model import Argument, Request
from explorer.store.address import (
    ALPHABET,
    LONGEST_ID,
    PRIVATE_ID,
    SHORTEST_ID,
    base58,
    canonical_json,
    digest_of,
    is_private,
)

REQUEST = Request("source", "cuda:90", "3.9.0", options={"num_warps": 4, "num_stages": 3})


def address(request):
    return digest_of(canonical_json(request))


def test_the_order_of_options_does_not_matter():
    other = replace(REQUEST, options={"num_stages": 3, "num_warps": 4})
    assert address(other) == address(REQUEST)


def test_every_field_decides():
    others = [
        replace(REQUEST, source="source "),
        replace(REQUEST, target="cuda:80"),
        replace(REQUEST, triton="3.6.0"),
        replace(REQUEST, kernel="kernel"),
        replace(REQUEST, launch=0),
        replace(REQUEST, config=0),
        replace(REQUEST, arguments="i32"),
        replace(REQUEST, arguments=(Argument("x", "i32"),)),
        replace(REQUEST, options={"num_warps": 8, "num_stages": 3}),
        replace(REQUEST, task="inspect"),
        replace(REQUEST, path="kernels/add.py"),
        replace(REQUEST, files={"tools.py": "x = 1"}),
        replace(REQUEST, files={"tools.py": "x = 2"}),
        replace(REQUEST, assumed={"3": 7}),
        replace(REQUEST, script_arguments="--rows 64"),
    ]
    assert len({address(request) for request in [REQUEST, *others]}) == len(others) + 1


def test_the_address_of_a_request_never_changes():
    """The hash of a request must never change, because links contain it."""
    assert address(REQUEST) == "3963b490335cf633cfa3d37f822f05f5ace4cda6ed3ddefd3d69a2d2d63c11da"


def test_base58_has_no_characters_that_look_alike():
    name = base58("f" * 64)
    assert len(name) == LONGEST_ID
    assert set(name) <= set(ALPHABET)
    assert not set("0OIl") & set(ALPHABET)
    assert base58("0" * 64) == "1" * LONGEST_ID


def test_the_id_of_a_recording_is_not_that_of_a_private_result():
    assert is_private(base58("f" * 64)[:PRIVATE_ID])
    assert not is_private(base58("f" * 64)[:SHORTEST_ID])
    assert not is_private("recorded-matmul_persistent-0")
