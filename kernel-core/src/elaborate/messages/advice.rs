//! Names of other GPU languages, and Kiln's names for the same.

/// Why there is nothing of that name, and what to write instead; either may be empty.
pub(crate) type Advice = (&'static str, &'static str);

pub(super) const NO_THREADS: &str = "a kernel is written for a whole block: a layout spreads the elements of a tile over its threads, which have no indices";

const FRAGMENTS: &str = "`dot` chooses the instruction, loads the fragments and gives the sum";

const NO_LANES: &str = "lanes exchange values in reductions (`sum`, `max`, `reduce`), scans, `flip` and conversions of layouts, which the compiler writes";

/// For a name that stands alone: a function, a variable, a module.
pub(crate) fn of_name(name: &str) -> Option<Advice> {
    Some(match name {
        "program_id" | "blockIdx" | "block_idx" | "get_group_id" | "bid" => (
            "a kernel is written for one block of the grid, and `block_id` is the place of that block along an axis",
            "block_id(0)",
        ),
        "num_programs" | "gridDim" | "get_num_groups" => ("", "num_blocks(0)"),
        "threadIdx" | "thread_idx" | "thread_id" | "get_local_id" | "get_global_id" | "laneId"
        | "lane_id" | "tid" => (NO_THREADS, "arange(0, 128) // a tile of positions"),
        "blockDim" | "block_dim" | "get_local_size" => (NO_THREADS, "num_warps() * 32"),
        "__syncthreads" | "syncthreads" | "sync_threads" | "debug_barrier" | "barrier"
        | "__syncwarp" => ("", "sync()"),
        "ceil_div" | "ceildiv" | "div_ceil" | "divup" | "cdiv_" => ("", "cdiv(a, b)"),
        "where_" | "r#where" | "where" | "ternary" => ("", "select(mask, a, b)"),
        "ones" | "ones_like" => ("", "full([64, 64], 1.0)"),
        "zeros_like" | "empty" | "empty_like" => ("", "zeros::<f32>([64, 64])"),
        "full_like" | "fill" | "splat" => ("", "full([64, 64], value)"),
        "static_range" | "unrolled" => ("", "unroll(0..4)"),
        "tl" | "triton" | "gl" | "ttgl" | "cute" | "cutlass" | "ct" | "wp" | "cuda" => {
            (NO_MODULE, "")
        }
        "atomic_add" | "atomicAdd" => ("", "atomic::add(at, value)"),
        "atomic_max" | "atomicMax" => ("", "atomic::max(at, value)"),
        "atomic_min" | "atomicMin" => ("", "atomic::min(at, value)"),
        "atomic_xchg" | "atomicExch" => ("", "atomic::exchange(at, value)"),
        "atomic_cas" | "atomicCAS" => ("", "atomic::compare_exchange(at, expected, new)"),
        "memcpy_async" | "cp_async" | "async_copy" => {
            ("", "copy_async(a.tile([i, j], [64, 64]), s)")
        }
        "__shared__" | "smem" | "alloc_shared" | "allocate_shared_memory" => {
            ("", "shared::<f32>([64, 64])")
        }
        "mma" | "wmma" | "matmul" | "gemm" => ("", "dot(a, b, acc)"),
        "trans" | "transpose" => ("", "x.t()"),
        "max" | "fmax" | "fmaxf" => ("", "maximum(a, b) // of two; over an axis: x.max(0)"),
        "min" | "fmin" | "fminf" => ("", "minimum(a, b) // of two; over an axis: x.min(0)"),
        "clamp" => ("", "x.clamp(lo, hi)"),
        "expf" => ("", "x.exp()"),
        "__expf" => ("", "x.exp_approx()"),
        "log" | "logf" => ("", "x.ln()"),
        "__logf" => ("", "x.ln_approx()"),
        "log1p" | "log1pf" => ("", "x.ln_1p()"),
        "expm1" | "expm1f" => ("", "x.exp_m1()"),
        "__sinf" | "fast_sinf" => ("", "x.sin_approx()"),
        "__cosf" | "fast_cosf" => ("", "x.cos_approx()"),
        "tanhf" => ("", "x.tanh()"),
        "fast_tanhf" | "tanh_fast" => ("", "x.tanh_approx()"),
        "pow" | "__powf" => ("", "x.powf(y)"),
        "sqrtf" => ("", "x.sqrt()"),
        "fabs" | "fabsf" => ("", "x.abs()"),
        "inline_asm_elementwise" | "inline_asm" | "inline_ptx" => {
            ("", "ptx!(\"ex2.approx.ftz.f32 {out}, {x};\", x = v => f32)")
        }
        "cumsum" => ("", "x.cumsum(0)"),
        "cumprod" => ("", "x.cumprod(0)"),
        "scan" | "associative_scan" => ("", "x.scan(0, |a, b| a + b)"),
        "flip" => ("", "x.flip(0)"),
        "argmax" => ("", "x.argmax(0)"),
        "argmin" => ("", "x.argmin(0)"),
        "permute" => ("", "x.permute([2, 0, 1])"),
        "interleave" => ("", "join(a, b).reshape([128]) // of tiles of 64 elements"),
        "convert_layout" | "set_layout" => {
            ("", "x.to_layout(blocked([1, 4], [8, 4], [4, 1], [1, 0]))")
        }
        "take" | "take_along_axis" | "index_select" => (GATHER, "x.gather(0, indices)"),
        "scatter" => (SCATTER, SCATTERED),
        "topk" => ("", "x.top_k(8, 0)"),
        "bincount" | "histc" => ("", "x.histogram(256)"),
        "BlockedLayout" => ("", "blocked([1, 4], [8, 4], [4, 1], [1, 0])"),
        "SliceLayout" => ("", "slice(1, blocked([1, 4], [8, 4], [4, 1], [1, 0]))"),
        "DotOperandLayout" => ("", "dot_operand(0, mma([2, 2]), 2)"),
        "NVMMADistributedLayout" => ("", "mma([2, 2])"),
        "NVMMASharedLayout" => ("", "swizzle(128)"),
        "SwizzledSharedLayout" => ("", "swizzled(8, 1, 8, [1, 0])"),
        "DistributedLinearLayout" | "SharedLinearLayout" | "PaddedSharedLayout" => (
            "layouts are `blocked`, `slice`, `mma`, `dot_operand`, `linear` of tiles, and `row_major`, `swizzle`, `swizzled`, `shared_linear` of shared memory",
            "",
        ),
        "AutoLayout" => ("without `to_layout` the compiler chooses the layout of a tile", ""),
        "device_print" | "printf" => ("a kernel prints by `println!(\"x = {}\", x)`", ""),
        "static_assert" => ("", "assert!(condition, \"message\")"),
        "Some" | "None" => (
            "both are patterns of parameters of a type `Option<..>`; all other values are there: a mask or a `bool` says whether they count",
            "",
        ),
        "Ok" | "Err" => {
            ("a value is always there: say with a mask or a `bool` beside it whether it counts", "")
        }
        "concat" | "concatenate" | "stack" | "cat" | "hstack" | "vstack" => {
            ("`join` stacks two tiles along a new last axis", "join(a, b)")
        }
        "sizeof" | "size_of" => {
            ("a window of shared memory says how many bytes it has", "s.bytes()")
        }
        "sigmoid" => ("", "1.0 / (1.0 + (-x).exp())"),
        "relu" => ("", "maximum(x, 0.0)"),
        "softmax" => ("", "let e = (x - x.max(1).expand(1)).exp(); e / e.sum(1).expand(1)"),
        "drop" => ("values end where the names do; there is nothing to free", ""),
        _ => return of_triton(name).or_else(|| of_intrinsic(name)),
    })
}

