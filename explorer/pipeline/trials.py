"""Tests with the compiler whether guessed arguments fit a kernel, and changes arguments that do not fit.

In: guesses, and the alternatives for each. Out: guesses that the compiler accepts, or the best guesses that
were found. If the compiler fails, the parameters that the failing expression depends on are changed, the
nearest first; a change is kept if the compiler gets further with it.
"""

from __future__ import annotations

import ast
import contextlib
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from triton.compiler.code_generator import CodeGenerator
from triton.compiler.errors import CompilationError
from triton.runtime.autotuner import Heuristics
from triton.runtime.jit import JITFunction

from explorer.model import Argument
from explorer.model.hardware import Target
from explorer.pipeline.arguments import Constant
from explorer.pipeline.compiler_queries.isolation import CompilerRefused, call_in_forks
from explorer.pipeline.fake_gpu import RecordedLaunch
from explorer.pipeline.functions import called_functions
from explorer.pipeline.guesses import Guess
from explorer.pipeline.import_stubs import find_stub
from explorer.pipeline.lowering import Lowering
from explorer.pipeline.module import FoundKernel

_TIME_LIMIT_SECONDS = 10.0
_MOST_BLAMED = 8
_SMALLEST_BLOCK = 16

Guesses = dict[str, Guess]


def choices_of(guesses: Guesses) -> dict[str, Argument | Constant]:
    """Return the guess for each parameter, without the reasons. The compiler folds arguments equal to 1."""
    return {
        name: Constant(1) if getattr(choice, "specialization", "") == "equal to 1" else choice
        for name, choice in ((name, guess.choice) for name, guess in guesses.items())
    }


@dataclass(frozen=True)
class _Outcome:
    """How far the compiler got with a trial.

    `reached` is the number of nodes of the syntax tree that it visited. `problem` is "" if it reached LLVM
    IR. `blamed` are the parameters that the failing expression depends on, the nearest first.
    """

    reached: int = 0
    problem: str = ""
    blamed: tuple[str, ...] = ()
    shared_bytes: int = 0


def fit_guesses(
    kernel: FoundKernel,
    preset: dict[str, Any],
    target: Target,
    record: Callable[[Guesses], RecordedLaunch],
) -> tuple[Guesses, str]:
    """Return guesses for the arguments of a kernel that the compiler accepts, if some are found.

    The text is the compiler's problem with them, "" if it accepts them. `preset` has the settings of the
    autotune configuration. `record` returns the launch for guesses.
    """
    guesses = {
        parameter.name: kernel.guesser.guess(parameter.name) for parameter in kernel.jit_function.params
    }
    for name in guesses.keys() & preset.keys():
        guesses[name] = Guess(Constant(preset[name]), "Set by the autotune configuration.", True)
    return _Trials(kernel, target, record).fit(guesses)


