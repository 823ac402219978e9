"""What PyTorch takes for the layer of `benches/src/bin/tensor_parallel.rs`: run it in the same run, by

    torchrun --nproc-per-node 2 benches/peers/tensor_parallel.py

Prints the same line: median of 20 rows of 10 launches between events, after 5 warm-ups, in milliseconds, on the first rank.
"""

import os

import torch
import torch.distributed as dist

from peers import median_ms

rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")


def signs(rows, columns):
    return torch.where(torch.rand(rows, columns, device="cuda") < 0.5, -1.0, 1.0).to(torch.bfloat16)


for m, k, n in [(4096, 8192, 28672), (512, 8192, 28672)]:
    x, a, b = signs(m, k), signs(k, n // ranks), signs(n // ranks, k)
    hidden = torch.empty(m, n // ranks, device="cuda", dtype=torch.bfloat16)
    y = torch.empty(m, k, device="cuda", dtype=torch.bfloat16)

    def products():
        torch.matmul(x, a, out=hidden)
        torch.matmul(hidden, b, out=y)

    def both():
        products()
        dist.all_reduce(y)

    figures = []
    for work in (products, lambda: dist.all_reduce(y), both):
        dist.barrier()
        torch.cuda.synchronize()
        figures.append(median_ms(work))
    if rank == 0:
        print(
            f"torch {torch.__version__}, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}, {ranks} ranks, {m} x {k} x {n}: "
            f"products {figures[0]:.4f} ms, all-reduce {figures[1]:.4f} ms, both {figures[2]:.4f} ms",
            flush=True,
        )
dist.destroy_process_group()
