//! What Triton, `PyTorch` and `NumPy` compute of arrays.

use super::Row;

const INVERSE: &str = "the language has no inverse of `sin`, `cos` and `tan`; a polynomial of the kernel's own computes one";
const SPECIAL: &str =
    "the language has no such function; a `#[device]` function computes it by a polynomial";
const RANKS: &str =
    "both sides of an operator have the same number of axes; an axis of extent 1 is repeated";
const POPULATION: &str = "it is written out of sums, so that it is clear what they are divided by";
const WRITTEN_OUT: &str = "it is written out of the operations that it consists of";
const PAIRS: &str = "tiles are concatenated two at a time";
const COPIES: &str =
    "an axis of extent 1 is repeated by `broadcast`; elements are repeated by a new axis";
const LABELS: &str =
    "`dot` multiplies matrices; other sums of products are written with `expand` and `sum`";
const RANK_ONE: &str =
    "the elements of a tile belong to threads; `gather` takes each from another index";
const KNOWN: &str = "extents are known at compile time, and how many elements a mask chooses is not; `select` puts something else where it does not hold";
const NO_SHAPE: &str =
    "the type and the extents are those that are written, not those of another tile";

pub(super) const VALUES: &[Row] = &[
    // Elements.
    ("fmod|fmodf(x, y)", WRITTEN_OUT, "x - (x / y).trunc() * y"),
    ("floor_divide|floordiv(x, y)", "", "(x / y).floor()"),
    ("div_rn|fdiv|divide|true_divide|truediv(x, y)", "", "x / y"),
    ("subtract(x, y)", "", "x - y"),
    ("multiply(x, y)", "", "x * y"),
    ("negative|neg(x)", "", "-x"),
    ("absolute|fabs(x)", "", "x.abs()"),
    ("square(x)", "", "x * x"),
    ("sqrt_rn(x)", "", "x.sqrt()"),
    ("exp10|exp10f(x)", WRITTEN_OUT, "(x * 3.321928).exp2()"),
    ("sinh|sinhf(x)", WRITTEN_OUT, "(x.exp() - (-x).exp()) * 0.5"),
    ("cosh|coshf(x)", WRITTEN_OUT, "(x.exp() + (-x).exp()) * 0.5"),
    ("tan|tanf|__tanf(x)", WRITTEN_OUT, "x.sin() / x.cos()"),
    ("logit(x)", WRITTEN_OUT, "(x / (1.0 - x)).ln()"),
    ("hypot|hypotf(x, y)", WRITTEN_OUT, "(x * x + y * y).sqrt()"),
    ("asin|acos|atan|atan2|asinf|acosf|atanf|atan2f|arcsin|arccos|arctan|arctan2(..)", INVERSE, ""),
    (
        "asinh|acosh|atanh|lgamma|lgammaf|gammaln|digamma|erfinv|erfinvf|i0|j0|y0|normcdfinv(..)",
        SPECIAL,
        "",
    ),
    ("sign|sgn(x)", "", "select(x.gt(0.0), 1.0, select(x.lt(0.0), -1.0, 0.0))"),
    ("sincos|sincosf(..)", "", "(x.sin(), x.cos())"),
    ("clamp_min|clip_min(x, y)", "", "maximum(x, y)"),
    ("clamp_max|clip_max(x, y)", "", "minimum(x, y)"),
    ("leaky_relu(x, y)", WRITTEN_OUT, "select(x.gt(0.0), x, y * x)"),
    ("relu|relu_(x)", "", "maximum(x, 0.0)"),
    ("relu6(x)", "", "x.clamp(0.0, 6.0)"),
    ("silu|swish(x)", WRITTEN_OUT, "x / (1.0 + (-x).exp())"),
    ("gelu(x)", WRITTEN_OUT, "0.5 * x * (1.0 + (x * 0.70710677).erf())"),
    ("softplus(x)", WRITTEN_OUT, "x.exp().ln_1p()"),
    ("elu(x)", WRITTEN_OUT, "select(x.gt(0.0), x, x.exp_m1())"),
    ("sigmoid|sigmoid_(x)", WRITTEN_OUT, "1.0 / (1.0 + (-x).exp())"),
    ("lerp(x, y, z)", WRITTEN_OUT, "x + (y - x) * z"),
    ("addcmul(x, y, z)", "", "fma(y, z, x)"),
    ("masked_fill|masked_fill_(x, m, y)", "", "select(m, y, x)"),
    ("nan_to_num(x)", "", "select(x.is_nan(), 0.0, x)"),
    ("isneginf(x)", "", "x.eq(f32::NEG_INFINITY)"),
    ("isposinf(x)", "", "x.eq(f32::INFINITY)"),
    ("bitwise_and(i, j)", "", "i & j"),
    ("bitwise_or(i, j)", "", "i | j"),
    ("bitwise_xor|logical_xor(i, j)", "", "i ^ j"),
    ("left_shift|bitwise_left_shift(i, j)", "", "i << j"),
    ("right_shift|bitwise_right_shift(i, j)", "", "i >> j"),
    ("less(x, y)", "", "x.lt(y)"),
    ("less_equal(x, y)", "", "x.le(y)"),
    ("greater(x, y)", "", "x.gt(y)"),
    ("greater_equal(x, y)", "", "x.ge(y)"),
    ("equal(x, y)", "", "x.eq(y)"),
    ("not_equal(x, y)", "", "x.ne(y)"),
    ("isclose(x, y)", WRITTEN_OUT, "(x - y).abs().le(y.abs() * 1e-5 + 1e-8)"),
    // Along an axis.
    (
        "var|variance(x, k)",
        POPULATION,
        "((x - (x.sum(k) / COUNT).expand(k)) * (x - (x.sum(k) / COUNT).expand(k))).sum(k) / COUNT",
    ),
    (
        "std(x, k)",
        POPULATION,
        "(((x - (x.sum(k) / COUNT).expand(k)) * (x - (x.sum(k) / COUNT).expand(k))).sum(k) / COUNT).sqrt()",
    ),
    (
        "var|variance(x)",
        POPULATION,
        "(x * x).sum(AXES) / ELEMENTS - (x.sum(AXES) / ELEMENTS) * (x.sum(AXES) / ELEMENTS)",
    ),
    (
        "std(x)",
        POPULATION,
        "((x * x).sum(AXES) / ELEMENTS - (x.sum(AXES) / ELEMENTS) * (x.sum(AXES) / ELEMENTS)).sqrt()",
    ),
    ("norm(x)", WRITTEN_OUT, "(x * x).sum(AXES).sqrt()"),
    ("norm(x, k)", WRITTEN_OUT, "(x * x).sum(k).sqrt()"),
    ("logsumexp(x, k)", WRITTEN_OUT, "x.max(k) + (x - x.max(k).expand(k)).exp().sum(k).ln()"),
    (
        "log_softmax(x, k)",
        WRITTEN_OUT,
        "x - (x.max(k) + (x - x.max(k).expand(k)).exp().sum(k).ln()).expand(k)",
    ),
    (
        "softmax(x, k)",
        WRITTEN_OUT,
        "{ let e = (x - x.max(k).expand(k)).exp(); e / e.sum(k).expand(k) }",
    ),
    (
        "softmax(x)",
        WRITTEN_OUT,
        "{ let e = (x - x.max(LAST).expand(LAST)).exp(); e / e.sum(LAST).expand(LAST) }",
    ),
    ("count_nonzero(x, k)", "", "x.ne(ZERO).cast::<i32>().sum(k)"),
    ("count_nonzero(x)", "", "x.ne(ZERO).cast::<i32>().sum(AXES)"),
    ("xor_sum(i, k)", "", "i.reduce(k, |a, b| a ^ b)"),
    ("reduce_or(i, k)", "", "i.reduce(k, |a, b| a | b)"),
    ("cummin(x, k)", "", "x.scan(k, |a, b| a.min(b))"),
    ("cummax(x, k)", "", "x.scan(k, |a, b| a.max(b))"),
    ("logcumsumexp(x, k)", WRITTEN_OUT, "x.exp().cumsum(k).ln()"),
    ("median|mode|quantile|kthvalue(..)", "an element by its rank is one of the sorted ones", ""),
    ("repeat|repeat_interleave|tile_repeat(..)", COPIES, ""),
    ("roll(..)", RANK_ONE, ""),
    ("nonzero|masked_select|argwhere|compress(..)", KNOWN, ""),
    ("unfold|im2col|pad|diff|trapz(..)", RANK_ONE, ""),
    // Matrices.
    (
        "triu(t)",
        WRITTEN_OUT,
        "select(arange(0, ROWS).expand(1).le(arange(0, COLS).expand(0)), t, ZERO)",
    ),
    (
        "tril(t)",
        WRITTEN_OUT,
        "select(arange(0, ROWS).expand(1).ge(arange(0, COLS).expand(0)), t, ZERO)",
    ),
    (
        "trace(t)",
        WRITTEN_OUT,
        "select(arange(0, ROWS).expand(1).eq(arange(0, COLS).expand(0)), t, ZERO).sum([0, 1])",
    ),
    ("outer(r, q)", RANKS, "r.expand(1) * q.expand(0)"),
    ("mv(t, q)", LABELS, "(t * q.expand(0)).sum(1)"),
    (
        "matmul|mm|bmm|gemm(t, u)",
        "the tensor cores add each product to an accumulator",
        "dot(t, u, zeros::<f32>([ROWS, WIDTH]))",
    ),
    ("einsum|tensordot|kron(..)", LABELS, ""),
    ("swapaxes|transpose(t, k, n)", "", "t.t()"),
    // Types.
    ("type_as|view_as|expand_as|reshape_as|to_like(..)", NO_SHAPE, ""),
    ("nbytes|element_size|numel(..)", "extents and types are known at compile time", ""),
];

