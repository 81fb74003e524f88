"""Test that Triton's CUPTI has every function used, and that our structures match the C layout."""

import ctypes
from pathlib import Path

import pytest
import triton

from explorer.runner.profilers import cupti_instructions, cupti_library, cupti_sampling

#: A C compiler's values for the structures and size macros of CUDA 12.8's headers, on x86-64.
SIZES = {
    "cuptiProfilerInitialize": 16,
    "cuptiDeviceGetChipName": 32,
    "cuptiProfilerGetCounterAvailability": 40,
    "cuptiProfilerHostInitialize": 48,
    "cuptiProfilerHostDeinitialize": 24,
    "cuptiProfilerHostGetBaseMetrics": 48,
    "cuptiProfilerHostConfigAddMetrics": 40,
    "cuptiProfilerHostGetConfigImageSize": 32,
    "cuptiProfilerHostGetConfigImage": 40,
    "cuptiProfilerHostEvaluateToGpuValues": 72,
    "cuptiRangeProfilerEnable": 32,
    "cuptiRangeProfilerDisable": 24,
    "cuptiRangeProfilerGetCounterDataSize": 64,
    "cuptiRangeProfilerCounterDataImageInitialize": 40,
    "cuptiRangeProfilerSetConfig": 90,
    "cuptiRangeProfilerStart": 24,
    "cuptiRangeProfilerStop": 41,
    "cuptiRangeProfilerPushRange": 32,
    "cuptiRangeProfilerPopRange": 24,
    "cuptiRangeProfilerDecodeData": 32,
    "cuptiPCSamplingEnable": 24,
    "cuptiPCSamplingDisable": 24,
    "cuptiPCSamplingStart": 24,
    "cuptiPCSamplingStop": 24,
    "cuptiPCSamplingGetNumStallReasons": 32,
    "cuptiPCSamplingGetStallReasons": 48,
    "cuptiPCSamplingSetConfigurationAttribute": 40,
    "cuptiPCSamplingGetData": 32,
    "cuptiSassMetricsGetProperties": 56,
    "cuptiSassMetricsSetConfig": 36,
    "cuptiSassMetricsUnsetConfig": 20,
    "cuptiSassMetricsEnable": 25,
    "cuptiSassMetricsDisable": 32,
    "cuptiSassMetricsGetDataProperties": 40,
    "cuptiSassMetricsFlushData": 40,
}


def test_sizes_are_those_of_the_headers():
    sizes = {function: cupti_library.structure(function)[1] for function in cupti_library._PARAMETERS}
    assert sizes == SIZES


@pytest.mark.parametrize(
    ("structure", "size"),
    [
        (cupti_sampling._Stall, 8),
        (cupti_sampling._Instruction, 64),
        (cupti_sampling._Data, 80),
        (cupti_sampling._Attribute, 32),
        (cupti_instructions._Config, 16),
        (cupti_instructions._Value, 16),
        (cupti_instructions._Record, 48),
    ],
)
def test_arrays_are_laid_out_as_in_c(structure, size):
    assert ctypes.sizeof(structure) == size


def folders():
    knobs = triton.knobs.proton
    named = (knobs.cupti_lib_dir, getattr(knobs, "cupti_lib_blackwell_dir", None))
    return [Path(folder) for folder in named if folder]


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_tritons_library_has_every_function(folder):
    library = (folder / "libcupti.so").read_bytes()
    assert not [function for function in SIZES if function.encode() + b"\0" not in library]
    assert (folder / "libnvperf_host.so").is_file()
    assert (folder / "libnvperf_target.so").is_file()


def test_each_instruction_has_room_for_all_reasons():
    data = cupti_sampling._Buffer(reasons=40).data
    first, second = data.instructions[0], data.instructions[1]
    assert first.stall_count == second.stall_count == 40
    distance = ctypes.addressof(second.stalls.contents) - ctypes.addressof(first.stalls.contents)
    assert distance == 40 * ctypes.sizeof(cupti_sampling._Stall)
