"""The settings of the server and the command line.

In: environment variables `TRITON_EXPLORER_…`, read in this module only. Out: a frozen `Settings`. Units are
part of the names.
"""

from __future__ import annotations

import difflib
import math
import os
import sys
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from explorer.errors import SettingsError
from explorer.sandbox.nvidia import Toolchain
from explorer.sandbox.settings import Limits, default_slots

PREFIX = "TRITON_EXPLORER_"
MEBIBYTE = 1024 * 1024
#: The folder of profiles is beside the package in a checkout, and inside the package once installed.
_PACKAGE = Path(__file__).parent
DEFAULT_RECORDINGS = next(
    (path for parent in (_PACKAGE.parent, _PACKAGE) if (path := parent / "proton_profiles").is_dir()),
    _PACKAGE / "proton_profiles",
)
_LIMITS = Limits()
#: The time limit of a compilation on a machine that only its user can use.
_OWN_SECONDS = 600.0
#: The time limit ends a job before the kernel does, and names the step that took long.
_FURTHER_SECONDS = 5
#: Networks of IP addresses.
Networks = tuple[IPv4Network | IPv6Network, ...]
_GPU_RUNS = ("auto", "all", "role")
_LOG_FORMATS = ("text", "json")
_LOG_LEVELS = ("", "debug", "info", "warning", "error")
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"", "0", "false", "no", "off"}


def _described(description: str) -> dict[str, str]:
    return {"description": description}


def _rate(most: int, description: str) -> int | None:
    """Return the field of a limit for each client. Unless it is set, it applies on reachable servers only."""
    found: int | None = field(default=None, metadata={"most": most, **_described(description)})
    return found