/// For functions of Triton and its neighbours that are more than another name.
fn of_triton(name: &str) -> Option<Advice> {
    Some(match name {
        "rand" | "uniform" => (RANDOM, "kiln::random::Philox::new(seed).uniform(at.cast::<u64>())"),
        "randn" | "normal" => (RANDOM, "kiln::random::Philox::new(seed).normal(at.cast::<u64>())"),
        "randint" | "randint4x" | "rand4x" | "curand" | "curand_uniform" | "curand_init"
        | "philox" => (RANDOM, "kiln::random::Philox::new(seed).words(at.cast::<u64>())"),
        "next_power_of_2" | "next_pow2" | "next_power_of_two" | "nextPow2" | "bit_ceil" => (
            KNOWN_EXTENT,
            "#[kernel(.., instances(N = [256, 1024]))]\npub fn name<const N: i32>(..)",
        ),
        "multiple_of" | "max_contiguous" | "max_constancy" | "assume" => {
            (DECLARED, "#[multiple_of(16)] n: i32")
        }
        "swizzle2d" => (
            "schedules of tiles are types: `Grouped` goes through them in groups of rows",
            "kiln::sched::Grouped::<8>::new(rows, columns).tile(block_id(0))",
        ),
        _ => return None,
    })
}

/// For functions of CUDA C++, and words of `NumPy`.
fn of_intrinsic(name: &str) -> Option<Advice> {
    Some(match name {
        "float" | "inf" | "Infinity" | "INFINITY" => ("", "f32::INFINITY"),
        "nan" | "NaN" | "NAN" => ("", "f32::NAN"),
        "not" | "logical_not" | "bitwise_not" => ("", "!mask"),
        "logical_and" => ("", "a & b"),
        "logical_or" => ("", "a | b"),
        "mma_sync" | "mma_async" | "load_matrix_sync" | "store_matrix_sync" | "ldmatrix" => {
            (FRAGMENTS, "dot(a, b, acc)")
        }
        "warp_id" | "warpId" | "warp_idx" => (
            "the warps of a block share the elements of each tile; `warp_specialize` gives warps different work",
            "",
        ),
        "expm1" | "expm1f" => ("", "x.exp() - 1.0"),
        "sinf" | "__sinf" => ("", "x.sin()"),
        "cosf" | "__cosf" => ("", "x.cos()"),
        "tanhf" => ("", "x.tanh()"),
        "erff" => ("", "x.erf()"),
        "exp2f" => ("", "x.exp2()"),
        "log2f" | "__log2f" => ("", "x.log2()"),
        "rsqrtf" | "__frsqrt_rn" => ("", "x.rsqrt()"),
        "floorf" => ("", "x.floor()"),
        "ceilf" => ("", "x.ceil()"),
        "fmaf" | "__fmaf_rn" => ("", "fma(a, b, c)"),
        "__popc" | "__popcll" => ("", "x.count_ones()"),
        "__clz" | "__clzll" => ("", "x.leading_zeros()"),
        "__brev" | "__brevll" => ("", "x.reverse_bits()"),
        "__umulhi" | "__mulhi" => ("", "a.mul_hi(b)"),
        "__float_as_int" | "__float_as_uint" => ("", "x.to_bits()"),
        "__int_as_float" | "__uint_as_float" => ("", "x.bitcast::<f32>()"),
        "__float2half" | "__float2half_rn" => ("", "x.cast::<f16>()"),
        "__half2float" | "__bfloat162float" => ("", "x.cast::<f32>()"),
        "__float2bfloat16" => ("", "x.cast::<bf16>()"),
        "__ldg" | "__ldcs" | "__stcs" => {
            ("a window of a tensor is read as a tile", "x.tile([i], [64]).load()")
        }
        "__shfl_sync" | "__shfl_down_sync" | "__shfl_up_sync" | "__shfl_xor_sync"
        | "__reduce_add_sync" | "shfl_down" | "shfl_xor" | "warp_reduce" => (NO_LANES, "x.sum(0)"),
        "__ballot_sync" | "__any_sync" => (NO_LANES, "mask.reduce(0, |a, b| a | b)"),
        "__all_sync" => (NO_LANES, "mask.reduce(0, |a, b| a & b)"),
        "__threadfence" | "__threadfence_block" | "threadfence" => (
            "an atomic says which memory accesses it orders; `sync` orders those of a block",
            "sync()",
        ),
        _ => return of_bare(name),
    })
}

