"""Collect, measure or record: see `bench.trials`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bench.trials

RECORDED = Path(__file__).parents[2] / "tests/queries/measured_trials.json"
_KEPT = ("script", "origin", "kernel", "launch", "rules")
_MEASURED = ("has_same_results", "before_ms", "after_ms", "spread")


def main() -> None:
    """Do what the command line says."""
    match sys.argv[1:]:
        case ["collect", trials]:
            from bench.trials.collect import collect

            collect(Path(trials))
        case ["measure", trials, result, packages]:
            from bench.trials.measure import measure

            measure(Path(trials), Path(result), Path(packages))
        case ["record", *results] if results:
            record([json.loads(Path(each).read_text()) for each in results])
        case _:
            sys.exit(bench.trials.__doc__)


def record(results: list[dict[str, object]]) -> None:
    """Write the measurements for tests, a trial a line."""
    (machine,) = {tuple((name, each[name]) for name in ("device", "triton", "torch")) for each in results}
    rows = [row for each in results for row in each["trials"]]  # type: ignore[attr-defined]
    lines = [
        json.dumps(
            {
                **{name: row[name] for name in _KEPT + _MEASURED},
                "change": row["change"]["text"],
                "is_exact": row["change"]["is_exact"],
            }
        )
        for row in rows
    ]
    head = json.dumps(dict(machine))[:-1]
    RECORDED.write_text(f'{head}, "trials": [\n' + ",\n".join(lines) + "\n]}\n")


if __name__ == "__main__":
    main()
