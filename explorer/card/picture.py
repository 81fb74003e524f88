"""The preview image of a compilation: kernel, target, stages, and resources or the error."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from threading import Lock

from explorer.card.canvas import Canvas, Look, plain
from explorer.documents import CompilationDocument, ResourcesDocument, StageDocument
from explorer.model import Diagnostic
from explorer.model.hardware import find_target
from explorer.pipeline.stages import STAGES, stages_of

WIDTH, HEIGHT = 1200, 630
_MARGIN = 64
_ROOM = WIDTH - 2 * _MARGIN
_GAP = 28
_MOST_STAGES = 8
_PATH_TOP, _PATH_BOTTOM = 286, 384
_NAME_SIZES = (76, 66, 56, 46)
_MESSAGE_COLUMNS, _MESSAGE_LINES = 56, 3
_PROGRAM = "A compiler writes the kernels of this program."
#: Half of the possible warps hide most of the latency of memory.
_SUFFICIENT_OCCUPANCY = 0.5
_ORDER = {stage.name: place for place, stage in enumerate(STAGES)}
_TITLES = {stage.name: stage.title for stage in STAGES}

#: One image at a time, so that a link in many chats does not occupy all threads.
_drawing = Lock()


def draw_card(document: CompilationDocument, look: Look) -> bytes:
    """Draw the preview image of a result, as a PNG."""
    with _drawing:
        canvas = Canvas(look, WIDTH, HEIGHT, "bg")
        _draw_heading(canvas, document)
        _draw_path(canvas, document)
        if document.status == "kernels_found":
            _draw_message(canvas, _PROGRAM, 0, "accent")
        elif document.status == "failed":
            _draw_failure(canvas, document.diagnostics)
        elif document.resources is not None:
            _draw_facts(canvas, _facts_of(document.resources, document.target.name))
        return canvas.png()


# --- the heading --------------------------------------------------------------------------------


def _draw_heading(canvas: Canvas, document: CompilationDocument) -> None:
    x = _MARGIN + canvas.text((_MARGIN, 86), "triton", size=28, weight=650)
    x += canvas.text((x, 86), "·", size=28, weight=800, color="accent")
    canvas.text((x, 86), "explorer", size=28, weight=650)
    words, color = {
        "complete": ("", "ok"),
        "failed": ("failed", "bad"),
        "kernels_found": (document.output_code.found_words if document.output_code else "", "accent"),
        "queued": ("waiting", "mute"),
        "running": ("compiling", "accent"),
    }[document.status]
    if words:
        width = canvas.width(words, size=24, weight=600)
        right = WIDTH - _MARGIN
        canvas.box(right - width - 36, 54, right, 96, edge=color, edge_width=2, radius=21)
        canvas.text((right - 18, 83), words, size=24, weight=600, color=color, anchor="rs")
    name = document.kernel or ("torch.compile" if document.status == "kernels_found" else "kernel")
    for size in _NAME_SIZES:
        if canvas.width(name, size=size, face="mono", weight=600) <= _ROOM:
            break
    canvas.text((_MARGIN, 190), name, size=size, face="mono", weight=600, room=_ROOM)
    canvas.text((_MARGIN, 242), _subtitle(document), size=29, color="mute", room=_ROOM)


def _subtitle(document: CompilationDocument) -> str:
    target = document.target
    options = document.specialization.options if document.specialization else {}
    warps, stages = options.get("num_warps"), options.get("num_stages")
    shape = [f"{warps} warps" if warps else "", f"{stages} stages" if stages else ""]
    facts = (target.title, target.architecture, f"Triton {document.triton}", ", ".join(filter(None, shape)))
    return "  ·  ".join(filter(None, facts))


# --- the stages ---------------------------------------------------------------------------------


def _draw_path(canvas: Canvas, document: CompilationDocument) -> None:
    present = {stage.name: stage for stage in document.stages}
    names = _path(document, list(present))
    if not names:  # user code can end a compilation without a stage
        return
    missing = [name for name in names if name not in present]
    width = (_ROOM - _GAP * (len(names) - 1)) / len(names)
    for place, name in enumerate(names):
        left = _MARGIN + place * (width + _GAP)
        if place:
            canvas.arrow(left - _GAP + 4, left - 4, (_PATH_TOP + _PATH_BOTTOM) / 2, "edge")
        has_failed = document.status == "failed" and missing[:1] == [name]
        _draw_stage(canvas, left, left + width, name, present.get(name), has_failed)


def _path(document: CompilationDocument, present: list[str]) -> list[str]:
    """Return the names of the present stages and, unless the result is complete, of the following stages."""
    expected = stages_of(find_target(document.target.name).backend)
    last = max((expected.index(name) for name in present if name in expected), default=-1)
    rest = () if document.status == "complete" else expected[last + 1 :]
    return sorted({*present, *rest}, key=lambda name: _ORDER.get(name, len(_ORDER)))[:_MOST_STAGES]


def _draw_stage(
    canvas: Canvas, left: float, right: float, name: str, stage: StageDocument | None, has_failed: bool
) -> None:
    top, bottom, room = _PATH_TOP, _PATH_BOTTOM, right - left - 26
    hue = name if stage else "edge"
    canvas.box(left, top, right, bottom, fill="bad" if has_failed else hue, radius=11)
    canvas.box(left, top + (2 if has_failed else 5), right, bottom, fill="line", radius=11)
    edge = 2 if has_failed else 1.5
    canvas.box(left + edge, top + 5, right - edge, bottom - edge, fill="raise" if stage else "bg", radius=9)
    if has_failed:
        canvas.box(left, top, right, bottom, edge="bad", edge_width=2, radius=11)
    title = stage.title if stage else _TITLES.get(name, name)
    color = "text" if stage else "mute"
    canvas.text((left + 14, top + 45), title, size=22, weight=600, color=color, room=room)
    below = _lines(stage.lines) if stage else "failed here" if has_failed else ""
    canvas.text((left + 14, top + 77), below, size=20, color="bad" if has_failed else "mute", room=room)


def _lines(count: int) -> str:
    if count < 10_000:
        return f"{count:,} {'line' if count == 1 else 'lines'}"
    return f"{count / 1000:.0f}k lines"


# --- the resources, or the error ----------------------------------------------------------------


@dataclass(frozen=True)
class _Fact:
    value: str
    title: str
    share: float | None = None
    color: str = "accent"


def _facts_of(resources: ResourcesDocument, target: str) -> list[_Fact]:
    """Return the resources with their shares of the limits."""
    facts = []
    if resources.registers is not None:
        limit = find_target(target).device.multiprocessor.registers_per_thread
        facts.append(_Fact(str(resources.registers), "registers", resources.registers / limit))
    spills = (resources.spill_stores_bytes or 0) + (resources.spill_loads_bytes or 0)
    if spills:
        facts.append(_Fact(_size(spills), "spill stores and loads", color="warn"))
    if resources.shared_bytes is not None:
        limit = resources.shared_limit_bytes
        title = f"shared, of {_size(limit)}"
        facts.append(_Fact(_size(resources.shared_bytes), title, resources.shared_bytes / limit))
    if resources.occupancy is not None:
        title = f"occupancy, by {resources.limited_by}" if resources.limited_by else "occupancy"
        color = "ok" if resources.occupancy >= _SUFFICIENT_OCCUPANCY else "warn"
        facts.append(_Fact(f"{100 * resources.occupancy:.0f} %", title, resources.occupancy, color))
    return facts


def _draw_facts(canvas: Canvas, facts: list[_Fact]) -> None:
    if not facts:
        return
    gap = 40
    width = (_ROOM - gap * (len(facts) - 1)) / len(facts)
    for place, fact in enumerate(facts):
        left = _MARGIN + place * (width + gap)
        canvas.text((left, 486), fact.value, size=54, weight=650, room=width)
        canvas.text((left, 526), fact.title, size=21, color="mute", room=width)
        if fact.share is not None:
            _draw_share(canvas, left, left + width, 552, fact)


def _draw_share(canvas: Canvas, left: float, right: float, top: float, fact: _Fact) -> None:
    share = min(1.0, max(0.0, fact.share or 0.0))
    canvas.box(left, top, right, top + 8, fill="over", radius=4)
    if share > 0:
        canvas.box(left, top, left + max(8.0, (right - left) * share), top + 8, fill=fact.color, radius=4)


def _draw_failure(canvas: Canvas, diagnostics: list[Diagnostic]) -> None:
    error = next((each for each in diagnostics if each.severity == "error"), None)
    message = error.message if error else "The compilation failed."
    _draw_message(canvas, message, error.line if error else 0, "bad")


def _draw_message(canvas: Canvas, message: str, line: int, color: str) -> None:
    lines = textwrap.wrap(plain(message), _MESSAGE_COLUMNS, max_lines=_MESSAGE_LINES, placeholder=" …")
    top, left = 432, _MARGIN + 28
    for number, text in enumerate(lines):
        canvas.text((left, top + 34 + 42 * number), text, size=30, face="mono", room=_ROOM - 28)
    bottom = top + 42 * len(lines) + 8
    if line > 0:
        canvas.text((left, bottom + 30), f"line {line}", size=24, color="mute")
        bottom += 40
    canvas.box(_MARGIN, top, _MARGIN + 5, bottom, fill=color, radius=2.5)


def _size(count: int) -> str:
    value, unit = (count, "B") if count < 1024 else (count / 1024, "KiB")
    return f"{value:.1f}".removesuffix(".0") + f" {unit}"
