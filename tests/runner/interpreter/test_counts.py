"""Test the interpreter's counts against numbers calculated by hand. A sector has 32 bytes."""

import pytest

ADD = """
@triton.jit
def add(x_ptr, y_ptr, out_ptr, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


SIZE = 1000
x, y = torch.randn(SIZE, device="cuda"), torch.randn(SIZE, device="cuda")
add[(triton.cdiv(SIZE, 256),)](x, y, torch.empty_like(x), SIZE, BLOCK=256)
"""
LINE_OF_X = 9


@pytest.mark.parametrize(
    ("size", "sectors"),
    [
        (1024, 128),  # 4 programs × 1024 bytes
        (1000, 125),  # the last program: 232 elements, 928 bytes, 29 sectors
        (1003, 126),  # the last program: 235 elements, 940 bytes, 30 sectors of which one in part
    ],
)
def test_vector_addition(interpret, size, sectors):
    told = interpret(ADD.replace("1000", str(size)))
    counts = told.counts
    assert (counts["programs"], counts["grid_programs"]) == (4, 4)
    assert counts["loaded_bytes"] == 2 * 4 * size
    assert counts["stored_bytes"] == 4 * size
    assert counts["loaded_sectors"] == 2 * sectors
    assert counts["stored_sectors"] == sectors
    assert counts["sectors_in_grid"] == 3 * sectors
    assert (counts["loaded_sectors_in_grid"], counts["stored_sectors_in_grid"]) == (2 * sectors, sectors)
    # Every lane adds, also masked lanes: the last block is padded to 256.
    assert counts["flops"] == {"fp32": 1024}
    assert told.operation("load", LINE_OF_X) == {
        "executions": 4, "requested_bytes": 4 * size, "sectors": sectors, "flops": 0
    }  # fmt: skip
    assert told.operation("add", LINE_OF_X + 2)["flops"] == 1024


def test_strided_copy(interpret):
    """Adjacent lanes are 64 elements apart, so each uses 4 of the 32 bytes of its sector."""
    told = interpret("""
@triton.jit
def copy(source_ptr, target_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) + tl.arange(0, BLOCK) * tl.num_programs(0)
    tl.store(target_ptr + offsets, tl.load(source_ptr + offsets))


source = torch.randn(4096, device="cuda")
copy[(64,)](source, torch.empty_like(source), BLOCK=64)
""")
    assert told.counts["loaded_bytes"] == 4 * 4096
    assert told.operation("load")["sectors"] == told.counts["loaded_sectors"] == 4096
    assert told.counts["sectors_in_grid"] == 2 * 4096 * 4 // 32
    assert told.counts["flops"] == {}


MATMUL = """
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        depth = start + tl.arange(0, BK)
        a_mask = (rows[:, None] < M) & (depth[None, :] < K)
        b_mask = (depth[:, None] < K) & (columns[None, :] < N)
        a = tl.load(a_ptr + rows[:, None] * K + depth[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + depth[:, None] * N + columns[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total, input_precision="tf32")
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total, mask=mask)


def reference(a, b):
    return a @ b


M, N, K = 100, 70, 50
a = torch.randn(M, K, device="cuda", dtype=torch.float16)
b = torch.randn(K, N, device="cuda", dtype=torch.float16)
c = torch.empty(M, N, device="cuda")
matmul[(4, 3)](a, b, c, M, N, K, BM=32, BN=32, BK=16)
"""


