"""The assertions of a kernel that Triton leaves out: without the option `debug`, it translates none.

Source: `TritonSemantic.device_assert` of Triton 3.6.0 and 3.9.0, which also translates `assert`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from explorer.model import Diagnostic
from explorer.pipeline.fake_gpu import replaced
from explorer.pipeline.user_source import number_of

_PLACE = re.compile(r'"([^"]+)":(\d+):\d+')


@contextmanager
def omitted_assertions() -> Iterator[dict[int, Diagnostic]]:
    """Collect a note for each line whose assertion is left out while a module is made."""
    from triton.language.semantic import TritonSemantic

    notes: dict[int, Diagnostic] = {}
    device_assert = TritonSemantic.device_assert

    def noted(self: Any, *arguments: Any) -> Any:
        # Triton also asserts on its own, for example that an addition does not overflow.
        is_users = sys._getframe(1).f_code.co_name == "device_assert"
        is_omitted = is_users and not self.builder.options.debug
        place = _PLACE.search(str(self.builder.get_loc())) if is_omitted else None
        if place and (line := number_of(place[1], int(place[2]))):
            notes[line] = Diagnostic(
                "note",
                "The assertion is left out: the option debug is off.",
                line=line,
                hint="Launch the kernel with debug=True, or write @triton.jit(debug=True).",
                rule="assertions",
            )
        return device_assert(self, *arguments)

    with replaced([(TritonSemantic, "device_assert", noted)]):
        yield notes
