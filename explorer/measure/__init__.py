"""Runs a kernel, on a GPU or in Triton's interpreter, and measures it. Behind the wall, like `pipeline`.

In: a request whose task is "run". Out: measurements (`explorer.measurements`) and progress, as events.
Standard library, triton, torch and numpy; of ours the model, the measurements and `pipeline`.
"""
