"""Compares the tensors that the kernel writes with the reference."""

from __future__ import annotations

from dataclasses import replace

import torch

from explorer.model import Diagnostic, Event, Original
from explorer.model.measurements import Check, OutputCheck
from explorer.pipeline import user_source
from explorer.pipeline.errors import user_error
from explorer.runner.difference import compare
from explorer.runner.launch.capture import capture
from explorer.runner.launch.captured_launch import CapturedLaunch, InterpretedLaunch
from explorer.runner.launch.reference import ReferenceFailed, find_references
from explorer.runner.measures.context import MeasureContext

_ORIGINAL = "the original kernel"


def measure(context: MeasureContext) -> None:
    """Launch once on the original values, and compare."""
    launch = context.launch
    assert isinstance(launch, CapturedLaunch)
    context.report_progress("Comparing with the reference")
    original = context.run.original
    if original is not None:
        context.emit_measurement(_check_original(context, launch, original))
    else:
        context.emit_measurement(_check(context, launch))


def _check(context: MeasureContext, launch: CapturedLaunch) -> Check:
    """Compare with the first reference that can be computed."""
    references = find_references(launch)
    if isinstance(references, str):
        return Check(references, "")
    if _is_partial(launch) and isinstance(launch, InterpretedLaunch) and launch.counter.has_atomics:
        ran = launch.interpretation
        return Check(
            f"Only {ran.programs:,} of {ran.grid_programs:,} programs were run, and they add to each "
            "other's results. Reduce the sizes.",
            references[0].text,
        )
    problems = []
    for reference in references:
        try:
            expected = reference.in_high_precision()
        except ReferenceFailed as failure:
            problems.append(f"{reference.text}: {failure}")
            continue
        outputs = tuple(
            compare(name, actual, wanted, written)
            for name, actual, wanted, written in _pairs(launch, expected)
        )
        if outputs:
            for output in outputs:
                _emit_difference(context, output)
            return Check("", reference.text, outputs)
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in expected) or "no tensor"
        problems.append(f"{reference.text} returns {shapes}, and the kernel writes no tensor of that shape")
    return Check(f"No output could be compared: {'; '.join(problems)}.", references[0].text)


def _check_original(context: MeasureContext, launch: CapturedLaunch, original: Original) -> Check:
    """Compare with what the original writes; in the interpreter, where both were run."""
    request = replace(
        context.request,
        source=original.source,
        config=original.config,
        options=original.options,
        constants=original.constants,
    )
    capture_context = launch.capture_context
    one = _copied(launch.results())
    other = capture(request, context.run, capture_context.target, _ignore, capture_context.progress)
    user_source.register_script(context.request.source, context.request.path, context.request.files)
    if any(
        _is_partial(each) and each.counter.has_atomics
        for each in (launch, other)
        if isinstance(each, InterpretedLaunch)
    ):
        if not _is_partial(other):
            raise user_error(
                "Programs of the kernel were left out for lack of time, but none of the original."
            )
        return Check("Programs that were not run add to the results. Reduce the sizes.", _ORIGINAL)
    results = _copied(other.results())
    written = list(dict.fromkeys((*_written(launch), *_written(other))))
    # The shape of others, such as partial sums of blocks, follows a change.
    common = [
        name for name in written if name in results and name in one and results[name].shape == one[name].shape
    ]
    if written and not common:
        return Check(f"The original writes no {written[0]} of this shape.", _ORIGINAL)
    outputs = []
    for name in common:
        where = _common(launch, other, name)
        if where is None or bool(where.any()):
            outputs.append(compare(name, one[name], results[name], where))
    if not outputs:
        return Check("The programs that were run write no common element. Reduce the sizes.", _ORIGINAL)
    for output in outputs:
        _emit_difference(context, output)
    return Check("", _ORIGINAL, tuple(outputs))


