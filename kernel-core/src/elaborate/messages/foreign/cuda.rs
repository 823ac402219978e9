//! The arithmetic of CUDA C++, and what its threads do.

use super::Row;

const ROUNDING: &str = "operators round to nearest even";
const PACKED: &str =
    "two halves that lie together are computed with by one instruction, without a type of two";
const LANES: &str = "a kernel is written for a whole block: which lane holds an element is the compiler's to choose, and lanes exchange values in reductions, scans and conversions of layouts";
const ONE_THREAD: &str =
    "what one thread starts, such as copies and products, is started once for the block by itself";
const CLOCK: &str = "special registers are read by `ptx!`, and time is measured on the host";
const BYTES: &str = "it takes bits of integers apart, which `&`, `|`, `<<` and `>>` do";
const VIDEO: &str = "bytes that are packed into a word are computed with one by one: a tile of `u8` or `i8` has them as elements";

pub(super) const VALUES: &[Row] = &[
    ("__fdividef|__fdiv_rn|fdividef|__ddiv_rn|__hdiv(x, y)", ROUNDING, "x / y"),
    ("__fadd_rn|__dadd_rn|__hadd|__hadd2(x, y)", ROUNDING, "x + y"),
    ("__fsub_rn|__dsub_rn|__hsub|__hsub2(x, y)", ROUNDING, "x - y"),
    ("__fmul_rn|__dmul_rn|__hmul|__hmul2(x, y)", ROUNDING, "x * y"),
    ("fmaf|__fmaf_rn|__fma_rn|__hfma|__hfma2|fmaf_rn(x, y, z)", "", "fma(x, y, z)"),
    ("mad|fmad(x, y, z)", "", "fma(x, y, z)"),
    (
        "__fadd_rz|__fmul_rz|__fdiv_rz|__fadd_rd|__fadd_ru|__fmul_rd|__fmul_ru|__fsqrt_rz(..)",
        "operators round to nearest even; another rounding is written by `ptx!`",
        "",
    ),
    ("sqrtf|__fsqrt_rn|__dsqrt_rn|hsqrt(x)", "", "x.sqrt()"),
    ("rsqrtf|__frsqrt_rn|hrsqrt(x)", "", "x.rsqrt()"),
    ("__frcp_rn|__drcp_rn|hrcp|rcp|reciprocal(x)", "", "x.recip()"),
    ("expf|hexp(x)", "", "x.exp()"),
    ("__expf|fast_expf(x)", "", "x.exp_approx()"),
    ("__exp10f(x)", "", "(x * 3.321928).exp2_approx()"),
    ("exp2f|hexp2(x)", "", "x.exp2()"),
    ("logf|hlog|log(x)", "", "x.ln()"),
    ("__logf(x)", "", "x.ln_approx()"),
    ("log2f|hlog2(x)", "", "x.log2()"),
    ("__log2f(x)", "", "x.log2_approx()"),
    ("log10f|__log10f(x)", "", "x.log10()"),
    ("log1pf|log1p(x)", "", "x.ln_1p()"),
    ("expm1f|expm1(x)", "", "x.exp_m1()"),
    ("sinf|hsin(x)", "", "x.sin()"),
    ("cosf|hcos(x)", "", "x.cos()"),
    ("__sinf|fast_sinf(x)", "", "x.sin_approx()"),
    ("__cosf|fast_cosf(x)", "", "x.cos_approx()"),
    ("tanhf|htanh(x)", "", "x.tanh()"),
    ("fast_tanhf|tanh_fast|__tanhf(x)", "", "x.tanh_approx()"),
    ("erff(x)", "", "x.erf()"),
    ("erfcf(x)", "", "x.erfc()"),
    ("cbrtf(x)", "", "x.cbrt()"),
    ("floorf|hfloor(x)", "", "x.floor()"),
    ("ceilf|hceil(x)", "", "x.ceil()"),
    ("truncf|htrunc(x)", "", "x.trunc()"),
    ("roundf(x)", "", "x.round()"),
    ("rintf|nearbyintf|hrint(x)", "", "x.round_ties_even()"),
    ("lrintf|llrintf|__float2int_rn(x)", "", "x.round_ties_even().cast::<i32>()"),
    ("__float2int_rz|float2int_rz(x)", "", "x.cast::<i32>()"),
    ("__float2int_rd(x)", "", "x.floor().cast::<i32>()"),
    ("__float2int_ru(x)", "", "x.ceil().cast::<i32>()"),
    ("__int2float_rn|__uint2float_rn(i)", "", "i.cast::<f32>()"),
    ("__float2half|__float2half_rn(x)", "", "x.cast::<f16>()"),
    ("__half2float|__bfloat162float(x)", "", "x.cast::<f32>()"),
    ("__float2bfloat16|__float2bfloat16_rn(x)", "", "x.cast::<bf16>()"),
    (
        "__float22half2_rn|__floats2half2_rn|__halves2half2|make_half2|__half22float2|__low2float|__high2float(..)",
        PACKED,
        "",
    ),
    (
        "make_float2|make_float4|make_int4|make_uint4(..)",
        "a tile is loaded, computed with and stored in vectors of up to 16 bytes by itself",
        "",
    ),
    ("fabsf|__habs(x)", "", "x.abs()"),
    ("__powf(x, y)", "", "x.powf(y)"),
    ("copysignf(x, y)", "", "x.copysign(y)"),
    ("fdimf|fdim(x, y)", "", "maximum(x - y, 0.0)"),
    ("ldexp|ldexpf|scalbn(x, i)", "", "x * i.cast::<f32>().exp2()"),
    (
        "frexp|frexpf|modf|modff|ilogb|logb|nextafterf|remquo(..)",
        "the bits of a float are read by `x.to_bits()` of a number, and `x.bitcast::<u32>()` of a tile",
        "",
    ),
    ("saturate|__saturatef|__hadd_sat(x)", "", "x.clamp(0.0, 1.0)"),
    ("isnan|__isnanf|__hisnan(x)", "", "x.is_nan()"),
    ("isinf|__isinff|__hisinf(x)", "", "x.is_infinite()"),
    ("isfinite|__finitef(x)", "", "x.is_finite()"),
    ("signbit(x)", "", "x.bitcast::<i32>().lt(0)"),
    ("__float_as_int|float_as_int(x)", "", "x.bitcast::<i32>()"),
    ("__float_as_uint|float_as_uint(x)", "", "x.bitcast::<u32>()"),
    ("__int_as_float|__uint_as_float(i)", "", "i.bitcast::<f32>()"),
    ("__mul24|__umul24(i, j)", "", "i * j"),
    ("__mulhi|__umulhi|umulhi|mulhi(i, j)", "", "i.mul_hi(j)"),
    ("__popc|__popcll|popc(i)", "", "i.count_ones()"),
    ("__clz|__clzll|clz(i)", "", "i.leading_zeros()"),
    ("__brev|__brevll(i)", "", "i.reverse_bits()"),
    (
        "__ffs|__ffsll(..)",
        "`trailing_zeros` counts from 0, and gives the width for 0, where `__ffs` counts from 1 and gives 0",
        "i.trailing_zeros() + 1",
    ),
    ("__dp4a|__dp2a(..)", "products of bytes are those of `dot` with operands of `i8` or `u8`", ""),
    ("__byte_perm|__prmt|bfe|bfi|__bfe(..)", BYTES, ""),
    ("__vadd4|__vaddus4|__vsub4|__vabsdiffu4|__vcmpeq4|__sad|__usad(..)", VIDEO, ""),
];

