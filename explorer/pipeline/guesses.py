"""Guesses the arguments of a kernel that no script launches, from how its code uses them.

In: a parameter, and the `Usage` of its kernel. Out: a guess with its reason, and the alternatives to try if
the compiler rejects it (`trials`).
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import triton.language as tl
from triton.runtime.jit import JITCallable

from explorer.model import Argument
from explorer.model.signature_types import TYPES
from explorer.pipeline.arguments import Constant, to_scalar
from explorer.pipeline.usage import Fact, Facts, Usage

_POINTER_NAME = re.compile(r"(^|_)ptrs?\d*($|_)|ptr$", re.IGNORECASE)
_FLOAT_NAME = re.compile(r"(^|_)(eps|epsilon|scale|alpha|beta|lr|momentum|decay)($|_)", re.IGNORECASE)
_FLAG_NAME = re.compile(r"^(is|has|use|do|with|enable|store|return|even|allow|need)_", re.IGNORECASE)
#: Small numbers by the names that Triton's documentation gives them.
_COUNTS = (
    (re.compile(r"stage", re.IGNORECASE), 2),
    (re.compile(r"warps", re.IGNORECASE), 4),
    (re.compile(r"num_sms", re.IGNORECASE), 128),
    (re.compile(r"^group_size|group_m", re.IGNORECASE), 8),
)

_USES: dict[Fact, str] = {
    "address": "an address of memory",
    "descriptor": "a tensor descriptor",
    "integer": "an offset, a bound or a divisor",
    "near integer": "an operand of integer arithmetic",
    "float": "an operand of floating-point arithmetic",
    "near float": "an operand of floating-point arithmetic",
    "condition": "a condition",
    "shape": "the size of a block",
    "count": "the number of iterations of an unrolled loop",
    "bits": "the number of bits of a shift",
    "items": "a tuple",
    "dtype": "an element type",
    "function": "a function",
    "layout": "a layout",
    "dot": "an operand of a matrix product",
    "widened": "a number that is converted to fp32",
    "element": "the result of a conversion",
    "compared": "an operand of a comparison",
}

_ELEMENTS = ("fp16", "fp32", "i32", "i64", "bf16", "i8", "u8", "u32", "i1", "fp8e4nv")
_SIZES = (64, 16, 128, 32, 1, 2, 4, 8, 256, 0)
_DTYPES = (tl.float32, tl.float16, tl.bfloat16, tl.int32, tl.int8, tl.float8e4nv)


@dataclass(frozen=True)
class Guess:
    """A guessed argument: a type or the value of a constant, and a sentence that gives the reason."""

    choice: Argument | Constant
    reason: str
    is_certain: bool = False

    def argument(self, name: str) -> Argument:
        """Return the guess as the form shows it."""
        if isinstance(self.choice, Argument):
            return self.choice
        return Argument(name, "constexpr", to_scalar(self.choice.value), "constexpr")


class Guesser:
    """Guesses the arguments of one kernel. `namespace` has the global names of its source."""

    def __init__(
        self, jit_function: Any, usage: Usage, preset: dict[str, Any], namespace: dict[str, Any]
    ) -> None:
        self._usage = usage
        self._preset = preset
        self._kernel = jit_function
        self._parameters = {parameter.name: parameter for parameter in jit_function.params}
        self._functions = [
            value
            for value in namespace.values()
            if isinstance(value, JITCallable) and value is not jit_function
        ]
        self._shapes = sum("shape" in usage.of(name) for name in self._parameters)

    def guess(self, name: str) -> Guess:
        parameter = self._parameters[name]
        if name in self._preset:
            return Guess(Constant(self._preset[name]), "Set by the autotune configuration.", True)
        if parameter.is_constexpr:
            return self._constant(name, parameter.default)
        if parameter.annotation_type:
            kind = parameter.annotation_type
            return Guess(_typed(name, kind), "Annotated in the source.", True)
        if parameter.default is None:
            return Guess(Constant(None), "The default in the source.")
        return self._runtime(name, parameter.default)

    def alternatives(self, name: str, guess: Guess) -> Iterator[Guess]:
        """Yield alternatives for the parameter `name`, the likeliest first."""
        if guess.is_certain:
            return
        refused = guess.argument(name)
        shown = refused.type if refused.type != "constexpr" else repr(refused.value)
        reason = f"The compiler rejected {shown}."
        tried = [repr(guess.choice)]
        if self._parameters[name].is_constexpr:
            choices: Iterator[Argument | Constant] = (Constant(value) for value in self._constants(name))
        else:
            choices = self._types(name)
        for choice in choices:
            # 1 and True are equal, but the compiler distinguishes them.
            if repr(choice) not in tried:
                tried.append(repr(choice))
                yield Guess(choice, reason)

    # --- arguments of a launch --------------------------------------------------------------------

    def _runtime(self, name: str, default: Any) -> Guess:
        facts = self._usage.of(name)
        if "address" in facts:
            element, reason = self._element(name)
            return Guess(_typed(name, f"*{element}"), f"{_reason(facts, 'address')[:-1]}{reason}.")
        if "descriptor" in facts:
            return Guess(self._descriptor(name, 64), _reason(facts, "descriptor"))
        if (line := self._usage.innermost_strides.get(name)) is not None:
            where = f" in line {line}" if line else ""
            return Guess(Argument(name, "i32", 1, "equal to 1"), f"The innermost stride{where}.")
        if isinstance(default, bool):
            return Guess(_typed(name, "i1"), "By its default in the source.")
        if isinstance(default, float):
            return Guess(_typed(name, "fp32"), "By its default in the source.")
        fact: Fact
        for fact, kind in (
            ("integer", "i32"), ("float", "fp32"), ("near float", "fp32"), ("near integer", "i32"),
        ):  # fmt: skip
            # An offset, which may be loaded, is added to a pointer, too.
            if fact.startswith("near") and _POINTER_NAME.search(name):
                break
            if fact in facts and not (fact == "near float" and "near integer" in facts):
                return Guess(_typed(name, kind), _reason(facts, fact))
        if _POINTER_NAME.search(name):
            return Guess(_typed(name, f"*{self._float()}"), "By its name.")
        if _FLOAT_NAME.search(name):
            return Guess(_typed(name, "fp32"), "By its name.")
        return Guess(_typed(name, "i32"), "Nothing in the code shows its type.")

    def _float(self) -> str:
        return "fp16" if self._usage.has_dot else "fp32"

    def _element(self, name: str) -> tuple[str, str]:
        """Return the type of the elements that a pointer points to, and the reason."""
        facts = self._usage.of(name, 1)
        stored = [value for value in facts.values if value in TYPES]
        if "address" in facts:
            return "i64", _reason(facts, "address", "; its elements as")[:-1]
        elements: dict[Fact, str] = {
            "integer": "i32",
            "element": stored[0] if stored else "",
            "dot": "fp16",
            "widened": "fp16",
            "float": self._float(),
            "near integer": "i32",
            "condition": "i1",
        }
        for fact, element in elements.items():
            if fact in facts and element:
                return element, _reason(facts, fact, "; its elements as")[:-1]
        return self._float(), ""

    def _descriptor(self, name: str, size: int) -> Argument:
        ranks = [value for value in self._usage.of(name).values if isinstance(value, int)]
        shape = ", ".join([str(size)] * (ranks[0] if ranks else 2))
        element, _reason_of_element = self._element(name)
        return Argument(name, f"tensordesc<{element}[{shape}]>")

    def _types(self, name: str) -> Iterator[Argument | Constant]:
        facts = self._usage.of(name)
        none = Constant(None)
        pointers = [_typed(name, f"*{element}") for element in _ELEMENTS]
        scalars = [_typed(name, kind) for kind in ("i32", "fp32", "i64", "i1")]
        if "descriptor" in facts:
            sizes = (64, 128, 32, 16, 256)
            ranks = [value for value in facts.values if isinstance(value, int)]
            for element in (self._element(name)[0], "fp16", "fp32", "bf16"):
                for shape in itertools.product(sizes[:4], repeat=min(ranks[0] if ranks else 2, 2)):
                    yield Argument(name, f"tensordesc<{element}[{', '.join(map(str, shape))}]>")
        elif "address" in facts:
            yield from pointers
            yield from scalars
            yield none
        elif "integer" in facts or "near integer" in facts:
            yield from scalars
            yield from pointers
            yield none
        else:
            yield from (pointers[1], *scalars, *pointers)
            yield none

    # --- constants --------------------------------------------------------------------------------

    def _constant(self, name: str, default: Any) -> Guess:
        if default is not inspect.Parameter.empty:
            return Guess(Constant(default), "The default in the source.", default is not None)
        facts = self._usage.of(name)
        texts = [value for value in facts.values if isinstance(value, str)]
        numbers = [value for value in facts.values if isinstance(value, bool | int)]
        counted = next((count for pattern, count in _COUNTS if pattern.search(name)), None)
        if "layout" in facts:
            return Guess(Constant(next(_layouts(), None)), _reason(facts, "layout"))
        if "dtype" in facts:
            return Guess(Constant(tl.float16 if self._usage.has_dot else tl.float32), _reason(facts, "dtype"))
        if "function" in facts:
            return Guess(Constant(next(iter(self._functions), None)), _reason(facts, "function"))
        if "items" in facts:
            return Guess(Constant(tuple(range(0, 512, 64))), _reason(facts, "items"))
        if texts:
            return Guess(Constant(texts[0]), _reason(facts, "compared"))
        if "shape" in facts:
            return Guess(Constant(self._block(name)), _reason(facts, "shape"))
        if counted is not None:
            return Guess(Constant(counted), "By its name.")
        if "count" in facts or "bits" in facts:
            return Guess(Constant(4), _reason(facts, "count" if "count" in facts else "bits"))
        if "condition" in facts:
            return Guess(Constant(False), _reason(facts, "condition"))
        if numbers and not {"integer", "near integer"} & facts.lines.keys():
            return Guess(Constant(numbers[0]), _reason(facts, "compared"))
        if _FLAG_NAME.search(name):
            return Guess(Constant(False), "By its name.")
        if "float" in facts or ("near float" in facts and "integer" not in facts):
            value = 1e-6 if _FLOAT_NAME.match(name) and "eps" in name.lower() else 1.0
            return Guess(Constant(value), _reason(facts, "float" if "float" in facts else "near float"))
        for fact in ("integer", "near integer"):
            if fact in facts:
                return Guess(Constant(64), _reason(facts, fact))
        return Guess(Constant(64), "Nothing in the code shows its value.")

    def _block(self, name: str) -> int:
        if self._usage.has_dot:
            return 32 if name.upper().endswith("K") and self._shapes > 2 else 64
        return {1: 128, 2: 64}.get(self._shapes, 16)

    def _constants(self, name: str) -> Iterator[Any]:
        facts = self._usage.of(name)
        yield from facts.values
        if "layout" in facts:
            yield from _layouts()
        if "dtype" in facts:
            yield from _DTYPES
        if "function" in facts:
            yield from self._functions
        if "condition" in facts:
            yield from (True, False)
        yield from _SIZES
        yield from (True, False, None, 0.5)
        if "dtype" not in facts:
            yield from _DTYPES[:2]
        if "function" not in facts:
            yield from self._functions


def _typed(name: str, kind: str) -> Argument:
    """Return an argument of a type. Addresses and integers are assumed to be multiples of 16, as usual."""
    divisible = kind.startswith("*") or (kind[0] in "iu" and kind not in ("i1", "u1"))
    return Argument(name, kind, None, "divisible by 16" if divisible else "")


def _reason(facts: Facts, fact: Fact, subject: str = "Used as") -> str:
    line = facts.lines.get(fact, 0)
    return f"{subject} {_USES[fact]}{f' in line {line}' if line else ''}."


def _layouts() -> Iterator[Any]:
    """Yield layouts of Gluon for blocks with one and two dimensions."""
    from triton.experimental.gluon import language as gl

    yield gl.BlockedLayout([1], [32], [4], [0])
    yield gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