class _Trials:
    """Tries guesses for one kernel."""

    def __init__(
        self, kernel: FoundKernel, target: Target, record: Callable[[Guesses], RecordedLaunch]
    ) -> None:
        self._kernel = kernel
        self._target = target
        self._record = record
        self._end = time.perf_counter() + _TIME_LIMIT_SECONDS

    def fit(self, guesses: Guesses) -> tuple[Guesses, str]:
        """Return `guesses` with the changes that the compiler needs, and its problem with them."""
        guesses = self._completed(guesses)
        [outcome] = self._try([guesses])
        while outcome.problem or outcome.shared_bytes > self._limit:
            trials = self._smaller(guesses) if not outcome.problem else self._changed(guesses, outcome)
            better = self._best(trials, outcome)
            if better is None:
                break
            guesses, outcome = better
        return guesses, outcome.problem

    @property
    def _limit(self) -> int:
        return self._target.device.multiprocessor.shared_bytes_per_block

    def _completed(self, guesses: Guesses) -> Guesses:
        return with_heuristics(self._kernel.interface, guesses)

    def _changed(self, guesses: Guesses, outcome: _Outcome) -> Iterator[list[Guesses]]:
        """Yield changes of the guesses that a failure depends on; of all blocks if it depends on none."""
        for name in outcome.blamed[:_MOST_BLAMED]:
            if name in guesses:
                alternatives = self._kernel.guesser.alternatives(name, guesses[name])
                yield [self._completed({**guesses, name: each}) for each in alternatives]
        reason = f"With {{}}, the compiler fails: {outcome.problem.splitlines()[0][:120]}"
        for name, guess in guesses.items():
            if value := _block_size(guess):
                yield [
                    self._completed({**guesses, name: Guess(Constant(size), reason.format(value))})
                    for size in (16, 32, 64, 128)
                    if size != value
                ]

    def _smaller(self, guesses: Guesses) -> Iterator[list[Guesses]]:
        """Yield guesses whose largest blocks are halved, so that they need less shared memory."""
        reason = f"Blocks twice as large need more than {self._limit:,} bytes of shared memory."
        yield [self._completed(_halved(guesses, reason))]

    def _best(self, trials: Iterator[list[Guesses]], before: _Outcome) -> tuple[Guesses, _Outcome] | None:
        """Return the first trial that the compiler accepts, or else the trial that gets furthest."""
        for candidates in trials:
            if time.perf_counter() > self._end:
                return None
            outcomes = self._try(candidates)
            for guesses, outcome in zip(candidates, outcomes, strict=False):
                if not outcome.problem and (before.problem or outcome.shared_bytes < before.shared_bytes):
                    return guesses, outcome
            guesses, furthest = max(
                zip(candidates, outcomes, strict=False),
                key=lambda pair: pair[1].reached,
                default=({}, before),
            )
            if furthest.reached > before.reached and furthest.problem != before.problem:
                return guesses, furthest
        return None

    def _try(self, trials: list[Guesses]) -> list[_Outcome]:
        """Lower the kernel with each of `trials`, up to the first that the compiler accepts.

        This happens in a copy of the process, because the compiler aborts at some errors.
        """
        accepted: list[bool] = []

        def attempt(guesses: Guesses) -> _Outcome | None:
            seconds = self._end - time.perf_counter()
            if accepted or seconds <= 0:
                return None
            # Nothing handles the signal: it ends the copy of a trial that takes too long.
            signal.setitimer(signal.ITIMER_REAL, seconds)
            outcome = self._lower(guesses)
            if not outcome.problem:
                accepted.append(True)
            return outcome

        results = call_in_forks([partial(attempt, guesses) for guesses in trials])
        outcomes = []
        for result in results:
            if result is None:
                break
            if isinstance(result, CompilerRefused):
                outcomes.append(_Outcome(problem=str(result)))
            else:
                outcomes.append(_Outcome(**{**result, "blamed": tuple(result["blamed"])}))
        return outcomes

    def _lower(self, guesses: Guesses) -> _Outcome:
        """Lower the kernel to LLVM IR."""
        with _visits_counted() as visits:
            try:
                metadata = self._lowered(guesses)
            except Exception as error:  # The compiler may raise any exception.
                text = str(error) or type(error).__name__
                return _Outcome(visits[0], text, tuple(blamed(error, self._kernel.jit_function)))
        return _Outcome(visits[0], shared_bytes=metadata.get("shared") or 0)

    def _lowered(self, guesses: Guesses) -> dict[str, Any]:
        """Lower the kernel to LLVM IR. Return the outcome."""
        lowering = Lowering.of(self._record(guesses), self._target)
        module = lowering.make_module()
        for name, make in lowering.steps().items():
            if name in ("ptx", "amdgcn"):
                break
            module = make(module, lowering.metadata)
        return lowering.metadata


def _block_size(guess: Guess) -> int:
    """Return the size of the block that may be a guess, or 0."""
    value = guess.choice.value if isinstance(guess.choice, Constant) and not guess.is_certain else None
    return value if type(value) is int and value >= _SMALLEST_BLOCK else 0


