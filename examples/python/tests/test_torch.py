"""The autograd function against PyTorch's own autograd, on the CPU (in Kiln's emulator) and on CUDA where there is one."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from kiln_rms_norm.torch import rms_norm  # noqa: E402

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
EPS = 1e-5


def reference(x, weight):
    """The definition in PyTorch's words, in f64."""
    x, weight = x.double(), weight.double()
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPS) * weight


def numbers(*shape, dtype, device, seed):
    made = torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return made.to(dtype).to(device).requires_grad_()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 4), (6,)])
def test_gradients_are_the_slopes(device, shape):
    x = numbers(*shape, dtype=torch.float64, device=device, seed=0)
    weight = numbers(shape[-1], dtype=torch.float64, device=device, seed=1)
    assert torch.autograd.gradcheck(lambda x, weight: rms_norm(x, weight, EPS), (x, weight))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(4, 33), (2, 2, 1024), (3, 1025), (2, 8193)])
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float16, 4e-3), (torch.bfloat16, 3e-2)]
)
def test_as_autograd_has_it(device, shape, dtype, tolerance):
    x = numbers(*shape, dtype=dtype, device=device, seed=0)
    weight = numbers(shape[-1], dtype=dtype, device=device, seed=1)
    grad = numbers(*shape, dtype=dtype, device=device, seed=2).detach()
    out = rms_norm(x, weight, EPS)
    actual = (out, *torch.autograd.grad(out, (x, weight), grad))
    required = reference(x, weight)
    required = (required, *torch.autograd.grad(required, (x, weight), grad.double()))
    for actual, required in zip(actual, required):
        assert actual.dtype == dtype
        assert actual.shape == required.shape
        torch.testing.assert_close(actual.double(), required.double(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("device", DEVICES)
def test_strides_are_followed(device):
    x = numbers(6, 10, dtype=torch.float32, device=device, seed=0)
    weight = numbers(6, dtype=torch.float32, device=device, seed=1)
    grad = numbers(6, 10, dtype=torch.float32, device=device, seed=2).detach()
    actual = torch.autograd.grad(rms_norm(x.t(), weight, EPS), (x, weight), grad.t())
    required = torch.autograd.grad(rms_norm(x.t().contiguous(), weight, EPS), (x, weight), grad.t().contiguous())
    for actual, required in zip(actual, required):
        torch.testing.assert_close(actual, required)
    # A gradient of one number for all: its strides are 0.
    (spread,) = torch.autograd.grad(rms_norm(x.t(), weight, EPS).sum(), weight)
    ones = torch.ones(10, 6, device=device)
    (required,) = torch.autograd.grad(rms_norm(x.t(), weight, EPS), weight, ones)
    torch.testing.assert_close(spread, required)


@pytest.mark.parametrize("device", DEVICES)
def test_one_gradient_alone(device):
    x = numbers(3, 5, dtype=torch.float32, device=device, seed=0)
    weight = numbers(5, dtype=torch.float32, device=device, seed=1)
    both = torch.autograd.grad(rms_norm(x, weight, EPS).sum(), (x, weight))
    (alone,) = torch.autograd.grad(rms_norm(x, weight.detach(), EPS).sum(), x)
    torch.testing.assert_close(alone, both[0])
    (alone,) = torch.autograd.grad(rms_norm(x.detach(), weight, EPS).sum(), weight)
    torch.testing.assert_close(alone, both[1])


@pytest.mark.parametrize("device", DEVICES)
def test_it_learns(device):
    x = numbers(16, 8, dtype=torch.float32, device=device, seed=0).detach()
    target = torch.linspace(0.5, 2.0, 8, device=device)
    weight = torch.ones(8, device=device, requires_grad=True)
    wanted = rms_norm(x, target, EPS)
    for _ in range(100):
        loss = ((rms_norm(x, weight, EPS) - wanted) ** 2).mean()
        (slope,) = torch.autograd.grad(loss, weight)
        with torch.no_grad():
            weight -= 2.0 * slope
    torch.testing.assert_close(weight.detach(), target, rtol=1e-3, atol=1e-3)


def test_what_does_not_fit_is_an_error():
    x, weight = torch.ones(2, 3), torch.ones(3)
    with pytest.raises(ValueError, match=r"^weight: required the shape \[3\]; actual \[4\]$"):
        rms_norm(x, torch.ones(4))
    with pytest.raises(TypeError, match="^weight: "):
        rms_norm(x, weight.double())
    with pytest.raises(TypeError, match="^x: required elements of f16, bf16, f32 or f64; actual i64$"):
        rms_norm(x.long(), weight)
    with pytest.raises(ValueError, match="^x: required an axis or more"):
        rms_norm(torch.tensor(1.0), weight)


@pytest.mark.skipif("cuda" not in DEVICES, reason="PyTorch has no CUDA device")
def test_devices_are_not_mixed():
    x, weight = torch.ones(2, 3), torch.ones(3)
    for x, weight in [(x.cuda(), weight), (x, weight.cuda())]:
        with pytest.raises(ValueError, match="^weight: required memory of .*, as `x` has; actual "):
            rms_norm(x, weight)
