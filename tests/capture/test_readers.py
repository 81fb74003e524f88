"""Test the import of Triton's cache, of dumps and of tritonparse's traces, which anybody may have written."""

import ast
import gzip
import json
import os
from pathlib import Path

import pytest
from captured import documented_program, kernels_of

from explorer.capture.read import CapturedKernel, Damaged
from explorer.capture.readers import lines, open_kernels
from explorer.capture.readers.source import LocalSources
from explorer.errors import InvalidRequest


def read(path, sources=None):
    return list(open_kernels(path, sources).kernels())


def by_name(kernels):
    assert all(isinstance(each, CapturedKernel) for each in kernels), kernels
    return {each.file.kernel: each for each in kernels}


# --- Triton's cache ----------------------------------------------------------------------------


@pytest.mark.slow
def test_triton_s_cache_has_the_stages_of_the_capture(captured, cache):
    imported, own = read(cache), kernels_of(captured.folder)
    key = lambda kernel: sorted(kernel.captured.stages.items())  # noqa: E731
    assert sorted(map(key, imported)) == sorted(map(key, own))
    kernel, other = by_name(imported)["sum_kernel"], by_name(own)["sum_kernel"]
    assert kernel.captured.metadata["shared"] == other.captured.metadata["shared"]
    assert (kernel.file.triton, kernel.file.target) == (other.file.triton, other.file.target)
    assert kernel.file.options["num_warps"] == 8
    assert not kernel.has_launch
    assert kernel.launches is None


@pytest.mark.slow
def test_the_source_is_read_only_if_it_is_asked_for(captured, cache):
    program = captured.folder.parent / "program.py"
    lines = documented_program().splitlines()
    kernel = by_name(read(cache))["sum_kernel"]
    assert "def sum_kernel" not in kernel.file.script
    assert "The source of sum_kernel is missing: Triton's cache does not have it." in kernel.file.script
    assert f"{program}: " in kernel.file.script
    kernel = by_name(read(cache, LocalSources()))["sum_kernel"]
    script = kernel.file.script.splitlines()
    assert [file for file, *_ in kernel.file.origins if file == str(program)] == [str(program)]
    for file, line, count, script_line in kernel.file.origins:
        if file == str(program):
            assert script[script_line - 1 : script_line - 1 + count] == lines[line - 1 : line - 1 + count]
            assert "@triton.jit" in script[script_line - 1]


METADATA = {"target": {"backend": "cuda", "arch": 90, "warp_size": 32}, "num_warps": 4, "name": "kernel"}
TTIR = '#loc = loc("{}":3:0)\nmodule {{}}\n'


def cached(folder, *, metadata=METADATA, **stages):
    folder.mkdir(parents=True)
    (folder / "__grp__kernel.json").write_text('{"child_paths": {"kernel.ttir": "/etc/passwd"}}')
    text = metadata if isinstance(metadata, str) else json.dumps(metadata)
    (folder / "kernel.json").write_text(text)
    for name, content in stages.items():
        (folder / f"kernel.{name}").write_text(content)
    return folder


def test_a_damaged_kernel_is_named_and_the_others_are_read(tmp_path):
    cached(tmp_path / "good", ttir="module {}")
    cached(tmp_path / "torn", metadata='{"target": {"back')
    cached(tmp_path / "deep", metadata="[" * 100_000)
    cached(tmp_path / "odd", metadata={**METADATA, "target": "cuda"})
    (cached(tmp_path / "none") / "kernel.json").unlink()
    found = read(tmp_path)
    damaged = {each.name for each in found if isinstance(each, Damaged)}
    assert damaged == {"torn/kernel", "deep/kernel", "odd/kernel", "none/kernel"}
    (good,) = [each for each in found if isinstance(each, CapturedKernel)]
    assert good.captured.stages == {"ttir": "module {}"}
    assert good.file.triton == "unknown"


def test_links_of_a_cache_are_not_followed(tmp_path):
    secret = cached(tmp_path / "outside", ttir="secret")
    folder = cached(tmp_path / "cache" / "one")
    (folder / "kernel.ttir").symlink_to(secret / "kernel.ttir")
    os.mkfifo(folder / "kernel.ptx")
    (tmp_path / "cache" / "two").symlink_to(secret)
    (only,) = read(tmp_path / "cache")
    assert only.captured.stages == {}


