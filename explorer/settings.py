"""The settings: read from the environment here, once, and never changed afterwards.

In: variables named `TRITON_EXPLORER_…`. Out: one frozen `Settings`. Units are part of the names.
"""

from __future__ import annotations

import dataclasses
import math
import os
import sys
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from explorer.errors import SettingsError
from explorer.sandbox.settings import Limits, SandboxSettings, default_slots

PREFIX = "TRITON_EXPLORER_"
MEBIBYTE = 1024 * 1024
#: The module whose jobs run kernels, in the interpreter and on GPUs.
RUN_ENTRY_POINT = "explorer.measure.job"
_GPU_OPEN_FILES = 4096
_GPU_SCRATCH_FILES = 20_000
#: Beside the package in a checkout, inside of it once installed.
_PACKAGE = Path(__file__).parent
DEFAULT_RECORDINGS = next(
    (path for parent in (_PACKAGE.parent, _PACKAGE) if (path := parent / "proton_profiles").is_dir()),
    _PACKAGE / "proton_profiles",
)
_LIMITS = Limits()
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"", "0", "false", "no", "off"}


def _described(description: str) -> dict[str, str]:
    return {"description": description}


@dataclass(frozen=True)
class Settings:
    """What can be configured. Each field is `TRITON_EXPLORER_` and its name in capitals."""

    host: str = field(default="127.0.0.1", metadata=_described("Address to listen on."))
    port: int = field(default=8000, metadata=_described("Port to listen on."))
    hosts: str = field(
        default="",
        metadata=_described(
            "Names under which the server may be addressed, with commas between. "
            "Empty: on a loopback address only its own names, otherwise any."
        ),
    )
    threads: int = field(
        default=96, metadata=_described("Threads that answer requests; each open event stream holds one.")
    )
    data_dir: Path = field(
        default=Path("data"), metadata=_described("Folder of the database and of the stored texts.")
    )
    database_url: str = field(
        default="",
        metadata=_described("SQLAlchemy URL of the database. Empty: SQLite, a file in the data folder."),
    )
    source_limit_bytes: int = field(default=MEBIBYTE, metadata=_described("Longest source that is accepted."))
    queue_limit: int = field(
        default=50, metadata=_described("Compilations that may wait; further ones are refused with 503.")
    )
    slots: int = field(default=default_slots(), metadata=_described("Compilations at once."))
    tritons_dir: Path = field(
        default=Path(sys.prefix) / "tritons",
        metadata=_described("Folder with further Triton versions, one folder each, named after the version."),
    )
    wall_limit_seconds: float = field(
        default=_LIMITS.wall_seconds, metadata=_described("Wall time of one compilation.")
    )
    cpu_limit_seconds: int = field(
        default=_LIMITS.cpu_seconds, metadata=_described("Processor time of one process of a compilation.")
    )
    memory_limit_bytes: int = field(
        default=_LIMITS.memory_bytes, metadata=_described("Memory of one compilation.")
    )
    process_limit: int = field(
        default=_LIMITS.processes, metadata=_described("Processes and threads of one compilation.")
    )
    open_files_limit: int = field(
        default=_LIMITS.open_files, metadata=_described("Open files of one process of a compilation.")
    )
    file_limit_bytes: int = field(
        default=_LIMITS.file_bytes, metadata=_described("Longest file that a compilation may write.")
    )
    scratch_limit_bytes: int = field(
        default=_LIMITS.scratch_bytes, metadata=_described("Temporary folder of one compilation.")
    )
    interpreter_slots: int = field(default=1, metadata=_described("Runs in Triton's interpreter at once."))
    interpreter_wall_limit_seconds: float = field(
        default=120.0, metadata=_described("Wall and processor time of one run in the interpreter.")
    )
    gpus: str = field(
        default="all",
        metadata=_described(
            "GPUs that kernels are run on: all, none, or the driver's numbers of some with commas between."
        ),
    )
    gpu_wall_limit_seconds: float = field(
        default=300.0, metadata=_described("Wall and processor time of one run on a GPU.")
    )
    gpu_memory_limit_bytes: int = field(
        default=16 * 1024 * MEBIBYTE,
        metadata=_described("Memory of one run on a GPU, beside the GPU's own."),
    )
    gpu_process_limit: int = field(
        default=1000, metadata=_described("Processes and threads of one run on a GPU.")
    )
    gpu_scratch_limit_bytes: int = field(
        default=2048 * MEBIBYTE,
        metadata=_described("Temporary folder of one run on a GPU, and the longest file in it."),
    )
    recordings_dir: Path = field(
        default=DEFAULT_RECORDINGS,
        metadata=_described("Folder with recorded GPU profiles, as `triton-explorer record` writes them."),
    )
    unsafe_no_sandbox: bool = field(
        default=False,
        metadata=_described("Run user code without a sandbox. On loopback, for code that you trust, only."),
    )

    def __post_init__(self) -> None:
        """Refuse what must not be.

        Raises:
            SettingsError: code of strangers would run without a sandbox.
        """
        if self.unsafe_no_sandbox and not self.is_loopback:
            raise SettingsError(
                f"Without a sandbox only this machine may be served, not {self.host}. "
                "Use the sandbox, or --host 127.0.0.1."
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

    @property
    def trusted_hosts(self) -> list[str] | None:
        """Host headers that are answered; None: all. On loopback, no foreign name may lead here."""
        names = [name.strip() for name in self.hosts.split(",") if name.strip()]
        if names or not self.is_loopback:
            return names or None
        return ["localhost", "127.0.0.1", "[::1]", self.host]

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host == "localhost" or self.host == "::1" or self.host.startswith("127.")

    @property
    def sandbox(self) -> SandboxSettings:
        """What the sandbox is told."""
        limits = Limits(
            wall_seconds=self.wall_limit_seconds,
            cpu_seconds=self.cpu_limit_seconds,
            memory_bytes=self.memory_limit_bytes,
            processes=self.process_limit,
            open_files=self.open_files_limit,
            file_bytes=self.file_limit_bytes,
            scratch_bytes=self.scratch_limit_bytes,
        )
        folders = self.tritons_dir.iterdir() if self.tritons_dir.is_dir() else ()
        return SandboxSettings(
            limits=limits,
            unsafe=self.unsafe_no_sandbox,
            slots_per_version=self.slots,
            queue_length=self.queue_limit,
            request_bytes=2 * self.source_limit_bytes,
            triton_folders=tuple(sorted(folders)),
        )

    @property
    def interpreter_sandbox(self) -> SandboxSettings:
        """What the sandbox of runs in Triton's interpreter is told."""
        sandbox = self.sandbox
        return replace(
            sandbox,
            limits=replace(
                sandbox.limits,
                wall_seconds=self.interpreter_wall_limit_seconds,
                cpu_seconds=math.ceil(self.interpreter_wall_limit_seconds),
            ),
            slots_per_version=self.interpreter_slots,
            entry_point=RUN_ENTRY_POINT,
            environment={"TRITON_INTERPRET": "1"},
            warm_up=False,
        )

    def gpu_sandbox(
        self, devices: tuple[Path, ...], environment: Mapping[str, str], folders: tuple[Path, ...]
    ) -> SandboxSettings:
        """What the sandbox of one GPU is told: its device files, variables, and folders to read."""
        sandbox = self.sandbox
        return replace(
            sandbox,
            limits=replace(
                sandbox.limits,
                wall_seconds=self.gpu_wall_limit_seconds,
                cpu_seconds=math.ceil(self.gpu_wall_limit_seconds),
                memory_bytes=self.gpu_memory_limit_bytes,
                processes=self.gpu_process_limit,
                open_files=max(self.open_files_limit, _GPU_OPEN_FILES),
                file_bytes=self.gpu_scratch_limit_bytes,
                scratch_bytes=self.gpu_scratch_limit_bytes,
                scratch_files=_GPU_SCRATCH_FILES,
                locked_bytes=self.gpu_memory_limit_bytes,
                limits_address_space=False,
                runs_own_files=True,
                opens_sockets=True,
                owns_processes=False,  # CUDA does not start in a process namespace inside of another one
            ),
            slots_per_version=1,
            jobs_per_slot=1,
            entry_point=RUN_ENTRY_POINT,
            environment=environment,
            readable_folders=folders,
            devices=devices,
            warm_up=False,
        )


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
    head = ["| Variable | Default | What it sets |", "|---|---|---|"]
    rows = [
        f"| `{PREFIX}{item.name.upper()}` | {_shown_default(item)} | {item.metadata['description']} |"
        for item in dataclasses.fields(Settings)
    ]
    return "\n".join([*head, *rows]) + "\n"


def _shown_default(item: dataclasses.Field[Any]) -> str:
    """The default, in words where it depends on the machine."""
    if item.name == "slots":
        return "processors, at most 8"
    if item.name == "tritons_dir":
        return "`tritons` in the virtual environment"
    if item.name == "recordings_dir":
        return "those that come with it"
    if isinstance(item.default, bool):
        return f"`{int(item.default)}`"
    return f"`{item.default}`" if item.default != "" else "empty"
