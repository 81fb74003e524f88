"""Test the fake GPU as a script sees it, and its complete removal."""

import sys

import pytest
import torch
import triton

from explorer.model.hardware import TARGETS, find_target
from explorer.pipeline.fake_gpu import NeedsValue, fake_gpu
from explorer.pipeline.targets import triton_target

HOPPER = find_target("cuda:90")


@pytest.fixture
def gpu():
    with fake_gpu(HOPPER) as recorder:
        yield recorder


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.architecture)
def test_torch_and_triton_describe_the_same_gpu(target):
    device = target.device
    with fake_gpu(target):
        properties = torch.cuda.get_device_properties(0)
        figures = triton.runtime.driver.active.utils.get_device_properties(0)
        assert torch.cuda.is_available()
        assert torch.cuda.device_count() == 1
        assert torch.cuda.get_device_name() == properties.name == device.name
        assert torch.cuda.get_device_capability() == (properties.major, properties.minor) == device.capability
        assert properties.multi_processor_count == figures["multiprocessor_count"] == device.multiprocessors
        assert properties.warp_size == figures["warpSize"] == target.warp_size
        assert figures["max_shared_mem"] == device.multiprocessor.shared_bytes_per_block
        assert (torch.version.hip is not None) == (target.backend == "hip")
        assert (torch.version.cuda is not None) == (target.backend == "cuda")
        assert triton.runtime.driver.active.get_current_target() == triton_target(target)
        assert triton.runtime.driver.active.get_active_torch_device() == torch.device("cuda", 0)
        if target.backend == "hip":
            assert properties.gcnArchName.startswith(target.architecture)
        else:
            assert "sm_{}{}".format(*device.capability) == target.architecture


def test_nothing_is_left_afterwards():
    before = {name: getattr(torch.cuda, name) for name in dir(torch.cuda)}
    modules = set(sys.modules)
    with fake_gpu(HOPPER):
        torch.randn(4, 4, device="cuda").softmax(0)
    assert {name: getattr(torch.cuda, name) for name in dir(torch.cuda)} == before
    assert not torch.cuda.is_available()
    assert not {name for name in set(sys.modules) - modules if name.startswith("torch._dynamo")}
    with pytest.raises((AssertionError, RuntimeError)):
        torch.randn(4, device="cuda")


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.empty(8, 4, device="cuda"),
        lambda: torch.empty(8, 4, device="cuda:0"),
        lambda: torch.empty(8, 4, device=0),
        lambda: torch.empty(8, 4, device=torch.device("cuda")),
        lambda: torch.zeros(8, 4).cuda(),
        lambda: torch.zeros(8, 4).cuda(0, non_blocking=True),
        lambda: torch.zeros(8, 4).to("cuda"),
        lambda: torch.zeros(8, 4).to(0),
        lambda: torch.zeros(8, 4).to(device="cuda", dtype=torch.float32),
        lambda: torch.zeros(8, 4).to(torch.empty(1, device="cuda")),
        lambda: torch.tensor([[0.0] * 4] * 8, device="cuda"),
        lambda: torch.from_numpy(torch.zeros(8, 4).numpy()).to("cuda"),
        lambda: torch.empty(8, 4, pin_memory=True).cuda(),
        lambda: torch.randn(8, 4, device="cuda", generator=torch.Generator(device="cuda").manual_seed(1)),
        lambda: torch.empty_like(torch.empty(8, 4, device="cuda")),
        lambda: torch.empty(1, device="cuda").new_zeros(8, 4),
        lambda: torch.nn.Linear(4, 8, bias=False).cuda().weight,
        lambda: torch.nn.Linear(4, 8, bias=False, device="cuda").weight,
        lambda: torch.ones(8, 4).add_(torch.ones(8, 4, device="cuda")),
        lambda: torch.cat([torch.ones(4, 4), torch.ones(4, 4, device="cuda")]),
    ],
)
def test_tensors_on_the_gpu(gpu, make):
    tensor = make()
    assert tensor.device == torch.device("cuda", 0)
    assert tensor.is_cuda
    assert tensor.get_device() == 0
    assert (tuple(tensor.shape), tensor.stride()) == ((8, 4), (4, 1))
    assert isinstance(tensor, torch.Tensor)


