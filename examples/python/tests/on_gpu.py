"""What only a GPU shows: results on CUDA, order without waiting, CUDA graphs, several streams, errors, and times.

`python3 tests/on_gpu.py`, with the package installed, or its wheel unpacked (`unzip`) in a folder on PYTHONPATH. Needs PyTorch
with CUDA. Ends with 1 when something is wrong; times are printed only.
"""

import ctypes
import os
import subprocess
import sys
import time
import traceback

import torch
from kiln_rms_norm import rms_norm as native
from kiln_rms_norm import rms_norm_backward as native_backward
from kiln_rms_norm.torch import rms_norm

EPS = 1e-5
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def numbers(*shape, dtype, seed):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float32, device="cuda", generator=generator).to(dtype)


def reference(x, weight):
    x, weight = x.double(), weight.double()
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPS) * weight


def gradients(function, x, weight, grad):
    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    out = function(x, weight)
    return (out.detach(), *torch.autograd.grad(out, (x, weight), grad.to(out.dtype)))


def close(actual, required, tolerance):
    scale = required.double().norm() / max(1, required.numel()) ** 0.5
    torch.testing.assert_close(
        actual.double(), required.double(), rtol=tolerance, atol=tolerance * float(scale)
    )


@check
def forward_and_backward():
    """As PyTorch's autograd has them, in f64."""
    for dtype, tolerance in [(torch.float32, 2e-5), (torch.float16, 4e-3), (torch.bfloat16, 3e-2)]:
        for shape in [(1, 3), (3, 5), (512, 1024), (1000, 1001), (64, 8192), (33, 8193), (7, 40000)]:
            x, weight = numbers(*shape, dtype=dtype, seed=0), numbers(shape[1], dtype=dtype, seed=1)
            grad = numbers(*shape, dtype=dtype, seed=2)
            ours = gradients(lambda x, weight: rms_norm(x, weight, EPS), x, weight, grad)
            for actual, required in zip(ours, gradients(reference, x, weight, grad)):
                close(actual, required, tolerance)
    x = numbers(3, 7, dtype=torch.float64, seed=3).requires_grad_()
    weight = numbers(7, dtype=torch.float64, seed=4).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, weight: rms_norm(x, weight, EPS), (x, weight))


@check
def strides_and_offsets():
    """Columns and rows out of a larger tensor: not contiguous, and not aligned to 16 bytes."""
    whole = numbers(40, 70, dtype=torch.bfloat16, seed=0)
    for x in [whole.t(), whole[1:, 1:], whole[::2], whole[:, ::2], whole[3:4]]:
        weight = numbers(x.shape[1], dtype=x.dtype, seed=1)
        close(rms_norm(x, weight, EPS), reference(x, weight), 2e-2)


@check
def pending_work_comes_first():
    """On a side stream with work under way, the call returns before that is done, and sees what it writes."""
    x, weight = numbers(256, 4096, dtype=torch.float32, seed=0), numbers(4096, dtype=torch.float32, seed=1)
    grad = numbers(256, 4096, dtype=torch.float32, seed=2)
    required = gradients(reference, x, weight, grad)
    gradients(lambda x, weight: rms_norm(x, weight, EPS), x, weight, grad)  # loads the kernels
    for side in [torch.cuda.Stream(), torch.cuda.Stream(priority=-1), torch.cuda.default_stream()]:
        late = torch.zeros_like(x).requires_grad_()
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(2_000_000_000)  # clocks: a second or so
            with torch.no_grad():
                late.copy_(x)
            start = time.perf_counter()
            taken = weight.detach().requires_grad_()
            out = rms_norm(late, taken, EPS)
            grads = torch.autograd.grad(out, (late, taken), grad)
            results = [result * 2 for result in (out.detach(), *grads)]
            ahead = not side.query()
            took = time.perf_counter() - start
        assert ahead, f"{side}: the call waited for the stream's work ({took * 1e3:.1f} ms)"
        side.synchronize()
        for actual, wanted in zip(results, required):
            close(actual, wanted * 2, 2e-5)
        print(f"    {side}: enqueued in {took * 1e3:.2f} ms, ahead of the work under way")


@check
def memory_is_given_back():
    """Thousands of calls, without a copy being kept."""
    x, weight = numbers(1024, 4096, dtype=torch.float16, seed=0), numbers(4096, dtype=torch.float16, seed=1)
    x.requires_grad_()
    weight.requires_grad_()

    def once():
        rms_norm(x, weight, EPS).sum().backward()
        x.grad = weight.grad = None

    once()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in range(1000):
        once()
    torch.cuda.synchronize()
    after = torch.cuda.memory_allocated()
    assert after == before, f"{before} bytes are allocated before, {after} after"


