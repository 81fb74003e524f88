"""Runs a kernel, on a GPU or in Triton's interpreter, and measures it. Jail side, like `pipeline`.

In: a request with the task "run". Out: measurements (`explorer.model.measurements`) and progress, as events.
Standard library, triton, torch and numpy; of this project only `explorer.model` and `explorer.pipeline`.
"""
