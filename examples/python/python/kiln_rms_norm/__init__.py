"""RMSNorm, forward and backward, as kernels of Kiln.

The functions take arrays of any library by DLPack. Those on CUDA are used in place, on a stream of the caller's; those on the CPU
run in Kiln's emulator. `kiln_rms_norm.torch` is the same for PyTorch, with autograd.
"""

from ._native import Tensor, rms_norm, rms_norm_backward

__all__ = ["Tensor", "rms_norm", "rms_norm_backward"]
