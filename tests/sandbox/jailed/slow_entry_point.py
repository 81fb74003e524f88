"""An entry point whose import takes a minute, as that of a compiler on a busy machine."""

import time


def warm_up():
    """Wait."""
    time.sleep(60)
