//! The functions without a module.

use kernel_layout::Form;
use kernel_ptx::Capability;

use super::{
    Kind, Legal, Need, Number, Parameter, Signature, Stub, does, families, gives, need, param,
    starts, value,
};
use crate::{
    diag::Code,
    elaborate::{
        language::{builtins::range, known::AN_EXTENT, specialize::partition, value::Val},
        products::dot::Precision,
        tiles::layout_values::swizzle,
    },
    ir::{Binary, CopyOp, GridOp, SourceOp, SyncOp},
};

const A: Parameter = param("a", Kind::Any);
const B: Parameter = param("b", Kind::Any);
const SHAPE: Parameter = param("shape", Kind::Shape);
const AT: Parameter = param("at", Kind::Address);
const MASK: Parameter = param("mask", Kind::Any);
const VALUE: Parameter = param("value", Kind::Any);
const FIRST_AND_OTHER: &[Parameter] = &[param("a", Kind::TileFirst), B];
const LEFT: Parameter = param("a", Kind::Factor);
const RIGHT: Parameter = param("b", Kind::Factor);
const SUMS: Parameter = param("acc", Kind::Tile("the accumulator of a product"));
const FACTORS: &[Parameter] = &[LEFT, RIGHT, SUMS];
const SPARSE: &[Parameter] = &[LEFT, RIGHT, SUMS, param("metadata", Kind::Factor)];
const GRID_AXIS: &[Parameter] = &[param("axis", Kind::GridAxis)];

/// The most copies that a wait can leave in flight.
const PENDING_COPIES: Number = Number {
    headline: "a wait for this number of pending copies",
    unit: "pending",
    ..Number::within("the number of pending copies", 0, 31)
};

/// The most arrivals of a phase, before they are multiplied by warps (PTX ISA, "mbarrier.init": 2^20 - 1).
const MOST_ARRIVALS: u32 = 1 << 14;

const ARRIVALS: Parameter = param(
    "count",
    Kind::Number(&Number {
        headline: "no phase of a barrier ends after {} arrivals",
        unit: "arrivals",
        why: "a phase ends after this number of arrivals, one for each partition; an `expect` is an arrival as well",
        ..Number::within("the arrivals of a barrier", 1, MOST_ARRIVALS)
    }),
);

const RING: Number = Number {
    code: Code::Extent,
    headline: "there cannot be {} barriers in a ring",
    unit: "barriers",
    ..Number::within("the number of barriers", 1, 1024)
};

/// Warps of a block (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const MOST_WARPS: u32 = 32;

const MEETING_WARPS: Number = Number {
    // Who comes is the body's to say: most often all of its warps.
    known: "num_warps()",
    code: Code::NamedBarrier,
    headline: "no phase of a named barrier ends after {} warps",
    unit: "warps",
    why: "a phase ends when this number of warps has arrived, counting those that wait and those that only arrive",
    ..Number::within("the warps of a named barrier", 1, MOST_WARPS)
};

const PARTITION_WARPS: Number = Number {
    code: Code::Partition,
    headline: "a partition cannot have {} warps",
    unit: "warps",
    legal: Legal::OneOf(&[1, 2, 4, 8], "1, 2, 4 or 8"),
    why: "layouts spread tiles over a power of two of warps, and a block has room for a few partitions",
    ..Number::within("the number of warps of a partition", 0, 0)
};

const SPAN: Number = Number {
    known: AN_EXTENT,
    code: Code::LayoutForm,
    headline: "a swizzle has one of four spans",
    unit: "bytes",
    legal: Legal::OneOf(&[0, 32, 64, 128], "0, 32, 64 or 128"),
    ..Number::within("the span of a swizzle", 0, 0)
};

const WHICH_FACTOR: Number = Number {
    code: Code::LayoutForm,
    headline: "a product has two operands, 0 on the left and 1 on the right",
    unit: "factor",
    legal: Legal::OneOf(&[0, 1], "0 or 1"),
    ..Number::within("the index of the operand", 0, 0)
};

const K_WIDTH: Number = Number {
    code: Code::LayoutForm,
    headline: "a 32-bit register holds 1, 2 or 4 elements",
    unit: "k_width",
    legal: Legal::OneOf(&[1, 2, 4], "1, 2 or 4"),
    why: "mma.sync takes operands packed into 32-bit registers: 4 elements of 8 bits, 2 of 16 bits, 1 of 32 bits",
    ..Number::within("an entry of a layout", 0, 0)
};

