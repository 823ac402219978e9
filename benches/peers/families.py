"""The kernels of `kiln-kernels` beside PyTorch's, Triton's (through `torch.compile`) and cuDNN's, in one process:

    cargo build --release -p benches
    python benches/peers/families.py target/release/libbenches.so [TEXT] [--pause MS] [--rounds N] [--compiled]

Kiln's tensors are used in place, so that all compute from the same numbers, and results are compared. Each contender's launches are
recorded into graphs, which take turns in random order (`benches/src/bursts.rs`). What the peers compute is said in `benches/src/families`,
beside Kiln's launches. `--compiled` also times the expressions through `torch.compile`, which takes seconds for each.
"""

import ctypes
import json
import sys
import traceback

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

DTYPES = {
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
    "f64": torch.float64,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
}
WORDS = {1: "|u1", 2: "<i2", 4: "<i4", 8: "<i8"}


class Memory:
    """Memory of Kiln, as integers: the interface knows neither bf16 nor e4m3."""

    def __init__(self, given):
        size = DTYPES[given["dtype"]].itemsize
        self.__cuda_array_interface__ = {
            "shape": tuple(given["shape"]),
            "strides": tuple(stride * size for stride in given["strides"]),
            "typestr": WORDS[size],
            "data": (given["address"], False),
            "version": 3,
        }


def tensor(given):
    return torch.as_tensor(Memory(given), device="cuda").view(DTYPES[given["dtype"]])


def attention(backend, q, k, v, causal=False):
    """Of tensors [batch, length, heads, dim]."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    with sdpa_kernel(backend):
        groups = q.shape[1] != k.shape[1]
        out = F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=groups)
    return out.transpose(1, 2)


def cudnn(*args, **options):
    return attention(SDPBackend.CUDNN_ATTENTION, *args, **options)


def flash(*args, **options):
    return attention(SDPBackend.FLASH_ATTENTION, *args, **options)


# All that a peer does before it is timed, and what it records, is on one stream: backward passes run on that of their forward pass.
own = torch.cuda.Stream()


class Peer:
    def __init__(self, given, expression):
        self.given = {one["name"]: tensor(one) for one in given}
        names = {"torch": torch, "F": F, "cudnn": cudnn, "flash": flash, **self.given}
        with torch.cuda.stream(own):
            exec(expression["setup"], names)
            self.run = eval("lambda: " + expression["run"], names)
            if expression["peer"] == "compiled":
                torch._dynamo.reset()
                self.run = torch.compile(self.run, dynamic=False)
            for _ in range(3):
                self.run()
        torch.cuda.synchronize()
        # What cannot be recorded fails here, where it is left out, and not in the middle of a measurement.
        self.recordings = []
        self.record(1)
        self.recordings = []

    def launch(self, stream):
        with torch.cuda.stream(stream):
            self.run()

    def record(self, launches):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=own):
            for _ in range(launches):
                self.run()
        self.recordings.append(graph)

    def replay(self, recording, stream):
        with torch.cuda.stream(stream):
            self.recordings[recording].replay()

    def difference(self, names):
        torch.cuda.synchronize()
        with torch.cuda.stream(own):
            results = self.run()
        torch.cuda.synchronize()
        results = results if isinstance(results, (tuple, list)) else (results,)
        return max(apart(result, self.given[name]) for name, result in zip(names, results, strict=True))


def apart(required, actual):
    """The largest difference, by the largest magnitude, part by part: whole copies in f32 may have no room."""
    most = required.abs().max().float().item()
    pairs = zip(required.reshape(-1).split(1 << 26), actual.reshape(-1).split(1 << 26))
    worst = max((a.float() - b.float()).abs().max().item() for a, b in pairs)
    return worst / most if most else worst


peers = {}


def answer(command, text, number, stream):
    text = text.decode()
    if command == b"begin":
        number = len(peers) + 1
        peers[number] = Peer(*json.loads(text))
        return number
    if command == b"end":
        del peers[number].recordings, peers[number].run
        peers[number] = None
        torch.cuda.empty_cache()
        return 0
    if command == b"launch":
        peers[number].launch(torch.cuda.ExternalStream(stream))
    elif command == b"record":
        peers[number].record(int(text))
    elif command == b"replay":
        peers[number].replay(int(text), torch.cuda.ExternalStream(stream))
    elif command == b"compare":
        return peers[number].difference(text.split())
    else:
        raise ValueError(command)
    return 0


Call = ctypes.CFUNCTYPE(
    ctypes.c_double, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p
)


@Call
def call(command, text, number, stream):
    try:
        return answer(command, text, number, stream or 0)
    except Exception:
        traceback.print_exc()
        return float("nan")


if __name__ == "__main__":
    torch.empty(1, device="cuda")
    print(f"torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}", flush=True)
    library = ctypes.CDLL(sys.argv[1])
    library.kiln_families.argtypes = [ctypes.c_char_p, Call]
    sys.exit(library.kiln_families("\n".join(sys.argv[2:]).encode(), call))