def test_matrix_multiplication(interpret):
    told = interpret(MATMUL)
    # 2·M·N·K = 700,000; whole blocks of 32 × 32 × 16 make 128 × 96 × 64 of it.
    assert told.counts["flops"] == {"tensor fp16": 2 * 128 * 96 * 64}
    assert told.operation("dot")["executions"] == 4 * 3 * 4
    # Each tile column reads the whole of A, each tile row the whole of B.
    assert told.counts["loaded_bytes"] == 2 * (3 * 100 * 50 + 4 * 50 * 70)
    assert told.counts["stored_bytes"] == 4 * 100 * 70
    assert (
        told.counts["sectors_in_grid"] == -(-2 * 100 * 50 // 32) + -(-2 * 50 * 70 // 32) + 100 * 70 * 4 // 32
    )
    assert told.check["outputs"][0]["matches"]


@pytest.mark.parametrize(
    ("target", "precision", "kind"),
    [
        ("cuda:90", "", "tensor tf32"),
        ("cuda:90", "tf32x3", "tensor tf32"),
        ("cuda:90", "bf16x6", "tensor bf16"),
        ("cuda:90", "ieee", "fp32"),
        ("cuda:75", "", "fp32"),
        ("hip:gfx942", "", "tensor tf32"),
        ("hip:gfx942", "ieee", "tensor fp32"),
        ("hip:gfx1100", "", "fp32"),
        ("hip:gfx1100", "bf16x3", "tensor bf16"),
    ],
)
def test_products_of_fp32_are_named_by_their_precision_and_target(interpret, target, precision, kind):
    precision = precision and f', input_precision="{precision}"'
    source = MATMUL.replace("float16", "float32").replace(', input_precision="tf32"', precision)
    told = interpret(source, target=target)
    assert told.counts["flops"] == {kind: 2 * 128 * 96 * 64}
    assert told.check["outputs"][0]["matches"]


def test_softmax(interpret):
    told = interpret("""
@triton.jit
def softmax(x_ptr, out_ptr, size, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * size + columns, mask=columns < size, other=-float("inf"))
    exponentials = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + tl.program_id(0) * size + columns, exponentials / tl.sum(exponentials, axis=0),
             mask=columns < size)


x = torch.randn(5, 100, device="cuda")
softmax[(5,)](x, torch.empty_like(x), 100, BLOCK=128)
""")
    # In each of 5 rows of 128: a difference and a quotient per lane, 127 additions; a maximum has no flops.
    assert told.counts["flops"] == {"fp32": 5 * (128 + 128 + 127), "special fp32": 5 * 128}
    # A row has 400 bytes: 12.5 sectors; every second row begins in the middle of one.
    assert told.counts["loaded_sectors"] == told.counts["stored_sectors"] == 5 * 13
    assert told.counts["sectors_in_grid"] == 2 * -(-5 * 400 // 32)


def test_reduction_in_two_dimensions(interpret):
    told = interpret("""
@triton.jit
def row_sums(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for _ in range(3):
        total += tl.load(x_ptr + rows[:, None] * COLUMNS + columns[None, :])
    tl.store(out_ptr + rows, tl.sum(total, axis=1))


x = torch.randn(8, 64, device="cuda")
row_sums[(1,)](x, torch.empty(8, device="cuda"), ROWS=8, COLUMNS=64)
""")
    assert told.counts["flops"] == {"fp32": 3 * 8 * 64 + 8 * 63}
    # The same block three times: requested again and again, but of the same sectors.
    assert told.counts["loaded_bytes"] == 3 * 4 * 8 * 64
    assert told.operation("load")["sectors"] == 3 * 64
    assert told.counts["loaded_sectors"] == 64


def test_special_functions_and_fused_operations(interpret):
    told = interpret("""
@triton.jit
def compute(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK)).to(tl.float32)
    y = tl.fma(x, x, x) + tl.sqrt(tl.abs(x)) - tl.cos(x)
    whole = tl.arange(0, BLOCK) * 2 + 1
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.where(y > x, y, x) * whole)


x = torch.randn(64, device="cuda", dtype=torch.bfloat16)
compute[(1,)](x, torch.empty(64, device="cuda"), BLOCK=64)
""")
    # An fma counts twice; comparisons, conversions and whole numbers have no flops.
    assert told.counts["flops"] == {"fp32": 64 * (2 + 1 + 1 + 1), "special fp32": 2 * 64}


def test_atomic_additions(interpret):
    told = interpret("""
@triton.jit
def histogram(x_ptr, sums_ptr, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < size)
    tl.atomic_add(sums_ptr + offsets % 8, x, mask=offsets < size)


x = torch.randn(100, device="cuda")
sums = torch.zeros(8, device="cuda")
histogram[(2,)](x, sums, 100, BLOCK=64)
torch.testing.assert_close(sums, torch.nn.functional.pad(x, (0, 4)).view(13, 8).sum(0))
""")
    assert told.operation("atomic") == {
        "executions": 2, "requested_bytes": 400, "sectors": 2, "flops": 0
    }  # fmt: skip
    assert told.counts["flops"] == {}
    assert told.counts["stored_bytes"] == 400
    assert told.counts["stored_sectors"] == 2
    assert told.errors == []


def test_descriptors_clip_at_the_edges(interpret):
    told = interpret("""
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def copy(source, target, BLOCK: tl.constexpr):
    row, column = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    target.store([row, column], source.load([row, column]))


source = torch.randn(100, 72, device="cuda", dtype=torch.float16)
target = torch.empty_like(source)
blocks = [32, 32]
copy[(4, 3)](TensorDescriptor.from_tensor(source, blocks), TensorDescriptor.from_tensor(target, blocks), 32)
assert torch.equal(source, target)
""")
    assert told.errors == []
    assert told.counts["loaded_bytes"] == told.counts["stored_bytes"] == 2 * 100 * 72
    assert told.counts["sectors_in_grid"] == 2 * (2 * 100 * 72 // 32)


def test_a_tensor_that_is_changed_in_place_is_read_and_written(interpret):
    """64 floats are 8 sectors, read and written; the scale has one more, which is only read."""
    told = interpret("""
@triton.jit
def scale(x_ptr, scale_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * tl.load(scale_ptr))


scale[(1,)](torch.randn(64, device="cuda"), torch.randn(1, device="cuda"), BLOCK=64)
""")
    assert told.counts["sectors_in_grid"] == 8 + 1
    assert told.counts["loaded_sectors_in_grid"] == 8 + 1
    assert told.counts["stored_sectors_in_grid"] == 8


def test_an_atomic_operation_reads_and_writes(interpret):
    told = interpret("""
@triton.jit
def add(x_ptr, BLOCK: tl.constexpr):
    tl.atomic_add(x_ptr + tl.arange(0, BLOCK), 1.0)


add[(2,)](torch.zeros(64, device="cuda"), BLOCK=64)
""")
    assert told.counts["loaded_sectors_in_grid"] == told.counts["stored_sectors_in_grid"] == 8


def test_tensors_that_share_memory(interpret):
    """Reads through two views of one tensor are counted once over the grid."""
    told = interpret("""
@triton.jit
def add(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + tl.load(y_ptr + offsets))


x = torch.randn(96, device="cuda")
add[(1,)](x[:64], x[32:], torch.empty(64, device="cuda"), BLOCK=64)
""")
    assert told.counts["loaded_bytes"] == 2 * 256
    assert told.counts["loaded_sectors"] == 12
    assert told.counts["sectors_in_grid"] == 12 + 8
