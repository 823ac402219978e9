//! Hand-written kernels and the images that the compiler would leave for them.

use kernel_runtime::{
    __launch, Argument, DeviceTensor, Fact, Image, IntoArgument, Launch, ParamInfo, ParamKind,
    Target, Variant, cdiv,
};

/// Threads of a block of [`scaled_sum`].
const THREADS: u32 = 64;

/// `c[i] = ±(a[i] + scale * b[i])`: tensors with strides, a float and a `bool`.
const SCALED_SUM: &str = r"
.version 7.0
.target sm_80
.address_size 64

.visible .entry scaled_sum(
    .param .u64 a, .param .s32 a_dim, .param .s64 a_stride,
    .param .u64 b, .param .s32 b_dim, .param .s64 b_stride,
    .param .u64 c, .param .s32 c_dim, .param .s64 c_stride,
    .param .f32 scale, .param .u8 negate
)
{
    .reg .pred %p<3>;
    .reg .b16 %h<2>;
    .reg .b32 %r<6>;
    .reg .b64 %d<9>;
    .reg .f32 %f<5>;

    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    ld.param.s32 %r5, [c_dim];
    setp.ge.s32 %p1, %r4, %r5;
    @%p1 bra DONE;
    cvt.s64.s32 %d1, %r4;

    ld.param.u64 %d2, [a];
    ld.param.s64 %d3, [a_stride];
    mul.lo.s64 %d4, %d1, %d3;
    shl.b64 %d4, %d4, 2;
    add.s64 %d2, %d2, %d4;
    ld.global.f32 %f1, [%d2];

    ld.param.u64 %d2, [b];
    ld.param.s64 %d3, [b_stride];
    mul.lo.s64 %d4, %d1, %d3;
    shl.b64 %d4, %d4, 2;
    add.s64 %d2, %d2, %d4;
    ld.global.f32 %f2, [%d2];

    ld.param.f32 %f3, [scale];
    fma.rn.f32 %f4, %f2, %f3, %f1;
    ld.param.u8 %h1, [negate];
    setp.ne.u16 %p2, %h1, 0;
    @%p2 neg.f32 %f4, %f4;

    ld.param.u64 %d2, [c];
    ld.param.s64 %d3, [c_stride];
    mul.lo.s64 %d4, %d1, %d3;
    shl.b64 %d4, %d4, 2;
    add.s64 %d2, %d2, %d4;
    st.global.f32 [%d2], %f4;
DONE:
    ret;
}
";

/// Writes behind the end of its argument.
const OVERRUN: &str = r"
.version 7.0
.target sm_80
.address_size 64

.visible .entry overrun(.param .u64 c, .param .s32 c_dim, .param .s64 c_stride)
{
    .reg .b32 %r<3>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [c];
    ld.param.s32 %r1, [c_dim];
    mul.wide.s32 %d2, %r1, 4;
    add.s64 %d3, %d1, %d2;
    mov.u32 %r2, 7;
    st.global.u32 [%d3], %r2;
    ret;
}
";

/// `out[block] = blocks of the grid`; run with as many blocks as the grid has.
const COUNT_BLOCKS: &str = r"
.version 7.0
.target sm_80
.address_size 64

.visible .entry count_blocks(.param .u64 out, .param .s32 out_dim, .param .s64 out_stride)
{
    .reg .b32 %r<3>;
    .reg .b64 %d<3>;
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d1, %d1, %d2;
    mov.u32 %r2, %nctaid.x;
    st.global.u32 [%d1], %r2;
    ret;
}
";

/// `*p = value`, through a raw pointer.
const POKE: &str = r"
.version 7.0
.target sm_80
.address_size 64

.visible .entry poke(.param .u64 p, .param .s64 value)
{
    .reg .b64 %d<3>;
    ld.param.u64 %d1, [p];
    ld.param.s64 %d2, [value];
    st.global.u64 [%d1], %d2;
    ret;
}
";

const fn tensor(name: &'static str, dtype: &'static str, mutable: bool) -> ParamInfo {
    ParamInfo { name, kind: ParamKind::Tensor { dtype, rank: 1, mutable } }
}

const fn scalar(name: &'static str, dtype: &'static str) -> ParamInfo {
    ParamInfo { name, kind: ParamKind::Scalar { dtype } }
}

const fn variant(name: &'static str, entry: &'static str, ptx: &'static str) -> Variant {
    Variant {
        name,
        entry,
        ptx,
        dynamic_shared_bytes: 0,
        cubins: &[],
        tensor_columns: 0,
        requires: &[],
        maps: &[],
        names: None,
    }
}

const SCALED_SUM_PARAMS: &[ParamInfo] = &[
    tensor("a", "f32", false),
    tensor("b", "f32", false),
    tensor("c", "f32", true),
    scalar("scale", "f32"),
    scalar("negate", "bool"),
];

