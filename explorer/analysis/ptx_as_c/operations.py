"""Instructions of PTX whose result is a value of their operands, as expressions of C.

An operator of C is used where it does exactly the same (integers wrap around). Other instructions become a
function of CUDA, or a function with the name of the instruction, such as `ex2_approx_ftz_f32`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from explorer.analysis.ptx_as_c.registers import operand_types, types_of
from explorer.analysis.ptx_as_c.statements import Operand, Statement
from explorer.analysis.ptx_as_c.values import (
    AND,
    BOTH,
    CHOICE,
    EITHER,
    EQUALITY,
    OR,
    ORDER,
    PRODUCT,
    SHIFT,
    SUM,
    XOR,
    Value,
    binary,
    bits_of,
    call,
    cast,
    combined,
    converted,
    number_of,
    unary,
    within,
)

#: Reads an operand as a type of C.
Read = Callable[[Operand, str], Value]

_C_TYPES = {
    "s16": "int16_t",
    "u16": "uint16_t",
    "s32": "int32_t",
    "u32": "uint32_t",
    "s64": "int64_t",
    "u64": "uint64_t",
    "f32": "float",
    "f64": "double",
    "pred": "bool",
    "b8": "any16",
    "b16": "any16",
    "f16": "any16",
    "bf16": "any16",
    "b32": "any32",
    "f16x2": "any32",
    "bf16x2": "any32",
    "tf32": "any32",
    "b64": "any64",
    "b128": "uint128_t",
}
_SPECIAL = {
    **{f"%tid.{axis}": f"threadIdx.{axis}" for axis in "xyz"},
    **{f"%ctaid.{axis}": f"blockIdx.{axis}" for axis in "xyz"},
    **{f"%ntid.{axis}": f"blockDim.{axis}" for axis in "xyz"},
    **{f"%nctaid.{axis}": f"gridDim.{axis}" for axis in "xyz"},
}
_SUMS = {"add": "+", "sub": "-"}
_BITWISE = {"and": ("&", AND), "or": ("|", OR), "xor": ("^", XOR)}
_LOGICAL = {"and": ("&&", BOTH), "or": ("||", EITHER), "xor": ("!=", EQUALITY)}
_ORDERS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
_INVERSE = {
    "lt": "ge",
    "ge": "lt",
    "le": "gt",
    "gt": "le",
    "eq": "ne",
    "ne": "eq",
    "lo": "hs",
    "hs": "lo",
    "ls": "hi",
    "hi": "ls",
}
_UNORDERED = {"ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}
_SHUFFLES = {
    "bfly": ("__shfl_xor_sync", 31),
    "idx": ("__shfl_sync", 31),
    "down": ("__shfl_down_sync", 31),
    "up": ("__shfl_up_sync", 0),
}
_ROUNDED = {"add", "sub", "mul", "div", "fma", "mad", "neg", "abs", "min", "max", "sqrt", "cvt"}


def c_type(kind: str) -> str:
    """Return the type in C of a type of PTX: "any32" for an integer whose sign does not matter."""
    return _C_TYPES.get(kind, "any32")


def special(symbol: str) -> Value | None:
    """Return a special register, such as `threadIdx.x`."""
    if not symbol.startswith("%"):
        return None
    kind = "uint64_t" if symbol in ("%clock64", "%globaltimer", "%gridid") else "uint32_t"
    name = _SPECIAL.get(symbol)
    return Value(name, kind) if name else Value(f"__{symbol[1:].replace('.', '_')}()", kind)


def intrinsic_name(statement: Statement) -> str:
    """Return the name of an instruction as the name of a function."""
    return "_".join(word for word in statement.words if word != "uni")


def operation(statement: Statement, read: Read) -> Value | None:
    """Return the result of an instruction; None if it is not known here."""
    kinds = types_of(statement)
    kind = kinds[-1] if kinds else ""
    operands = statement.operands
    sources = operands[1:]
    if any(each.kind in ("vector", "pair", "address", "none") for each in operands) or not sources:
        return None
    if statement.name in _ROUNDED and kind in ("f32", "f64"):
        return _floating(statement, kind, read)
    find = _OPERATIONS.get(statement.name)
    found = find(statement, sources, kind, read) if find else None
    if found is None and (statement.name in _FUNCTIONS or kind in ("f16", "bf16", "f16x2", "bf16x2")):
        return _function(statement, read)
    return found


def _function(statement: Statement, read: Read) -> Value:
    """Write an instruction as a function with its name."""
    types = [c_type(each) for each in operand_types(statement)]
    arguments = [read(each, types[place]) for place, each in enumerate(statement.operands) if place]
    kinds = types_of(statement)
    result = {"any16": "uint16_t", "any32": "uint32_t", "any64": "uint64_t"}
    kind = c_type(kinds[0]) if kinds else "uint32_t"
    return call(intrinsic_name(statement), result.get(kind, kind), *arguments)


def _result(kind: str, *values: Value) -> str:
    """Return the type of an operation on integers, as C has it."""
    if not kind.startswith("any"):
        return kind
    size = kind[3:]
    return f"int{size}_t" if all(each.type == f"int{size}_t" for each in values) else f"uint{size}_t"


def _integer(operator: str, binds: int, kind: str, one: Value, other: Value) -> Value:
    """Return an operation on integers; results of 16 bits are truncated to 16 bits."""
    result = _result(kind, one, other)
    made = binary(operator, result, binds, one, other)
    return cast(_as_int(made), result) if result.endswith("16_t") else made


def _as_int(value: Value) -> Value:
    return Value(value.text, "int32_t", value.binds, value.lines, value.reads, value.depth)


def _agnostic(kind: str) -> str:
    """Return "any32" for "s32": the same bits result whatever the sign."""
    return f"any{kind[1:]}" if kind[:1] in "sub" and kind[1:].isdigit() else c_type(kind)


def _sum(statement: Statement, sources: tuple[Operand, ...], kind: str, read: Read) -> Value | None:
    if any(word in ("cc", "sat") for word in statement.words) or len(sources) != 2 or "x2" in kind:
        return None
    if kind in ("f16", "bf16"):
        return None
    one, other = (read(each, _agnostic(kind)) for each in sources)
    return _integer(_SUMS[statement.name], SUM, _agnostic(kind), one, other)


def _product(statement: Statement, sources: tuple[Operand, ...], kind: str, read: Read) -> Value | None:
    words = statement.words
    if kind not in _C_TYPES or kind in ("f16", "bf16", "f16x2", "bf16x2"):
        return None
    if "hi" in words:
        name = {"u32": "__umulhi", "s32": "__mulhi", "u64": "__umul64hi", "s64": "__mul64hi"}.get(kind)
        return call(name, c_type(kind), *(read(each, c_type(kind)) for each in sources)) if name else None
    if "wide" in words:
        wide = {"s16": "int32_t", "u16": "uint32_t", "s32": "int64_t", "u32": "uint64_t"}[kind]
        one, other = (read(each, c_type(kind)) for each in sources[:2])
        # A conversion of one operand widens both, of equal sign.
        return binary("*", wide, PRODUCT, cast(one, wide), other)
    if "lo" not in words:
        return None
    one, other = (read(each, _agnostic(kind)) for each in sources[:2])
    return _integer("*", PRODUCT, _agnostic(kind), one, other)


def _product_and_sum(
    statement: Statement, sources: tuple[Operand, ...], kind: str, read: Read
) -> Value | None:
    if len(sources) != 3 or any(word in ("cc", "sat") for word in statement.words):
        return None
    product = _product(statement, sources, kind, read)
    if product is None or kind.endswith("16"):
        return None
    size = int(kind[1:]) * (2 if "wide" in statement.words else 1)
    addend = read(sources[2], f"any{size}")
    return _integer("+", SUM, f"any{size}", product, addend)


def _quotient(statement: Statement, sources: tuple[Operand, ...], kind: str, read: Read) -> Value | None:
    if kind[:1] not in "su":
        return None
    one, other = (read(each, c_type(kind)) for each in sources)
    made = binary("/" if statement.name == "div" else "%", c_type(kind), PRODUCT, one, other)
    return cast(_as_int(made), c_type(kind)) if kind.endswith("16") else made


def _bitwise(statement: Statement, sources: tuple[Operand, ...], kind: str, read: Read) -> Value | None:
    if kind == "pred":
        operator, binds = _LOGICAL[statement.name]
        return binary(operator, "bool", binds, *(read(each, "bool") for each in sources))
    operator, binds = _BITWISE[statement.name]
    one, other = (read(each, c_type(kind)) for each in sources)
    if statement.name == "xor" and "-1" in (one.text, other.text):
        return unary("~", _result(c_type(kind), one, other), other if one.text == "-1" else one)
    return _integer(operator, binds, c_type(kind), one, other)


def _not(_: Statement, sources: tuple[Operand, ...], kind: str, read: Read) -> Value:
    value = read(sources[0], c_type(kind))
    made = unary("!" if kind == "pred" else "~", value.type, value)
    return cast(_as_int(made), value.type) if value.type.endswith("16_t") else made


def _shift(statement: Statement, sources: tuple[Operand, ...], kind: str, read: Read) -> Value | None:
    size = int(kind[1:]) if kind[1:].isdigit() else 32
    is_left = statement.name == "shl"
    wanted = _agnostic(kind) if is_left else c_type(f"u{size}" if kind[0] == "b" else kind)
    value, distance = read(sources[0], wanted), read(sources[1], "uint32_t")
    result = _result(wanted, value) if is_left else wanted
    if sources[1].kind == "number" and 0 <= number_of(sources[1].text) < size:
        made = binary("<<" if is_left else ">>", result, SHIFT, value, distance)
        return cast(_as_int(made), result) if size == 16 else made
    # In C, a shift by the size or more has no meaning; in PTX it shifts everything out.
    return call(intrinsic_name(statement), result, value, distance)


def _comparison(statement: Statement, sources: tuple[Operand, ...], kind: str, read: Read) -> Value | None:
    relation = statement.words[1]
    is_float = kind in ("f32", "f64")
    if kind in ("f16", "bf16", "f16x2", "bf16x2"):
        return None
    is_sign_free = relation in ("eq", "ne")
    wanted = _agnostic(kind) if is_sign_free and not is_float else c_type(kind)
    if relation in ("lo", "ls", "hi", "hs") and kind[0] == "b":
        wanted = f"uint{kind[1:]}_t"
    one, other = (read(each, wanted) for each in sources[:2])
    made = _relation(relation, is_float, one, other)
    if made is not None and not is_float:  # With NaN, neither of two floats is less.
        inverse = _relation(_INVERSE[relation], False, one, other)
        made = replace(made, inverse=inverse.text if inverse else "")
    rest = [word for word in statement.words[2:-1] if word in _LOGICAL]
    if made is None or "ftz" in statement.words:
        return None
    if rest and len(sources) == 3:
        operator, binds = _LOGICAL[rest[0]]
        return binary(operator, "bool", binds, made, read(sources[2], "bool"))
    return made


def _relation(relation: str, is_float: bool, one: Value, other: Value) -> Value | None:
    if relation in _ORDERS:
        return binary(_ORDERS[relation], "bool", ORDER, one, other)
    if relation == "eq":
        return binary("==", "bool", EQUALITY, one, other)
    if relation == "neu" or (relation == "ne" and not is_float):
        return binary("!=", "bool", EQUALITY, one, other)
    if relation == "ne":  # Not if one is NaN.
        less, greater = (binary(each, "bool", ORDER, one, other) for each in "<>")
        return binary("||", "bool", EITHER, less, greater)
    if relation in _UNORDERED:
        return unary("!", "bool", binary(_UNORDERED[relation], "bool", ORDER, one, other))
    if relation in ("nan", "num"):
        either = binary("||", "bool", EITHER, call("isnan", "bool", one), call("isnan", "bool", other))
        return either if relation == "nan" else unary("!", "bool", either)
    return None


def _choice(_: Statement, sources: tuple[Operand, ...], kind: str, read: Read) -> Value:
    wanted = c_type(kind)
    one, other = (read(each, wanted) for each in sources[:2])
    if wanted.startswith("any"):
        kind = _result(wanted, one, other)
        one, other = converted(one, kind), converted(other, kind)
    condition = read(sources[2], "bool")
    text = f"{within(condition, EITHER)} ? {within(one, EITHER)} : {within(other, EITHER)}"
    return combined(text, one.type, CHOICE, condition, one, other)


def _extreme(statement: Statement, sources: tuple[Operand, ...], kind: str, read: Read) -> Value | None:
    if kind[:1] not in "su" or len(sources) != 2 or "relu" in statement.words or "x2" in kind:
        return None
    return call(statement.name, c_type(kind), *(read(each, c_type(kind)) for each in sources))


def _signed(statement: Statement, sources: tuple[Operand, ...], kind: str, read: Read) -> Value | None:
    if kind not in ("s32", "s64"):
        return None
    value = read(sources[0], c_type(kind))
    if statement.name == "neg":
        return unary("-", c_type(kind), value)
    return call("abs" if kind == "s32" else "llabs", c_type(kind), value)


def _conversion(statement: Statement, sources: tuple[Operand, ...], _: str, read: Read) -> Value | None:
    kinds, words = types_of(statement), statement.words
    if len(kinds) < 2 or len(sources) != 1 or {"sat", "relu", "ftz"} & set(words):
        return None
    to, source = kinds[-2], kinds[-1]
    if to[0] in "su" and source[0] in "su" and to != "u128":
        narrow = f"{'' if source[0] == 's' else 'u'}int{source[1:]}_t"
        size = 16 if source[1:] == "8" else int(source[1:])
        value = read(sources[0], f"any{size}" if source[1:] == "8" else narrow)
        return cast(cast(value, narrow), f"{'' if to[0] == 's' else 'u'}int{to[1:]}_t")
    if to in ("f32", "f64") and source in ("s32", "u32", "s64", "u64", "s16", "u16") and "rn" in words:
        return cast(read(sources[0], c_type(source)), c_type(to))
    named = {("f32", "f16"): "__half2float", ("f32", "bf16"): "__bfloat162float"}.get((to, source))
    if named:
        return call(named, "float", read(sources[0], "uint16_t"))
    named = {("f16", "f32"): "__float2half_rn", ("bf16", "f32"): "__float2bfloat16_rn"}.get((to, source))
    if named and "rn" in words:
        return call(named, "uint16_t", read(sources[0], "float"))
    named = {("s32", "f32"): "__float2int_rz", ("u32", "f32"): "__float2uint_rz"}.get((to, source))
    if named and "rzi" in words:
        return call(named, c_type(to), read(sources[0], "float"))
    return None


def _floating(statement: Statement, kind: str, read: Read) -> Value | None:
    """Return an operation on floats. Roundings and modes that C has no operator for are functions."""
    if statement.name == "cvt":
        found = _conversion(statement, statement.operands[1:], kind, read)
        kinds = types_of(statement)
        if found is None and len(kinds) == 2 and kinds == ["f64", "f32"] and len(statement.words) == 3:
            return cast(read(statement.operands[1], "float"), "double")
        if found is None and kinds == ["f32", "f64"] and "rn" in statement.words:
            return cast(read(statement.operands[1], "double"), "float")
        return found or _function(statement, read)
    if set(statement.words[1:-1]) - {"rn"}:
        return _function(statement, read)
    wanted, suffix = c_type(kind), "f" if kind == "f32" else ""
    values = [read(each, wanted) for each in statement.operands[1:]]
    match statement.name:
        case "add" | "sub" if len(values) == 2:
            return binary(_SUMS[statement.name], wanted, SUM, *values)
        case "mul" | "div" if len(values) == 2:
            return binary("*" if statement.name == "mul" else "/", wanted, PRODUCT, *values)
        case "fma":
            return call(f"fma{suffix}", wanted, *values)
        case "neg":
            return unary("-", wanted, values[0])
        case "abs":
            return call(f"fabs{suffix}", wanted, values[0])
        case "min" | "max" if len(values) == 2:
            return call(f"f{statement.name}{suffix}", wanted, *values)
        case "sqrt":
            return call(f"sqrt{suffix}", wanted, values[0])
    return call(intrinsic_name(statement), wanted, *values)


def _permutation(statement: Statement, sources: tuple[Operand, ...], _: str, read: Read) -> Value | None:
    selector = sources[2]
    if len(statement.words) > 2 or selector.kind != "number" or bits_of(selector.text, 16) & 0x8888:
        return None  # CUDA's function does not repeat signs.
    return call("__byte_perm", "uint32_t", *(read(each, "uint32_t") for each in sources))


def _funnel(statement: Statement, sources: tuple[Operand, ...], _: str, read: Read) -> Value | None:
    names = {"l": "__funnelshift_l", "r": "__funnelshift_r"}
    name = names[statement.words[1]] + ("c" if "clamp" in statement.words else "")
    return call(name, "uint32_t", *(read(each, "uint32_t") for each in sources))


def _count(statement: Statement, sources: tuple[Operand, ...], kind: str, read: Read) -> Value:
    name = f"__{statement.name}{'ll' if kind.endswith('64') else ''}"
    result = f"uint{kind[1:]}_t" if statement.name == "brev" else "int32_t"
    return call(name, result, read(sources[0], f"any{kind[1:]}"))


def _shuffle(statement: Statement, sources: tuple[Operand, ...], _: str, read: Read) -> Value | None:
    if len(sources) != 4 or statement.words[1] != "sync":
        return None
    name, clamp = _SHUFFLES[statement.words[2]]
    value, lane, mask = (
        read(sources[place], kind) for place, kind in ((0, ""), (1, "any32"), (3, "uint32_t"))
    )
    if sources[2].kind != "number" or number_of(sources[2].text) != clamp:
        return None
    return call(name, value.type, mask, value, lane)


_OPERATIONS: dict[str, Callable[..., Value | None]] = {
    "add": _sum,
    "sub": _sum,
    "mul": _product,
    "mad": _product_and_sum,
    "div": _quotient,
    "rem": _quotient,
    "and": _bitwise,
    "or": _bitwise,
    "xor": _bitwise,
    "not": _not,
    "shl": _shift,
    "shr": _shift,
    "setp": _comparison,
    "selp": _choice,
    "min": _extreme,
    "max": _extreme,
    "neg": _signed,
    "abs": _signed,
    "cvt": _conversion,
    "prmt": _permutation,
    "shf": _funnel,
    "popc": _count,
    "clz": _count,
    "brev": _count,
    "shfl": _shuffle,
}
#: Instructions that are written as a function with their name where nothing above applies.
_FUNCTIONS_WORDS = (
    "add sub mul mad fma div rem min max abs neg sqrt rsqrt rcp ex2 lg2 sin cos tanh cvt bfe bfi "
    "bfind fns prmt cvta lop3 sad dp4a dp2a mul24 mad24 copysign szext bmsk setp set slct testp shl "
    "shr and or xor"
)
_FUNCTIONS = frozenset(_FUNCTIONS_WORDS.split())
