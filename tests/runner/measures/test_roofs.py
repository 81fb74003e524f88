"""Test that the kernels that measure memory roofs read all of their memory."""

import torch

from explorer.model.hardware import find_target
from explorer.runner.interpreter.counts import Counter
from explorer.runner.interpreter.interpreter import interpret
from explorer.runner.measures.roofs import L2_STEP, read_blocks

SIZE = 128


def read(blocks, programs, step, reads):
    """Read in the interpreter; return the counts, the sums and the tensor."""
    values = torch.arange(blocks * SIZE, dtype=torch.int32)
    sums = torch.zeros(programs, dtype=torch.int32)
    counter = Counter({"values": values, "sums": sums}, find_target("cuda:90"))
    with counter.counting():
        done = interpret(
            read_blocks,
            (programs, 1, 1),
            (values, sums, blocks, step, reads, SIZE),
            around_program=counter.program,
        )
    counts = counter.counts(done)
    return counts, sums, values


def test_reads_of_dram_read_each_number_once():
    counts, sums, values = read(blocks=24, programs=6, step=6, reads=4)
    assert counts.loaded_bytes == counts.loaded_sectors * 32 == values.nbytes
    assert sums.sum() == values.sum()


def test_reads_of_the_l2_read_a_little_again_and_again():
    counts, _sums, values = read(blocks=5, programs=6, step=L2_STEP, reads=10)
    assert counts.loaded_bytes == 6 * 10 * SIZE * 4
    # A program reads all of it, and no program starts where the one before does.
    assert counts.loaded_sectors * 32 == 6 * values.nbytes