def _copied(results: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return copies: the next launch writes into the tensors of this one."""
    return {name: tensor.clone() for name, tensor in results.items()}


def _written(launch: CapturedLaunch) -> list[str]:
    return written_tensors(launch, list(launch.tensors.values()))


def _common(one: CapturedLaunch, other: CapturedLaunch, name: str) -> torch.Tensor | None:
    """Return the elements to compare: what both write if programs are left out, otherwise what one writes."""
    first, second = one.written(name), other.written(name)
    if first is None or second is None:
        return None
    return first & second if _is_partial(one) or _is_partial(other) else first | second


def _ignore(_event: Event) -> None:
    """Discard an event of the original: its own run shows it."""


def _is_partial(launch: CapturedLaunch) -> bool:
    return isinstance(launch, InterpretedLaunch) and not launch.interpretation.is_whole


def _pairs(
    launch: CapturedLaunch, expected: list[torch.Tensor]
) -> list[tuple[str, torch.Tensor, torch.Tensor, torch.Tensor | None]]:
    """Pair each tensor of the reference with the first tensor of its shape that the kernel writes."""
    written = written_tensors(launch, expected)
    results = launch.results()
    is_partial = _is_partial(launch)
    pairs = []
    for wanted in expected:
        name = next((name for name in written if results[name].shape == wanted.shape), None) or next(
            (name for name in written if results[name].numel() == wanted.numel()), None
        )
        if name is None:
            continue
        written.remove(name)
        pairs.append((name, results[name], wanted, launch.written(name) if is_partial else None))
    return pairs


def written_tensors(launch: CapturedLaunch, expected: list[torch.Tensor]) -> list[str]:
    """Return the names of the tensors that the kernel writes, in the order of its parameters."""
    results = launch.results()
    names: list[str] = []
    unchanged: list[str] = []
    for name, tensor in results.items():
        elements = launch.written(name)
        if elements is not None:
            is_written = bool(elements.any())
        else:
            is_written = not _is_same(tensor, launch.before.of(launch.tensors[name]))
        (names if is_written else unchanged).append(name)
    # The kernel may write the same values as before: reused memory contains old results.
    sizes = {tensor.numel() for tensor in expected}
    for name in unchanged:
        is_known = launch.written(name) is not None or len(names) >= len(expected)
        may_be_result = results[name].numel() in sizes and results[name].is_floating_point()
        if not is_known and may_be_result and _is_rewritten(launch, name):
            names.append(name)
    return [name for name in results if name in names]


def _is_rewritten(launch: CapturedLaunch, name: str) -> bool:
    """Return whether the kernel overwrites other values in a tensor."""
    launch.restore()
    tensor = launch.tensors[name].detach()
    tensor.fill_(1.0)
    if _is_same(tensor, launch.before.of(tensor)):
        tensor.fill_(2.0)
    filled = tensor.clone()
    launch.run()
    is_rewritten = not _is_same(tensor, filled)
    launch.restore()
    return is_rewritten


def _is_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two tensors have the same bits."""
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    kind = kinds.get(one.element_size(), one.dtype)
    return bool(torch.equal(one.detach().view(kind), other.detach().to(one.device).view(kind)))


def _emit_difference(context: MeasureContext, output: OutputCheck) -> None:
    """Emit a diagnostic if an output is wrong."""
    if output.matches:
        return
    where = f"at {list(output.worst_index)}"
    if output.not_finite:
        elements = "element is" if output.not_finite == 1 else "elements are"
        message = (
            f"{output.name}: {output.not_finite:,} {elements} NaN or infinite where the reference is not, "
            f"or vice versa; the first {where}."
        )
    else:
        message = (
            f"{output.name} does not match the reference: relative error {output.relative_error:.2g} "
            f"(at most {output.tolerance:g}), worst {where}: {output.worst_value:.6g} instead of "
            f"{output.worst_reference:.6g}."
        )
    context.emit(Diagnostic("error", message, "check", context.launch.facts.line))