@check
def results_without_outputs():
    """Kiln's own allocations go to PyTorch and back by DLPack, on streams other than the one they are made on."""
    x, weight = numbers(100, 300, dtype=torch.float32, seed=0), numbers(300, dtype=torch.float32, seed=1)
    required = reference(x, weight)
    made, used = torch.cuda.Stream(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(made):
        torch.cuda._sleep(500_000_000)
        result = native(x, weight, EPS, stream=made.cuda_stream)
    assert result.__dlpack_device__() == (2, x.device.index)
    with torch.cuda.stream(used):
        taken = torch.from_dlpack(result)  # has `used` wait for `made`
        twice = taken * 2
        again = torch.from_dlpack(native(result, weight, EPS, stream=used.cuda_stream))
    del result
    used.synchronize()
    close(twice, required * 2, 2e-5)
    close(again, reference(required, weight), 2e-5)
    grads = native_backward(x, weight, x, EPS)  # on the default stream
    required = gradients(reference, x, weight, x)[1:]
    for actual, wanted in zip(map(torch.from_dlpack, grads), required):
        close(actual, wanted, 2e-5)
    # Each number of a stream that the standard has, and a copy. PyTorch refuses 2; its capsules without a stream are for who takes care
    # of the order.
    torch.cuda.synchronize()
    result = native(*(a.__dlpack__(stream=-1) for a in (x, weight)), EPS, stream=2)
    for options in [{}, {"stream": None}, {"stream": 1}, {"stream": 2}, {"stream": used.cuda_stream}, {"stream": -1}, {"copy": True}]:
        capsule = result.__dlpack__(max_version=(1, 0), **options)
        torch.cuda.synchronize()
        close(torch.utils.dlpack.from_dlpack(capsule), reference(x, weight), 2e-5)
    refused(ValueError, "stream 0 may be either", lambda: result.__dlpack__(stream=0))
    refused(BufferError, "required the device", lambda: result.__dlpack__(dl_device=(1, 0)))


@check
def cuda_graphs():
    """PyTorch captures forward and backward; replays follow what the inputs hold."""
    x, weight = numbers(128, 2048, dtype=torch.float32, seed=0), numbers(2048, dtype=torch.float32, seed=1)
    grad = numbers(128, 2048, dtype=torch.float32, seed=2)
    x.requires_grad_()
    weight.requires_grad_()

    def step():
        out = rms_norm(x, weight, EPS)
        return (out.detach(), *torch.autograd.grad(out, (x, weight), grad))

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()  # kernels are loaded before the capture
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = step()
    for seed in [5, 6]:
        with torch.no_grad():
            x.copy_(numbers(128, 2048, dtype=torch.float32, seed=seed))
        graph.replay()
        torch.cuda.synchronize()
        for actual, required in zip(results, gradients(reference, x, weight, grad)):
            close(actual, required, 2e-5)


@check
def what_does_not_fit():
    x, weight = numbers(4, 8, dtype=torch.float32, seed=0), numbers(8, dtype=torch.float32, seed=1)
    refused(ValueError, "weight: required memory of CUDA device 0", lambda: rms_norm(x, weight.cpu()))
    refused(ValueError, "weight: required memory of the CPU", lambda: rms_norm(x.cpu(), weight))
    refused(TypeError, "weight: the tensor is a Tensor<f64, 1>", lambda: rms_norm(x, weight.double()))
    refused(ValueError, "shares memory", lambda: native(x, weight, out=x))
    refused(ValueError, "out: required the shape [4, 8]", lambda: native(x, weight, out=x.t()))
    overlapping = torch.zeros(8, device="cuda").expand(4, 8)
    refused(ValueError, "overlap", lambda: native(x, weight, out=overlapping))
    refused(ValueError, "actual stream -3", lambda: native(x, weight, stream=-3))
    capsule = x.__dlpack__()
    native(capsule, weight)
    refused(ValueError, "has been consumed", lambda: native(capsule, weight))
    if torch.cuda.device_count() > 1:
        elsewhere = weight.to("cuda:1")
        refused(ValueError, "actual CUDA device 1", lambda: rms_norm(x, elsewhere))
        y = rms_norm(x.to("cuda:1"), elsewhere, EPS)
        assert torch.cuda.current_device() == 0
        close(y.to("cuda:0"), reference(x, weight), 2e-5)


@check
def expandable_segments():
    """PyTorch's allocator with `expandable_segments`, whose tensors are mapped piece by piece, in a process of its own."""
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "PYTORCH_ALLOC_CONF": "expandable_segments:True"}
    child = subprocess.run(
        [sys.executable, __file__, "large"], env=os.environ | settings, capture_output=True, text=True, timeout=300
    )
    assert child.returncode == 0, child.stderr


