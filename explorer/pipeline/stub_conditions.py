"""Answers of missing modules about the target: whether a condition holds, and the compute capability.

A missing module does not say what `is_hopper()` means. The words of its name decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from triton.backends.compiler import GPUTarget
from triton.runtime.driver import driver

#: Conditions of missing modules, by words in their names, and whether they hold for a target. The first word
#: decides.
_CONDITIONS: tuple[tuple[re.Pattern[str], Callable[[GPUTarget], bool]], ...] = tuple(
    (re.compile(words, re.IGNORECASE), is_met)
    for words, is_met in (
        (r"(?<![a-z])(?:xpu|npu|cpu|tpu|hpu|mps|musa|intel|ascend)", lambda _target: False),
        (r"alike", lambda _target: True),
        (r"rdna", lambda target: str(target.arch).startswith("gfx1")),
        (r"cdna", lambda target: str(target.arch).startswith("gfx9")),
        (r"(?<![a-z])hip(?![a-z])|rocm|(?<![a-z])amd", lambda target: target.backend == "hip"),
        (r"nvidia|is_cuda", lambda target: target.backend == "cuda"),
        (r"tma(?![a-z])|tensor_?desc", lambda target: capability_of(target) >= (9, 0)),
        (r"fp8|float8", lambda target: capability_of(target) >= (8, 9) or "gfx9" in str(target.arch)),
        (r"cuda|gpu|version|support|triton|gluon", lambda _target: True),
    )
)
#: The words of the last condition are not only about targets.
_ABOUT_TARGETS = tuple(words for words, _ in _CONDITIONS[:-1])

#: Names of NVIDIA's architectures in the names of conditions, and words that include all later architectures.
_ARCHITECTURES = re.compile(r"ampere|hopper|blackwell|sm_?(\d{2,3})", re.IGNORECASE)
_MAJOR_CAPABILITIES = {"ampere": 8, "hopper": 9, "blackwell": 10}
#: The beginnings of names that ask a question, which True or False answers.
_ASKS = re.compile(r"_*(?:is|has|supports?)(?![a-z])", re.IGNORECASE)
_OR_LATER = re.compile(r"later|newer|above|plus|least|support|require|has_", re.IGNORECASE)


class Capability(NamedTuple):
    """The compute capability of the target, in the forms that packages give it."""

    major: int
    minor: int

    def to_int(self) -> int:
        return self.major * 10 + self.minor


def capability_of(target: GPUTarget) -> Capability:
    """Return the compute capability of a target. It is (0, 0) for a GPU of AMD."""
    return Capability(*divmod(target.arch, 10)) if target.backend == "cuda" else Capability(0, 0)


def decides(condition: str) -> bool:
    """Return whether `condition` is a question, and a word in it is about the target."""
    words = (_ARCHITECTURES, *_ABOUT_TARGETS)
    return bool(_ASKS.match(condition)) and any(each.search(condition) for each in words)


def holds(condition: str, target: GPUTarget) -> bool:
    """Return whether a condition of a missing module holds for `target`, as its name tells."""
    if found := _ARCHITECTURES.search(condition):
        number = found.group(1)
        asked = divmod(int(number), 10) if number else (_MAJOR_CAPABILITIES[found.group().lower()],)
        of_target = capability_of(target)[: len(asked)]
        return bool(of_target >= asked if _OR_LATER.search(condition) else of_target == asked)
    return next((is_met(target) for words, is_met in _CONDITIONS if words.search(condition)), False)


def answer_about_capability(function: str, arguments: tuple[Any, ...]) -> Any:
    """Return the compute capability, or compare it with an argument, as in `has_device_capability(90)`."""
    capability = Capability(*driver.active.get_device_capability())
    if not arguments or not function.startswith(("has", "is", "supports")):
        return capability
    asked = divmod(arguments[0], 10) if isinstance(arguments[0], int) else arguments[0]
    return capability == asked if function.startswith("is") else capability >= asked