def test_a_text_that_names_another_file_does_not_send_it(tmp_path):
    for name, text in {
        "key": "-----BEGIN",
        "plain.py": "PASSWORD = 1\n\ndef secret():\n    return 1\n",
        "broken.py": "def (",
    }.items():
        (tmp_path / name).write_text(text)
        folder = cached(tmp_path / f"cache-{name}" / "one", ttir=TTIR.format(tmp_path / name))
        (only,) = read(folder.parent, LocalSources())
        assert text not in only.file.script
        assert "secret" not in only.file.script
        assert "is missing" in only.file.script
    folder = cached(tmp_path / "cache-link" / "one", ttir=TTIR.format(tmp_path / "link.py"))
    (tmp_path / "kernel.py").write_text("@jit\ndef secret():\n    return 1\n")
    (tmp_path / "link.py").symlink_to(tmp_path / "kernel.py")
    (only,) = read(folder.parent, LocalSources())
    assert "secret" not in only.file.script


def test_functions_of_a_library_are_no_source_of_the_kernel(tmp_path):
    library = tmp_path / "library.py"
    library.write_text("@jit\ndef helper():\n    return 1\n")
    ttir = TTIR.format("./kernel.py") + f'#loc2 = loc("{library}":3:0)\n'
    (only,) = read(cached(tmp_path / "one", ttir=ttir), LocalSources())
    assert "def helper" not in only.file.script
    assert "./kernel.py is not read: it is not the absolute path" in only.file.script
    assert f"{library}: 3 to 3" in only.file.script


def test_names_cannot_leave_the_comment(tmp_path):
    ttir = TTIR.format("/a\rimport os\r.py")
    (only,) = read(cached(tmp_path / "one", ttir=ttir, metadata={**METADATA, "name": "k\r\nimport os"}))
    assert all(line.startswith("#") for line in only.file.script.splitlines())


def test_a_folder_without_kernels(tmp_path):
    (tmp_path / "other").mkdir()
    with pytest.raises(InvalidRequest, match="has no kernels"):
        open_kernels(tmp_path)
    with pytest.raises(InvalidRequest, match="There is no folder or file"):
        open_kernels(tmp_path / "nothing")
    (tmp_path / "run.json").write_text("{}")
    assert open_kernels(tmp_path / "run.json") is None


# --- dumps ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_dump_has_the_stages_and_the_target(capture, tmp_path):
    program = documented_program().partition("for block in")[0]
    program += "sum_kernel[(1,)](x, y, 1000, BLOCK=1024)\n"
    environment = {"TRITON_KERNEL_DUMP": "1", "TRITON_DUMP_DIR": str(tmp_path / "dump")}
    ended = capture(program, environment=environment)
    assert ended.status == 0, ended.errors
    (imported,), (own,) = read(tmp_path / "dump"), kernels_of(ended.folder)
    assert imported.captured.stages == own.captured.stages
    assert (imported.file.kernel, imported.file.triton) == ("sum_kernel", "unknown")
    assert imported.file.target == own.file.target
    assert imported.captured.metadata["num_warps"] == 4
    assert "TRITON_KERNEL_DUMP does not write it" in imported.file.script


def test_a_dump_without_a_target_is_named(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "kernel.ttgir").write_text("module {}")
    (damaged,) = read(tmp_path)
    assert (damaged.name, damaged.reason) == ("one/kernel", "its TTGIR names no target")


# --- tritonparse -----------------------------------------------------------------------------------

CODE = "@triton.jit\ndef kernel(x_ptr):\n    tl.store(x_ptr, 1)\n"


def compilation(identity, **payload):
    metadata = {**METADATA, "hash": identity, "triton_version": "3.9.0", "cache_hit": False}
    content = {"kernel.ttir": TTIR.format("/home/me/program.py"), "kernel.ptx": "<file is too large>"}
    source = {"file_path": "/home/me/program.py", "start_line": 2, "end_line": 4, "code": CODE}
    times = {"ir_initialization": 1500, "lowering_stages": [["ttir", 2500]], "store_results": 500}
    whole = {"metadata": metadata, "file_content": content, "python_source": source, "times": times}
    return {"event_type": "compilation", "pid": 1, "payload": {**whole, **payload}}


