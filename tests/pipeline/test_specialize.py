"""Test how a request is resolved: by launch, arguments, signature or guesses; and its errors."""

from dataclasses import replace

import pytest
import triton.language as tl
from triton.compiler import compiler

from explorer.model import Argument, Request
from explorer.model.hardware import find_target
from explorer.pipeline.errors import UserError
from explorer.pipeline.module import load
from explorer.pipeline.specialize import resolve
from explorer.pipeline.targets import triton_target

pytestmark = pytest.mark.usefixtures("private_cache")

HOPPER = find_target("cuda:90")
CDNA = find_target("hip:gfx942")

SCALE = """\
import torch, triton
import triton.language as tl

@triton.jit
def scale(x_ptr, y_ptr, n_elements, stride, factor, dtype: tl.constexpr, BLOCK: tl.constexpr = 128):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets * stride, mask=mask)
    tl.store(y_ptr + offsets, (x * factor).to(dtype), mask=mask)
"""

LAUNCHED = f"""{SCALE}
x = torch.empty(1000, device="cuda", dtype=torch.float16)
scale[(8,)](x, x, 1000, 1, 2.0, tl.float16)
scale[(4,)](x[1:], x, 992, 2, 2.0, tl.float16, BLOCK=256, num_warps=8)
"""

TUNED = """\
import torch, triton
import triton.language as tl

def set_rows(arguments):
    arguments["log"].append(arguments["BLOCK"])

log = []

@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64}, num_warps=2),
        triton.Config({"BLOCK": 128}, num_warps=4, num_stages=2),
        triton.Config({"BLOCK": 256}, num_warps=8),
    ],
    key=["n"],
)
@triton.heuristics({"EVEN": lambda arguments: arguments["n"] % arguments["BLOCK"] == 0})
@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets))
    else:
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)
"""

TUNED_AND_LAUNCHED = f"""{TUNED}
x = torch.empty(1152, device="cuda")
copy[lambda meta: (triton.cdiv(1152, meta["BLOCK"]),)](x, x, 1152)
"""


def specialize(source, target=HOPPER, **wishes):
    return resolve(load(source, target), Request(source, "", "", **wishes), target)


def compiled(specialization, target):
    """Compile: Triton must accept the resolved specialization."""
    source = compiler.ASTSource(
        specialization.jit_function, specialization.signature, specialization.constexprs, specialization.attrs
    )
    return compiler.compile(source, target=triton_target(target), options=specialization.options)


# --- launches ---------------------------------------------------------------------------------


def test_the_first_launch_is_taken_when_none_is_named():
    described = specialize(LAUNCHED).described
    assert (described.kernel, described.line, described.language) == ("scale", 5, "triton")
    assert (described.launch, described.launch_line, described.grid) == (0, 12, (8,))
    assert described.signature == "*fp16:16, *fp16:16, i32, 1, fp32, fp16, 128"


def test_a_launch_is_taken_by_its_index():
    specialization = specialize(LAUNCHED, launch=1, kernel="scale")
    assert specialization.described.signature == "*fp16, *fp16:16, i32:16, i32, fp32, fp16, 256"
    assert specialization.described.options["num_warps"] == 8
    assert specialization.options["num_warps"] == 8


def test_options_override_those_of_the_launch():
    specialization = specialize(LAUNCHED, launch=1, options={"num_warps": 2, "maxnreg": 64})
    assert specialization.options["num_warps"] == 2
    assert specialization.described.options["maxnreg"] == 64
    assert ".maxnreg 64" in compiled(specialization, HOPPER).asm["ptx"]


def test_every_configuration_can_be_asked_for():
    described = [specialize(TUNED_AND_LAUNCHED, config=index).described for index in range(3)]
    assert [each.signature for each in described] == [
        "*fp32:16, *fp32:16, i32:16, 64, True",
        "*fp32:16, *fp32:16, i32:16, 128, True",
        "*fp32:16, *fp32:16, i32:16, 256, False",
    ]
    assert [each.options["num_warps"] for each in described] == [2, 4, 8]
    assert [each.config for each in described] == [0, 1, 2]
    overridden = specialize(TUNED_AND_LAUNCHED, config=2, options={"num_warps": 1})
    assert overridden.options["num_warps"] == 1
    assert overridden.described.config == 2


def test_a_launch_for_amd_tells_of_small_tensors():
    specialization = specialize(LAUNCHED, CDNA)
    assert ["tt.pointer_range", 32] in specialization.attrs[(0,)]


# --- signatures and forms ---------------------------------------------------------------------


@pytest.mark.parametrize("target", [HOPPER, CDNA])
def test_a_signature_compiles_to_the_same_as_the_launch(target):
    launched = specialize(LAUNCHED, target)
    signed = specialize(SCALE, target, arguments=launched.described.signature)
    assert signed.signature == launched.signature
    assert signed.constexprs == launched.constexprs
    assert {key: value for key, value in signed.attrs.items() if value} == {
        key: value for key, value in launched.attrs.items() if value
    }
    kind = "amdgcn" if target is CDNA else "ptx"
    assert compiled(signed, target).asm[kind] == compiled(launched, target).asm[kind]