@dataclass(frozen=True)
class Settings:
    """All settings. The variable of a field is `TRITON_EXPLORER_` and its name in capitals."""

    host: str = field(default="127.0.0.1", metadata=_described("Address to listen on."))
    port: int = field(default=8000, metadata=_described("Port to listen on."))
    hosts: str = field(
        default="",
        metadata=_described(
            "Accepted host names of the server, separated by commas. "
            "Empty: on a loopback address only its own names, otherwise any."
        ),
    )
    proxies: str = field(
        default="",
        metadata=_described(
            "Addresses or networks of reverse proxies, separated by commas. "
            "Limits for each client use the address in their X-Forwarded-For header."
        ),
    )
    client_connections: int = field(
        default=100,
        metadata=_described("Connections of one client. A further connection replaces an idle one."),
    )
    client_streams: int = field(
        default=50,
        metadata=_described("Open event streams of one client; further streams are refused with 429."),
    )
    client_compilations_per_minute: int | None = _rate(
        600, "Compilations that one client may start in a minute. 0: no limit."
    )
    client_runs_per_minute: int | None = _rate(
        120, "Runs that one client may start in a minute. 0: no limit."
    )
    client_exports_per_minute: int | None = _rate(
        120, "Saved pages, archives and preview images that one client may request in a minute. 0: no limit."
    )
    client_queries_per_minute: int | None = _rate(
        3000, "Inspections and answers to queries that are computed for one client in a minute. 0: no limit."
    )
    client_bytes_per_minute: int | None = _rate(
        256 * MEBIBYTE, "Length of the bodies of requests that one client may send in a minute. 0: no limit."
    )
    limits_url: str = field(
        default="",
        metadata=_described(
            "Redis in which several servers count what a client does in a minute, such as "
            "`redis://host:6379/0`. Empty: each server counts its own."
        ),
    )
    threads: int = field(default=96, metadata=_described("Threads that answer requests."))
    canary_seconds: float = field(
        default=60.0,
        metadata=_described(
            "Time within which a kernel has to go through every kind of slot of a server for other machines, "
            "see `/healthz`. 0: idle slots are not tested."
        ),
    )
    queue_age_limit_seconds: float = field(
        default=600.0,
        metadata=_described("Time that a job may wait before `/healthz` answers 503. 0: no limit."),
    )
    log_format: str = field(
        default="text", metadata=_described("Format of the log: text, or json with one object in each line.")
    )
    log_level: str = field(
        default="",
        metadata=_described(
            "Level of the log: debug, info, warning or error. Empty: info as JSON, warning as text."
        ),
    )
    traces_url: str = field(
        default="",
        metadata=_described(
            "URL that traces are sent to by OTLP/HTTP, such as `http://127.0.0.1:4318/v1/traces`. "
            "Empty: none."
        ),
    )
    data_dir: Path = field(
        default=Path("data"), metadata=_described("Folder of the database and of the stored texts.")
    )
    database_url: str = field(
        default="",
        metadata=_described(
            "SQLAlchemy URL of the database, such as `postgresql+psycopg://user@host/name`. "
            "Empty: SQLite, a file in the data folder."
        ),
    )
    blobs_url: str = field(
        default="",
        metadata=_described(
            "S3 store of the stored texts: "
            "`s3://<bucket>/<prefix>?endpoint=<url>`. Empty: a folder in the data folder."
        ),
    )
    blob_cache_bytes: int = field(
        default=1024 * MEBIBYTE,
        metadata=_described(
            "Space in the data folder for copies of texts of an S3 store. The least recently read copy is "
            "removed. 0: no copies."
        ),
    )
    broker_url: str = field(
        default="",
        metadata=_described(
            "Message broker of workers: `amqp://user:password@host//` (RabbitMQ) or `redis://host/0`. "
            "Workers then do all jobs. Empty: this process does."
        ),
    )
    store_quota_bytes: int = field(
        default=10 * 1024 * MEBIBYTE,
        metadata=_described(
            "Space for all requests and results. The least recently used result is removed. 0: no limit."
        ),
    )
    client_quota_bytes: int = field(
        default=5 * 1024 * MEBIBYTE,
        metadata=_described("Space for the requests and results of one client. 0: no limit."),
    )
    keep_days: float = field(
        default=365.0,
        metadata=_described(
            "Days after which a result is removed that nobody has opened or retained. 0: no limit."
        ),
    )
    free_disk_bytes: int = field(
        default=256 * MEBIBYTE,
        metadata=_described("Space that is left free on the disk of the data folder."),
    )
    server: str = field(
        default="",
        metadata=_described(
            "Server that commands ask: its URL, or none. Empty: the server of the data folder, if it runs."
        ),
    )
    token: str = field(default="", metadata=_described("API token that commands send to the server."))
    source_limit_bytes: int = field(default=MEBIBYTE, metadata=_described("Longest source that is accepted."))
    queue_limit: int = field(
        default=100,
        metadata=_described(
            "Jobs that may wait for one kind of device. Clients share these places: one client gets half "
            "of them, and each of n clients 1/(n + 1). Further jobs are refused with 429."
        ),
    )
    slots: int = field(
        default=default_slots(),
        metadata=_described(
            "Compilations that execute at the same time. While all slots are in use, one more compilation "
            "executes for a client that has none running."
        ),
    )
    tritons_dir: Path = field(
        default=Path(sys.prefix) / "tritons",
        metadata=_described("Folder with further Triton versions, one folder each, named after the version."),
    )
    tritons: str = field(
        default="",
        metadata=_described(
            "Triton versions that a server or worker offers, separated by commas. Empty: all that are "
            "installed."
        ),
    )
    packages_dir: Path = field(
        default=Path(sys.prefix) / "packages",
        metadata=_described(
            "Folder with packages that scripts may import, as `tools/install-packages` writes it."
        ),
    )
    wall_limit_seconds: float | None = field(
        default=None,
        metadata=_described("Time of one compilation, without the time in which it waits for a processor."),
    )
    cpu_limit_seconds: int | None = field(
        default=None,
        metadata=_described("Processor time of one process of a compilation."),
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
    interpreter_slots: int = field(
        default=1, metadata=_described("Runs in Triton's interpreter that execute at the same time.")
    )
    interpreter_wall_limit_seconds: float = field(
        default=120.0, metadata=_described("Wall and processor time of one run in the interpreter.")
    )
    torch_compile_wall_limit_seconds: float = field(
        default=120.0,
        metadata=_described(
            "Wall and processor time of a program without a kernel that calls `torch.compile`: PyTorch's "
            "compiler writes its kernels."
        ),
    )
    gpus: str = field(
        default="all",
        metadata=_described(
            "GPUs that kernels are run on: all, none, or the driver's indices of GPUs, separated by commas."
        ),
    )
    account_header: str = field(
        default="",
        metadata=_described(
            "Header in which a reverse proxy of `TRITON_EXPLORER_PROXIES` names the account of a user, such "
            "as X-Forwarded-User. Empty: none."
        ),
    )
    public_url: str = field(
        default="",
        metadata=_described(
            "URL under which browsers reach the server. Needed to sign in with OpenID Connect."
        ),
    )
    oidc_issuer: str = field(
        default="", metadata=_described("URL of the provider of OpenID Connect that users sign in with.")
    )
    oidc_client_id: str = field(default="", metadata=_described("Name of this server at the provider."))
    oidc_client_secret: str = field(default="", metadata=_described("Secret of this server at the provider."))
    oidc_claim: str = field(
        default="email",
        metadata=_described(
            "Claim of the provider that names the account. Users must not be able to choose its value, "
            "as with sub. The claim email counts only if the provider has verified it."
        ),
    )
    gpu_accounts: str = field(
        default="",
        metadata=_described(
            "Accounts with the role gpu, separated by commas. `*`: everybody who is signed in."
        ),
    )
    admin_accounts: str = field(
        default="", metadata=_described("Accounts with the role admin, separated by commas.")
    )
    gpu_runs: str = field(
        default="auto",
        metadata=_described(
            "Who may run kernels on GPUs: all; role, which is accounts with the role gpu or admin; or auto, "
            "which is all on a loopback address without reverse proxies, and otherwise role."
        ),
    )
    gpu_day_seconds: float = field(
        default=600.0,
        metadata=_described(
            "Time on GPUs of one client or account on one day, where other machines can reach the server. "
            "0: no limit."
        ),
    )
    gpu_slots: int = field(
        default=2,
        metadata=_described(
            "Sandboxes of each GPU, which runs one job at a time. The others are ready for the next."
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
        metadata=_described("Folder with GPU profiles, as `triton-explorer record` writes them."),
    )
    unsafe_no_sandbox: bool = field(
        default=False,
        metadata=_described(
            "Run user code without a sandbox. Only on a loopback address, and only for code that you trust."
        ),
    )

    def __post_init__(self) -> None:
        """Check that settings do not contradict each other.

        Raises:
            SettingsError: the server would run code of other machines' users without a sandbox, or the
                address of a server or proxy or a setting of the log is invalid.
        """
        _ = self.trusted_proxies
        if self.account_header and not self.trusted_proxies:
            raise SettingsError(
                f"{PREFIX}ACCOUNT_HEADER needs {PREFIX}PROXIES: only a trusted proxy may name the account."
            )
        if self.oidc_issuer and not (self.oidc_client_id and self.public_url):
            raise SettingsError(f"{PREFIX}OIDC_ISSUER needs {PREFIX}OIDC_CLIENT_ID and {PREFIX}PUBLIC_URL.")
        if self.gpu_runs not in _GPU_RUNS:
            raise SettingsError(f"{PREFIX}GPU_RUNS must be one of {', '.join(_GPU_RUNS)}.")
        for name, known in (("log_format", _LOG_FORMATS), ("log_level", _LOG_LEVELS)):
            if getattr(self, name) not in known:
                choices = ", ".join(filter(None, known))
                raise SettingsError(
                    f"{PREFIX}{name.upper()} must be one of {choices}, got {getattr(self, name)!r}."
                )
        if self.server not in ("", "none") and not is_address(self.server):
            raise SettingsError(
                f"{PREFIX}SERVER must be none or the address of a server such as http://127.0.0.1:8000, "
                f"got {self.server!r}."
            )
        if self.unsafe_no_sandbox and not self.is_loopback:
            raise SettingsError(
                f"Without a sandbox the server cannot listen on {self.host}, which other machines may reach. "
                "Use the sandbox, or --host 127.0.0.1."
            )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings.

        Raises:
            SettingsError: a value is invalid, or a variable names no setting.
        """
        types = typing.get_type_hints(cls)
        variables = {PREFIX + name.upper(): name for name in types}
        values: dict[str, Any] = {}
        for variable, text in environment.items():
            if not variable.startswith(PREFIX):
                continue
            if variable not in variables:
                names = [name.upper() for name in types]
                close = difflib.get_close_matches(variable.removeprefix(PREFIX), names, 1)
                meant = f"Did you mean {PREFIX}{close[0]}? " if close else ""
                raise SettingsError(
                    f"{variable} is not a setting. {meant}`triton-explorer settings` lists all settings."
                )
            name = variables[variable]
            wanted = next(iter(typing.get_args(types[name])), types[name])  # int of `int | None`
            values[name] = _parse(variable, text, wanted)
        return cls(**values)

    @property
    def offered_tritons(self) -> tuple[str, ...]:
        """The Triton versions that a server or worker offers; empty: all installed versions."""
        return tuple(name.strip() for name in self.tritons.split(",") if name.strip())

    @property
    def trusted_hosts(self) -> list[str] | None:
        """Accepted host headers; None: all. On loopback, only its own names, against DNS rebinding."""
        names = [name.strip() for name in self.hosts.split(",") if name.strip()]
        if names or not self.is_loopback:
            return names or None
        return ["localhost", "127.0.0.1", "[::1]", self.host]

    @property
    def trusted_proxies(self) -> Networks:
        """The networks of the reverse proxies.

        Raises:
            SettingsError: an address is invalid.
        """
        try:
            return tuple(ip_network(name.strip()) for name in self.proxies.split(",") if name.strip())
        except ValueError as error:
            raise SettingsError(f"{PREFIX}PROXIES must list addresses or networks: {error}.") from error

    def most_per_minute(self, work: str) -> int:
        """Return how much work of a kind one client may cause in a minute; 0 is no limit.

        Unless the limit is set, there is none on a loopback address without proxies, where all clients are
        users of this machine.
        """
        name = f"client_{work}_per_minute"
        value: int | None = getattr(self, name)
        if value is None:
            is_own = self.is_loopback and not self.trusted_proxies
            value = 0 if is_own else self.__dataclass_fields__[name].metadata["most"]
        return value

    @property
    def compilation_seconds(self) -> float:
        """The time limit of one compilation. It protects a server from others than its own user."""
        if self.wall_limit_seconds is not None:
            return self.wall_limit_seconds
        is_own = not (self.is_reachable or self.has_accounts or self.broker_url)
        return _OWN_SECONDS if is_own else _LIMITS.working_seconds

    @property
    def compilation_processor_seconds(self) -> int:
        """The limit of the processor time of one process of a compilation."""
        if self.cpu_limit_seconds is not None:
            return self.cpu_limit_seconds
        return math.ceil(self.compilation_seconds) + _FURTHER_SECONDS

    @property
    def least_log_level(self) -> str:
        """The lowest level of the messages that are logged."""
        return self.log_level or ("info" if self.log_format == "json" else "warning")

    @property
    def is_loopback(self) -> bool:
        """Whether the server listens on a loopback address."""
        return self.host == "localhost" or self.host == "::1" or self.host.startswith("127.")

    def roles_of(self, account: str) -> frozenset[str]:
        lists = {"gpu": self.gpu_accounts, "admin": self.admin_accounts}
        members = {role: {name.strip() for name in names.split(",")} for role, names in lists.items()}
        everybody = frozenset({"gpu"} if "*" in members["gpu"] else ())
        return everybody | {role for role, names in members.items() if account in names}

    @property
    def has_accounts(self) -> bool:
        """Whether people can sign in."""
        return bool(self.oidc_issuer or self.account_header)

    @property
    def is_reachable(self) -> bool:
        """Whether other machines can reach the server, directly or through a reverse proxy."""
        return not self.is_loopback or bool(self.trusted_proxies)


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


def toolchain(environment: Mapping[str, str] = os.environ) -> Toolchain:
    """Return the paths of the machine's libraries and C compiler."""
    return Toolchain(environment.get("LD_LIBRARY_PATH", ""), environment.get("CC", ""))


def state_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder in which commands keep their state for this user."""
    base = environment.get("XDG_STATE_HOME") or Path(environment.get("HOME", ".")) / ".local/state"
    return Path(base) / "triton-explorer"


@dataclass(frozen=True)
class GitHubActions:
    """Whether a job of GitHub Actions is running, and the file for its summary."""

    is_running: bool
    summary: Path | None


def github_actions(environment: Mapping[str, str] = os.environ) -> GitHubActions:
    """Read the variables that GitHub Actions sets for a job."""
    summary = environment.get("GITHUB_STEP_SUMMARY", "")
    return GitHubActions(environment.get("GITHUB_ACTIONS") == "true", Path(summary) if summary else None)


def is_address(url: str) -> bool:
    """Whether a text is the address of a server."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
