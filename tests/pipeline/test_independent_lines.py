"""Test the independent reading of line information on small texts."""

from independent_lines import llvm_lines, mlir_lines, ptx_lines, sass_lines


def test_mlir():
    text = """\
#loc = loc("/k.py":7:1)
#loc1 = loc(unknown)
module {
  tt.func @k(%a: i32 loc("a"(#loc))) {
    %n = arith.addi %a, %a : i32 loc(#loc4)
    %s = "tt.reduce"(%n) ({
    }) : (i32) -> i32 loc(fused<"x">[#loc3, callsite(#loc2 at callsite(#loc at "/m.py":1:1))])
    %c = arith.constant 1 : i32 loc(#loc1)
    tt.store %n, %c : i32 loc("/with \\22quote.py":3:4 to :9)
  } loc(#loc)
}
#loc2 = loc("/lib.py":43:13)
#loc3 = loc("/k.py":8:11)
#loc4 = loc("n"(callsite(#loc2 at #loc3)))
"""
    assert mlir_lines(text) == {
        5: [(("/lib.py", 43), ("/k.py", 8))],
        7: [(("/k.py", 8),), (("/lib.py", 43), ("/k.py", 7), ("/m.py", 1))],
        8: [()],
        9: [(('/with "quote.py', 3),)],
        10: [(("/k.py", 7),)],
    }


def test_llvm_ir():
    text = """\
define void @k() !dbg !2 {
  %1 = add i32 1, 2, !dbg !5
  %2 = load i32, ptr %1, align 4, !dbg !4, !tbaa !9
  ret void
}
!1 = !DIFile(filename: "k.py", directory: "/d")
!2 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 7)
!3 = !DILexicalBlockFile(scope: !2, file: !6, discriminator: 0)
!4 = !DILocation(line: 8, column: 33, scope: !2)
!5 = !DILocation(line: 43, column: 13, scope: !3, inlinedAt: !4)
!6 = !DIFile(filename: "lib.py", directory: "/l")
"""
    assert llvm_lines(text) == {2: (("/l/lib.py", 43), ("/d/k.py", 8)), 3: (("/d/k.py", 8),)}


def test_ptx():
    text = """\
.visible .entry k()
{
	.loc	1 8 33                          // k.py:8:33
	.loc	2 43 13, function_name $L__info_string0, inlined_at 1 8 33 // lib.py:43:13
	add.s32 	%r77, %r31, 127;
	.loc	2 99 1, function_name $L__info_string0, inlined_at 2 43 13
	@%p1 bra 	$L__BB0_2;
$L__tmp1:
	.loc	1 9 1
	ret;
}
	.file	1 "/d/k.py"
	.file	2 "/l/lib.py"
"""
    assert ptx_lines(text) == {
        5: (("/l/lib.py", 43), ("/d/k.py", 8)),
        7: (("/l/lib.py", 99), ("/l/lib.py", 43), ("/d/k.py", 8)),
        10: (("/d/k.py", 9),),
    }


def test_sass():
    text = """\
	.section	.text.k,"ax",@progbits
k:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
	//## File "/l/lib.py", line 43 inlined at "/d/k.py", line 8
	//## File "/d/k.py", line 8
        /*0010*/                   LDC R0, c[0x0][0x22c] ;
.L_x_1:
        /*0020*/              @!P0 BRA `(.L_x_1) ;
	//## File "/d/k.py", line 9
        /*0030*/                   EXIT ;
"""
    assert sass_lines(text) == {
        0x10: (("/l/lib.py", 43), ("/d/k.py", 8)),
        0x20: (("/l/lib.py", 43), ("/d/k.py", 8)),
        0x30: (("/d/k.py", 9),),
    }