def test_a_form_filled_with_the_arguments_of_a_launch_gives_that_launch():
    launched = specialize(LAUNCHED, launch=1)
    filled = specialize(SCALE, arguments=launched.described.arguments)
    assert filled.signature == launched.signature
    assert filled.constexprs == launched.constexprs
    assert filled.constexprs[(5,)] == tl.float16


@pytest.mark.parametrize(
    ("signature", "written"),
    [
        ("*fp32, *bf16:16, i64, i32:1, fp32, bf16", "*fp32, *bf16:16, i64, 1, fp32, bf16, 128"),
        ("*fp32,*fp32,i32,2,fp32,fp32,BLOCK=64", "*fp32, *fp32, i32, 2, fp32, fp32, 64"),
        ("BLOCK=2**5, dtype=tl.float16, *fp16, *fp16, 1000, 1, 0.5", "*fp16, *fp16, 1000, 1, 0.5, fp16, 32"),
        ("  *k fp16", None),
    ],
)
def test_signatures(signature, written):
    if written is None:
        with pytest.raises(UserError):
            specialize(SCALE, arguments=signature)
    else:
        assert specialize(SCALE, arguments=signature).described.signature == written


def test_constants_of_a_signature_may_be_text_none_and_names_of_the_source():
    source = (
        "import triton, triton.language as tl\nWIDTH = 64\n"
        "@triton.jit\ndef double(x):\n    return x * 2\n"
        "@triton.jit\ndef k(p, q, kind: tl.constexpr, f: tl.constexpr, W: tl.constexpr, S: tl.constexpr):\n"
        "    x = tl.arange(0, W)\n    tl.static_assert(kind == 'a, b' and S[1] == 2 and q is None)\n"
        "    tl.store(p + x, f(x))\n"
    )
    specialization = specialize(source, kernel="k", arguments="*i32:16, None, 'a, b', double, WIDTH, (1, 2)")
    assert specialization.described.signature == "*i32:16, None, 'a, b', double, 64, (1, 2)"
    assert "ttir" in compiled(specialization, HOPPER).asm


def test_autotuned_kernels_take_their_constants_from_the_configuration():
    specialization = specialize(TUNED, arguments="*fp32:16, *fp32:16, i32:16, EVEN=True", config=1)
    assert specialization.described.signature == "*fp32:16, *fp32:16, i32:16, 128, True"
    assert (specialization.options["num_warps"], specialization.options["num_stages"]) == (4, 2)


def test_a_form_of_an_autotuned_kernel_takes_them_too():
    form = (*(Argument(name, "*fp32") for name in ("x_ptr", "y_ptr")), Argument("n", "i32"))
    flag = Argument("EVEN", "constexpr", False, "constexpr")
    described = specialize(TUNED, arguments=(*form, flag), config=2).described
    assert described.signature == "*fp32, *fp32, i32, 256, False"


def test_values_given_by_hand_are_told_and_floats_stay_floats():
    form = specialize(LAUNCHED).described.arguments
    by_hand = [
        replace(each, value=4096, specialization="divisible by 16") if each.name == "n_elements" else each
        for each in form
    ]
    described = specialize(SCALE, arguments=tuple(by_hand)).described
    assert next(each.value for each in described.arguments if each.name == "n_elements") == 4096
    source = (
        "import triton, triton.language as tl\n"
        "@triton.jit\ndef k(p, factor: tl.constexpr):\n    tl.store(p, factor)\n"
    )
    arguments = (Argument("p", "*fp32"), Argument("factor", "constexpr", "2.0", "constexpr"))
    assert specialize(source, arguments=arguments).described.signature == "*fp32, 2.0"


def test_without_launch_and_arguments_guesses_are_taken():
    source = SCALE.replace("dtype: tl.constexpr, ", "").replace(".to(dtype)", "")
    specialization = specialize(source)
    assert specialization.described.signature == "*fp32:16, *fp32:16, i32:16, 1, fp32, 128"
    assert specialization.described.launch is None
    compiled(specialization, HOPPER)