/// For functions of CUDA C++ without the underscores before them, or with the `_sync` behind them that older ones lack.
fn of_bare(name: &str) -> Option<Advice> {
    let bare = name.trim_start_matches('_').trim_end_matches("_sync");
    let full = format!("__{bare}_sync");
    let alike = name.ends_with("_sync") || name.starts_with("__");
    if alike && name != full && bare != name { of_intrinsic(&full) } else { None }
}

const RANDOM: &str = "random numbers are computed from a seed and a counter, without a state, the same in kernels and on the host";
const KNOWN_EXTENT: &str = "extents of tiles are known at compile time: the host chooses an instance for the size that it has";
const DECLARED: &str =
    "what is known of an argument is declared at the parameter, and the launch checks it";
const GATHER: &str = "a tile of indices, of the same extents but along the axis, chooses the elements of each line along it";
const SCATTER: &str = "the elements of a tile belong to threads, and a thread writes only its own; shared memory is written at a tile of indices";
const SCATTERED: &str = "s.scatter(indices, x); sync(); s.load()";

/// The constructor that takes what this one of another language takes, in the same order.
pub(crate) fn of_layout(name: &str) -> Option<&'static str> {
    Some(match name {
        "BlockedLayout" => "blocked",
        "SliceLayout" => "slice",
        "DotOperandLayout" => "dot_operand",
        "SwizzledSharedLayout" => "swizzled",
        _ => return None,
    })
}

