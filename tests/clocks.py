"""Processes with a shifted wall clock. Their monotonic clock is right."""

import os
from pathlib import Path

import pytest

_FAKETIME = "/usr/lib/*/faketime/libfaketime.so.1"


def clock_environment(file: Path) -> dict[str, str]:
    """Return the environment of a process whose clock is as far off as a file says, as in "+1h"."""
    found = sorted(Path("/").glob(_FAKETIME.removeprefix("/")))
    if not found:
        reason = "faketime is not installed: tools/install-debian-packages faketime"
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)
    return {
        "LD_PRELOAD": str(found[-1]),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_NO_CACHE": "1",  # the clock jumps when the file changes
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKE_UTIME": "1",  # the times of files are from the clock of the disk
        "NO_FAKE_STAT": "1",
    }