# --- problems of a request --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "wishes", "message", "line"),
    [
        ("x = 1\n", {}, "The source has no kernel", 0),
        ("def f(:\n", {}, "SyntaxError", 1),
        ("import flash_attn\n", {}, "The source has no kernel", 0),
        (SCALE, {"kernel": "scales"}, "The source has no kernel 'scales'", 0),
        (SCALE, {"launch": 0}, "The source has no launch 0: it makes 0 launches", 0),
        (LAUNCHED, {"launch": 2}, "The source has no launch 2: it makes 2 launches", 0),
        (LAUNCHED, {"launch": -1}, "The source has no launch -1", 0),
        (LAUNCHED, {"launch": 0, "arguments": "i32"}, "either a launch or arguments", 0),
        (LAUNCHED, {"config": 0}, "scale has no configuration 0: it has 0", 5),
        (TUNED_AND_LAUNCHED, {"config": 3}, "copy has no configuration 3: it has 3", 19),
        (LAUNCHED, {"options": {"num_warp": 4}}, "Unknown compiler option 'num_warp'", 0),
        (LAUNCHED, {"options": {"num_warps": 3}}, "num_warps", 12),
        (TUNED, {"arguments": "*i8, *i8, i32, EVEN=True", "options": {"num_warps": 3}}, "num_warps", 19),
        (SCALE, {"arguments": ""}, "takes 7 arguments; missing: x_ptr, y_ptr", 5),
        (SCALE, {"arguments": "*fp32, *fp32"}, "missing: n_elements, stride, factor, dtype", 5),
        (SCALE, {"arguments": "i32, " * 7 + "i32"}, "takes 7 arguments, the signature has 8", 5),
        (SCALE, {"arguments": "*fp99"}, "character 1: unknown element type 'fp99'", 0),
        (SCALE, {"arguments": "*fp16, i32:8"}, "character 8: unknown hint ':8'", 0),
        (SCALE, {"arguments": "*fp16,, i32"}, "character 7: an argument is missing", 0),
        (SCALE, {"arguments": "*fp16, (1"}, "not closed", 0),
        (SCALE, {"arguments": "*fp16, nonsense"}, "for 'y_ptr', 'nonsense' is not a type", 5),
        (SCALE, {"arguments": "z=i32"}, "scale has no parameter 'z'", 5),
        (SCALE, {"arguments": (Argument("z", "i32"),)}, "scale has no parameter 'z'", 5),
        (SCALE, {"arguments": (Argument("x_ptr", "float"),)}, "'float' is not a valid type for 'x_ptr'", 5),
        (
            SCALE,
            {"arguments": (Argument("n_elements", "i32", 2**31),)},
            "'n_elements' is i32, with values from",
            5,
        ),
        (SCALE, {"arguments": (Argument("n_elements", "u8", -1),)}, "with values from 0 to 255, got -1", 5),
        (SCALE, {"arguments": (Argument("n_elements", "i32", 2.5),)}, "is i32, and 2.5 is not an integer", 5),
        (
            SCALE,
            {"arguments": (Argument("n_elements", "i32", 100, "divisible by 16"),)},
            "cannot be divisible by 16 with the value 100",
            5,
        ),
        (
            SCALE,
            {"arguments": (Argument("stride", "i32", 2, "equal to 1"),)},
            "cannot be equal to 1 with the value 2",
            5,
        ),
        (
            SCALE,
            {"arguments": (Argument("x_ptr", "*fp32", None, "equal to 1"),)},
            "'x_ptr' is *fp32, which is never equal to 1",
            5,
        ),
        (
            SCALE,
            {"arguments": (Argument("factor", "fp32", None, "divisible by 16"),)},
            "'factor' is fp32, which is never divisible by 16",
            5,
        ),
        (SCALE, {"arguments": (Argument("x_ptr", "*fp32"),)}, "missing: y_ptr, n_elements", 5),
        (
            SCALE.replace("@triton.jit", "@triton.autotune(configs=[(16, 32)], key=[])\n@triton.jit"),
            {},
            "An autotune configuration must be a triton.Config, got (16, 32).",
            6,
        ),
    ],
)
def test_what_is_wrong_is_said(source, wishes, message, line):
    with pytest.raises(UserError) as raised:
        specialize(source, **wishes)
    diagnostic = raised.value.diagnostic
    assert diagnostic.severity == "error"
    assert message in diagnostic.message
    assert diagnostic.line == line


def test_hints_name_what_there_is():
    with pytest.raises(UserError) as raised:
        specialize(SCALE, kernel="scal")
    assert raised.value.diagnostic.hint == "Did you mean 'scale'? There are: scale."
    with pytest.raises(UserError) as raised:
        specialize(LAUNCHED, options={"num_warp": 4})
    assert raised.value.diagnostic.hint.startswith("Did you mean 'num_warps'? Known options: ")


def test_a_broken_script_can_be_compiled_by_a_signature():
    specialization = specialize(f"{SCALE}import flash_attn\n", arguments="*fp32, *fp32, i32, 1, fp32, fp32")
    assert specialization.described.kernel == "scale"


@pytest.mark.parametrize(
    ("elements", "target", "expected"),
    [
        ("2**20", CDNA, ("x_ptr", "y_ptr")),
        # 2 GiB are one byte too much.
        ("2**30", CDNA, ()),
        ("2**30 - 1", CDNA, ("x_ptr", "y_ptr")),
        ("2**20", HOPPER, ()),
    ],
)
def test_the_amd_backend_knows_which_tensors_are_within_2_gib(elements, target, expected):
    source = f"""{SCALE}
x = torch.empty({elements}, device="cuda", dtype=torch.float16)
scale[(8,)](x, x, 1000, 2, 2.0, tl.float16)
"""
    assert specialize(source, target).described.within_2_gib == expected


def test_the_knob_for_buffer_operations_decides_it_too(monkeypatch):
    from triton import knobs

    monkeypatch.setattr(knobs.amd, "use_buffer_ops", False)
    source = f"{SCALE}\nx = torch.empty(1000, device='cuda')\nscale[(8,)](x, x, 1000, 2, 2.0, tl.float16)\n"
    assert specialize(source, CDNA).described.within_2_gib == ()
