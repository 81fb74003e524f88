"""The roofline of a run: its work, the time that the work needs at least, losses and hints.

In: the documents of a run and the facts about its compilation (`Facts`). Out: a `RooflineDocument`. Missing
documents lead to reasons in it, never to an exception. Numbers that cannot be true count as missing.
"""

from __future__ import annotations

from explorer.analysis.roofline.documents import NEAR_SHARE, Missing, RooflineDocument
from explorer.analysis.roofline.facts import Facts
from explorer.analysis.roofline.floor import all_ceilings, floors, resources, unit_of
from explorer.analysis.roofline.hints import hints
from explorer.analysis.roofline.hints.case import Case
from explorer.analysis.roofline.losses import losses
from explorer.analysis.roofline.plot import dots, main_operation, ridges, that_matter, worth_a_dot
from explorer.analysis.roofline.verdict import decisive, verdict
from explorer.analysis.roofline.work import operations, traffic


def roofline(facts: Facts) -> RooflineDocument:
    """Compute how far the kernel is from the limits of the hardware."""
    done, moved, ceilings = operations(facts), traffic(facts), all_ceilings(facts)
    rows = resources(facts, done, moved, ceilings)
    least = floors(facts, rows)
    floor = decisive(least)
    main = main_operation(done, rows)
    lost = losses(facts, floor, main.name if main else "")
    seen = worth_a_dot(moved, rows)
    shown = that_matter(ceilings, done, seen, rows)
    advice = hints(Case(facts, floor, rows, moved, done, lost))
    return RooflineDocument(
        reason="" if rows else _nothing(facts),
        gpu=facts.hardware.name,
        is_modelled=facts.is_modelled,
        time=facts.time,
        operation=main.name if main else "",
        unit=unit_of(main.name) if main else "FLOP",
        near_share=NEAR_SHARE,
        ceilings=shown,
        dots=dots(main, seen, shown),
        ridges=ridges(main, seen, shown),
        operations=done,
        traffic=moved,
        resources=rows,
        floors=least,
        losses=lost,
        verdict=verdict(facts, least, rows, lost, advice),
        hints=advice,
        missing=_missing(facts),
    )


def _nothing(facts: Facts) -> str:
    if facts.failure:
        return f"The run failed: {facts.failure}"
    if facts.counters and facts.counters.reason:
        return f"Neither bytes nor operations are known: {facts.counters.reason}"
    return "Neither bytes nor operations are known. Measure counters, or count in the interpreter."


def _missing(facts: Facts) -> list[Missing]:
    found = []
    if facts.time is None:
        why = "The kernel did not run on a GPU." if facts.is_modelled else "The run has no time. Measure it."
        found.append(Missing("time", why))
    if facts.counters is None:
        found.append(Missing("counters", "The run has no hardware counters. Measure them."))
    elif facts.counters.reason:
        found.append(Missing("counters", facts.counters.reason))
    why_no_counters = facts.counters.reason if facts.counters else ""
    if facts.samples is None:
        found.append(Missing("samples", "The run has no samples, which show what the warps wait for."))
    elif facts.heat and facts.heat.reason and facts.heat.reason != why_no_counters:
        found.append(Missing("samples", facts.heat.reason))
    if facts.hardware.problem:
        found.append(Missing("hardware", facts.hardware.problem))
    if facts.roofs is None and not facts.is_modelled:
        found.append(Missing("roofs", "The limits of this GPU were not measured. Measure its roofs once."))
    return found
