"""Samples the program counters of the warps, and reads the memory accesses of each instruction."""

from __future__ import annotations

from explorer.model.measurements import InstructionSamples, Samples
from explorer.pipeline.stages import sass
from explorer.runner.measures.context import Launch, MeasureContext
from explorer.runner.profilers import cupti_sampling, nsight_compute, opcodes
from explorer.runner.profilers.metrics import NoCounters

_STALL = "stall_"
_NOT_ISSUED = "(Not Issued)"


def measure(context: MeasureContext) -> None:
    context.report_progress("Sampling with Nsight Compute")
    try:
        profile = nsight_compute.profile(context)
    except NoCounters as reason:
        context.emit_measurement(_by_cupti(context, str(reason)))
        return
    found = instructions(profile.rows)
    if not any(instruction.samples for instruction in found):
        context.emit_measurement(
            Samples("The launch was too short to be sampled. Use larger sizes.", profile.tool, found)
        )
        return
    context.emit_measurement(Samples("", profile.tool, found))


def _by_cupti(context: MeasureContext, reason: str) -> Samples:
    """Sample by CUPTI, without the other figures of Nsight Compute."""
    context.report_progress("Sampling with CUPTI", 0.5)
    try:
        sampled = cupti_sampling.sampled(context)
    except NoCounters as failure:
        return Samples(reason if str(failure) in reason else f"{reason} {failure}")
    return Samples(
        "",
        "CUPTI",
        tuple(
            InstructionSamples(offset, text, sum(sampled.get(offset, {}).values()), sampled.get(offset, {}))
            for offset, text in opcodes.instructions(code_of(context.launch)).items()
        ),
    )


def code_of(launch: Launch) -> str:
    """Return the kernel's instructions as nvdisasm lists them, or "" if it fails."""
    binary = getattr(launch.compiled, "asm", {}).get("cubin")
    if not binary:
        return ""
    try:
        return opcodes.code_of(sass.disassemble(binary), launch.compiled.name)
    except sass.DisassemblerError:
        return ""


def instructions(rows: tuple[dict[str, str], ...]) -> tuple[InstructionSamples, ...]:
    """Read Nsight Compute's source page, one row per instruction, in the order of their addresses."""
    if not rows:
        return ()
    start = int(rows[0]["Address"], 16)
    return tuple(
        InstructionSamples(
            offset_bytes=int(row["Address"], 16) - start,
            instruction=row["Source"].strip(),
            samples=_count(row, "# Samples"),
            stalls=_stalls(row),
            executed=_count(row, "Instructions Executed"),
            sectors=_sectors(row, "L2 Theoretical Sectors Global"),
            sectors_ideal=_sectors(row, "L2 Theoretical Sectors Global Ideal"),
        )
        for row in rows
    )


def _stalls(row: dict[str, str]) -> dict[str, int]:
    return {
        name.removeprefix(_STALL): count
        for name in row
        if name.startswith(_STALL) and not name.endswith(_NOT_ISSUED) and (count := _count(row, name))
    }


def _sectors(row: dict[str, str], column: str) -> int | None:
    return _count(row, column) if "Global" in row.get("Address Space", "") else None


def _count(row: dict[str, str], column: str) -> int:
    text = row.get(column, "").replace(",", "")
    return int(float(text)) if text[:1].isdigit() else 0
