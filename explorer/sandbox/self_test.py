"""The attack on a jail at start: an attack that succeeds there would succeed for user code. Web side.

A jail like the jail of the jobs, with smaller limits, gets four jobs. The first makes all quick attacks. The
second uses too much memory. The third writes invalid events and leaves a file and a process behind. The
fourth looks for them.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from explorer.model import Diagnostic, Done, Event, Request
from explorer.sandbox import landlock
from explorer.sandbox.launcher import Launcher
from explorer.sandbox.settings import MIB
from explorer.sandbox.slot import Slot

_PROBE = "explorer.sandbox.probe"
_PATHS_TRIED_BESIDE = 20
#: Paths that must not be visible in any jail.
_HIDDEN_PATHS = ("/etc/passwd", "/etc/shadow", "/root", "/home", "/var", "/sys")


@dataclass
class Findings:
    """The abilities of user code in a jail, and warnings."""

    holes: list[str]
    warnings: list[str]


def attack(launcher: Launcher) -> Findings:
    """Attack a jail. Without a jail, only start the processes that a job needs.

    Raises:
        SlotBroken: the jail does not start.
    """
    limits = replace(
        launcher.settings.limits,
        memory_bytes=256 * MIB,
        processes=12,
        open_files=128,
        scratch_bytes=16 * MIB,
        scratch_files=100,
        file_bytes=8 * MIB,
    )
    settings = replace(launcher.settings, shared_modules=(), limits=limits)  # The probe must start fast.
    launcher = replace(launcher, settings=settings)
    jail = json.dumps(
        {
            "limits": asdict(limits),
            "hidden": _hidden_paths(launcher.readable_folders()),
            "devices": [str(device) for device in settings.devices],
            "environment": sorted(launcher.environment()),
            "listed": [str(folder) for folder in launcher.readable_folders()],
            "has_landlock": landlock.abi() > 0,
        }
    )
    findings = Findings([], [])
    slot = Slot(launcher, None, _PROBE)
    try:
        kinds = ("reach", "fill", "forge", "look") if launcher.bubblewrap else ()
        for kind in kinds:
            events: list[Event] = []
            events += slot.run(Request(jail, "", "", options={"attack": kind}), lambda: False)
            _judge(kind, events, findings)
            slot.next()
    finally:
        slot.close()
    return findings


def _judge(kind: str, events: list[Event], findings: Findings) -> None:
    done = events[-1]
    errors = [
        event.message for event in events if isinstance(event, Diagnostic) and event.severity == "error"
    ]
    findings.warnings += [
        event.message for event in events if isinstance(event, Diagnostic) and event.severity == "warning"
    ]
    expected = _ENDS.get(kind)
    if expected is not None:
        if not any(expected in message for message in errors):
            findings.holes += errors or [f"the probe “{kind}” ended without an error"]
    elif errors:
        findings.holes += errors
    elif isinstance(done, Done) and done.status == "failed":
        findings.holes.append(f"the probe “{kind}” did not complete")


#: The messages with which the sandbox ends the jobs that exceed a limit.
_ENDS = {"fill": "of memory. The limit of a job is", "forge": "The result was rejected"}


def _hidden_paths(readable: Iterable[Path]) -> list[str]:
    """Return paths that a job must not see: files of the system, and the neighbors of readable folders."""
    folders = list(readable)

    def leads_to_readable(path: Path) -> bool:
        return any(folder.is_relative_to(path) for folder in folders)

    hidden = [path for path in _HIDDEN_PATHS if not leads_to_readable(Path(path))]
    for parent in {parent for folder in folders for parent in folder.parents[:-1]}:
        with contextlib.suppress(OSError):
            beside = [path for path in parent.iterdir() if not leads_to_readable(path)]
            hidden += [str(path) for path in beside[:_PATHS_TRIED_BESIDE]]
    return hidden
