"""Records the kernels that a running Triton program compiles, in a folder.

What is here runs in the program: it imports the standard library, and triton inside of functions. It writes
the folder (docs/capture.md has the format); `read` reads it and is no part of the program.
"""

from __future__ import annotations

from explorer.capture.session import start, stop

__all__ = ["start", "stop"]
