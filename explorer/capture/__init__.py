"""Records the kernels that a running Triton program compiles, in a folder.

The package runs in the program, except `read`: it imports the standard library, and triton only inside of
functions. It writes the folder (docs/capture.md has the format); `read` reads the folder.
"""

from explorer.capture.session import start, stop

__all__ = ["start", "stop"]
