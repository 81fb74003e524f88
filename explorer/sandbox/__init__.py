"""The wall: execute the source of a request in a jail, and return validated events.

The package has two sides. The web side (`service`, `slot`, `launcher`, `protocol`, `versions`, `settings`,
`self_test`) starts jails, enforces deadlines and checks every byte. The jail side (`zygote`, `confine`,
`seccomp`, `landlock`, `linux`, `warden`, `job_process`, `probe`, `probe_attacks`) uses the standard library
only, until the zygote warms up the pipeline. Both sides import this package, so the package imports the
modules of the web side on first access.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.sandbox.service import Sandbox
    from explorer.sandbox.settings import Limits, SandboxSettings

__all__ = ["Limits", "Sandbox", "SandboxSettings"]


def __getattr__(name: str) -> Any:
    if name == "Sandbox":
        from explorer.sandbox.service import Sandbox

        return Sandbox
    if name in ("Limits", "SandboxSettings"):
        from explorer.sandbox import settings

        return getattr(settings, name)
    raise AttributeError(name)