def large():
    """Tensors of 256 MiB, more than the allocator maps at a time."""
    x, weight = numbers(16384, 4096, dtype=torch.float32, seed=0), numbers(4096, dtype=torch.float32, seed=1)
    x.requires_grad_()
    out = rms_norm(x, weight, EPS)
    out.backward(torch.ones_like(out))
    close(out[-64:], reference(x[-64:], weight), 2e-5)


def refused(kind, said, call):
    try:
        call()
    except kind as error:
        assert said in str(error), f"required `{said}` in the message; actual: {error}"
    else:
        raise AssertionError(f"required {kind.__name__} with `{said}`; actual no error")


def closed_stream():
    """The call on the number of a stream that has been destroyed. The driver defines no answer, so this runs in a process of its own."""
    x, weight = numbers(4, 8, dtype=torch.float32, seed=0), numbers(8, dtype=torch.float32, seed=1)
    torch.cuda.synchronize()
    driver = ctypes.CDLL("libcuda.so.1")
    stream = ctypes.c_void_p()
    assert driver.cuStreamCreate(ctypes.byref(stream), 1) == 0
    assert driver.cuStreamDestroy_v2(stream) == 0
    try:
        native(x, weight, out=torch.empty_like(x), stream=stream.value)
        torch.cuda.synchronize()
        print("no error")
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


def report_closed_stream():
    child = subprocess.run(
        [sys.executable, __file__, "closed-stream"], capture_output=True, text=True, timeout=300
    )
    said = (child.stdout.strip() or child.stderr.strip()).splitlines()
    print(f"a stream that was destroyed: exit {child.returncode}, {said[-1] if said else 'nothing said'}")


def times():
    """Medians by events, of bursts after a pause."""

    def median(call):
        for _ in range(5):
            call()
        samples = []
        for _ in range(9):
            torch.cuda.synchronize()
            torch.cuda._sleep(10_000_000)
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            for _ in range(20):
                call()
            end.record()
            end.synchronize()
            samples.append(start.elapsed_time(end) * 1e3 / 20)
        return sorted(samples)[len(samples) // 2]

    def host(call):
        for _ in range(20):
            call()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(200):
            call()
        took = time.perf_counter() - start
        torch.cuda.synchronize()
        return took * 1e6 / 200

    torch_norm = torch.nn.functional.rms_norm
    print("us, bf16              forward            forward and backward")
    print("rows x columns     kiln    torch        kiln    torch")
    for rows, columns in [(1, 4096), (4096, 1024), (4096, 4096), (16384, 8192), (2048, 16384)]:
        x = numbers(rows, columns, dtype=torch.bfloat16, seed=0).requires_grad_()
        weight = numbers(columns, dtype=torch.bfloat16, seed=1).requires_grad_()
        grad = numbers(rows, columns, dtype=torch.bfloat16, seed=2)
        ours = lambda: rms_norm(x, weight, EPS)  # noqa: E731
        theirs = lambda: torch_norm(x, (columns,), weight, EPS)  # noqa: E731

        def alone(call):
            def run():
                with torch.no_grad():
                    call()

            return run

        def both(call):
            return lambda: torch.autograd.grad(call(), (x, weight), grad)

        forward = median(alone(ours)), median(alone(theirs))
        whole = median(both(ours)), median(both(theirs))
        print(f"{rows:6} x {columns:5}   {forward[0]:8.1f} {forward[1]:8.1f}    {whole[0]:8.1f} {whole[1]:8.1f}")
    x, weight = numbers(1, 1024, dtype=torch.bfloat16, seed=0), numbers(1024, dtype=torch.bfloat16, seed=1)
    kiln, theirs = host(lambda: rms_norm(x, weight, EPS)), host(lambda: torch_norm(x, (1024,), weight, EPS))
    print(f"the host's time for a forward call: {kiln:.1f} us, torch {theirs:.1f} us")


def main():
    if sys.argv[1:] == ["closed-stream"]:
        closed_stream()
        return 0
    if sys.argv[1:] == ["large"]:
        large()
        return 0
    if not torch.cuda.is_available():
        print("skipped: PyTorch has no CUDA device")
        return 0
    torch.backends.cuda.matmul.allow_tf32 = False
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    failed = 0
    for function in CHECKS:
        try:
            function()
            print(f"ok      {function.__name__}")
        except Exception:
            failed += 1
            print(f"FAILED  {function.__name__}")
            traceback.print_exc()
    report_closed_stream()
    times()
    print(f"{len(CHECKS) - failed} of {len(CHECKS)} hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