/// Words that a function of the user's own may well have for a name.
const PLAIN: [&str; 75] = [
    "rand",
    "randn",
    "randint",
    "uniform",
    "normal",
    "philox",
    "next_power_of_2",
    "next_power_of_two",
    "bit_ceil",
    "assume",
    "swizzle2d",
    "multiple_of",
    "float",
    "inf",
    "nan",
    "not",
    "logical_not",
    "logical_and",
    "logical_or",
    "bitwise_not",
    "warp_id",
    "Some",
    "None",
    "Ok",
    "Err",
    "concat",
    "concatenate",
    "stack",
    "cat",
    "hstack",
    "vstack",
    "sizeof",
    "size_of",
    "sigmoid",
    "relu",
    "softmax",
    "drop",
    "ones",
    "ones_like",
    "zeros_like",
    "empty",
    "empty_like",
    "full_like",
    "fill",
    "splat",
    "mma",
    "matmul",
    "gemm",
    "trans",
    "transpose",
    "max",
    "min",
    "clamp",
    "cumsum",
    "cumprod",
    "scan",
    "flip",
    "argmax",
    "argmin",
    "permute",
    "interleave",
    "ternary",
    "divup",
    "ceil_div",
    "tl",
    "ct",
    "wp",
    "topk",
    "bincount",
    "scatter",
    "take",
    "take_along_axis",
    "index_select",
    "set_layout",
    "gl",
];

/// Names under which other languages keep their functions.
pub(crate) const MODULES: [&str; 8] =
    ["tl", "triton", "ttgl", "cute", "cutlass", "ct", "wp", "cuda"];

/// Why a module of another language is not there.
pub(crate) const NO_MODULE: &str =
    "the functions of the language are called by their own names, without a module";

/// Whether a name can only come from another language for GPUs.
pub(crate) fn is_foreign(name: &str) -> bool {
    of_name(name).is_some() && !PLAIN.contains(&name)
}

const WRAPS: &str = "integers wrap in kernels, so the operators are those";

const SATURATES: &str =
    "integers wrap in kernels: what is to stay within bounds is compared with them before";

/// For a method of a number, of which there is one for the block.
pub(crate) fn of_number(name: &str) -> Option<Advice> {
    Some(match name {
        "signum" | "sign" => ("", "if x < 0.0 { -1.0 } else { 1.0 }"),
        "saturating_sub" => (SATURATES, "if x > y { x - y } else { 0 }"),
        "next_multiple_of" => ("", "cdiv(x, y) * y"),
        "div_ceil" => ("", "cdiv(x, y)"),
        "is_multiple_of" => ("", "x % y == 0"),
        "is_power_of_two" => ("", "x.count_ones() == 1"),
        "is_positive" => ("", "x > 0"),
        "is_negative" => ("", "x < 0"),
        "ilog2" => ("", "31 - x.leading_zeros().cast::<i32>()"),
        _ => return None,
    })
}

