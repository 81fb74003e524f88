"""The settings: read from the environment here, once, and never changed afterwards.

In: variables named `TRITON_EXPLORER_…`. Out: one frozen `Settings`. Units are part of the names.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.errors import SettingsError

PREFIX = "TRITON_EXPLORER_"
MEBIBYTE = 1024 * 1024
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"", "0", "false", "no", "off"}


def _setting(default: Any, description: str) -> Any:
    return dataclasses.field(default=default, metadata={"description": description})


@dataclass(frozen=True)
class Settings:
    """What can be configured. Each field is `TRITON_EXPLORER_` and its name in capitals."""

    host: str = _setting("127.0.0.1", "Address to listen on.")
    port: int = _setting(8000, "Port to listen on.")
    threads: int = _setting(64, "Threads that answer requests; each open event stream holds one.")
    data_dir: Path = _setting(Path("data"), "Folder of the database and of the stored texts.")
    database_url: str = _setting(
        "", "SQLAlchemy URL of the database. Empty: SQLite, a file in the data folder."
    )
    source_limit_bytes: int = _setting(MEBIBYTE, "Longest source that is accepted.")
    queue_limit: int = _setting(50, "Compilations that may wait; further ones are refused with 503.")
    slots: int = _setting(os.cpu_count() or 2, "Compilations at once, for each Triton version.")
    tritons_dir: Path = _setting(
        Path(sys.prefix) / "tritons",
        "Folder with further Triton versions, one folder each, named after the version.",
    )
    wall_limit_seconds: float = _setting(20.0, "Wall time of one compilation.")
    cpu_limit_seconds: int = _setting(15, "Processor time of one process of a compilation.")
    memory_limit_bytes: int = _setting(2048 * MEBIBYTE, "Address space of one process of a compilation.")
    process_limit: int = _setting(64, "Processes and threads of one compilation.")
    open_files_limit: int = _setting(128, "Open files of one process of a compilation.")
    file_limit_bytes: int = _setting(32 * MEBIBYTE, "Longest file that a compilation may write.")
    scratch_limit_bytes: int = _setting(64 * MEBIBYTE, "Temporary folder of one compilation.")
    output_limit_bytes: int = _setting(64 * MEBIBYTE, "All that one compilation may send back.")
    unsafe_no_sandbox: bool = _setting(
        False, "Run user code without a sandbox. On loopback, for code that you trust, only."
    )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings.

        Raises:
            SettingsError: a value that is not of its type, or a variable that names no setting.
        """
        types = typing.get_type_hints(cls)
        variables = {PREFIX + name.upper(): name for name in types}
        values: dict[str, Any] = {}
        for variable, text in environment.items():
            if not variable.startswith(PREFIX):
                continue
            if variable not in variables:
                known = ", ".join(sorted(variables))
                raise SettingsError(f"{variable} is not a setting. Known are {known}.")
            name = variables[variable]
            values[name] = _parse(variable, text, types[name])
        return cls(**values)

    @property
    def effective_database_url(self) -> str:
        """The database that is used: the one asked for, or SQLite in the data folder."""
        return self.database_url or f"sqlite:///{self.data_dir.resolve() / 'explorer.sqlite'}"


def _parse(variable: str, text: str, wanted: type) -> Any:
    if wanted is bool:
        word = text.strip().lower()
        if word not in _TRUE | _FALSE:
            raise SettingsError(f"{variable} must be 1 or 0, got {text!r}.")
        return word in _TRUE
    try:
        value = wanted(text)
    except ValueError as error:
        raise SettingsError(f"{variable} must be of type {wanted.__name__}, got {text!r}.") from error
    if wanted in (int, float) and not value >= 0:
        raise SettingsError(f"{variable} must not be negative, got {text!r}.")
    return value


def settings_table() -> str:
    """Every setting as a Markdown table, as the README shows it."""
    rows = ["| Variable | Default | What it sets |", "|---|---|---|"]
    for field in dataclasses.fields(Settings):
        rows.append(
            f"| `{PREFIX}{field.name.upper()}` | {_shown_default(field)} | {field.metadata['description']} |"
        )
    return "\n".join(rows) + "\n"


def _shown_default(field: dataclasses.Field[Any]) -> str:
    """The default, in words where it depends on the machine."""
    if field.name == "slots":
        return "processors"
    if field.name == "tritons_dir":
        return "`tritons` in the virtual environment"
    if isinstance(field.default, bool):
        return f"`{int(field.default)}`"
    return f"`{field.default}`" if field.default != "" else "empty"
