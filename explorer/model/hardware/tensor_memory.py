"""The figures of tensor memory (NVIDIA Blackwell): a table of 32-bit cells in each multiprocessor.

Source: PTX ISA, "Tensor Memory".
"""

TENSOR_MEMORY_COLUMNS = 512
TENSOR_MEMORY_ROWS = 128
TENSOR_MEMORY_CELL_BITS = 32
