"""Test the document of a program whose kernels `torch.compile` generates: it is not a failure."""

import io

import pytest
from PIL import Image
from sources import TORCH_PROGRAM

from explorer.card import draw_card
from explorer.documents import ApiLinks, CompilationDocument
from explorer.model import Diagnostic, Done, Inspection, OutputCode, Request
from explorer.views.card import page_look
from explorer.views.pages import preview_of

RED = (255, 123, 123)


@pytest.fixture(scope="module")
def complete(services):
    """Compile a source, and return its record."""
    return lambda source: services.queue.complete(Request(source, "cuda:90", services.triton_version(None)))


def test_kernels_that_are_found_are_no_failure(complete):
    record = complete(TORCH_PROGRAM)
    document = CompilationDocument.of(record, ApiLinks(record.id), {})
    assert document.status == "kernels_found"
    assert document.output_code.kernels == ("triton_poi_fused_mul_relu_0", "triton_per_fused_exp_sum_0")
    (note,) = document.diagnostics
    assert note.severity == "note"

    preview = preview_of(record)
    assert preview["title"].startswith("Program with torch.compile")
    assert preview["description"].endswith("2 kernels found")
    with Image.open(io.BytesIO(draw_card(document, page_look()))) as picture:
        colors = picture.convert("RGB").getcolors(1 << 20)
    assert colors is not None
    assert RED not in [color for _, color in colors]


@pytest.mark.nightly
def test_an_error_of_the_program_is_one(complete):
    record = complete(f"{TORCH_PROGRAM}raise ValueError('of the program')\n")
    assert record.result.inspection.output_code is not None
    document = CompilationDocument.of(record, ApiLinks(record.id), {})
    assert document.status == "failed"
    assert [each.severity for each in document.diagnostics] == ["error"]


def test_a_source_without_any_kernel_has_failed(complete):
    assert complete("import torch\n").status == "failed"


@pytest.mark.parametrize(
    ("message", "status", "severity"),
    [
        ("The source has no kernel itself. torch.compile writes kernels for it.", "kernels_found", "note"),
        ("ValueError: of the program", "failed", "error"),
    ],
)
def test_a_result_of_an_earlier_version_is_read_with_its_status(services, message, status, severity):
    store = services.store
    record = store.submit(Request(f"# {message}\n{TORCH_PROGRAM}", "cuda:90", services.triton_version(None)))
    code = OutputCode("import torch\n", "output_code.py", {"program.py": TORCH_PROGRAM})
    entries = (Inspection((), (), output_code=code), Diagnostic("error", message), Done("failed", 1.0))
    store.finish(record.id, entries, store.batch())

    stored = store.find(record.id)
    document = CompilationDocument.of(stored, ApiLinks(stored.id), {})
    assert (stored.status, stored.result.done.status) == (status, status)
    assert [each.severity for each in document.diagnostics] == [severity]
    assert preview_of(stored)["description"].endswith("kernels found" if status != "failed" else "failed")