def test_default_devices(gpu):
    with torch.device("cuda"):
        assert torch.zeros(3).is_cuda
    assert not torch.zeros(3).is_cuda
    torch.set_default_device("cuda")
    try:
        assert torch.arange(3).is_cuda
        assert torch.nn.Linear(2, 2).weight.is_cuda
    finally:
        torch.set_default_device("cpu")


def test_addresses_are_as_an_allocator_gives_them(gpu):
    first, second = torch.empty(1000, device="cuda"), torch.empty(10, device="cuda")
    assert first.data_ptr() % 256 == second.data_ptr() % 256 == 0
    assert second.data_ptr() >= first.data_ptr() + 4000
    assert first[3:].data_ptr() == first.data_ptr() + 12
    assert first.view(10, 100).t().data_ptr() == first.data_ptr()
    assert first.data_ptr() == first.detach().data_ptr()


def test_small_tensors_on_the_cpu_are_real(gpu):
    assert torch.arange(4).sum().item() == 6
    assert not torch.ones(3).is_cuda
    assert torch.ones(1 << 24).shape == (1 << 24,)


def test_gradients(gpu):
    layer = (
        torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.LayerNorm(32))
        .to("cuda")
        .half()
    )
    x = torch.randn(4, 16, device="cuda", dtype=torch.float16, requires_grad=True)
    torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False).float().square().mean().backward()
    assert x.grad.shape == x.shape
    assert layer[0].weight.grad.is_cuda


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: bool(x.sum() > 0),
        lambda x: x.cpu().numpy(),
        lambda x: x[x > 0],
        lambda x: x.nonzero(),
        lambda x: torch.unique(x),
        lambda x: bool(torch.allclose(x, x)),
        lambda x: bool(x.sum().item() < 1),
        lambda x: int(x.sum().item()),
        lambda x: torch.testing.assert_close(x, x),
        lambda x: triton.testing.assert_close(x, x),
    ],
)
def test_what_needs_a_value_says_so(gpu, ask):
    with pytest.raises(NeedsValue):
        ask(torch.empty(10, device="cuda"))


def test_unknown_numbers_can_be_carried_around(gpu):
    number = torch.empty(3, device="cuda").max().item()
    assert f"{number * 2 + 1:.2f}" == "nan"
    assert (
        f"{torch.randn(3, device='cuda')}" == "tensor(..., device='cuda:0', size=(3,), dtype=torch.float32)"
    )


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda: torch.tensor([0, 300], device="cuda").tolist(), [0, 300]),
        (lambda: torch.tensor([0, 300, 500]).cuda().diff().max().item(), 300),
        (lambda: (torch.full((2, 3), 7, device="cuda") != -100).sum().item(), 6),
        (lambda: bool((torch.arange(5, device="cuda") > 3).any()), True),
        (lambda: torch.zeros(4, device="cuda", dtype=torch.int32).add_(2)[1:].tolist(), [2, 2, 2]),
        (lambda: torch.arange(6, device="cuda").view(2, 3).T.tolist(), [[0, 3], [1, 4], [2, 5]]),
        (lambda: torch.tensor([1, 0, 2], device="cuda").nonzero().tolist(), [[0], [2]]),
        (lambda: torch.unique(torch.tensor([3, 1, 3], device="cuda")).cpu().numpy().tolist(), [1, 3]),
        (lambda: int(torch.empty(3, device="cuda", dtype=torch.int64).fill_(5).sum()), 15),
    ],
)
def test_the_content_of_a_small_tensor_is_what_the_script_gives_it(gpu, read, value):
    assert read() == value
    assert gpu.assumed == {}


