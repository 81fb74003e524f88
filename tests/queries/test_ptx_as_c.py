"""Test PTX as C: it is compiled and run, and does the same as the PTX and as the kernel."""

import json
import re

import numpy as np
import pytest
from ptx_as_c.cases import cases, run_ptx, run_translation
from tritons import TRITONS

from explorer.errors import NotAnswerable
from explorer.model import Request
from explorer.queries import ptx_as_c
from explorer.services import services_of

CASES = [pytest.param(case, id=case.name) for case in cases()]


@pytest.fixture
def translated(query_service, app):
    """Return the PTX of a launch, and the document."""
    services = services_of(app)

    def translated(case, triton):
        version = services.triton_version(triton)
        record = services.queue.complete(Request(case.source, "cuda:90", version, kernel=case.kernel))
        ptx = record.text(record.stage("ptx").text)
        return ptx, json.loads(query_service.answer(ptx_as_c.QUERY, (record,), {}))

    return translated


def text_of(document):
    return "\n".join("".join(text for _, text in line["tokens"]) for line in document["lines"])


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize("case", CASES)
def test_the_c_does_what_the_ptx_does(translated, tmp_path, case, triton):
    ptx, document = translated(case, triton)
    memory, arrays = run_ptx(case, ptx)
    for array, expected in zip(arrays, case.expected, strict=True):
        if expected is not None:
            one, other = (each.astype(np.float64) for each in (array, expected))
            np.testing.assert_allclose(one, other, rtol=case.tolerance, atol=case.tolerance)
    code = text_of(document)
    parameters = len(re.findall(r"^\s+\.param ", ptx, re.MULTILINE))
    translated_memory = run_translation(case, code, parameters, tmp_path)
    assert (translated_memory == memory).all()
    assert document["verbatim"] == []


def test_names_are_those_of_the_source(translated):
    (case,) = [case for case in cases() if case.name == "vector_add"]
    _, document = translated(case, None)
    code = text_of(document)
    assert "float *x_ptr," in code
    assert re.search(r"bool mask_p\d+ = offsets_r\d+ < n_elements;", code)
    assert re.search(r"if \(mask_p\d+\) x_r\d+ = \*\(float4 \*\)x_rd\d+;", code)


def test_a_line_is_linked_to_its_ptx_and_to_the_source(translated):
    (case,) = [case for case in cases() if case.name == "vector_add"]
    ptx, document = translated(case, None)
    lines = ptx.split("\n")
    source = case.source.split("\n")
    texts = text_of(document).split("\n")
    masks = [line for line, text in zip(document["lines"], texts, strict=True) if "bool mask" in text]
    assert masks
    for line in masks:
        assert any("setp.lt" in lines[number - 1] for number in line["ptx_lines"])
        assert any(source[number - 1].strip().startswith("mask = ") for number in line["source_lines"])


def test_a_target_without_ptx_has_no_c(query_service, compile_example):
    with pytest.raises(NotAnswerable, match="no PTX"):
        query_service.answer(ptx_as_c.QUERY, (compile_example("vector_add", target="hip:gfx942"),), {})