def _halved(guesses: Guesses, reason: str) -> Guesses:
    """Return `guesses` with the largest blocks halved."""
    largest = max(map(_block_size, guesses.values()), default=0)
    if largest // 2 < _SMALLEST_BLOCK:
        return guesses
    return {
        name: replace(guess, choice=Constant(largest // 2), reason=reason)
        if _block_size(guess) == largest
        else guess
        for name, guess in guesses.items()
    }


@contextlib.contextmanager
def _visits_counted() -> Iterator[list[int]]:
    """Count the nodes that the compiler visits, in the first item of the list."""
    visits = [0]
    original = CodeGenerator.visit

    def visit(self: Any, node: Any) -> Any:
        visits[0] += 1
        return original(self, node)

    CodeGenerator.visit = visit
    try:
        yield visits
    finally:
        CodeGenerator.visit = original


# --- heuristics -------------------------------------------------------------------------------

_ASSUMED_SIZE = 1024


def with_heuristics(interface: Any, guesses: Guesses) -> Guesses:
    """Return `guesses` with the values that the kernel's `heuristics` decorators compute from them."""
    while interface is not None and not isinstance(interface, JITFunction):
        if isinstance(interface, Heuristics):
            values = {name: _stand_in(guess) for name, guess in guesses.items()}
            for name, compute in interface.values.items():
                # A heuristic that needs more than types and sizes, or a missing module, changes no guess.
                with contextlib.suppress(Exception):
                    value = compute(values)
                    if find_stub([value]) is None:
                        values[name] = value
                        guesses = {**guesses, name: Guess(Constant(value), _BY_HEURISTICS, True)}
        interface = getattr(interface, "fn", None)
    return guesses


_BY_HEURISTICS = "Computed by the heuristics decorator."


def _stand_in(guess: Guess) -> Any:
    """Return an argument of a launch for a guess."""
    if isinstance(guess.choice, Constant):
        return guess.choice.value
    kind = guess.choice.type
    if not kind.startswith("*"):
        return 1.0 if kind.startswith(("fp", "bf")) else _ASSUMED_SIZE
    dtype = getattr(torch, _TORCH_NAMES.get(kind[1:], "float32"))
    return torch.empty((_ASSUMED_SIZE, _ASSUMED_SIZE), dtype=dtype, device="meta")


_TORCH_NAMES = {
    "fp16": "float16",
    "bf16": "bfloat16",
    "i1": "bool",
    "i8": "int8",
    "u8": "uint8",
    "i32": "int32",
    "i64": "int64",
    "fp8e4nv": "float8_e4m3fn",
}


# --- what a failure depends on ----------------------------------------------------------------


def blamed(error: BaseException | None, kernel: Any) -> list[str]:
    """Return the parameters of `kernel` that the failing expression depends on, the nearest first.

    Triton wraps the error of a called function in one error for each caller, with the node of the call.
    """
    functions = {function.src: function for function in called_functions(kernel)}
    chain: list[tuple[Any, ast.AST]] = []
    message = ""
    while error is not None:
        if isinstance(error, CompilationError):
            message = error.error_message or message
            if error.src in functions and isinstance(error.node, ast.AST):
                chain.append((functions[error.src], error.node))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    names: list[str] = []
    for position, (function, node) in reversed(list(enumerate(chain))):
        if position == len(chain) - 1:
            found = _names(node) or _names_of_conditions(function, node)
            mentioned = set(re.findall(r"\w+", message))
            names = sorted(found, key=lambda name: name not in mentioned)
        else:
            names = _passed(node, chain[position + 1][0], names)
        flows = _flows(function)
        parameters = [parameter.name for parameter in function.params]
        names = _reached(names, flows, parameters)
    return names


def _names(node: ast.AST) -> list[str]:
    return list(dict.fromkeys(each.id for each in ast.walk(node) if isinstance(each, ast.Name)))


def _names_of_conditions(function: Any, node: ast.AST) -> list[str]:
    """Return the names in the conditions under which `node` is reached."""
    line = getattr(node, "lineno", 0)
    around = [
        each.test
        for each in ast.walk(function.parse())
        if isinstance(each, ast.If) and each.lineno <= line <= (each.end_lineno or 0)
    ]
    return [name for test in reversed(around) for name in _names(test)]


def _passed(call: ast.AST, callee: Any, names: list[str]) -> list[str]:
    """Return the names in the arguments of `call` that are passed for the parameters `names`."""
    if not isinstance(call, ast.Call):
        return _names(call)
    parameters = [parameter.name for parameter in callee.params]
    given: dict[str, ast.expr] = dict(zip(parameters, call.args, strict=False))
    given.update({each.arg: each.value for each in call.keywords if each.arg})
    return [found for name in names if name in given for found in _names(given[name])]


def _flows(function: Any) -> dict[str, list[str]]:
    """Return the names that the value of each local name is computed from."""
    flows: dict[str, list[str]] = {}
    for node in ast.walk(function.parse()):
        targets: list[ast.expr] = []
        value: ast.expr | None = None
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets, value = [node.target], node.value
        elif isinstance(node, ast.For):
            targets, value = [node.target], node.iter
        if value is not None:
            for target in targets:
                for name in _names(target):
                    flows.setdefault(name, []).extend(_names(value))
    return flows


def _reached(names: list[str], flows: dict[str, list[str]], parameters: list[str]) -> list[str]:
    """Return the parameters from which `names` are computed, the nearest first."""
    seen = list(dict.fromkeys(names))
    for name in seen:
        seen += [each for each in dict.fromkeys(flows.get(name, ())) if each not in seen]
    return [name for name in seen if name in parameters]
