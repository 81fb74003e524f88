"""`settings`: print the page of all settings."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from explorer.cli.tools import Commands, add_command
from explorer.settings import MEBIBYTE, PREFIX, Settings

_HEAD = """\
# Settings

A setting is an environment variable of the server, of a worker or of a command. An unknown variable that
begins with `TRITON_EXPLORER_` is an error.

This page is generated from `explorer/settings.py`:

```sh
triton-explorer settings > docs/settings.md
```

| Variable | Default | What it sets |
|---|---|---|
"""
_DEFAULTS = {
    "slots": "processors, at most 8",
    "tritons_dir": "`tritons` in the virtual environment",
    "packages_dir": "`packages` in the virtual environment",
    "recordings_dir": "the profiles of the package",
    "wall_limit_seconds": "`30` s, [locally](serving.md#time-of-a-compilation) `600` s",
    "cpu_limit_seconds": "5 s more than a compilation",
}


def add(commands: Commands) -> None:
    add_command(commands, "settings", run, "list the settings as a Markdown page")


def run(_options: argparse.Namespace) -> int:
    print(settings_page(), end="")
    return 0


def settings_page() -> str:
    """Return all settings as a Markdown page, `docs/settings.md`."""
    return _HEAD + "".join(
        f"| `{PREFIX}{item.name.upper()}` | {_shown_default(item)} | {item.metadata['description']} |\n"
        for item in dataclasses.fields(Settings)
    )


def _shown_default(item: dataclasses.Field[Any]) -> str:
    """Return the default with its unit, in words if it depends on the machine."""
    if item.name in _DEFAULTS:
        return _DEFAULTS[item.name]
    if "most" in item.metadata:
        most = _with_unit(item.name, item.metadata["most"])
        return f"{most}, [locally](serving.md#limits-in-a-minute) none"
    return _with_unit(item.name, item.default) if item.default != "" else "empty"


def _with_unit(name: str, value: Any) -> str:
    """Return a value as it is entered, and its unit, which the name of the setting has."""
    if isinstance(value, bool | float):
        value = f"{value:g}"
    if name.endswith("_seconds"):
        return f"`{value}` s"
    if name.endswith("_days"):
        return f"`{value}` days"
    if "_bytes" not in name:
        return f"`{value}`"
    mebibytes = value // MEBIBYTE
    size = f"{mebibytes // 1024} GiB" if mebibytes >= 1024 else f"{mebibytes} MiB"
    return f"`{value}` ({size})"
