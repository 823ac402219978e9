"""RMSNorm for PyTorch, with autograd.

CUDA tensors are used in place, on PyTorch's current stream, and results are PyTorch's own allocations: the host waits for nothing, and
the caching allocator knows of everything. CPU tensors run in Kiln's emulator.
"""

import torch
from torch.autograd.function import once_differentiable
from torch.utils.dlpack import to_dlpack

from . import _native

__all__ = ["rms_norm"]


def rms_norm(x, weight, eps=1e-6):
    """x / sqrt(mean(x²) + eps) · weight, over the last axis of `x`, which is as long as `weight`.

    Both are of one type, one of float16, bfloat16, float32 and float64, and on one device. There are gradients of both, once.
    """
    return _RmsNorm.apply(x, weight, eps)


class _RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps):
        ctx.save_for_backward(x, weight)
        ctx.eps = eps
        rows, weight = _rows(x), weight.detach()
        if x.is_cuda:
            out = torch.empty_like(rows, memory_format=torch.contiguous_format)
            with torch.cuda.device(x.device):
                lent = map(to_dlpack, (rows, weight))
                _native.rms_norm(*lent, eps, out=to_dlpack(out), stream=_stream(x))
        else:
            out = torch.from_dlpack(_native.rms_norm(rows, weight, eps))
        return out.view(x.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        rows, weight, grad = _rows(x), weight.detach(), _rows(grad)
        if x.is_cuda:
            grad_x = torch.empty_like(rows, memory_format=torch.contiguous_format)
            grad_weight = torch.empty_like(weight, memory_format=torch.contiguous_format)
            multiprocessors = torch.cuda.get_device_properties(x.device).multi_processor_count
            blocks = max(1, min(rows.shape[0], 4 * multiprocessors))
            wide = torch.float64 if x.dtype == torch.float64 else torch.float32
            sums = torch.empty((blocks, rows.shape[1]), dtype=wide, device=x.device)
            with torch.cuda.device(x.device):
                lent = map(to_dlpack, (rows, weight, grad))
                out = tuple(map(to_dlpack, (grad_x, grad_weight, sums)))
                _native.rms_norm_backward(*lent, ctx.eps, out=out, stream=_stream(x))
        else:
            results = _native.rms_norm_backward(rows, weight, grad, ctx.eps)
            grad_x, grad_weight = map(torch.from_dlpack, results)
        return grad_x.view(x.shape), grad_weight, None


def _rows(x):
    """`x` as a matrix of its last axis, without its history."""
    if x.dim() == 0:
        raise ValueError("x: required an axis or more; actual a tensor without axes")
    rows = x.detach()
    return rows if x.dim() == 2 else rows.reshape(x.shape[:-1].numel(), x.shape[-1])


def _stream(x):
    """The stream that tensors are used on by default: `to_dlpack` has nothing to wait for."""
    return torch.cuda.current_stream(x.device).cuda_stream