/// For a method of a range.
pub(crate) fn of_range(name: &str) -> Option<Advice> {
    Some(match name {
        "step_by" => (
            "a kernel's loops have no iterators; the third number of `range` is the step",
            "range(0, n, 128)",
        ),
        "enumerate" | "zip" => (
            "a range counts by itself: the number of an iteration is computed from it",
            "for k in 0..n { let i = lo + k; .. }",
        ),
        "map" | "filter" | "for_each" | "sum" | "fold" | "collect" => (
            "a range counts the iterations of a `for` loop and nothing else; a tile of positions is made by `arange`",
            "for i in 0..n { .. }",
        ),
        "into_iter" | "iter" => ("a `for` loop takes the range itself", "for i in 0..n { .. }"),
        "rev" => ("a range counts up", "for k in 0..n { let i = n - 1 - k; .. }"),
        _ => return None,
    })
}

/// For a method, or a field, of a scalar or a tile.
pub(crate) fn of_method(name: &str) -> Option<Advice> {
    Some(match name {
        "to" | "astype" | "as_type" | "type" | "dtype" | "to_f32" | "to_float" | "as_f32" => {
            ("", ".cast::<f32>()")
        }
        "to_f64" | "to_double" | "as_f64" => ("", ".cast::<f64>()"),
        "to_f16" | "to_half" | "half" => ("", ".cast::<f16>()"),
        "to_bf16" | "bfloat16" => ("", ".cast::<bf16>()"),
        "to_i32" | "to_int" | "as_i32" => ("", ".cast::<i32>()"),
        "into" | "try_into" => ("", ".cast()"),
        "clip" => ("", "x.clamp(lo, hi)"),
        "isnan" => ("", ".is_nan()"),
        "popc" | "popcount" | "popcll" => ("", ".count_ones()"),
        "clz" | "clzll" => ("", ".leading_zeros()"),
        "ctz" => ("", ".trailing_zeros()"),
        "ffs" | "ffsll" => (
            "`trailing_zeros` counts from 0, and gives the width for 0, where `__ffs` counts from 1 and gives 0",
            "",
        ),
        "brev" | "brevll" => ("", ".reverse_bits()"),
        "umulhi" | "mulhi" => ("", ".mul_hi(y)"),
        "rint" | "nearbyint" | "roundeven" => ("", ".round_ties_even()"),
        "bit_cast" | "transmute" => ("", ".bitcast::<u32>()"),
        "isinf" => ("", ".is_infinite()"),
        "isfinite" => ("", ".is_finite()"),
        "where_" | "select" | "masked_fill" => ("", "select(mask, a, b)"),
        "associative_scan" => ("", "x.scan(0, |a, b| a + b)"),
        "cummax" => ("", "x.scan(0, |a, b| a.max(b))"),
        "trans" | "transpose" | "T" => ("", ".t() // or, of other ranks, .permute([2, 0, 1])"),
        "swapaxes" | "permute_dims" => ("", ".permute([2, 0, 1])"),
        "unsqueeze" | "expand_dims" => ("", ".expand(0)"),
        "view" | "flatten" | "ravel" | "squeeze" => ("", ".reshape([64, 64])"),
        "broadcast_to" => ("", ".broadcast([64, 64])"),
        "relu" => ("", "maximum(x, 0.0)"),
        "sigmoid" => ("", "1.0 / (1.0 + (-x).exp())"),
        "pow" => ("write a power with a constant exponent as a product", "x * x"),
        "log" => ("", ".ln()"),
        "log1p" => ("", ".ln_1p()"),
        "expm1" => ("", ".exp_m1()"),
        "wrapping_add" => (WRAPS, "x + y"),
        "wrapping_sub" => (WRAPS, "x - y"),
        "wrapping_mul" => (WRAPS, "x * y"),
        "square" => ("", "x * x"),
        "reciprocal" => ("", ".recip()"),
        "maximum" => ("", "maximum(x, y)"),
        "minimum" => ("", "minimum(x, y)"),
        "take" | "take_along_axis" | "index_select" => (GATHER, ".gather(0, indices)"),
        "scatter" => (SCATTER, SCATTERED),
        "rev" | "reverse" | "fliplr" | "flipud" => ("", ".flip(0)"),
        "exclusive_scan" | "cumsum_exclusive" => ("", "x.scan_exclusive(0, 0, |a, b| a + b)"),
        "topk" => ("", ".top_k(8, 0)"),
        "bincount" | "histc" => ("", ".histogram(256)"),
        "sort_by" | "sort_by_key" | "sort_unstable" => (
            "elements are put into the order of another tile by the indices that sort it",
            "x.gather(0, keys.argsort(0))",
        ),
        "unique" | "unique_consecutive" | "dedup" => (
            "how many elements differ is known only at run time; in a sorted tile a run of equal elements begins where one differs from the one before it",
            "",
        ),
        "clone" | "copied" | "cloned" | "to_owned" => (
            "tiles and numbers are copied where they are used; a name can be used any number of times",
            "x",
        ),
        "zip" => ("two tiles are combined element by element by operators and `join`", "x + y"),
        "iter" | "into_iter" | "enumerate" | "for_each" => (
            "the elements of a tile belong to threads: they are computed with all at once",
            ".map(|v| v + v)",
        ),
        "fold" => ("", ".reduce(0, |a, b| a + b)"),
        "max_axis" | "amax" => ("", ".max(1)"),
        "min_axis" | "amin" => ("", ".min(1)"),
        "sum_axis" => ("", ".sum(1)"),
        "store" | "copy_from" => (
            "a tile is stored to a window of a tensor or of shared memory",
            "out.tile([i], [64]).store(x)",
        ),
        "load" => ("a tile is loaded already", "x"),
        "add" => ("", "x + y"),
        "sub" => ("", "x - y"),
        "mul" => ("", "x * y"),
        "div" => ("", "x / y"),
        "mul_add" | "fma" => ("", "fma(x, y, z)"),
        "dot" | "vdot" | "inner" => (
            "`dot(a, b, acc)` multiplies matrices; this is a sum of products along an axis",
            "(x * y).sum(0)",
        ),
        "matmul" => ("", "dot(a, b, acc)"),
        "as_slice" | "to_vec" | "as_ref" | "as_mut" | "as_mut_slice" | "get" | "chunks" => {
            ("the elements of a tile belong to threads: they are computed with all at once", "")
        }
        "size" | "shape" | "len" => ("", ".dim(0)"),
        "any" => ("", ".reduce(0, |a, b| a | b)"),
        "all" => ("", ".reduce(0, |a, b| a & b)"),
        "prod" | "product" => ("", ".reduce(0, |a, b| a * b)"),
        _ => return of_rust(name),
    })
}

