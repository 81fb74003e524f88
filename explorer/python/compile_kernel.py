"""Compile a function of the running program, or a source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.capture.script import ScriptWriter
from explorer.cli.compile import compile_kernel
from explorer.errors import InvalidRequest
from explorer.model import Scalar
from explorer.model.hardware import DEFAULT_TARGET
from explorer.python.result import Result
from explorer.python.service import find_api


def compile(  # noqa: A001  the name that users call
    kernel: Any,
    signature: str | None = None,
    *,
    target: str = DEFAULT_TARGET,
    triton: str | None = None,
    name: str | None = None,
    launch: int | None = None,
    config: int | None = None,
    options: Mapping[str, Scalar] | None = None,
    script_arguments: str = "",
    private: bool = False,
    server: str | None = None,
) -> Result:
    """Compile a kernel and return everything about it. A failed compilation is a result, too.

    `kernel` is a function with `@triton.jit`, which is taken with the functions and globals that it uses, or
    the text of a script. `signature` has the types of its arguments, such as "*fp32:16, i32, 1024"; without
    it, a script needs a launch, and the arguments of a function are guessed. A script that calls a function
    returned by `torch.compile` has the kernels of PyTorch's compiler. `name` selects a kernel of a script,
    `options` are compiler options such as `num_warps`, and `script_arguments` are the arguments of a script,
    such as "--rows 64". Nobody can guess the address of a `private` result. `server` is the address of a
    server, or "none"; otherwise the server is found as by the command line. Without a server, this process
    compiles in its own sandbox.

    Raises:
        InvalidRequest: `kernel` is neither a function nor a script, or uses an object that cannot be written
        as Python.
        ExplorerError: the server refuses the request, or cannot be reached.
    """
    source, own_name = (kernel, name) if isinstance(kernel, str) else script_of(kernel)
    body = {
        "source": source,
        "target": target,
        "triton": triton,
        "kernel": own_name,
        "launch": launch,
        "arguments": signature,
        "config": config,
        "options": dict(options or {}),
        "script_arguments": script_arguments,
        "private": private or None,
    }
    return compile_body(body, server)


def compile_body(body: dict[str, Any], server: str | None) -> Result:
    """Compile the kernel in the body of a request, or the output code of a program with `torch.compile`."""
    api = find_api(server)
    _, index = compile_kernel(api, body)
    return Result(api, index["id"])


def script_of(kernel: Any) -> tuple[str, str]:
    """Return a script with a function of the program and the objects it uses, and the function's name there.

    Raises:
        InvalidRequest: the object is not a function with `@triton.jit`, or it cannot be written.
    """
    writer = ScriptWriter()
    name = writer.function(below_wrappers(kernel))
    source = writer.write("")
    if writer.problems:
        raise InvalidRequest(f"{name} cannot be written as a script: {'; '.join(writer.problems)}.")
    return source, name


def below_wrappers(kernel: Any) -> Any:
    """Return the function with `@triton.jit` below `autotune` and `heuristics`.

    Raises:
        InvalidRequest: there is none.
    """
    while hasattr(kernel, "fn") and not hasattr(kernel, "src"):
        kernel = kernel.fn
    if not hasattr(kernel, "src"):
        raise InvalidRequest("The kernel must be a function with @triton.jit, or the text of a script.")
    return kernel