pub(super) const FUNCTIONS: &[Row] = &[
    ("assert(m)", "", "device_assert(m)"),
    ("__trap|trap|abort(..)", "", "assert!(false)"),
    ("clock|clock64|globaltimer|__nanosleep|nanosleep|smid|get_smid(..)", CLOCK, ""),
    ("elect_one|elect_one_sync|elect_sync|cuda_elect_sync|__elect_sync()", ONE_THREAD, "true"),
    (
        "__activemask|__match_any_sync|__match_all_sync|warp_shuffle|laneid|get_lane_id|__lane_id(..)",
        LANES,
        "",
    ),
    (
        "this_grid|grid_group|cooperative_groups(..)",
        "blocks of a grid do not wait for each other: what comes after all of them is another kernel",
        "",
    ),
    ("this_thread_block|tiled_partition|coalesced_threads(..)", LANES, "sync()"),
    ("this_cluster|cluster_sync|cluster_arrive_wait()", "", "cluster::sync()"),
    ("cluster_arrive|cluster_arrive_relaxed()", "", "cluster::arrive()"),
    ("cluster_wait()", "", "cluster::wait()"),
    ("cluster_ctarank|block_rank_in_cluster|cluster_ctaid()", "", "cluster::rank()"),
    ("cluster_size|cluster_nctarank()", "", "cluster::size()"),
    ("mapa|map_shared_rank|cluster_map_shared_rank(s, n)", "", "s.of_block(n)"),
    (
        "griddepcontrol_launch_dependents|cudaTriggerProgrammaticLaunchCompletion()",
        "",
        "launch_dependents()",
    ),
    ("griddepcontrol_wait|cudaGridDependencySynchronize()", "", "grid_dependency_wait()"),
    (
        "setmaxnreg_inc|setmaxnreg_dec|warpgroup_reg_alloc|warpgroup_reg_dealloc|cutlass_warpgroup_reg_alloc(..)",
        "a partition says how many registers each of its threads has",
        "partition(4).registers(232)",
    ),
    (
        "cp_async_bulk_prefetch|prefetch_tensormap|prefetch_tma_descriptor(..)",
        "the launch passes tensor maps as constants, which need no prefetch",
        "",
    ),
    ("atomicSub(p, x)", "", "atomic::add(p, -x)"),
    (
        "atomicInc(l, n)",
        "it wraps where it reaches a limit; of a sum of its own a kernel takes the remainder",
        "atomic::add(l, 1) % (n + 1)",
    ),
    (
        "__threadfence_system(..)",
        "an atomic says which memory accesses it orders; the host sees a kernel's writes when it is done",
        "",
    ),
    (
        "atomicAdd_block|atomicAdd_system(..)",
        "atomic operations have the scope of the device",
        "atomic::add(at, value)",
    ),
    (
        "malloc|free|new|delete|cudaMalloc|cudaMemcpy|alloca(..)",
        "the device has no heap: tiles are in registers, and `shared` allocates for the whole kernel",
        "",
    ),
];

/// Exchanges between the lanes of a warp, as methods.
pub(super) const METHODS: &[Row] = &[(
    "shuffle|shuffle_down|shuffle_up|shuffle_xor|shfl|shfl_down|shfl_up|shfl_xor|warp_reduce|warp_sum|ballot|vote(..)",
    "lanes exchange values in reductions (`sum`, `max`, `reduce`), scans, `flip` and conversions of layouts, which the compiler writes",
    "let total = x.sum(0);",
)];
