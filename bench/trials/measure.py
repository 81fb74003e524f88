"""Times kernels and proven changes on a GPU. Needs PyTorch, Triton and the libraries, but not the explorer.

Each script is executed once. When it makes a launch with trials, the launch and each changed launch are timed
in turns. An autotuned kernel has its first configuration, as in the explorer.
"""

from __future__ import annotations

import ast
import json
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

_TURNS = 4
_WARM_UP_MS, _REPEAT_MS = 10, 60
_TOLERANCE = 2e-2
Launch = Callable[[], Any]

_real_run = JITFunction.run


def measure(trials: Path, output: Path, packages: Path) -> None:
    """Time the trials of a file, and write the times in milliseconds."""
    sys.path.append(str(packages))
    rows: list[dict[str, Any]] = []
    Autotuner.run = _run_first_configuration
    device = torch.cuda.get_device_name()
    versions = {"triton": triton.__version__, "torch": torch.__version__}
    with tempfile.TemporaryDirectory() as folder:
        for number, script in enumerate(json.loads(trials.read_text())):
            if any(each["trials"] for each in script["launches"]):
                _Script(script, Path(folder) / f"script{number}.py", rows).execute()
                print(script["script"], len(rows), flush=True)
                output.write_text(json.dumps({"device": device, **versions, "trials": rows}, indent=1))


def _run_first_configuration(self: Any, *arguments: Any, **named: Any) -> Any:
    self.nargs = dict(zip(self.arg_names, arguments, strict=False))
    configs = self.prune_configs(named) if len(self.configs) > 1 else self.configs
    return self.fn.run(*arguments, **{**configs[0].all_kwargs(), **named})


class _Script:
    """A script that is executed, and its launches that are measured."""

    def __init__(self, script: dict[str, Any], path: Path, rows: list[dict[str, Any]]) -> None:
        self._script, self._path, self._rows = script, path, rows
        self._seen: Counter[str] = Counter()
        self._is_measuring = False

    def execute(self) -> None:
        """Execute the script, and measure."""
        self._path.write_text(self._script["source"])
        script = self

        def run(self: Any, *arguments: Any, grid: Any, warmup: bool, **named: Any) -> Any:
            script.launched(self, arguments, grid, warmup, named)
            return _real_run(self, *arguments, grid=grid, warmup=warmup, **named)

        JITFunction.run = run
        names = {"__name__": self._path.stem, "__file__": str(self._path)}
        exec(compile(self._script["source"], str(self._path), "exec"), names)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()

    def launched(self, kernel: Any, arguments: Any, grid: Any, warmup: bool, named: dict[str, Any]) -> None:
        """Measure the trials of a launch."""
        if warmup or self._is_measuring:
            return
        name = kernel.__name__
        mine = [each for each in self._script["launches"] if each["kernel"] == name]
        self._seen[name] += 1
        if self._seen[name] > len(mine):
            return
        self._is_measuring = True
        try:
            self._measure(mine[self._seen[name] - 1], kernel, arguments, grid, named)
        finally:
            self._is_measuring = False

    def _measure(self, launch: dict[str, Any], kernel: Any, arguments: Any, grid: Any, named: Any) -> None:
        tensors = [each for each in (*arguments, *named.values()) if isinstance(each, torch.Tensor)]
        saved = [each.data.clone() for each in tensors]

        def results(call: Launch) -> list[Any]:
            for tensor, content in zip(tensors, saved, strict=True):
                tensor.data.copy_(content)
            call()
            return [each.data.clone() for each in tensors]

        before = _changed(kernel, arguments, grid, named, {"options": {}, "constants": {}})
        expected = results(before)
        for trial in launch["trials"]:
            change = trial["change"]
            other = self._edited(kernel, change["edits"]) if change["edits"] else kernel
            after = _changed(other, arguments, grid, named, change)
            is_same = all(map(_are_close, results(after), expected))
            times = [(_milliseconds(before), _milliseconds(after)) for _ in range(_TURNS)]
            self._rows.append(
                {
                    "script": self._script["script"],
                    "origin": self._script["origin"],
                    **{name: launch[name] for name in ("launch", "kernel")},
                    **trial,
                    "has_same_results": is_same,
                    "before_ms": statistics.median(each for each, _ in times),
                    "after_ms": statistics.median(each for _, each in times),
                    "spread": max(max(each) / min(each) for each in zip(*times, strict=True)),
                }
            )
        results(before)

    def _edited(self, kernel: Any, edits: list[dict[str, Any]]) -> Any:
        """Return the kernel of the changed source, whose launches are left out."""
        lines = self._script["source"].split("\n")
        for each in edits:
            lines[each["line"] - 1] = each["text"]
        path = self._path.with_name(f"{self._path.stem}_edited{len(self._rows)}.py")
        path.write_text("\n".join(lines))
        tree = ast.parse("\n".join(lines))
        last = max(each.lineno for each in tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef))
        tree.body = [each for each in tree.body if each.lineno <= last and not isinstance(each, ast.Expr)]
        names: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
        exec(compile(tree, str(path), "exec"), names)
        found = names[kernel.__name__]
        while not isinstance(found, JITFunction):
            found = found.fn
        return found


def _changed(kernel: Any, arguments: Any, grid: Any, named: dict[str, Any], change: dict[str, Any]) -> Launch:
    """Return a launch with other options and constants."""
    positions = [each.name for each in kernel.params]
    given, others = list(arguments), {**named, **change["options"]}
    for name, value in change["constants"].items():
        if (position := positions.index(name)) < len(given):
            given[position] = value
        else:
            others[name] = value
    return lambda: _real_run(kernel, *given, grid=grid, warmup=False, **others)


def _are_close(one: Any, other: Any) -> bool:
    close = torch.allclose(one.float(), other.float(), rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)
    return bool(close)


def _milliseconds(call: Launch) -> float:
    return float(triton.testing.do_bench(call, warmup=_WARM_UP_MS, rep=_REPEAT_MS, return_mode="median"))
