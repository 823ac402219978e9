"""The functions on NumPy's arrays, which run in Kiln's emulator."""

import resource
import sys
import threading

import numpy as np
import pytest
from capsules import Made, name_of
from kiln_rms_norm import Tensor, rms_norm, rms_norm_backward

EPS = 1e-5


def reference(x, weight, eps=EPS):
    """The definition, in f64."""
    x, weight = x.astype(np.float64), weight.astype(np.float64)
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + eps) * weight


def slopes(function, at, step=1e-4):
    """The gradient of a number by central differences, element by element."""
    result = np.empty_like(at)
    for index in np.ndindex(at.shape):
        ahead, behind = at.copy(), at.copy()
        ahead[index] += step
        behind[index] -= step
        result[index] = (function(ahead) - function(behind)) / (2 * step)
    return result


def numbers(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# One tile of each width, its neighbours, and rows that take several tiles.
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (2, 1024), (2, 1025), (1, 8192), (2, 8193), (5, 33)])
def test_rows_of_any_width_are_normalised(shape):
    x, weight = numbers(*shape), numbers(shape[1], seed=1)
    out = np.from_dlpack(rms_norm(x, weight, EPS))
    assert out.dtype == np.float32
    np.testing.assert_allclose(out, reference(x, weight), rtol=4e-6, atol=1e-6)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float16, 2e-3), (np.float64, 1e-12)])
def test_other_element_types(dtype, rtol):
    x, weight = numbers(4, 40, dtype=dtype), numbers(40, dtype=dtype, seed=1)
    out = np.from_dlpack(rms_norm(x, weight, EPS))
    assert out.dtype == dtype
    # The kernel has `eps` in the type of its sums.
    np.testing.assert_allclose(out, reference(x, weight), rtol=rtol, atol=rtol / 100)


@pytest.mark.parametrize("shape", [(3, 7), (6, 2)])
def test_gradients_are_the_slopes(shape):
    x, weight = numbers(*shape, dtype=np.float64), numbers(shape[1], dtype=np.float64, seed=1)
    grad = numbers(*shape, dtype=np.float64, seed=2)
    grad_x, grad_weight = map(np.from_dlpack, rms_norm_backward(x, weight, grad, EPS))
    loss_x = slopes(lambda x: (reference(x, weight) * grad).sum(), x)
    loss_weight = slopes(lambda weight: (reference(x, weight) * grad).sum(), weight)
    np.testing.assert_allclose(grad_x, loss_x, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(grad_weight, loss_weight, rtol=1e-6, atol=1e-7)


def gradients(x, weight, grad):
    """The gradients in f64, by the quotient rule."""
    x, weight, grad = (a.astype(np.float64) for a in (x, weight, grad))
    root = np.sqrt((x * x).mean(axis=1, keepdims=True) + EPS)
    inner = (grad * weight * x).mean(axis=1, keepdims=True)
    return grad * weight / root - x * inner / root**3, (grad * x / root).sum(axis=0)


@pytest.mark.parametrize("shape", [(1, 1), (5, 1024), (3, 1025), (2, 8193), (700, 3)])
def test_gradients_of_rows_of_any_width(shape):
    x, weight, grad = numbers(*shape), numbers(shape[1], seed=1), numbers(*shape, seed=2)
    actual = map(np.from_dlpack, rms_norm_backward(x, weight, grad, EPS))
    for actual, required in zip(actual, gradients(x, weight, grad)):
        np.testing.assert_allclose(actual, required, rtol=2e-5, atol=2e-5)


def test_no_rows():
    x, weight = np.zeros((0, 4), np.float32), np.ones(4, np.float32)
    assert np.from_dlpack(rms_norm(x, weight)).shape == (0, 4)
    grad_x, grad_weight = rms_norm_backward(x, weight, x)
    assert np.from_dlpack(grad_x).shape == (0, 4)
    assert np.from_dlpack(grad_weight).tolist() == [0, 0, 0, 0]


def test_strides_are_followed():
    x, weight = numbers(6, 10), numbers(20, seed=1)
    for view in (x[::2], x[:, 1:7], x.T, x[:, ::2]):
        taken = weight[: 2 * view.shape[1] : 2]
        np.testing.assert_array_equal(
            np.from_dlpack(rms_norm(view, taken)),
            np.from_dlpack(rms_norm(view.copy(), taken.copy())),
        )


def test_the_argument_is_not_written():
    x, weight = numbers(3, 5), numbers(5)
    for array in (x, weight):
        array.setflags(write=False)
    out = np.from_dlpack(rms_norm(x, weight, EPS))
    np.testing.assert_allclose(out, reference(x, weight), rtol=4e-6)


# What a result is.


def test_a_result_says_what_it_is():
    out = rms_norm(numbers(2, 3), numbers(3))
    assert isinstance(out, Tensor)
    assert out.shape == (2, 3)
    assert out.dtype == "f32"
    assert out.__dlpack_device__() == (1, 0)
    assert repr(out) == "<kiln_rms_norm.Tensor of f32 [2, 3] on emulator for sm_80>"


def test_a_result_goes_out_in_either_structure():
    out = rms_norm(numbers(2, 3), numbers(3))
    assert name_of(out.__dlpack__()) == "dltensor"
    assert name_of(out.__dlpack__(max_version=(0, 8))) == "dltensor"
    assert name_of(out.__dlpack__(max_version=(1, 0))) == "dltensor_versioned"
    assert name_of(out.__dlpack__(max_version=(2, 0))) == "dltensor_versioned"


def test_a_result_can_be_an_argument():
    x, ones = numbers(4, 6), np.ones(6, np.float32)
    once = rms_norm(x, ones, 0.0)
    np.testing.assert_allclose(np.from_dlpack(rms_norm(once, ones, 0.0)), np.from_dlpack(once), rtol=1e-6)


def test_a_result_outlives_its_tensor():
    x, weight = numbers(300, 40), numbers(40)
    arrays = [np.from_dlpack(rms_norm(x, weight, EPS)) for _ in range(3)]
    for array in arrays:
        np.testing.assert_allclose(array, reference(x, weight), rtol=4e-6, atol=1e-6)


def test_what_a_result_cannot_do_is_refused():
    out = rms_norm(numbers(2, 3), numbers(3))
    with pytest.raises(BufferError, match=r"required the device \(1, 0\), where the tensor is; actual \(2, 0\)"):
        out.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="copy=False"):
        out.__dlpack__(copy=False)
    with pytest.raises(ValueError, match="required no stream for a tensor on the CPU; actual 1"):
        out.__dlpack__(stream=1)
    assert name_of(out.__dlpack__(dl_device=(1, 0), copy=True)) == "dltensor"


