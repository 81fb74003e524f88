"""Test the guessed arguments of kernels without a launch: from use, annotations and the compiler."""

import pytest

from explorer.model import Argument, Event, Request, Stage
from explorer.model.hardware import find_target
from explorer.pipeline import trials
from explorer.pipeline.compile import Compilation
from explorer.pipeline.module import load
from explorer.pipeline.specialize import Specialization, resolve

HOPPER = find_target("cuda:90")


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Let a loaded machine make all trials that a guess needs."""
    monkeypatch.setattr(trials, "_TIME_LIMIT_SECONDS", 120.0)


HEAD = "import triton\nimport triton.language as tl\nfrom triton.experimental import gluon\n\n"
GLUON = "from triton.experimental.gluon import language as gl\n\n"

MATMUL = """
@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)

@triton.jit
def matmul(a, b, c, M, N, K, stride_am, stride_bk, stride_cm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
           BLOCK_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr, ACTIVATION: tl.constexpr):
    pid = tl.program_id(0)
    width = GROUP_SIZE_M * tl.cdiv(N, BLOCK_N)
    rows = (pid // width) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = (pid % width) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    a += rows[:, None] * stride_am + inner[None, :]
    b += inner[:, None] * stride_bk + columns[None, :]
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        sums = tl.dot(tl.load(a), tl.load(b), sums)
        a += BLOCK_K
        b += BLOCK_K * stride_bk
    if ACTIVATION == "leaky":
        sums = leaky(sums)
    c += rows[:, None] * stride_cm + columns[None, :]
    tl.store(c, sums.to(c.dtype.element_ty), mask=rows[:, None] < M)
"""
STRIDED = """
@triton.jit
def strided(a, b, c, x, y, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_xz,
            stride_xn, stride_yn, stride_ym, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK)
    a_ptrs = a + (rows[:, None] * stride_am + inner[None, :] * stride_ak)
    b_ptrs = b + (inner[:, None] * stride_bk + rows[None, :] * stride_bn)
    a_ptrs += BLOCK * stride_ak
    c_ptrs = c + rows[:, None] * stride_cm + rows[None, :]
    tl.store(c_ptrs, tl.dot(tl.load(a_ptrs), tl.load(b_ptrs)))
    x += tl.program_id(1) * stride_xz
    tl.store(x + rows * stride_xn, 0.0)
    block = tl.make_block_ptr(y, (M, N), strides=(stride_yn, stride_ym), offsets=(0, 0), block_shape=(16, 16),
                              order=(0, 1))
    tl.store(block, tl.zeros((16, 16), tl.float32))
"""
GATHER = """
@triton.jit
def address(base, row, stride):
    return base + row.to(tl.int64) * stride

@triton.jit
def gather(out, table, positions, row_stride, width, BLOCK: tl.constexpr):
    row = tl.load(positions + tl.program_id(0))
    columns = tl.arange(0, BLOCK)
    mask = columns < width
    values = tl.load(address(table, row, row_stride) + columns, mask=mask).to(tl.float32)
    tl.store(out + columns, values.to(tl.bfloat16), mask=mask)
"""
DROPOUT = """
@triton.jit
def dropout(x, y, n, p, seed, SCALED: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, offsets) > p
    value = tl.load(x + offsets, mask=offsets < n)
    if SCALED:
        value = value / (1 - p)
    tl.store(y + offsets, tl.where(kept, value, 0.0), mask=offsets < n)
"""
GROUPED = """
@triton.jit
def grouped(addresses, sizes, out, groups, NUM_SMS: tl.constexpr, BLOCK: tl.constexpr):
    for group in range(tl.program_id(0), groups, NUM_SMS):
        base = tl.load(addresses + group).to(tl.pointer_type(tl.float16))
        size = tl.load(sizes + group)
        for start in range(0, size, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            tl.store(out + offsets, tl.load(base + offsets, mask=offsets < size), mask=offsets < size)
"""
ANNOTATED = """
@triton.jit
def annotated(x: "*bf16", n: tl.int64, scale, flag, BLOCK: tl.constexpr = 256):
    offsets = tl.arange(0, BLOCK)
    if flag:
        tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) * scale, mask=offsets < n)
"""
HEURISTIC = """
@triton.heuristics({"HAS_BIAS": lambda args: args["bias"] is not None})
@triton.heuristics({"EVEN": lambda args: args["n"] % 16 == 0})
@triton.jit
def heuristic(x, bias, n, HAS_BIAS: tl.constexpr, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets) if EVEN else tl.load(x + offsets, mask=offsets < n)
    if HAS_BIAS:
        value += tl.load(bias + offsets)
    tl.store(x + offsets, value)
"""
REDUCED = """
@triton.jit
def square(a):
    return a * a

@triton.jit
def reduced(x, y, MAP: tl.constexpr, SHIFTS: tl.constexpr, BLOCK: tl.constexpr):
    sums = tl.sum(MAP(tl.load(x + tl.arange(0, BLOCK))))
    for index in tl.static_range(len(SHIFTS)):
        tl.store(y + SHIFTS[index], sums)
