"""Compiles kernels in tests, which check their metrics."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from explorer.cli.api import Api
from explorer.cli.compile import compile_kernel
from explorer.cli.tools import read_files, read_source
from explorer.model import Scalar
from explorer.model.hardware import DEFAULT_TARGET
from explorer.python.compile_kernel import script_of
from explorer.queries.metrics import MetricsDocument


class KernelMetrics:
    """Compiles a kernel when it is called, and returns its metrics."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def __call__(
        self,
        kernel: Any,
        signature: str | None = None,
        *,
        target: str = DEFAULT_TARGET,
        triton: str | None = None,
        name: str | None = None,
        launch: int | None = None,
        config: int | None = None,
        options: Mapping[str, Scalar] | None = None,
        root: str | Path | None = None,
        script_arguments: str = "",
    ) -> MetricsDocument:
        """Compile a kernel and return its metrics.

        `kernel` is the path of a Python file, or a function with `@triton.jit`. `root` is a folder above the
        file: imported files below it are included. The other arguments are the same as for
        `explorer.compile`.

        Raises:
            AssertionError: the kernel does not compile.
            ExplorerError: the file cannot be read, or the request is refused.
        """
        if isinstance(kernel, str | Path):
            path, source = str(kernel), read_source(Path(kernel))
            folder = Path(root) if root else None
            beside = read_files(
                argparse.Namespace(file=Path(kernel), root=folder, assume=[], script_args=script_arguments)
            )
        else:
            source, name = script_of(kernel)
            path, beside = name, {}
        body = {
            "source": source,
            "target": target,
            "triton": triton,
            "kernel": name,
            "launch": launch,
            "arguments": signature,
            "config": config,
            "options": dict(options or {}),
            **beside,
        }
        address, index = compile_kernel(self._api, body)
        if index["status"] != "complete":
            errors = [each["message"] for each in index["diagnostics"] if each["severity"] == "error"]
            raise AssertionError(f"{path} does not compile for {target}: {'; '.join(errors)}")
        return msgspec.json.decode(self._api.get(f"{address}/metrics"), type=MetricsDocument)
