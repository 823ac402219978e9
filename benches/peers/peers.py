"""What peers reach on this machine: run it in the same run as Kiln's examples.

Needs PyTorch and Triton. Prints one line a figure: name, size, milliseconds (median of 20 rows of
10 launches between events, after 5 warm-ups, as the examples measure), rate. With the argument `hopper`,
only what the examples for Hopper compare with.
"""

import sys

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


@triton.jit
def transpose_kernel(x, out, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    v = tl.load(x + row[:, None] * columns + column[None, :], mask=inside)
    turned = (column < columns)[:, None] & (row < rows)[None, :]
    tl.store(out + column[:, None] * rows + row[None, :], tl.trans(v), mask=turned)


@triton.jit
def matmul_kernel(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    step = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, k, BK):
        x = tl.load(a + row[:, None] * k + (at + step)[None, :])
        y = tl.load(b + (at + step)[:, None] * n + column[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + row[:, None] * n + column[None, :], acc.to(tl.float16))


def hopper():
    """The products and attention of the examples for Hopper, by cuBLAS and by PyTorch's attention."""
    for dtype, name in [(torch.bfloat16, "bf16"), (torch.float16, "f16")]:
        for size in [8192, 4096, 2048]:
            a = (torch.rand(size, size, device="cuda") - 0.5).to(dtype)
            b = (torch.rand(size, size, device="cuda") - 0.5).to(dtype)
            c = torch.empty_like(a)
            ms = median_ms(lambda: torch.matmul(a, b, out=c))
            report(f"cuBLAS {name} matmul", f"{size}x{size}x{size}", ms, 2e-3 * size**3, "TFLOP/s")
    m, n, k = 256, 512, 65536
    a = (torch.rand(m, k, device="cuda") - 0.5).bfloat16()
    b = (torch.rand(k, n, device="cuda") - 0.5).bfloat16()
    ms = median_ms(lambda: torch.matmul(a, b))
    report("cuBLAS bf16 matmul, bf16 result", f"{m}x{n}x{k}", ms, 2e-3 * m * n * k, "TFLOP/s")
    for rows, n, k in [(4096, 4096, 4096), (1024, 1024, 2048)]:
        x = torch.rand(rows, k, device="cuda").bfloat16()
        w = torch.rand(k, n, device="cuda").bfloat16()
        gather = torch.randperm(rows, device="cuda")
        scatter = torch.randperm(rows, device="cuda")
        out = torch.empty(rows, n, device="cuda", dtype=torch.bfloat16)

        def fused():
            out[scatter] = torch.matmul(x[gather], w)

        ms = median_ms(fused)
        report("gather, cuBLAS, scatter", f"{rows}x{n}x{k}", ms, 2e-3 * rows * n * k, "TFLOP/s")
    backend = torch.nn.attention.SDPBackend
    for heads, sequence in [(64, 4096), (128, 8192)]:
        for d in [64, 128]:
            q, k, v = (torch.randn(1, heads, sequence, d, device="cuda").bfloat16() for _ in range(3))
            for causal in [False, True]:
                for kind in [backend.FLASH_ATTENTION, backend.CUDNN_ATTENTION]:
                    try:
                        with torch.nn.attention.sdpa_kernel(kind):
                            ms = median_ms(
                                lambda: torch.nn.functional.scaled_dot_product_attention(
                                    q, k, v, is_causal=causal
                                )
                            )
                    except RuntimeError as error:
                        print(f"{kind}, head {d}: {error}")
                        continue
                    flops = 4e-3 * heads * sequence**2 * d / (2 if causal else 1)
                    name = f"{kind.name.lower()} head {d}{', causal' if causal else ''}"
                    report(name, f"{heads}x{sequence}", ms, flops, "TFLOP/s")


def report(name, size, ms, amount, unit):
    print(f"{name:34} {size:>16} {ms:9.4f} ms {amount / ms * 1e-6:10.1f} {unit}")


def main():
    print(torch.cuda.get_device_name(), "torch", torch.__version__, "triton", triton.__version__)
    hopper()
    if "hopper" in sys.argv:
        return
    source = torch.empty(1 << 30, device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    report("memcpy device to device", "1024 MiB", median_ms(lambda: target.copy_(source)), 2 << 30, "GB/s")
    m = n = k = 4096
    a = (torch.rand(m, k, device="cuda") - 0.5).half()
    b = (torch.rand(k, n, device="cuda") - 0.5).half()
    c = torch.empty(m, n, device="cuda", dtype=torch.float16)
    ms = median_ms(lambda: torch.matmul(a, b, out=c))
    report("cuBLAS f16 matmul", f"{m}x{n}x{k}", ms, 2 * m * n * k * 1e-3, "TFLOP/s")
    # On Hopper Triton multiplies by `wgmma`. The sizes divide the blocks, so nothing is masked.
    for block, warps, stages in [((128, 128, 32), 4, 4), ((128, 128, 64), 8, 3), ((128, 256, 64), 8, 3)]:
        grid = (m // block[0], n // block[1])
        ms = median_ms(
            lambda: matmul_kernel[grid](
                a, b, c, m, n, k, *block, num_warps=warps, num_stages=stages
            )
        )
        name = "Triton matmul {}x{}x{}".format(*block)
        report(f"{name} {warps}w {stages}s", f"{m}x{n}x{k}", ms, 2 * m * n * k * 1e-3, "TFLOP/s")
        torch.testing.assert_close(c, torch.matmul(a, b), rtol=2e-2, atol=2e-2)
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
            for block, warps in [(64, 4), (64, 8), (128, 4), (128, 8)]:
                grid = (columns // block, rows // block)
                ms = median_ms(
                    lambda: transpose_kernel[grid](x, turned, rows, columns, BLOCK=block, num_warps=warps)
                )
                report(f"Triton transpose {name} {block} {warps}w", size, ms, bytes_moved, "GB/s")
                assert torch.equal(turned, x.t())


if __name__ == "__main__":
    main()