/// For methods of the numbers of Rust, and of what may not be there.
fn of_rust(name: &str) -> Option<Advice> {
    Some(match name {
        "signum" | "sign" => ("", "select(x.lt(0.0), -1.0, 1.0)"),
        "hypot" => ("", "(x * x + y * y).sqrt()"),
        "abs_diff" => ("", "(x - y).abs()"),
        "fract" => ("", "x - x.trunc()"),
        "tan" => ("", "x.sin() / x.cos()"),
        "sinh" => ("", "(x.exp() - (-x).exp()) * 0.5"),
        "cosh" => ("", "(x.exp() + (-x).exp()) * 0.5"),
        "sin_cos" => ("", "(x.sin(), x.cos())"),
        "to_radians" => ("", "x * 0.017453292519943295"),
        "to_degrees" => ("", "x * 57.29577951308232"),
        "lerp" | "mix" => ("", "x + (y - x) * z"),
        "saturating_sub" | "saturating_add" | "saturating_mul" | "checked_add" | "checked_sub"
        | "checked_mul" | "overflowing_add" | "overflowing_sub" => (SATURATES, ""),
        "unwrap" | "expect" | "unwrap_or" | "unwrap_or_default" | "unwrap_or_else" => {
            ("a value is always there: only a parameter may be an `Option`", "x")
        }
        _ => return None,
    })
}

const VECTORS: &str =
    "a tile is loaded, computed with and stored in vectors of up to 16 bytes by itself";

