"""What peers reach on this machine: run it in the same session as Kiln's examples.

Needs PyTorch and Triton. Prints one line a figure: name, size, milliseconds (median of 20 rows of
10 launches between events, after 5 warm-ups, as the examples measure), rate.
"""

import torch
import triton
import triton.language as tl


def median_ms(launch):
    for _ in range(5):
        launch()
    times = []
    for _ in range(20):
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(10):
            launch()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 10)
    return sorted(times)[len(times) // 2]


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    p = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * columns + at, (p / tl.sum(p, 0)).to(tl.bfloat16), mask=at < columns)


@triton.jit
def rms_norm_kernel(x, weight, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
    w = tl.load(weight + at, mask=at < columns, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, 0) / columns + eps)
    tl.store(out + row * columns + at, (v * scale * w).to(tl.bfloat16), mask=at < columns)


@triton.jit
def layer_norm_kernel(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
    w = tl.load(weight + at, mask=at < columns, other=0.0).to(tl.float32)
    b = tl.load(bias + at, mask=at < columns, other=0.0).to(tl.float32)
    centred = tl.where(at < columns, v - tl.sum(v, 0) / columns, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / columns + eps)
    tl.store(out + row * columns + at, (centred * scale * w + b).to(tl.bfloat16), mask=at < columns)


def report(name, size, ms, amount, unit):
    print(f"{name:28} {size:>16} {ms:9.4f} ms {amount / ms * 1e-6:10.0f} {unit}")


def main():
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "triton", triton.__version__)
    source = torch.empty(1 << 30, device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    report("memcpy device to device", "1024 MiB", median_ms(lambda: target.copy_(source)), 2 << 30, "GB/s")
    m = n = k = 4096
    a = (torch.rand(m, k, device="cuda") - 0.5).half()
    b = (torch.rand(k, n, device="cuda") - 0.5).half()
    c = torch.empty(m, n, device="cuda", dtype=torch.float16)
    ms = median_ms(lambda: torch.matmul(a, b, out=c))
    report("cuBLAS f16 matmul", f"{m}x{n}x{k}", ms, 2 * m * n * k * 1e-3, "TFLOP/s")
    for rows, columns in [(65536, 8192), (32768, 4096)]:
        x = torch.randn(rows, columns, device="cuda").bfloat16()
        w = torch.randn(columns, device="cuda").bfloat16()
        out = torch.empty_like(x)
        bytes_moved = 4 * rows * columns
        for warps in [4, 8, 16]:
            grid = (rows,)
            ms = median_ms(lambda: softmax_kernel[grid](x, out, columns, BLOCK=columns, num_warps=warps))
            report(f"Triton softmax {warps} warps", f"{rows}x{columns}", ms, bytes_moved, "GB/s")
            ms = median_ms(lambda: rms_norm_kernel[grid](x, w, out, columns, 1e-5, BLOCK=columns, num_warps=warps))
            report(f"Triton rms_norm {warps} warps", f"{rows}x{columns}", ms, bytes_moved, "GB/s")
    for rows, columns in [(65536, 8192), (8192, 8192), (16384, 16384)]:
        x = torch.randn(rows, columns, device="cuda").bfloat16()
        w = torch.randn(columns, device="cuda").bfloat16()
        b = torch.randn(columns, device="cuda").bfloat16()
        out = torch.empty_like(x)
        bytes_moved = 4 * rows * columns
        for warps in [4, 8, 16]:
            grid = (rows,)
            ms = median_ms(lambda: layer_norm_kernel[grid](x, w, b, out, columns, 1e-5, BLOCK=columns, num_warps=warps))
            report(f"Triton layer_norm {warps} warps", f"{rows}x{columns}", ms, bytes_moved, "GB/s")
        report("device copy", f"{rows}x{columns}", median_ms(lambda: out.copy_(x)), bytes_moved, "GB/s")
    for rows, columns in [(8192, 8192), (16384, 16384)]:
        for dtype in [torch.float16, torch.float32]:
            x = torch.randn(rows, columns, device="cuda").to(dtype)
            out = torch.empty_like(x)
            turned = torch.empty(columns, rows, device="cuda", dtype=dtype)
            bytes_moved = 2 * x.numel() * x.element_size()
            size = f"{rows}x{columns}"
            name = str(dtype).removeprefix("torch.")
            report(f"device copy {name}", size, median_ms(lambda: out.copy_(x)), bytes_moved, "GB/s")
            # What `x.t().contiguous()` runs, without its allocation.
            report(f"PyTorch transpose {name}", size, median_ms(lambda: turned.copy_(x.t())), bytes_moved, "GB/s")


main()