def test_a_tensor_of_one_integer_is_a_number_where_a_size_is_asked_for(gpu):
    lengths, large = torch.tensor([3, 5], device="cuda"), torch.empty(1 << 20, 4, device="cuda")
    assert large[lengths[0] : lengths[1]].shape == (2, 4)
    assert large[: lengths.sum(), None, lengths[0]].shape == (8, 1)
    assert torch.zeros(lengths[0], 2).shape == (3, 2)
    assert torch.zeros(8)[: lengths[1]].shape == (5,)
    assert gpu.assumed == {}
    assert large[: torch.empty_like(lengths)[0]].shape == (128, 4)
    assert [number.value for number in gpu.assumed.values()] == [128]


@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_an_assumed_index_that_a_tensor_does_not_have_needs_a_value(gpu, device):
    unknown = torch.empty(1, dtype=torch.int32, device="cuda")[0]
    with pytest.raises(NeedsValue):
        torch.zeros(8, 4, device=device)[unknown]
    assert gpu.assumed == {}


def test_tensors_of_different_shapes_are_not_equal(gpu):
    assert not torch.equal(torch.empty(4, device="cuda"), torch.tensor(1.0, device="cuda"))
    with pytest.raises(NeedsValue):
        bool(torch.equal(torch.empty((), device="cuda"), torch.tensor(1.0, device="cuda")))


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize(
    "make", [torch.Tensor.to_sparse_csr, torch.Tensor.to_sparse_csc, torch.Tensor.to_sparse]
)
def test_a_sparse_tensor_with_known_content_has_its_parts(gpu, make):
    sparse = make(torch.eye(4, device="cuda"))
    sparse = sparse.coalesce() if sparse.layout == torch.sparse_coo else sparse
    assert sparse.values().is_cuda
    assert sparse.values().shape == (4,)
    for moved in (make(torch.eye(4)).cuda(), make(torch.eye(4)).to("cuda", torch.float16)):
        assert moved.is_cuda
        parts = moved.coalesce() if moved.layout == torch.sparse_coo else moved
        assert parts.values().tolist() == [1.0] * 4


def test_random_numbers_on_the_gpu_do_not_change_those_on_the_cpu(gpu):
    torch.manual_seed(1)
    alone = torch.randn(3)
    torch.manual_seed(1)
    drawn = torch.randint(0, 10, (100,), device="cuda")
    assert torch.equal(torch.randn(3), alone)
    assert 0 <= drawn.min().item() <= drawn.max().item() < 10
    assert len(set(drawn.tolist())) > 3


def test_an_unknown_integer_is_assumed_and_recorded(gpu):
    counts = torch.empty(3, device="cuda", dtype=torch.int32)
    assert counts.sum().item() == 128
    assert counts.tolist() == [128] * 3
    assert [number.value for number in gpu.assumed.values()] == [128]
    with pytest.raises(NeedsValue):
        torch.empty(3, device="cuda", dtype=torch.bool).any().item()


def test_what_only_a_gpu_has_is_there(gpu):
    from torch.utils._triton import has_triton
    from triton._C.libtriton import nvidia

    assert has_triton()
    assert torch._C._cuda_getCurrentRawStream(0) == 0
    a = torch.randn(16, 16, device="cuda")
    blas = nvidia.cublas.CublasLt(torch.empty(1024, dtype=torch.uint8, device="cuda"))
    assert blas.matmul(a, a, a) is None


def test_what_torch_cuda_offers_does_nothing(gpu):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    stream = torch.cuda.Stream()
    with torch.cuda.device(0), torch.cuda.stream(stream), torch.cuda.nvtx.range("range"):
        start.record()
        torch.empty(3, device="cuda").record_stream(stream)
        end.record(stream)
    stream.wait_stream(torch.cuda.current_stream())
    torch.cuda.synchronize()
    torch.cuda.manual_seed_all(3)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    assert start.elapsed_time(end) > 0
    free, total = torch.cuda.mem_get_info()
    assert 0 < free < total
    with torch.autocast("cuda", dtype=torch.bfloat16), torch.cuda.graph(torch.cuda.CUDAGraph()):
        assert torch.cuda.current_device() == 0
    assert torch.accelerator.current_accelerator().type == "cuda"