# Capsules.


@pytest.mark.parametrize("versioned", [False, True])
def test_a_capsule_is_consumed_and_freed_once(versioned):
    made = Made([3, 4, 0, 0], (1, 4), versioned=versioned)
    out = np.from_dlpack(rms_norm(made.capsule, np.ones(4, np.float32), 0.0))
    np.testing.assert_allclose(out, [[1.2, 1.6, 0, 0]], rtol=1e-6)
    assert made.freed == 1
    assert name_of(made.capsule) == ("used_dltensor_versioned" if versioned else "used_dltensor")
    with pytest.raises(ValueError, match="has been consumed: call `__dlpack__` again"):
        rms_norm(made.capsule, np.ones(4, np.float32))
    assert made.freed == 1


def test_a_capsule_that_is_refused_is_freed():
    ones = np.ones(4, np.float32)
    for made, said in [
        (Made([0] * 4, (1, 4), version=2), "version 2.0"),
        (Made([0] * 4, (1, 4), dtype=(5, 32, 1)), "1 numbers of 32 bits and type code 5"),
        (Made([0] * 4, (-1, 4)), r"the extents \[-1, 4\]"),
    ]:
        with pytest.raises(ValueError, match=f"^x: .*{said}"):
            rms_norm(made.capsule, ones)
        assert made.freed == 1


def test_a_result_that_nobody_takes_is_freed():
    out = rms_norm(numbers(256, 1024), np.ones(1024, np.float32))
    for version in [(0, 8), (1, 0)] * 2:
        out.__dlpack__(max_version=version)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for version in [(0, 8), (1, 0)] * 100:
        out.__dlpack__(max_version=version)
    # Each has a copy of 1 MiB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024


def test_producers_from_before_version_1_are_asked_again():
    class Old:
        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __dlpack__(self, *, stream=None):
            assert stream is None
            return self.array.__dlpack__()

    x, weight = numbers(2, 3), numbers(3)
    np.testing.assert_array_equal(
        np.from_dlpack(rms_norm(Old(x), Old(weight))), np.from_dlpack(rms_norm(x, weight))
    )


# Errors.


