"""Compile kernels from Python, in a program or a notebook: the documents of the API as objects.

A running server, which is found as by the command line, compiles them, or else this process.
"""

from explorer.python.compile_kernel import compile  # noqa: A004  the name that users call
from explorer.python.result import CompilerPass, Improved, Passes, Result, Workbench
from explorer.python.show_launch import show
from explorer.python.widget import WorkbenchWidget

__all__ = ["CompilerPass", "Improved", "Passes", "Result", "Workbench", "WorkbenchWidget", "compile", "show"]