/// What only arrays have as methods.
pub(super) const METHODS: &[Row] = &[
    ("half(x)", "", "x.cast::<f16>()"),
    ("bfloat16(x)", "", "x.cast::<bf16>()"),
    ("float|to_float32(x)", "", "x.cast::<f32>()"),
    ("double(x)", "", "x.cast::<f64>()"),
    ("char(x)", "", "x.cast::<i8>()"),
    ("byte(x)", "", "x.cast::<u8>()"),
    ("short(x)", "", "x.cast::<i16>()"),
    ("int(x)", "", "x.cast::<i32>()"),
    ("long(x)", "", "x.cast::<i64>()"),
    ("bool(x)", "", "x.ne(ZERO)"),
    (
        "contiguous|detach|cpu|cuda|numpy|item_|requires_grad_(x)",
        "a tile is in registers, and has no storage of its own",
        "x",
    ),
    ("add_(x, y)", "a tile does not change; a variable takes another one", "x + y"),
    ("sub_(x, y)", "a tile does not change; a variable takes another one", "x - y"),
    ("mul_(x, y)", "a tile does not change; a variable takes another one", "x * y"),
    ("div_(x, y)", "a tile does not change; a variable takes another one", "x / y"),
    ("zero_(x)", "a tile does not change; a variable takes another one", "zeros::<TYPE>(SHAPE)"),
    ("fill_(x, v)", "a tile does not change; a variable takes another one", "full(SHAPE, v)"),
    ("copy_(x, y)", "a tile does not change; a variable takes another one", "y"),
    ("new_zeros(x, h)", "", "zeros::<TYPE>(h)"),
    (
        "atomic_add|atomic_max|atomic_min(..)",
        "a tile is in registers; windows of tensors and shared memory are changed atomically",
        "",
    ),
    (
        "store_async|copy_async|prefetch(..)",
        "a tile is in registers; copies go between memories",
        "",
    ),
    ("sum_all(x)", "", "x.sum(AXES)"),
    ("size|shape(x, k)", "", "x.dim(k)"),
    ("ndim|dim_|rank(..)", "the rank of a tile is known at compile time", ""),
];

