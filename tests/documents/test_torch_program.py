"""Test what is told of a program whose kernels `torch.compile` writes: nothing has failed."""

import io

import pytest
from PIL import Image

from explorer.card import draw_card
from explorer.documents import ApiLinks, CompilationDocument, is_torch_program
from explorer.model import Request
from explorer.views.card import page_look
from explorer.views.pages import preview_of

RED = (255, 123, 123)
PROGRAM = """import torch


@torch.compile
def scaled(x):
    return torch.relu(x) * 2


scaled(torch.randn(4096, device="cuda"))
"""


@pytest.fixture(scope="module")
def complete(services):
    """Compile a source, and return its record."""
    return lambda source: services.queue.complete(Request(source, "cuda:90", services.triton_version(None)))


def test_kernels_that_are_found_are_no_failure(complete):
    record = complete(PROGRAM)
    assert is_torch_program(record)
    document = CompilationDocument.of(record, ApiLinks(record.id), {})
    assert (document.status, document.is_torch_program) == ("failed", True)
    assert document.output_code is not None
    (note,) = document.diagnostics
    assert note.severity == "note"

    preview = preview_of(record)
    assert preview["title"].startswith("Program with torch.compile")
    assert preview["description"].endswith("kernels found")
    with Image.open(io.BytesIO(draw_card(document, page_look()))) as picture:
        colors = picture.convert("RGB").getcolors(1 << 20)
    assert colors is not None
    assert RED not in [color for _, color in colors]


def test_an_error_of_the_program_is_one(complete):
    record = complete(f"{PROGRAM}raise ValueError('of the program')\n")
    assert record.result.inspection.output_code is not None
    assert not is_torch_program(record)
    document = CompilationDocument.of(record, ApiLinks(record.id), {})
    assert [each.severity for each in document.diagnostics] == ["error"]


def test_a_source_without_any_kernel_has_failed(complete):
    assert not is_torch_program(complete("import torch\n"))
