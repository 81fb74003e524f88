"""An imported kernel: Triton's metadata, the stages, and the source as far as it is known."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from explorer.capture.folder import VERSION
from explorer.capture.read import CannotRead, CapturedKernel, KernelFile, captured_of
from explorer.capture.readers.source import Script
from explorer.model import UNKNOWN_VERSION
from explorer.pipeline.stages import STAGES

#: Triton's names of the shown stages. The AST is not a file, and `source` is the module before TTIR.
STAGE_NAMES = frozenset(kind.produced_by for kind in STAGES) - {"source"} | {"hsaco"}

_SHOWN_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


def imported_kernel(
    identity: str,
    name: str,
    metadata: Mapping[str, object],
    stages: dict[str, str],
    script: Script,
    *,
    launches: int | None = None,
    milliseconds: Mapping[str, float] | None = None,
) -> CapturedKernel:
    """Return a kernel with Triton's `metadata`. The stages have Triton's names.

    Raises:
        CannotRead: the metadata is not Triton's.
    """
    target = metadata.get("target")
    document = {
        "version": VERSION,
        "kernel": metadata.get("name") or name,
        "triton": metadata.get("triton_version") or UNKNOWN_VERSION,
        "target": {**target, "arch": str(target.get("arch"))} if isinstance(target, dict) else target,
        "script": script.text,
        "origins": script.origins,
        "options": {key: metadata[key] for key in _SHOWN_OPTIONS if metadata.get(key) is not None},
        "metadata": dict(metadata),
        "stages": {},
        "error": "",
        "milliseconds": None if milliseconds is None else dict(milliseconds),
    }
    try:
        file = msgspec.convert(document, KernelFile)
    except msgspec.ValidationError as error:
        raise CannotRead(str(error)[:300]) from error
    return CapturedKernel(identity, file, captured_of(file, stages), launches, has_launch=False)