def test_streams_and_events_have_what_programs_use(gpu):
    stream = torch.cuda.Stream(device="cuda", priority=-1)
    event = torch.cuda.current_stream().record_event()
    assert stream.record_event(event) is event
    assert isinstance(stream, torch.Stream)
    assert isinstance(event, torch.Event)
    assert stream.device == event.device == torch.device("cuda", 0)
    assert stream.priority in range(torch.cuda.Stream.priority_range()[1], 1)
    stream.wait_event(event)
    torch.Event("cuda").record(torch.Stream("cuda"))
    assert torch.cuda.get_stream_from_external(stream.cuda_stream) == stream
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=torch.cuda.graph_pool_handle(), stream=stream):
        torch.empty(3, device="cuda").add_(1)
    graph.replay()
    assert torch.cuda.make_graphed_callables(abs, (1,)) is abs


def test_functions_of_the_modules_of_torch_cuda_answer_as_torch_cuda_does(gpu):
    torch.cuda.memory.reset_peak_memory_stats()
    assert torch.cuda.memory.max_memory_allocated() == torch.accelerator.max_memory_allocated() == 0
    assert torch.accelerator.get_memory_info() == torch.cuda.mem_get_info()
    torch.cuda.set_rng_state_all(torch.cuda.random.get_rng_state_all())
    assert torch.cuda.cudart().cudaProfilerStart() == 0
    torch.cuda.profiler.start()
    assert torch.cuda.memory_snapshot() == []
    assert torch.get_device_module() is torch.cuda
    assert torch.get_device_module("cpu") is torch.cpu
    assert torch.backends.cuda.is_built()
    assert torch.backends.cudnn.is_available()


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.architecture)
def test_architectures_are_listed_as_pytorch_lists_them(target):
    with fake_gpu(target):
        assert torch.cuda.get_arch_list() == [target.architecture]
        assert torch.cuda.get_gencode_flags() == (
            f"-gencode compute=compute_{target.architecture[3:]},code={target.architecture}"
            if target.backend == "cuda"
            else ""
        )


def test_a_profile_is_empty(gpu):
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, record_shapes=True) as profile:
        torch.empty(3, device="cuda").add_(1)
        profile.step()
    assert profile.key_averages().table(sort_by="cuda_time_total") == ""
    assert list(profile.events()) == []


def test_a_product_with_scales_has_its_shape(gpu):
    x = torch.randn(64, 32, device="cuda").to(torch.float8_e4m3fn)
    scale = torch.ones((), device="cuda")
    assert torch._scaled_mm(x, x.t(), scale, scale, out_dtype=torch.bfloat16).shape == (64, 64)


def test_benchmarks_call_once(gpu):
    calls = []
    assert triton.testing.do_bench(lambda: calls.append(1)) == 1.0
    assert triton.testing.do_bench(lambda: calls.append(1), quantiles=[0.5, 0.2, 0.8]) == [1.0] * 3
    assert len(calls) == 2
    sizes = []
    benchmark = triton.testing.Benchmark(["n"], [8, 16], "provider", ["a", "b"], ["A", "B"], "plot", {"k": 1})
    triton.testing.perf_report(benchmark)(lambda n, provider, k: sizes.append((n, provider, k))).run(
        print_data=True
    )
    assert sizes == [(8, "a", 1), (8, "b", 1)]


def test_compiled_functions_are_called_as_they_are(gpu):
    def double(x):
        return x * 2

    assert torch.compile(double) is double
    assert torch.compile(fullgraph=True)(double) is double
