"""The measures of commands: a metric, or how often a pattern occurs in a stage."""

from __future__ import annotations

import argparse
import math
import re
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote

from explorer.cli.api import Api
from explorer.errors import ExplorerError
from explorer.model.metrics import METRICS, Better, find_metric
from explorer.pipeline.stages import STAGES


@dataclass(frozen=True)
class Threshold:
    """How much worse an amount may be: absolute, and as a share of the first amount."""

    amount: float = 0.0
    share: float = 0.0

    def is_exceeded(self, before: float, after: float, better: Better) -> bool:
        """Return whether the second amount is worse than the first by more than is allowed."""
        worse = after - before if better == "lower" else before - after
        return worse > self.amount + self.share * abs(before)


def threshold(text: str) -> Threshold:
    """Parse a threshold such as 8 or 5%."""
    number, is_share = text.removesuffix("%"), text.endswith("%")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount such as 8 or 5%")
    return Threshold(share=value / 100) if is_share else Threshold(amount=value)


@dataclass(frozen=True)
class Measure:
    """A metric, or the number of matches of a pattern in a stage."""

    name: str
    better: Better = "lower"
    stage: str = ""
    pattern: re.Pattern[str] | None = None

    @property
    def default_threshold(self) -> Threshold:
        """The default threshold. Times of equal compilations differ, so it is larger for them."""
        return Threshold(share=0.2) if self.name == "compile_milliseconds" else Threshold()

    def value(self, api: Api, address: str) -> float | None:
        """Return the number for the compilation at an address of the API; None if it has no such number."""
        if self.pattern is None:
            value: float | None = api.document(f"{address}/metrics")[self.name]
            return value
        try:
            text = api.get(f"{address}/stages/{quote(self.stage, safe='')}").decode()
        except ExplorerError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise
        return sum(1 for _ in self.pattern.finditer(text))


def measure(text: str) -> Measure:
    """Parse the name of a metric, or STAGE:PATTERN."""
    stage, colon, pattern = text.partition(":")
    metric = find_metric(text)
    if metric is not None:
        return Measure(metric.name, metric.better)
    if not colon:
        known = ", ".join(each.name for each in METRICS)
        raise argparse.ArgumentTypeError(f"{text!r} is none of {known}, nor STAGE:PATTERN")
    if stage not in {each.name for each in STAGES}:
        known = ", ".join(each.name for each in STAGES)
        raise argparse.ArgumentTypeError(f"{stage!r} is no stage; known are {known}")
    try:
        return Measure(text, stage=stage, pattern=re.compile(pattern, re.MULTILINE))
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{pattern!r} is not a regular expression: {error}") from error


def show(value: float | None) -> str:
    """Return a number as text; "-": unknown."""
    return "-" if value is None else f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"
