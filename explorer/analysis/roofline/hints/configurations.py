"""Hint: another autotune configuration was measured to be faster."""

from __future__ import annotations

from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.hints.case import Case
from explorer.analysis.roofline.hints.tried import Change, best_change, describe


def find(case: Case) -> Hint | None:
    """Return the hint if an autotune configuration is faster than the configuration of the run."""
    tuning = case.facts.autotuning
    timed = [each for each in tuning.configs if each.median_ns] if tuning else []
    best = min(timed, key=lambda each: each.median_ns or 0.0, default=None)
    tried = best_change(tuning, case.facts.config, Change("fastest", lambda _, other: other is best))
    if tried is None or not tried.is_faster:
        return None
    saved = 1 - tried.best_ns / tried.now_ns
    return case.hint(
        "configurations",
        f"Configuration {tried.best.config} is faster",
        f"Of the autotune configurations that were timed for this launch, it is the fastest: "
        f"{describe(tried.best)}.",
        [
            Evidence(f"time of this configuration ({describe(tried.now)})", tried.now_ns, "ns", "measured"),
            Evidence(f"time of configuration {tried.best.config}", tried.best_ns, "ns", "measured"),
        ],
        0,
        saved * case.facts.time_ns if case.facts.time_ns else None,
        cost="None for this launch. Another size can have a different fastest configuration.",
    )