/// For a type of another language.
pub(crate) fn of_type(name: &str) -> Option<Advice> {
    Some(match name {
        "f8" | "fp8" | "float8" => (
            "the FP8 formats are `e4m3`, with more fraction bits, and `e5m2`, with more exponent bits",
            "e4m3",
        ),
        "f8e4m3" | "float8e4nv" | "float8_e4m3fn" | "float8_e4m3" => ("", "e4m3"),
        "f8e5m2" | "float8e5" | "float8_e5m2" => ("", "e5m2"),
        "float2" | "float3" | "float4" => (VECTORS, "Tile<f32>"),
        "double2" => (VECTORS, "Tile<f64>"),
        "int2" | "int3" | "int4" => (VECTORS, "Tile<i32>"),
        "uint2" | "uint3" | "uint4" => (VECTORS, "Tile<u32>"),
        "half2" | "__half2" => (VECTORS, "Tile<f16>"),
        "nv_bfloat162" | "__nv_bfloat162" => (VECTORS, "Tile<bf16>"),
        "i4" | "u4" | "s4" | "uint4b_t" | "int4b_t" | "int4_t" | "uint4_t" => (
            "no element has four bits: a byte holds two numbers, which `x & 15` and `x >> 4` take out",
            if name.starts_with('i') || name.starts_with('s') { "i8" } else { "u8" },
        ),
        "f4" | "fp4" | "e2m1" | "float4_e2m1fn_x2" | "f4e2m1" => {
            ("an element of FP4 is two numbers in a byte", "e2m1x2")
        }
        "f6" | "fp6" | "float6" => (
            "the FP6 formats are `e2m3x16`, with more fraction bits, and `e3m2x16`, with more exponent bits; an element is sixteen numbers",
            "e2m3x16",
        ),
        "e2m3" | "float6_e2m3fn" | "f6e2m3" => ("an element of FP6 is sixteen numbers", "e2m3x16"),
        "e3m2" | "float6_e3m2fn" | "f6e3m2" => ("an element of FP6 is sixteen numbers", "e3m2x16"),
        "e8m0" | "float8_e8m0fnu" | "f8e8m0" => ("", "ue8m0"),
        "fp16" | "float16" | "half" | "__half" => ("", "f16"),
        "bfloat16" | "nv_bfloat16" | "__nv_bfloat16" => ("", "bf16"),
        "fp32" | "float32" | "float" | "single" => ("", "f32"),
        "fp64" | "float64" | "double" => ("", "f64"),
        "Option" => (
            "a parameter may be an `Option` of a tensor, a pointer, a number, or an array or a struct of these; all other values are there: a mask or a `bool` says whether they count",
            "",
        ),
        "Result" => {
            ("a value is always there: say with a mask or a `bool` beside it whether it counts", "")
        }
        "BlockedLayout"
        | "SliceLayout"
        | "DotOperandLayout"
        | "DistributedLinearLayout"
        | "NVMMADistributedLayout"
        | "NVMMASharedLayout"
        | "SwizzledSharedLayout" => ("", "Layout"),
        "int8" => ("", "i8"),
        "int16" => ("", "i16"),
        "int32" | "int" => ("", "i32"),
        "int64" | "long" => ("", "i64"),
        "uint8" => ("", "u8"),
        "uint16" => ("", "u16"),
        "uint32" | "uint" | "unsigned" => ("", "u32"),
        "uint64" => ("", "u64"),
        _ => return None,
    })
}

/// For a method of a tensor.
pub(crate) fn of_tensor(name: &str) -> Option<Advice> {
    Some(match name {
        "data_ptr" | "as_ptr" | "as_mut_ptr" | "data" => ("", ".ptr()"),
        "shape" | "size" | "len" => (
            "each axis has an extent; of several axes, their product is the number of elements",
            ".dim(0)",
        ),
        "window" | "slice" | "partition" | "local_tile" => ("", ".tile([i, j], [64, 64])"),
        "strides" => ("", ".stride(0)"),
        "at" | "get" | "index" => (
            "the block of a `TensorMap` has extents; a window of a tensor names them",
            ".tile([i, j], [64, 64])",
        ),
        _ => return None,
    })
}