const BARRIERS: Need = need(
    Capability::Tma,
    "copies that complete on a barrier, and barriers that count bytes, exist from Hopper on",
);
const FENCES: Need = need(
    Capability::Tma,
    "it orders writes of threads before reads of TMA and `wgmma`, which exist from Hopper on",
);
const BLOCK_SCALES: Need = need(
    Capability::BlockScaledMma,
    "`mma.sync` takes scales on workstation Blackwell alone (PTX ISA, \"mma\": .block_scale); on data-centre Blackwell, `tcgen05::mma_scaled` does",
);
const OVERLAPPING_GRIDS: Need =
    need(Capability::DependentGrids, "grids can overlap from Hopper on");

pub(super) const FUNCTIONS: &[Signature] = &[
    // Tiles.
    gives(
        "arange",
        &[
            param("lo", Kind::Size("the start of `arange`")).text("start"),
            param("hi", Kind::Size("the end of `arange`")).text("end"),
        ],
        |b, g| b.arange(g),
    ),
    gives("zeros", &[SHAPE], |b, g| b.zeros(g)),
    gives("full", &[SHAPE, VALUE], |b, g| b.full(g)),
    gives("select", &[param("mask", Kind::TileFirst), A, B], |b, g| {
        b.mask_of(g)?;
        b.select(g.val(0), [g.val(1), g.val(2)], g.loc)
    }),
    value("maximum", FIRST_AND_OTHER, |b, g| b.of_two(Binary::Max, g)),
    value("minimum", FIRST_AND_OTHER, |b, g| b.of_two(Binary::Min, g)),
    gives("fma", &[param("a", Kind::TileFirst), B, param("c", Kind::Any)], |b, g| {
        b.fma([g.val(0), g.val(1), g.val(2)], g.loc)
    }),
    gives("join", &[A, B], |b, g| b.join_pairs(g)),
    gives("dot", FACTORS, |b, g| b.dot(Precision::Full, g)),
    gives("dot_tf32", FACTORS, |b, g| b.dot(Precision::Tf32, g)),
    gives("dot_sparse", SPARSE, |b, g| b.dot_sparse(Precision::Full, g)),
    gives("dot_sparse_tf32", SPARSE, |b, g| b.dot_sparse(Precision::Tf32, g)),
    gives(
        "dot_scaled",
        &[LEFT, RIGHT, SUMS, param("a_scales", Kind::Factor), param("b_scales", Kind::Factor)],
        |b, g| b.dot_scaled(g),
    )
    .needs(&BLOCK_SCALES),
    // Memory.
    gives("shared", &[param("shape", Kind::Ring)], |b, g| b.shared_alloc(g)),
    gives("tmem", &[param("shape", Kind::Ring)], |b, g| b.tensor_memory_alloc(g))
        .needs(&families::TENSOR_MEMORY),
    gives(
        "array",
        &[
            param("n", Kind::Size("the length of an array")).text("len"),
            param("f", Kind::Closure("`array` takes a closure from the index to the element"))
                .text("|index| element"),
        ],
        |b, g| b.array_of(g),
    ),
    gives("load", &[AT], |b, g| b.load_ptr(None, g)),
    gives("load_masked", &[AT, MASK, param("other", Kind::Value)], |b, g| {
        b.load_ptr(Some([g.arg(1), g.arg(2)]), g)
    }),
    does("store", &[AT, VALUE], |b, g| b.store_ptr(None, g.arg(1), g)),
    does("store_masked", &[AT, MASK, VALUE], |b, g| b.store_ptr(Some(g.arg(1)), g.arg(2), g)),
    starts("copy_async", &[param("from", Kind::Any), param("to", Kind::Any)], |b, g| {
        b.copy_async(g)
    }),
    starts(
        "copy_async_masked",
        &[AT, MASK, param("other", Kind::Value), param("to", Kind::Any)],
        |b, g| b.copy_async_masked(g),
    ),
    does("copy_async_commit", &[], |b, g| b.does(CopyOp::Commit, Vec::new(), g)),
    does("copy_async_wait", &[param("pending", Kind::Number(&PENDING_COPIES))], |b, g| {
        b.does(CopyOp::Wait(g.number(0)), Vec::new(), g)
    }),
    does("copy_async_wait_all", &[], |b, g| b.does(CopyOp::WaitAll, Vec::new(), g)),
    // Order.
    gives("barrier", &[ARRIVALS], |b, g| b.barrier_alloc(None, g.number(0), g)).needs(&BARRIERS),
    gives("barriers", &[param("number", Kind::Number(&RING)), ARRIVALS], |b, g| {
        b.barrier_alloc(Some(g.number(0)), g.number(1), g)
    })
    .needs(&BARRIERS),
    gives("named_barrier", &[param("warps", Kind::Number(&MEETING_WARPS))], |b, g| {
        b.named_barrier(g)
    }),
    does("fence_async", &[], |b, g| b.does(SyncOp::FenceAsync, Vec::new(), g)).needs(&FENCES),
    does("launch_dependents", &[], |b, g| b.does(GridOp::LaunchDependents, Vec::new(), g))
        .needs(&OVERLAPPING_GRIDS),
    does("grid_dependency_wait", &[], |b, g| b.does(GridOp::Wait, Vec::new(), g))
        .needs(&OVERLAPPING_GRIDS),
    does("sync", &[], |b, g| b.does(SyncOp::Block, Vec::new(), g)),
    // Control.
    value(
        "range",
        &[
            param("from", Kind::Any).text("start"),
            param("to", Kind::Any).text("end"),
            param("step", Kind::Any).text("1"),
        ],
        |_, g| range(g),
    ),
    gives("unroll", &[param("iterations", Kind::Any).text("range")], |b, g| b.unroll(g)),
    gives(
        "pipeline",
        &[
            param("iterations", Kind::Any).text("range"),
            param("stages", Kind::Known("the number of stages")).text("3"),
        ],
        |b, g| b.pipeline(g),
    ),
    gives(
        "warp_specialize",
        &[param("default", Kind::Any), param("others", Kind::Any).text("partitions")],
        |b, g| b.warp_specialize(g),
    ),
    value("partition", &[param("warps", Kind::Number(&PARTITION_WARPS))], |_, g| partition(g)),
    // The launch.
    value("block_id", GRID_AXIS, |b, g| b.on_grid(SourceOp::BlockId, g)),
    value("num_blocks", GRID_AXIS, |b, g| b.on_grid(SourceOp::NumBlocks, g)),
    value("grid_dim", GRID_AXIS, |b, g| b.on_grid(SourceOp::NumBlocks, g)),
    value("num_warps", &[], |b, _| Val::i32(b.warps)),
    value("shared_bytes_per_block", &[], |b, _| {
        Val::i32(b.target.hardware().shared_bytes_per_block)
    }),
    gives("cdiv", &[A, B], |b, g| b.cdiv(g)).stub(Stub::Rust),
    does("device_assert", &[param("condition", Kind::Any)], |b, g| b.device_assert(g)),
    gives("target", &[param("which", Kind::Any).text("target")], |b, g| b.is_target(g)),
    // Layouts.
    gives(
        "blocked",
        &[
            param("per_thread", Kind::Entries(FOUR_ARRAYS)),
            param("lanes", Kind::Entries(FOUR_ARRAYS)),
            param("warps", Kind::Entries(FOUR_ARRAYS)),
            param("order", Kind::Entries(FOUR_ARRAYS)),
        ],
        |b, g| b.blocked(g),
    ),
    gives(
        "slice",
        &[
            param("axis", Kind::Any),
            param("parent", Kind::LayoutOf("`slice` takes an axis and a layout")).text("layout"),
        ],
        |b, g| b.slice(g),
    ),
    value("swizzle", &[param("bytes", Kind::Number(&SPAN))], |_, g| swizzle(g)),
    gives(
        "swizzled",
        &[
            param("vec", Kind::Entry),
            param("per_phase", Kind::Entry),
            param("max_phase", Kind::Entry),
            param("order", Kind::Entries("`swizzled` takes three numbers and an order of axes")),
        ],
        |b, g| b.swizzled(g),
    ),
    value("row_major", &[], |_, _| Val::Layout(Form::RowMajor)),
    gives(
        "tmem_block",
        &[param("block", Kind::Entries(TMEM_BLOCK)), param("col_stride", Kind::Entry)],
        |b, g| b.tmem_block(g),
    ),
    gives(
        "tmem_load",
        &[
            param("shape", Kind::Any),
            param(
                "memory",
                Kind::LayoutOf("`tmem_load` takes the layout of a tile in tensor memory"),
            ),
            param("warps", Kind::Entry),
        ],
        |b, g| b.tmem_load(g),
    ),
    gives("mma", &[param("warps", Kind::Entries(MMA))], |b, g| b.mma_layout(g)),
    gives(
        "dot_operand",
        &[
            param("index", Kind::Number(&WHICH_FACTOR)),
            param(
                "parent",
                Kind::LayoutOf("`dot_operand` takes the layout of the result of the product"),
            ),
            param("k_width", Kind::Number(&K_WIDTH)),
        ],
        |b, g| b.dot_operand(g),
    ),
    gives(
        "linear",
        &[
            param("registers", Kind::Bases),
            param("lanes", Kind::Bases),
            param("warps", Kind::Bases),
            SHAPE,
        ],
        |b, g| b.linear(g),
    ),
    gives("shared_linear", &[param("offsets", Kind::Bases), SHAPE], |b, g| b.shared_linear(g)),
];

const FOUR_ARRAYS: &str = "`blocked` takes four arrays, one entry for each axis";
pub(crate) const TMEM_BLOCK: &str =
    "`tmem_block` takes the rows and columns of a block, and the distance of its columns";
pub(crate) const MMA: &str = "`mma` takes the warps along rows and columns";
