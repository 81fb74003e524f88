"""The plugin for pytest: the fixture `kernel_metrics`.

pytest imports this module wherever triton-explorer is installed, so the fixture imports the other modules
when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from explorer.python.kernel_metrics import KernelMetrics


@pytest.fixture(scope="session")
def kernel_metrics() -> KernelMetrics:
    """Return a function that compiles a kernel and returns its metrics."""
    from explorer.python.kernel_metrics import KernelMetrics
    from explorer.python.service import find_api

    return KernelMetrics(find_api())
