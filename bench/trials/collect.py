"""Compiles kernels and the changes that their findings propose, in this process."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.bare import TARGET
from bench.real import install
from bench.trials.scripts import PACKAGE_FOLDER, scripts
from explorer import create_app
from explorer.analysis.source_edits import edited
from explorer.model import LineEdit, Request
from explorer.queries import finding_changes, findings
from explorer.services import Services, services_of
from explorer.settings import Settings
from explorer.store import Record

#: The version on the GPU machine.
_TRITON = "3.6.0"
_MOST_LAUNCHES = 12


def collect(output: Path) -> None:
    """Write the scripts, and for each launch the proven changes with the rules whose findings vanish."""
    install()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder), wall_limit_seconds=300, packages_dir=PACKAGE_FOLDER)
        with (
            closing(services_of(create_app(settings))) as services,
            ThreadPoolExecutor(settings.slots) as pool,
        ):
            rows = list(pool.map(lambda each: _script(services, *each), scripts()))
    output.write_text(json.dumps(rows, indent=1))


def _script(services: Services, name: str, origin: str, source: str) -> dict[str, Any]:
    launches: list[dict[str, Any]] = []
    for launch in range(_MOST_LAUNCHES):
        record = services.queue.complete(Request(source, TARGET, _TRITON, launch=launch))
        if record.status != "complete":  # there is no further launch
            break
        trials = list(_trials(services, record))
        launches.append({"launch": launch, "kernel": record.kernel, "trials": trials})
    print(name, sum(len(each["trials"]) for each in launches), flush=True)
    return {"script": name, "origin": origin, "source": source, "launches": launches}


def _trials(services: Services, record: Record) -> Iterator[dict[str, Any]]:
    """Yield the proven changes of a compilation."""
    found = json.loads(services.query_service.answer(findings.QUERY, (record,), {}))["findings"]
    proposed: dict[str, tuple[dict[str, Any], list[int]]] = {}
    for index, finding in enumerate(found):
        for change in finding["changes"]:
            _, indexes = proposed.setdefault(json.dumps(change, sort_keys=True), (change, []))
            indexes.append(index)
    request = record.request
    for change, indexes in proposed.values():
        source = edited(request.source, [LineEdit(each["line"], each["text"]) for each in change["edits"]])
        options, constants = change["options"], change["constants"]
        other = services.queue.complete(
            Request(source, TARGET, _TRITON, launch=request.launch, options=options, constants=constants)
        )
        if other.status == "complete":
            answer = services.query_service.answer(finding_changes.QUERY, (record, other), {})
            verdicts = json.loads(answer)["verdicts"]
            if rules := sorted({found[each]["rule"] for each in indexes if verdicts[each]["is_proven"]}):
                yield {"rules": rules, "change": change}