def launch(identity):
    return {"event_type": "launch", "grid": [1, 1, 1], "compilation_metadata": {"hash": identity}}


def lines_of(*events):
    return "".join(json.dumps(event) + "\n" for event in events).encode()


def test_a_trace_has_kernels_with_sources_times_and_launches(tmp_path):
    events = [compilation("one"), launch("one"), compilation("two"), compilation("one"), launch("one")]
    data = lines_of(*events, {"event_type": "launch_diff"})
    (tmp_path / "plain.ndjson").write_bytes(data)
    (tmp_path / "packed.ndjson.gz").write_bytes(gzip.compress(data))
    by_line = b"".join(map(gzip.compress, data.splitlines(keepends=True)))
    (tmp_path / "lines.bin.ndjson").write_bytes(by_line)
    for name in ("plain.ndjson", "packed.ndjson.gz", "lines.bin.ndjson"):
        one, two = read(tmp_path / name)
        assert (one.identity, one.launches, two.launches) == ("one", 2, 0)
        assert one.captured.stages == {"ttir": TTIR.format("/home/me/program.py")}
        assert one.captured.milliseconds == {"ir": 1.5, "ttir": 2.5, "store": 0.5}
        assert one.file.origins == [("/home/me/program.py", 2, 3, 5)]
        assert "\n".join(one.file.script.splitlines()[4:7]) + "\n" == CODE
    one, _ = read(tmp_path)
    assert one.launches == 6


@pytest.mark.slow
def test_a_trace_has_the_texts_of_the_compiler(captured, cache, tmp_path):
    own = by_name(read(cache))
    events = []
    for folder in cache.iterdir():
        for file in folder.glob("*.json"):
            if not file.name.startswith("__grp__"):
                texts = {each.name: each.read_text() for each in folder.glob(f"{file.stem}.[tlp]*")}
                metadata = {
                    **json.loads(file.read_text()),
                    "cache_hit": True,
                    "src_constants": {"(3,)": 1024},
                }
                events.append(compilation("", metadata=metadata, file_content=texts))
    (tmp_path / "trace.ndjson").write_bytes(lines_of(*events))
    kernel = by_name(read(tmp_path / "trace.ndjson", LocalSources()))["sum_kernel"]
    texts = {name: text for name, text in own["sum_kernel"].captured.stages.items() if name != "cubin"}
    assert kernel.captured.stages == texts
    assert kernel.captured.metadata["shared"] == own["sum_kernel"].captured.metadata["shared"]
    assert kernel.file.target == own["sum_kernel"].file.target


def test_launches_that_were_not_traced_are_not_known(tmp_path):
    (tmp_path / "trace.ndjson").write_bytes(lines_of(compilation("one", times=None, python_source=None)))
    (only,) = read(tmp_path / "trace.ndjson")
    assert only.launches is None
    assert only.file.milliseconds is None
    assert "The source of kernel is missing: the trace does not have it." in only.file.script


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"event_type": "compilation", "payl\n', "malformed"),
        (b'{"event_type":' + b"[" * 100_000 + b"\n", "Expected `str`"),
        (lines_of(compilation("x", metadata={})), "has no hash"),
        (lines_of(compilation("x", metadata={"hash": "x"})), "Expected `object`"),
        (lines_of(compilation("x", file_content={"kernel.ttir": 1})), "Expected `str`"),
        (b"\xff\xfe\n", "malformed"),
    ],
    ids=("torn", "deep", "no hash", "no target", "no text", "no JSON"),
)
def test_a_damaged_line_is_named_and_the_others_are_read(tmp_path, line, reason):
    (tmp_path / "trace.ndjson").write_bytes(lines_of(compilation("a")) + line + lines_of(compilation("b")))
    first, damaged, last = read(tmp_path / "trace.ndjson")
    assert (first.identity, last.identity) == ("a", "b")
    assert damaged.name == "trace.ndjson:2"
    assert reason in damaged.reason


