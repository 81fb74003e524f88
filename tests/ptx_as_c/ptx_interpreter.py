"""An interpreter of PTX for scalar kernels: all threads of a block in lockstep, as arrays of NumPy.

It reads the text itself, and shares nothing with the translation to C. Threads that diverge run one after the
other, the threads that are behind first. Approximate instructions are computed in double precision and
rounded.
"""

import re
from typing import Any

import numpy as np

GLOBAL_BASE = 0x7000_0000_0000
SHARED_BASE = 0x1000
_SIGNED: dict[int, Any] = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
_UNSIGNED: dict[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_FLOAT: dict[int, Any] = {16: np.float16, 32: np.float32, 64: np.float64}
_LINE = re.compile(r"(?:@(!?)(%\w+) )?([a-z][\w.:]*) ?(.*)", re.DOTALL)


class Kernel:
    """The instructions of the kernel of a text."""

    def __init__(self, text):
        text = re.sub(r"//[^\n]*", "", text)
        header, body = re.search(r"\.entry[^(]*\((.*?)\)[^{]*\{(.*)\n\}", text, re.DOTALL).groups()
        self.parameters = re.findall(r"([\w$]+_param_\d+)", header)
        self.threads = int(re.search(r"\.reqntid (\d+)", text)[1])
        self.labels = dict[str, int]()
        self.code = list[Any]()
        body = re.sub(r"(\$[\w$]+):", r"\1:;", body)
        for part in body.split(";"):
            part = " ".join(part.split()).removeprefix("{ ")
            if part.endswith(":"):
                self.labels[part[:-1]] = len(self.code)
            elif part and not part.startswith("."):
                self.code.append(_LINE.fullmatch(part).groups())


class Block:
    """One block of threads. `memory` is the global memory, as bytes.

    `accesses` gets the name, the bytes of a lane and the offsets of all threads (-1: none) of each access.
    """

    def __init__(self, kernel, arguments, memory, block, grid, accesses=None):
        self.accesses = accesses
        self.kernel, self.memory, self.count = kernel, memory, kernel.threads
        self.shared = np.zeros(1 << 18, np.uint8)
        self.registers = {}
        threads = np.arange(self.count, dtype=np.uint64)
        zero = np.zeros(self.count, np.uint64)
        self.special = {"%tid.x": threads, "%tid.y": zero, "%tid.z": zero, "global_smem": zero + SHARED_BASE}
        for axis, index, size in zip("xyz", block, grid, strict=True):
            self.special[f"%ctaid.{axis}"] = zero + index
            self.special[f"%nctaid.{axis}"] = zero + size
        self.arguments = dict(zip(kernel.parameters, arguments, strict=False))

    def run(self):
        place = np.zeros(self.count, np.int64)
        waiting = np.zeros(self.count, bool)
        end = len(self.kernel.code)
        while (place < end).any():
            runnable = (place < end) & ~waiting
            if not runnable.any():
                place[waiting] += 1
                waiting[:] = False
                continue
            at = place[runnable].min()
            active = runnable & (place == at)
            negation, guard, opcode, text = self.kernel.code[at]
            if guard:
                active = active & (self.registers[guard].astype(bool) ^ bool(negation))
            words = opcode.replace("::", "_").split(".")
            behind = runnable & (place == at)
            if words[0] == "bra":
                place[behind] += 1
                place[active] = self.kernel.labels[text]
            elif words[0] in ("ret", "exit"):
                place[behind] += 1
                place[active] = end
            elif opcode in ("bar.sync", "bar.warp.sync"):
                waiting |= active
            else:
                if active.any():
                    with np.errstate(all="ignore"):
                        self.execute(words, _split(text), active)
                place[behind] += 1

    # Operands.

    def bits(self, text, size):
        """Return the bits of an operand for all threads."""
        text = text.strip()
        if text in self.special:
            value = self.special[text]
        elif text.startswith("%"):
            value = self.registers.get(text, np.zeros(self.count, np.uint64))
        elif text[:2].lower() in ("0f", "0d"):
            value = np.full(self.count, int(text[2:], 16), np.uint64)
        else:
            value = np.full(self.count, int(text.rstrip("U"), 0) & (1 << 64) - 1, np.uint64)
        return value & np.uint64((1 << size) - 1)

    def value(self, text, kind):
        """Return an operand as numbers of a type of PTX."""
        if kind == "pred":
            return self.bits(text.lstrip("!"), 1).astype(bool) ^ text.startswith("!")
        size = int(re.sub(r"\D", "", kind))
        bits = self.bits(text, size).astype(_UNSIGNED[size])
        if kind == "bf16":
            return (bits.astype(np.uint32) << 16).view(np.float32)
        return bits.view({"s": _SIGNED, "f": _FLOAT}.get(kind[0], _UNSIGNED)[size])

    def write(self, register, value, active):
        register = register.strip()
        if value.dtype == bool:
            bits = value.astype(np.uint64)
        else:
            size = value.dtype.itemsize
            bits = np.ascontiguousarray(value).view(_UNSIGNED[8 * size]).astype(np.uint64)
        old = self.registers.get(register, np.zeros(self.count, np.uint64))
        self.registers[register] = np.where(active, bits, old)

    # Instructions.

    def execute(self, words, operands, active):
        name, kind = words[0], words[-1]
        target = operands[0]
        if name == "ld" and words[1] == "param":
            argument = self.arguments.get(operands[1].strip("[] "), 0)
            size = int(kind[1:])
            raw = (
                argument.tobytes()
                if hasattr(argument, "tobytes")
                else int(argument).to_bytes(8, "little", signed=True)
            )
            raw = raw.ljust(8, b"\0")[: size // 8]
            number = int.from_bytes(raw, "little", signed=kind[0] == "s") & (1 << 64) - 1
            return self.write(target, np.full(self.count, number, np.uint64), active)
        if name in ("ld", "st"):
            return self.access(name, words, operands, active)
        if name == "atom":
            return self.atomic(words, operands, active)
        if name in ("ldmatrix", "stmatrix"):
            return self.move_matrices(words, operands, active)
        if name == "shfl":
            return self.shuffle(words, operands, active)
        if name == "mov" and "{" in "".join(operands[:2]):
            return self.pack(kind, operands, active)
        sources = operands[1:]
        if name == "setp":
            relation = words[1]
            one, two = (self.value(each, kind) for each in sources[:2])
            return self.write(target, _RELATIONS[relation](one, two), active)
        if name == "selp":
            chosen = self.value(sources[2], "pred")
            one, two = (self.bits(each, 64) for each in sources[:2])
            return self.write(target, np.where(chosen, one, two), active)
        if name == "cvt":
            return self.convert(words, target, sources, active)
        if kind == "pred":
            values = [self.value(each, "pred") for each in sources]
            return self.write(target, _LOGIC[name](*values), active)
        if name in ("mul", "mad") and "wide" in words:
            size = int(kind[1:]) * 2
            wide = f"{kind[0]}{size}"
            one, two = (
                self.value(each, kind).astype((_SIGNED if kind[0] == "s" else _UNSIGNED)[size])
                for each in sources[:2]
            )
            result = one * two
            if name == "mad":
                result = result + self.value(sources[2], wide)
            return self.write(target, result, active)
        if name == "mul" and "hi" in words:
            products = [
                int(a) * int(b) >> int(kind[1:])
                for a, b in zip(*(self.value(each, kind) for each in sources), strict=True)
            ]
            size = int(kind[1:])
            return self.write(
                target, np.array([each & (1 << size) - 1 for each in products], _UNSIGNED[size]), active
            )
        if name in ("shl", "shr"):
            distance = self.bits(sources[1], 32)
            value = self.value(sources[0], kind)
            size = int(kind[1:])
            near = np.minimum(distance, np.uint64(size - 1)).astype(value.dtype)
            made = value << near if name == "shl" else value >> near
            gone = (
                np.zeros_like(made)
                if name == "shl" or kind[0] != "s"
                else value >> value.dtype.type(size - 1)
            )
            return self.write(target, np.where(distance >= size, gone, made), active)
        if name == "bfe":
            value, start, length = (self.bits(each, 32) for each in sources)
            field = (np.uint64(1) << length) - np.uint64(1)
            made = (value >> start) & field
            if kind == "s32":
                made = np.where(made >> (length - np.uint64(1)), made | ~field, made)
            return self.write(target, made.astype(np.uint32), active)
        if name == "prmt":
            one, two, selector = (self.bits(each, 32) for each in sources)
            every = one | two << np.uint64(32)
            made = np.zeros(self.count, np.uint64)
            for place in range(4):
                nibble = selector >> np.uint64(4 * place) & np.uint64(15)
                byte = every >> (nibble & np.uint64(7)) * np.uint64(8) & np.uint64(255)
                sign = np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0))
                made |= np.where(nibble & np.uint64(8), sign, byte) << np.uint64(8 * place)
            return self.write(target, made.astype(np.uint32), active)
        values = [self.value(each, kind) for each in sources]
        return self.write(target, _OPERATIONS[name](*values).astype(values[0].dtype), active)

    def convert(self, words, target, sources, active):
        kinds = [word for word in words if re.fullmatch(r"[suf](?:8|16|32|64)|bf16|f16x2|bf16x2", word)]
        to, source = kinds
        if to == "f16x2":
            high, low = (
                self.value(each, source).astype(np.float16).view(np.uint16).astype(np.uint32)
                for each in sources
            )
            return self.write(target, high << 16 | low, active)
        value = self.value(sources[0], source)
        if to == "bf16":
            bits = value.view(np.uint32).astype(np.uint64)
            rounded = bits + np.uint64(0x7FFF) + (bits >> np.uint64(16) & np.uint64(1)) >> np.uint64(16)
            return self.write(
                target, np.where(np.isnan(value), np.uint64(0x7FFF), rounded).astype(np.uint16), active
            )
        if to[0] == "f":
            made = np.floor(value) if "rmi" in words else value
            return self.write(target, made.astype(_FLOAT[int(to[1:])]), active)
        size = int(to[1:])
        if source[0] == "f" or source == "bf16":
            limits = np.iinfo((_SIGNED if to[0] == "s" else _UNSIGNED)[size])
            cut = np.where(
                np.isnan(value), 0, np.clip(np.trunc(value.astype(np.float64)), limits.min, limits.max)
            )
            return self.write(target, cut.astype(limits.dtype), active)
        # A register is wider than a type of 8 bits: the sign is extended.
        wide = value.astype(_SIGNED[64]) if source[0] == "s" else value.astype(np.uint64)
        made = wide.astype((_SIGNED if to[0] == "s" else _UNSIGNED)[size])
        return self.write(target, made.astype(np.int16).view(np.uint16) if size == 8 else made, active)

    def pack(self, kind, operands, active):
        size = int(kind[1:])
        if "{" in operands[0]:
            parts = operands[0].strip("{} ").split(",")
            value, each = self.bits(operands[1], size), size // len(parts)
            for place, part in enumerate(parts):
                piece = value >> np.uint64(place * each) & np.uint64((1 << each) - 1)
                if part.strip() != "_":
                    self.write(part, piece, active)
            return
        parts = operands[1].strip("{} ").split(",")
        each = size // len(parts)
        made = np.zeros(self.count, np.uint64)
        for place, part in enumerate(parts):
            made |= self.bits(part, each) << np.uint64(place * each)
        self.write(operands[0], made, active)

    def place(self, address, active):
        """Return the memory that an address is in, and its index there for each thread."""
        base, _, offset = address.strip("[] ").replace(" ", "").partition("+")
        start = self.bits(base, 64) + np.uint64(int(offset or 0) & (1 << 64) - 1)
        is_global = bool((start[active] >= GLOBAL_BASE).all())
        memory = self.memory if is_global else self.shared
        index = (start - np.uint64(GLOBAL_BASE if is_global else SHARED_BASE)).astype(np.int64)
        assert (index[active] >= 0).all() and (index[active] < len(memory)).all(), address
        return memory, index

    def access(self, name, words, operands, active):
        size = int(words[-1][1:]) // 8
        address, registers = (operands[1], operands[0]) if name == "ld" else operands
        memory, index = self.place(address, active)
        if memory is self.memory and self.accesses is not None:
            count = len(registers.strip("{} ").split(","))
            self.accesses.append((name, size * count, np.where(active, index, -1)))
        for number, register in enumerate(registers.strip("{} ").split(",")):
            where = index + number * size
            if name == "ld":
                made = np.zeros(self.count, np.uint64)
                for byte in range(size):
                    made[active] |= memory[where[active] + byte].astype(np.uint64) << np.uint64(8 * byte)
                if words[-1] == "s8":
                    made = made.astype(np.uint8).view(np.int8).astype(np.int16).view(np.uint16)
                self.write(register, made.astype(np.uint64), active)
            else:
                value = self.bits(register, 8 * size)
                for byte in range(size):
                    memory[where[active] + byte] = (value[active] >> np.uint64(8 * byte)).astype(np.uint8)

    def atomic(self, words, operands, active):
        assert words[-2:] == ["add", "u32"]
        memory, index = self.place(operands[1], active)
        old, value = np.zeros(self.count, np.uint32), self.value(operands[2], "u32")
        for thread in np.flatnonzero(active):
            where = memory[index[thread] : index[thread] + 4].view(np.uint32)
            old[thread] = where[0]
            where += value[thread]
        self.write(operands[0], old, active)

    def move_matrices(self, words, operands, active):
        """Move matrices of 8×8 elements of 16 bits: a thread has two elements of a row, or of a column."""
        is_load = words[0] == "ldmatrix"
        registers, address = operands if is_load else reversed(operands)
        memory, index = self.place(address, active)
        thread = np.arange(self.count)
        lane = thread % 32
        for matrix, register in enumerate(registers.strip("{} ").split(",")):
            bits = np.zeros(self.count, np.uint64) if is_load else self.bits(register, 32)
            for byte in range(4):
                row, column = lane // 4, lane % 4 * 2 + byte // 2
                if "trans" in words:
                    row, column = column, row
                where = index[thread - lane + 8 * matrix + row] + 2 * column + byte % 2
                shift = np.uint64(8 * byte)
                if is_load:
                    bits |= memory[where].astype(np.uint64) << shift
                else:
                    memory[where[active]] = (bits[active] >> shift).astype(np.uint8)
            if is_load:
                self.write(register, bits.astype(np.uint32), active)

    def shuffle(self, words, operands, active):
        value, distance = self.bits(operands[1], 32), self.bits(operands[2], 32).astype(np.int64)
        clamp = int(operands[3])
        thread = np.arange(self.count)
        lane = thread % 32
        other = {"bfly": lane ^ distance, "idx": distance, "down": lane + distance, "up": lane - distance}[
            words[2]
        ]
        is_inside = other >= clamp if words[2] == "up" else other <= clamp
        self.write(operands[0], value[np.where(is_inside, thread - lane + other, thread)], active)