/// `scaled_sum` without declared facts; its first variant wants aligned rows.
pub(crate) static SCALED_SUM_IMAGES: [Image; 1] = [Image {
    kernel: "scaled_sum",
    instance: "",
    target: Target::Sm80,
    threads: THREADS,
    cluster: [1; 3],
    programmatic: false,
    params: SCALED_SUM_PARAMS,
    declared: &[],
    reports: None,
    stamps: None,
    variants: &[
        Variant {
            requires: &[
                Fact::PointerAligned { param: 0, bytes: 16 },
                Fact::StrideEquals { param: 0, axis: 0, value: 1 },
            ],
            ..variant("aligned", "scaled_sum", SCALED_SUM)
        },
        variant("general", "scaled_sum", SCALED_SUM),
    ],
}];

/// The arguments of `scaled_sum`, as the generated struct would hold them.
pub(crate) struct Args<'a> {
    pub(crate) a: &'a DeviceTensor<f32, 1>,
    pub(crate) b: &'a DeviceTensor<f32, 1>,
    pub(crate) c: &'a mut DeviceTensor<f32, 1>,
    pub(crate) scale: f32,
    pub(crate) negate: bool,
}

/// As the generated function: the grid is an expression over the arguments.
pub(crate) fn scaled_sum(args: Args<'_>) -> Launch<'_> {
    use kernel_runtime::IntoGrid;
    let Args { a, b, c, scale, negate } = args;
    let grid = IntoGrid::into_grid([cdiv(c.dim(0), THREADS.cast_signed())]);
    let arguments = vec![
        a.into_argument(),
        b.into_argument(),
        c.into_argument(),
        scale.into_argument(),
        negate.into_argument(),
    ];
    __launch(&SCALED_SUM_IMAGES, arguments, Some(Ok(grid)))
}

/// A kernel of one written tensor of `u32`.
const fn one_tensor(kernel: &'static str, variants: &'static [Variant]) -> Image {
    Image {
        kernel,
        instance: "",
        target: Target::Sm80,
        threads: 1,
        cluster: [1; 3],
        programmatic: false,
        params: const { &[tensor("out", "u32", true)] },
        declared: &[],
        reports: None,
        stamps: None,
        variants,
    }
}

pub(crate) static OVERRUN_IMAGES: [Image; 1] =
    [one_tensor("overrun", &[variant("general", "overrun", OVERRUN)])];

pub(crate) static COUNT_BLOCKS_IMAGES: [Image; 1] =
    [one_tensor("count_blocks", &[variant("general", "count_blocks", COUNT_BLOCKS)])];

/// Code for Hopper only; the text is never parsed.
pub(crate) static HOPPER_IMAGES: [Image; 1] =
    [Image { target: Target::Sm90a, ..one_tensor("hopper", &[variant("general", "none", "")]) }];

/// The same kernel for two targets; only the older one has code.
pub(crate) static TWO_TARGETS: [Image; 2] = [
    one_tensor("count_blocks", &[variant("ampere", "count_blocks", COUNT_BLOCKS)]),
    Image {
        target: Target::Sm90a,
        ..one_tensor("count_blocks", &[variant("hopper", "count_blocks", COUNT_BLOCKS)])
    },
];

/// More dynamic shared memory than any GPU has.
pub(crate) static GREEDY_IMAGES: [Image; 1] = [one_tensor(
    "greedy",
    &[Variant {
        dynamic_shared_bytes: 200 * 1024,
        cubins: &[],
        tensor_columns: 0,
        ..variant("general", "count_blocks", COUNT_BLOCKS)
    }],
)];

/// More threads than a block has on any GPU.
pub(crate) static CROWDED_IMAGES: [Image; 1] = [Image {
    threads: 1025,
    ..one_tensor("crowded", &[variant("general", "count_blocks", COUNT_BLOCKS)])
}];

/// Text that is not PTX.
pub(crate) static GARBAGE_IMAGES: [Image; 1] =
    [one_tensor("garbage", &[variant("general", "garbage", "not ptx")])];

/// PTX without the entry that the image names.
pub(crate) static NO_ENTRY_IMAGES: [Image; 1] =
    [one_tensor("no_entry", &[variant("general", "elsewhere", COUNT_BLOCKS)])];

/// PTX whose entry has other parameters than the image.
pub(crate) static STALE_IMAGES: [Image; 1] =
    [one_tensor("stale", &[variant("general", "poke", POKE)])];

pub(crate) static POKE_IMAGES: [Image; 1] = [Image {
    kernel: "poke",
    instance: "T = i64",
    target: Target::Sm80,
    threads: 1,
    cluster: [1; 3],
    programmatic: false,
    params: &[
        ParamInfo { name: "p", kind: ParamKind::Pointer { dtype: "i64" } },
        scalar("value", "i64"),
    ],
    declared: &[],
    reports: None,
    stamps: None,
    variants: &[variant("general", "poke", POKE)],
}];

/// A launch of a kernel that writes one tensor.
pub(crate) fn write_one<'a>(
    images: &'static [Image],
    out: impl IntoArgument<'a>,
    blocks: i32,
) -> Launch<'a> {
    let arguments: Vec<Argument<'a>> = vec![out.into_argument()];
    __launch(images, arguments, None).grid(blocks)
}