@pytest.mark.parametrize(
    ("x", "weight", "kind", "said"),
    [
        (np.zeros((2, 3), np.int32), np.zeros(3, np.float32), TypeError, "^x: required elements of f16, bf16, f32 or f64; actual i32$"),
        (np.zeros((2, 3), np.float32), np.zeros(3), TypeError, r"^weight: the tensor is a Tensor<f64, 1>, not a Tensor<f32, 1>$"),
        (np.zeros(3, np.float32), np.zeros(3, np.float32), ValueError, r"^x: required a matrix, of 2 axes; actual the shape \[3\]$"),
        (np.zeros((2, 3), np.float32), np.zeros((1, 3), np.float32), ValueError, r"^weight: required the shape \[3\]; actual \[1, 3\]$"),
        (np.zeros((2, 3), np.float32), np.zeros(4, np.float32), ValueError, r"^weight: required the shape \[3\]; actual \[4\]$"),
        (np.zeros((2, 3), np.float32)[::-1], np.zeros(3, np.float32), ValueError, r"^x: .* the strides \[-3, 1\]$"),
        ([[1.0]], np.zeros(1, np.float32), TypeError, "^x: required an array with `__dlpack__` .* actual `list`$"),
        (np.zeros((2, 3), np.float32), None, TypeError, "^weight: required an array with `__dlpack__` .* actual `NoneType`$"),
    ],
)
def test_arguments_that_do_not_fit(x, weight, kind, said):
    with pytest.raises(kind, match=said):
        rms_norm(x, weight)


def test_gradients_that_do_not_fit():
    x, weight = numbers(2, 3), numbers(3)
    with pytest.raises(ValueError, match=r"^grad: required the shape \[2, 3\]; actual \[3, 2\]$"):
        rms_norm_backward(x, weight, numbers(3, 2))
    with pytest.raises(TypeError, match="^grad: "):
        rms_norm_backward(x, weight, numbers(2, 3, dtype=np.float64))


def test_the_cpu_has_no_streams_and_no_outputs():
    x, weight = numbers(2, 3), numbers(3)
    with pytest.raises(ValueError, match="^x: required no stream for arrays on the CPU; actual stream 7$"):
        rms_norm(x, weight, stream=7)
    with pytest.raises(ValueError, match="^out: required none for arrays on the CPU"):
        rms_norm(x, weight, out=np.empty_like(x))
    with pytest.raises(ValueError, match="^out: required none for arrays on the CPU"):
        rms_norm_backward(x, weight, x, out=(x, weight, x))


def test_devices_are_not_mixed():
    x = numbers(1, 4)
    elsewhere = Made([0] * 4, (4,), device=(2, 0))
    with pytest.raises(ValueError, match="^weight: required memory of the CPU, as `x` has; actual CUDA device 0$"):
        rms_norm(x, elsewhere.capsule)
    # It is the producer's still.
    assert elsewhere.freed == 0
    assert name_of(elsewhere.capsule) == "dltensor_versioned"


def test_devices_that_kiln_does_not_have():
    opencl = Made([0] * 4, (1, 4), device=(4, 3))
    with pytest.raises(ValueError, match="^x: required memory of the CPU or of a CUDA device; actual device 3 of DLPack's type 4$"):
        rms_norm(opencl.capsule, np.ones(4, np.float32))
    cuda = Made([0] * 4, (1, 4), device=(2, 999))
    with pytest.raises(RuntimeError, match="^x: (no CUDA driver|there is no device cuda:999)"):
        rms_norm(cuda.capsule, np.ones(4, np.float32))
    with pytest.raises(ValueError, match="^x: required the handle of a CUDA stream; actual stream -3$"):
        rms_norm(cuda.capsule, np.ones(4, np.float32), stream=-3)


def test_other_capsules():
    odd = Made([0] * 4, (1, 4), name=b"something else")
    with pytest.raises(TypeError, match="^x: required a capsule called .*; actual `something else`$"):
        rms_norm(odd.capsule, np.ones(4, np.float32))
    assert odd.freed == 0


class Starting:
    """An array that sets an event when it is taken."""

    def __init__(self, array, event):
        self.array, self.event = array, event

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        self.event.set()
        return self.array.__dlpack__(**options)


def test_other_threads_go_on_while_the_emulator_runs():
    # Many blocks, and a weight that is copied in no time.
    x, weight = numbers(3000, 1), numbers(1)

    def has_a_turn():
        go, ran = threading.Event(), []

        def run():
            go.wait()
            ran.append(True)

        thread = threading.Thread(target=run)
        thread.start()
        interval = sys.getswitchinterval()
        # From here on, the other thread has a turn only where this one leaves the interpreter to it.
        sys.setswitchinterval(1000)
        try:
            rms_norm(x, Starting(weight, go))
            return bool(ran)
        finally:
            sys.setswitchinterval(interval)
            thread.join()

    # With the interpreter held, a turn is a matter of luck.
    assert all(has_a_turn() for _ in range(3))