def _split(text):
    return [
        each.strip() for each in re.findall(r"(?:\{[^}]*\}|\[[^\]]*\]|[^,{}\[\]]+)+", text) if each.strip()
    ]


def _truncated(one, two):
    quotient = np.abs(one) // np.abs(two)
    return np.where((one < 0) ^ (two < 0), -quotient, quotient).astype(one.dtype)


def _quotient(one, two):
    if one.dtype.kind == "f":
        return one / two
    return one // two if one.dtype.kind == "u" else _truncated(one, two)


def _rest(one, two):
    return one % two if one.dtype.kind == "u" else one - _truncated(one, two) * two


def _fused(one, two, three):
    wide = np.longdouble
    return (
        (one.astype(wide) * two.astype(wide) + three.astype(wide))
        if one.dtype.kind == "f"
        else one * two + three
    )


_RELATIONS: dict[str, Any] = {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
    "ne": lambda one, two: (one != two) & (one == one) & (two == two),
    "neu": np.not_equal,
    "ltu": lambda one, two: ~(one >= two), "leu": lambda one, two: ~(one > two),
    "gtu": lambda one, two: ~(one <= two), "geu": lambda one, two: ~(one < two),
    "num": lambda one, two: (one == one) & (two == two),
    "nan": lambda one, two: (one != one) | (two != two),
}  # fmt: skip
_LOGIC: dict[str, Any] = {
    "mov": lambda one: one, "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor,
    "not": np.logical_not,
}  # fmt: skip
_OPERATIONS: dict[str, Any] = {
    "mov": lambda one: one, "add": np.add, "sub": np.subtract, "mul": np.multiply, "mad": _fused,
    "fma": _fused,
    "div": _quotient, "rem": _rest, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "not": np.invert, "neg": np.negative, "abs": np.abs,
    "max": lambda one, two: np.fmax(one, two) if one.dtype.kind == "f" else np.maximum(one, two),
    "min": lambda one, two: np.fmin(one, two) if one.dtype.kind == "f" else np.minimum(one, two),
    "ex2": lambda one: np.exp2(one.astype(np.float64)), "sqrt": lambda one: np.sqrt(one.astype(np.float64)),
    "rcp": lambda one: 1 / one.astype(np.float64), "rsqrt": lambda one: 1 / np.sqrt(one.astype(np.float64)),
    "lg2": lambda one: np.log2(one.astype(np.float64)),
}  # fmt: skip


def run(text, arguments, memory, grid, accesses=None):
    """Run a kernel on all blocks of a grid, on `memory`. `arguments` are integers and scalars of NumPy."""
    kernel = Kernel(text)
    for z in range(grid[2]):
        for y in range(grid[1]):
            for x in range(grid[0]):
                Block(kernel, arguments, memory, (x, y, z), grid, accesses).run()
