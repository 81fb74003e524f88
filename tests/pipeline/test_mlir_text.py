"""The text of a module without its locations: the fast reader of snapshots and the reader of stages."""

from explorer.pipeline.locations import LocationTable
from explorer.pipeline.stages.mlir import read_module, without_locations

_PRINTED = r"""#loc = loc("kernel.py":1:0)
#loc3 = loc(callsite(#loc1 at #loc2))
module attributes {target = "cuda:90"} {
  tt.func @add(%x: !tt.ptr<f32> loc("x"(#loc)), %n: i32 loc(#loc)) {
    %pid = tt.get_program_id x : i32 loc(#loc4)
    %a = arith.addi %pid, %n : i32 loc(callsite(#loc1 at #loc2))
    %b = llvm.inline_asm "mov \" loc(#loc9) $0;", "=r" %a : (i32) -> i32 loc(fused<{a = "b)"}>[#loc1, #loc2])
    %c = llvm.call @loc(%b) : (i32) -> i32 loc(unknown)
    %d = llvm.add %b, %c : i32 loc(fused[#loc1, callsite(#loc1 at #loc2)])
    tt.print "a loc(#loc1) b" {hex = false} : %d : i32 loc(#loc5)
    tt.return loc(#loc6)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("kernel.py":2:4)
#loc2 = loc("a \"name\"(\"kernel.py\":3:4)")
#loc4 = loc("pid"(#loc1))
"""
_EXPECTED = r"""module attributes {target = "cuda:90"} {
  tt.func @add(%x: !tt.ptr<f32>, %n: i32) {
    %pid = tt.get_program_id x : i32
    %a = arith.addi %pid, %n : i32
    %b = llvm.inline_asm "mov \" loc(#loc9) $0;", "=r" %a : (i32) -> i32
    %c = llvm.call @loc(%b) : (i32) -> i32
    %d = llvm.add %b, %c : i32
    tt.print "a loc(#loc1) b" {hex = false} : %d : i32
    tt.return
  }
}
"""


def test_locations_are_removed_but_not_from_strings():
    assert without_locations(_PRINTED) == _EXPECTED
    assert read_module(_PRINTED, LocationTable()) == _EXPECTED


def test_a_module_without_strings_or_aliases():
    assert without_locations("module {\n} loc(#loc)\n") == "module {\n}\n"
    assert without_locations("#loc = loc(unknown)\nmodule {\n} loc(#loc)\n") == "module {\n}\n"
    assert without_locations("") == ""