"""
DESCRIBED = """
@triton.jit
def described(source, target, M, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK
    target.store([row, 0], source.load([row, 0]))
"""
#: The lines that compute addresses differ from the lines that access memory.
OFFSETS = """
@triton.jit
def offsets(weight_ptr, bias_ptr, out_ptr, positions, out_stride, N, BLOCK: tl.constexpr):
    row = tl.load(positions + tl.program_id(0))
    bias_ptr += row
    weight_ptr += row * N
    out_ptr += tl.program_id(0) * out_stride
    columns = tl.arange(0, BLOCK)
    tl.store(out_ptr + columns, tl.load(weight_ptr + columns))
"""
#: Only the compiler knows what these need.
BITS = """
@triton.jit
def bits(x, out, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    words = tl.load(x + tl.arange(0, BLOCK))
    tl.static_assert(words.dtype == tl.uint32, "words have 32 bits without a sign")
    tl.static_assert(PARTS <= 4)
    tl.store(out + tl.arange(0, BLOCK // PARTS), tl.sum(tl.reshape(words, [BLOCK // PARTS, PARTS]), 1))
"""
STAGED = (
    """
@triton.jit
def staged(x, out, n, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.arange(0, BLOCK)[:, None] * WIDTH
    columns = tl.arange(0, WIDTH)[None, :]
    sums = tl.zeros([BLOCK, BLOCK], tl.float32)
    for start in range(0, n):
"""
    + "".join(
        f"        part = tl.load(x + {index} + start * WIDTH + rows + columns)\n"
        "        sums += tl.dot(part, tl.trans(part))\n"
        for index in range(24)
    )
    + """    tl.store(out + rows + tl.arange(0, BLOCK)[None, :], sums)
"""
)
COPY = """
@gluon.jit
def copy(x, y, n, BLOCK: gl.constexpr, layout: gl.constexpr):
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    gl.store(y + offsets, gl.load(x + offsets, mask=offsets < n), mask=offsets < n)
"""


@pytest.fixture(autouse=True)
def default_of_fp_fusion(monkeypatch):
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")


def guess(source: str, target=HOPPER) -> Specialization:
    return resolve(load(source, target), Request(source, "", ""), target)


def compiles(specialization: Specialization, source: str, target=HOPPER) -> list[str]:
    """Compile to machine code. Return the names of the stages."""
    events: list[Event] = []
    Compilation(specialization, target, events.append).run()
    return [event.name for event in events if isinstance(event, Stage)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "signature"),
    [
        (
            MATMUL,
            "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, i32:16, i32:16, i32:16, "
            "64, 64, 32, 8, 'leaky'",
        ),
        (GATHER, "*bf16:16, *fp16:16, *i32:16, i32:16, i32:16, 128"),
        (DROPOUT, "*fp32:16, *fp32:16, i32:16, fp32, i32:16, False, 128"),
        (GROUPED, "*i64:16, *i32:16, *fp32:16, i32:16, 128, 128"),
        (ANNOTATED, "*bf16:16, i64:16, fp32, i32:16, 256"),
        (HEURISTIC, "*fp32:16, *fp32:16, i32:16, True, True, 128"),
        (REDUCED, "*fp32:16, *fp32:16, square, (0, 64, 128, 192, 256, 320, 384, 448), 128"),
        (DESCRIBED, "tensordesc<fp32[64, 64]>, tensordesc<fp32[64, 64]>, i32:16, 64"),
        (BITS, "*u32:16, *fp32:16, 4, 64"),
    ],
    ids=["matmul", "gather", "dropout", "grouped", "annotated", "heuristic", "reduced", "described", "bits"],
)
def test_arguments_are_guessed_from_their_use_and_compile(kernel, signature):
    source = HEAD + kernel
    specialization = guess(source)
    assert specialization.described.signature == signature
    assert compiles(specialization, source)[-1] == "sass"


def test_a_guess_has_its_reason_with_the_line():
    source = HEAD + BITS
    reasons = guess(source).described.guesses
    assert reasons["out"] == "Used as an address of memory in line 11."
    assert reasons["BLOCK"] == "Used as the size of a block in line 8."
    assert reasons["x"] == "The compiler rejected *fp32."
    gathered = guess(HEAD + GATHER).described.guesses
    assert gathered["positions"] == (
        "Used as an address of memory in line 12; its elements as an offset, a bound or a divisor in line 15."
    )
    assert guess(HEAD + ANNOTATED).described.guesses["n"] == "Annotated in the source."
    assert guess(HEAD + HEURISTIC).described.guesses["EVEN"] == "Computed by the heuristics decorator."


def test_a_heuristic_of_a_missing_module_changes_no_guess():
    source = HEAD + HEURISTIC.replace('args["n"] % 16 == 0', 'is_even(args["n"])')
    described = guess(f"from absent import is_even\n{source}").described
    value = next(each.value for each in described.arguments if each.name == "EVEN")
    assert isinstance(value, bool | int)
    assert described.guesses["EVEN"] != "Computed by the heuristics decorator."


def test_the_reason_for_an_offset_is_the_line_that_has_it():
    reasons = guess(HEAD + OFFSETS).described.guesses
    lines = ["", *(HEAD + OFFSETS).splitlines()]
    weight, out = (
        lines.index(f"    {text}")
        for text in ("weight_ptr += row * N", "out_ptr += tl.program_id(0) * out_stride")
    )
    assert reasons["N"] == f"Used as an offset, a bound or a divisor in line {weight}."
    assert reasons["out_stride"] == f"Used as an offset, a bound or a divisor in line {out}."
    assert reasons["positions"].endswith(f"its elements as an offset, a bound or a divisor in line {weight}.")


def test_a_pointer_that_only_an_offset_is_added_to_is_one_by_its_name():
    described = guess(HEAD + OFFSETS).described
    assert described.arguments[1] == Argument("bias_ptr", "*fp32", None, "divisible by 16")
    assert described.guesses["bias_ptr"] == "By its name."


@pytest.mark.slow
def test_blocks_shrink_until_they_fit_into_shared_memory():
    source = HEAD + STAGED
    specialization = guess(source)
    blocks = {
        each.name: each.value for each in specialization.described.arguments if each.type == "constexpr"
    }
    assert blocks in ({"BLOCK": 32, "WIDTH": 32}, {"BLOCK": 16, "WIDTH": 16})
    assert "shared memory" in specialization.described.guesses["BLOCK"]
    assert compiles(specialization, source)[-1] == "sass"


def test_a_gluon_kernel_gets_a_layout():
    source = HEAD + GLUON + COPY
    specialization = guess(source)
    assert specialization.described.signature.startswith("*fp32:16, *fp32:16, i32:16, 128, BlockedLayout(")
    assert compiles(specialization, source)[-1] == "sass"


def test_the_first_kernel_that_can_be_launched_is_compiled():
    source = HEAD + "@triton.jit\ndef twice(x):\n    return x + x\n\n" + GATHER + DROPOUT
    found = load(source, HOPPER)
    assert [kernel.info.name for kernel in found.kernels] == ["gather", "dropout"]
    assert guess(source).described.kernel == "gather"
    chosen = resolve(found, Request(source, "", "", kernel="dropout"), HOPPER)
    assert chosen.described.kernel == "dropout"


def test_guesses_that_a_user_changes_are_kept():
    source = HEAD + GATHER
    arguments = list(guess(source).described.arguments)
    arguments[1] = Argument("table", "*fp8e5", None, "divisible by 16")
    request = Request(source, "", "", arguments=tuple(arguments))
    changed = resolve(load(source, HOPPER), request, HOPPER)
    assert changed.described.signature == "*bf16:16, *fp8e5:16, *i32:16, i32:16, i32:16, 128"
    assert changed.described.guesses == {}


def test_a_kernel_that_the_compiler_refuses_fails_with_its_message():
    source = HEAD + "@triton.jit\ndef refused(x):\n    tl.store(x, tl.no_such_function(1))\n"
    specialization = guess(source)
    with pytest.raises(Exception, match="no_such_function"):
        compiles(specialization, source)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel", [MATMUL, GATHER, DROPOUT, GROUPED], ids=["matmul", "gather", "dropout", "grouped"]
)
def test_guesses_compile_for_amd(kernel):
    target = find_target("hip:gfx942")
    source = HEAD + kernel
    assert compiles(guess(source, target), source, target)[-1] == "amdgcn"


@pytest.mark.slow
def test_the_innermost_stride_of_each_address_is_one():
    (kernel,) = load(HEAD + STRIDED, HOPPER).kernels
    strides = {
        each.name: each.guess.specialization for each in kernel.info.parameters if "stride" in each.name
    }
    ones = [name for name, specialization in strides.items() if specialization == "equal to 1"]
    assert ones == ["stride_ak", "stride_bn", "stride_xn", "stride_ym"]
    reasons = {each.name: each.reason for each in kernel.info.parameters}
    line = 1 + next(
        number for number, text in enumerate((HEAD + STRIDED).split("\n")) if text.startswith("    a_ptrs = ")
    )
    assert reasons["stride_ak"] == f"The innermost stride in line {line}."
    found = load(HEAD + STRIDED, HOPPER)
    described = resolve(found, Request(HEAD + STRIDED, "cuda:90", ""), HOPPER).described
    folded = [each.name for each in described.arguments if each.specialization == "equal to 1"]
    assert folded == ones


def test_a_constant_that_numbers_are_shifted_by_is_small():
    (kernel,) = load(
        HEAD + "@triton.jit\ndef pack(x, EXPONENT: tl.constexpr, FRACTION: tl.constexpr):\n"
        "    largest = (1 << (EXPONENT + FRACTION)) - 1\n    tl.store(x, tl.load(x) & largest)\n",
        HOPPER,
    ).kernels
    bits = [(each.guess.value, each.reason) for each in kernel.info.parameters if each.is_constexpr]
    assert bits == [(4, "Used as the number of bits of a shift in line 7.")] * 2