def test_a_torn_or_endless_trace_ends_with_an_error(tmp_path, monkeypatch):
    good = lines_of(compilation("a"))
    path = tmp_path / "trace.ndjson.gz"
    path.write_bytes(gzip.compress(good) + gzip.compress(good)[:-20])
    assert [type(each) for each in read(path)] == [CapturedKernel, Damaged]
    path.write_bytes(gzip.compress(good) + b"\x1f\x8b\x08\x00" + bytes(100))
    assert next(type(each) for each in read(path)) is CapturedKernel
    monkeypatch.setattr(lines, "_LINE_BYTES", 1 << 16)
    path.write_bytes(gzip.compress(good + bytes(1 << 22)))
    _, damaged = read(path)
    assert "a line has more than 65,536 bytes" in damaged.reason
    monkeypatch.setattr(lines, "_FILE_BYTES", 1 << 18)
    path.write_bytes(gzip.compress(good + (b" " * 1000 + b"\n") * 1000))
    first, damaged = read(path)
    assert first.identity == "a"
    assert "more than 262,144 bytes" in damaged.reason
    path.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    (damaged,) = read(path)
    assert "Unpack it with zstd -d" in damaged.reason


# --- logs of PyTorch's compiler ------------------------------------------------------------------

RECORDED = Path(__file__).parent / "recorded"
KERNELS = [
    "triton_per_fused_native_layer_norm_0",
    "triton_poi_fused_add_addmm_gelu_1",
    "triton_per_fused_div_exp_prepare_softmax_online_sub_0",
]


def test_logs_of_torch_have_the_kernels_of_inductor():
    found = read(RECORDED / "torch_trace")
    assert [each.name for each in found] == KERNELS
    assert {each.target for each in found} == {"cuda:90"}
    assert found[0].source == found[1].source
    assert "'''" in found[0].source
    ast.parse(found[0].source)
    (logged,) = read(RECORDED / "output_code.log")
    assert logged == found[2]


def test_output_code_of_several_processes_is_read_once(tmp_path):
    lines = (RECORDED / "output_code.log").read_bytes().splitlines(keepends=True)
    process = lines[0].split()[2]
    others = [b"[rank1]:" + line.replace(b" " + process + b" ", b" 7 ") for line in lines]
    pairs = [line for pair in zip(lines, others, strict=True) for line in (*pair, b"another text\n")]
    (tmp_path / "both.txt").write_bytes(b"".join(pairs))
    (only,) = read(tmp_path / "both.txt")
    assert only == read(RECORDED / "output_code.log")[0]
    (tmp_path / "packed.log.gz").write_bytes(gzip.compress(b"".join(lines)))
    assert read(tmp_path) == [only]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data[: data.index(b"\tasync_compile.wait")], "does not have its digest"),
        (lambda data: data.replace(b"xnumel = 1024", b"xnumel = 1025"), "does not have its digest"),
        (lambda data: data.replace(b'output_code": {', b'output_code": {,', 1), "JSON is malformed"),
    ],
    ids=("torn", "changed", "no JSON"),
)
def test_damaged_output_code_of_torch_is_named(tmp_path, change, reason):
    data = (RECORDED / "torch_trace/dedicated_log_torch_trace_imv95pvu.log").read_bytes()
    line = data[: data.index(b'{"inductor_output_code"')].count(b"\n") + 1
    (tmp_path / "trace.log").write_bytes(change(data[data.index(b"V") :]))
    damaged = read(tmp_path / "trace.log")[0]
    assert damaged.name == f"trace.log:{line}"
    assert reason in damaged.reason


def test_text_that_ends_in_a_kernel_is_named(tmp_path):
    data = (RECORDED / "output_code.log").read_bytes()
    (tmp_path / "torn.log").write_bytes(data[: data.index(b"tl.store")])
    (damaged,) = read(tmp_path / "torn.log")
    assert damaged.name == "torn.log:1"
    assert f"ends inside of the kernel {KERNELS[2]}" in damaged.reason
    (tmp_path / "torn.log").write_bytes(data.replace(b"DeviceProperties(", b"Other("))
    (damaged,) = read(tmp_path / "torn.log")
    assert "names no GPU" in damaged.reason