pub(super) const FUNCTIONS: &[Row] = &[
    ("zeros_like(x)", NO_SHAPE, "zeros::<TYPE>(SHAPE)"),
    ("empty_like(x)", NO_SHAPE, "zeros::<TYPE>(SHAPE)"),
    ("ones_like(x)", NO_SHAPE, "full(SHAPE, ONE)"),
    ("full_like(x, v)", NO_SHAPE, "full(SHAPE, v)"),
    (
        "eye|identity(n)",
        WRITTEN_OUT,
        "arange(0, n).expand(1).eq(arange(0, n).expand(0)).cast::<f32>()",
    ),
    (
        "linspace|logspace|meshgrid(..)",
        "a tile of positions, `arange(0, 64)`, is computed with like any other",
        "",
    ),
    ("cat|concat|concatenate|hstack(r, q)", PAIRS, "r.concat(q, 0)"),
    ("cat|concat|concatenate(r, q, k)", PAIRS, "r.concat(q, k)"),
    ("stack(r, q)", "two tiles are stacked along a new last axis", "join(r, q)"),
    (
        "static_print|device_print|print(x)",
        "a kernel prints by `println!`, like any Rust function",
        "println!(\"{}\", x)",
    ),
    (
        "tensor|asarray|array_(..)",
        "constants are made by `full`; a tile with different elements is loaded, or computed from `arange`",
        "",
    ),
    ("advance(..)", "a window does not move: each iteration takes another one, by its corner", ""),
    (
        "load_tensor_descriptor|store_tensor_descriptor(..)",
        "a parameter of type `TensorMap` is a descriptor, and `tma::load` and `tma::store` copy its blocks",
        "",
    ),
    ("call_extern|extern_call(..)", "instructions of PTX are written by `ptx!`", ""),
    ("program_id|get_program_id|pid(k)", "", "block_id(k)"),
    ("num_programs|get_num_programs(k)", "", "num_blocks(k)"),
];
