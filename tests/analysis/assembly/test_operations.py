"""Test which lines count as operations, with the output of real tools."""

import pytest

from explorer.analysis.assembly.operations import operation_lines, operations_by_source_line

TTGIR = """\
#blocked = #ttg.blocked<{sizePerThread = [1, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32} {
  tt.func public @kernel(%q_ptr: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
*    %c64_i32 = arith.constant 64 : i32
*    %sum:9 = scf.for %i = %c0_i32 to %end step %c64_i32 iter_args(%arg10 = %cst_2) -> (f32) {
*      %max = "tt.reduce"(%qk) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
*        tt.reduce.return %a : f32
      }) : (tensor<128x64xf32>) -> tensor<128xf32>
*      scf.yield %a, %b : f32, f32
    } {tt.num_stages = 3 : i32}
*    %q:2, %r = ttng.tmem_alloc : () -> (i32)
*    tt.return
  }
}"""
LLIR = """\
; ModuleID = 'LLVMDialectModule'
@global_smem = external addrspace(3) global [0 x i8], align 16

define void @kernel(ptr addrspace(1) %0) local_unnamed_addr #0 {
*  %2 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
*  switch i32 %2, label %4 [
    i32 0, label %3
    i32 1, label %4
  ]

3:                                                ; preds = %1
*  store i32 1, ptr addrspace(1) %0, align 4
*  ret void
}

declare void @llvm.nvvm.barrier0() #1
attributes #0 = { nounwind }
!2 = !{i32 2, !"Debug Info Version", i32 3}"""
PTX = """\
.version 9.4
.visible .entry kernel(
\t.param .u64 .ptr .global .align 1 kernel_param_0
)
.reqntid 256
{
\t.reg .pred \t%p<70>;
// %bb.0:
*\tld.param.b64 \t%rd35, [kernel_param_0];
\t// begin inline asm
*\t@%p65 st.global.b32 [ %rd163 + 0 ], { %r905 };
\t// end inline asm
$L__BB0_2:
*\t@!%p1 bra \t$L__BB0_2;
*\tfence.proxy.async.shared::cta;
*\tret;
}"""
SASS = """\
kernel:
.text.kernel:
*B------:R-:W-:-:S01  /*0000*/  LDC R1, c[0x0][0x28] ;
*B------:R-:W-:-:S05  /*56c0*/  @!P0 EXIT ;
.L_x_4:
*B------:R-:W-:Y:S00  /*5700*/  BRA `(.L_x_4);"""
AMDGCN = """\
\t.text
\t.globl\tkernel                   ; -- Begin function kernel
kernel:                          ; @kernel
; %bb.12:
*\ts_load_dwordx2 s[2:3], s[0:1], 0x0
.LBB0_0:
*\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t\t.amdhsa_ieee_mode 1
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .size:           8
amdhsa.version:
  - 1
..."""


@pytest.mark.parametrize(
    ("language", "marked"),
    [("ttgir", TTGIR), ("ttir", TTGIR), ("llir", LLIR), ("ptx", PTX), ("sass", SASS), ("amdgcn", AMDGCN)],
)
def test_operations_are_told_from_everything_else(language, marked):
    lines = marked.split("\n")
    found = operation_lines([line.removeprefix("*") for line in lines], language)
    assert [line for line, is_one in zip(lines, found, strict=True) if is_one] == [
        line for line in lines if line.startswith("*")
    ]


def test_a_syntax_tree_has_no_operations():
    assert operation_lines(["Module", "  FunctionDef"], "python-ast") == [False, False]


def test_an_operation_counts_for_every_line_it_stems_from():
    counts = operations_by_source_line([True, True, False, True], [[7], [7, 9], [9], []])
    assert counts == {7: 2, 9: 1}
