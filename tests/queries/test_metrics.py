"""Test that the metrics of a compilation equal the values of its document and its texts."""

import json

import pytest
from tritons import TRITONS

from explorer.model.metrics import METRICS, Metric
from explorer.queries.metrics import QUERY, MetricsDocument


@pytest.mark.parametrize("triton", TRITONS)
def test_the_metrics_are_those_of_the_result(compile_example, query_service, triton):
    record = compile_example("vector_add", triton=triton)
    metrics = json.loads(query_service.answer(QUERY, [record], {}))
    resources = record.result.resources
    assert metrics["registers"] == resources.registers > 0
    assert metrics["spills"] == 0
    sass, ttgir = (record.text(record.result.stages[name].text) for name in ("sass", "ttgir"))
    assert metrics["instructions"] == sum("/*" in line for line in sass.splitlines()) > 0
    assert metrics["layout_conversions"] == ttgir.count("ttg.convert_layout")
    assert metrics["compile_milliseconds"] == record.result.done.milliseconds
    assert 0 < metrics["occupancy"] <= 1


def test_every_metric_has_a_value_in_the_document():
    assert [metric.name for metric in METRICS] == list(MetricsDocument.__struct_fields__)


@pytest.mark.parametrize(
    ("better", "before", "after", "verdict"),
    [
        ("lower", 1, 2, "worse"),
        ("lower", 2, 1, "better"),
        ("higher", 1, 2, "better"),
        ("higher", 0.5, 0.25, "worse"),
        ("lower", 1, 1, "same"),
        ("lower", None, 1, "different"),
        ("lower", None, None, "same"),
    ],
)
def test_two_values_are_compared(better, before, after, verdict):
    assert Metric("name", "Title", better=better).verdict(before, after) == verdict
