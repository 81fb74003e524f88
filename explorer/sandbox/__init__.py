"""The wall: runs a request's source in a jail and hands back what it said as validated events.

Two sides live here. The web side (`service`, `slot`, `launch`, `protocol`, `versions`, `settings`) starts
jails, holds the clock and checks every byte. The jail side (`zygote`, `confine`, `seccomp`, `linux`,
`warden`, `worker`, `probe`) keeps to the standard library until the zygote warms up the pipeline. Both
sides import this module, so it loads the web side only when it is asked for.
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
