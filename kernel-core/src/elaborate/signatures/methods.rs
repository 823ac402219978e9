//! The methods of scalars, tiles, memory and the rest.

use kernel_ptx::Capability;

use super::{
    Kind, Legal, Need, Number, Parameter, Signature, Stub, does, families, gives, need, param,
    value,
};
use crate::{
    diag::Code,
    elaborate::{
        Builder, array,
        language::{places::truth, value::Val},
        tiles::{
            along::{BACKWARD, FORWARD, Purpose},
            bits::Counted,
            order::Order,
        },
    },
    ir::{
        Atomic, BarrierOp, Binary, Compare, Direction, Dtype, Elem, Evict, Funnel, MemoryOrder,
        NamedOp, Rounding, Scope, SourceOp, TileOp, Transcendental, Type, Unary,
    },
};

/// The tables of what a value has: those of its own kind first.
pub(super) fn of(builder: &Builder<'_>, val: &Val) -> Vec<&'static [Signature]> {
    match val {
        Val::Const(..) => vec![SCALAR, ELEMENTWISE],
        Val::Value(value) => match builder.ty(*value) {
            Type::Scalar(_) if builder.is_point(*value) => vec![ELEMENTWISE, TILE],
            Type::Scalar(Elem::Number(_)) => vec![SCALAR, ELEMENTWISE],
            Type::Tile(..) => vec![ELEMENTWISE, TILE],
            Type::Shared(_) => vec![SHARED],
            Type::Barrier(barrier) if barrier.ring => vec![BARRIERS],
            Type::Barrier(_) => vec![BARRIER],
            Type::TensorMemory(_) => vec![TENSOR_MEMORY],
            Type::Scalar(Elem::Ptr(_)) | Type::Error => Vec::new(),
        },
        Val::Tensor(_) | Val::Slice(_) => {
            let param = val.tensor().map(|param| &builder.params[param as usize]);
            let is_map = param.is_some_and(|param| param.block.is_some());
            if is_map { vec![TENSOR, MAP] } else { vec![TENSOR] }
        }
        Val::Optional(_) => vec![OPTION],
        Val::View(_) => vec![VIEW],
        Val::Copying(_) => vec![STARTED],
        Val::Named(_) => vec![NAMED],
        Val::Partition(_) => vec![PARTITION],
        Val::Layout(_) => vec![LAYOUT],
        Val::Array(_) => vec![ARRAY],
        Val::Tuple(_) => vec![TILES],
        Val::Error
        | Val::Never
        | Val::Unit
        | Val::List(_)
        | Val::Struct(_)
        | Val::Closure(_)
        | Val::Ref(_)
        | Val::Range(_)
        | Val::Str(_)
        | Val::Target(_) => Vec::new(),
    }
}

// -------------------------------------------------------------------------------- scalars and tiles

const OTHER: &[Parameter] = &[param("other", Kind::Any)];
const BOUNDS: &[Parameter] =
    &[param("min", Kind::Any).text("0.0"), param("max", Kind::Any).text("1.0")];
const SIGN: &[Parameter] = &[param("sign", Kind::Any)];
const POWER: &[Parameter] = &[param("y", Kind::Any).text("2.5")];
const TURNS: &[Parameter] = &[param("n", Kind::Any).text("1")];
const FUNNEL: &[Parameter] = &[param("low", Kind::Any), param("n", Kind::Any).text("1")];
const EXPONENT: &[Parameter] = &[param("n", Kind::Known("an exponent")).text("2")];

pub(super) const SCALAR: &[Signature] = &[
    value("min", OTHER, |b, g| b.with_other(Binary::Min, g)),
    value("max", OTHER, |b, g| b.with_other(Binary::Max, g)),
    value("clamp", BOUNDS, |b, g| b.clamp(g)).stub(Stub::Rust),
    unary("is_nan", |b, g| b.is_nan(g)).stub(Stub::Rust),
    unary("is_infinite", |b, g| b.beside_infinity(Compare::Eq, g)).stub(Stub::Rust),
    unary("is_finite", |b, g| b.beside_infinity(Compare::Lt, g)).stub(Stub::Rust),
    unary("recip", |b, g| b.recip(g)).stub(Stub::Rust),
    gives("powi", EXPONENT, |b, g| b.powi(g)).stub(Stub::Rust),
    gives("mul_add", &[param("a", Kind::Any), param("b", Kind::Any)], |b, g| {
        b.fma([&g.of, g.val(0), g.val(1)], g.loc)
    })
    .stub(Stub::Rust),
    value("rem_euclid", &[param("rhs", Kind::Any)], |b, g| {
        let n = g.val(0);
        let first = b.binary(Binary::Rem, &g.of, n, g.loc);
        let shifted = b.binary(Binary::Add, &first, n, g.loc);
        b.binary(Binary::Rem, &shifted, n, g.loc)
    })
    .stub(Stub::Rust),
    gives("to_f32", &[], |b, g| b.converted(Dtype::F32, g)).stub(Stub::Rust),
    gives("to_f64", &[], |b, g| b.converted(Dtype::F64, g)).stub(Stub::Rust),
    unary("floor", |b, g| b.elementwise(Rounding::Floor, g)).stub(Stub::Rust),
    unary("ceil", |b, g| b.elementwise(Rounding::Ceil, g)).stub(Stub::Rust),
    unary("trunc", |b, g| b.elementwise(Rounding::Trunc, g)).stub(Stub::Rust),
    unary("round", |b, g| b.elementwise(Rounding::HalfAway, g)).stub(Stub::Rust),
    unary("round_ties_even", |b, g| b.elementwise(Rounding::HalfEven, g)).stub(Stub::Rust),
    value("copysign", SIGN, |b, g| b.with_other(Binary::Copysign, g)).stub(Stub::Rust),
    gives("wrapping_add", OTHER, |b, g| b.wrapping(Binary::Add, i128::wrapping_add, g))
        .stub(Stub::Rust),
    gives("wrapping_sub", OTHER, |b, g| b.wrapping(Binary::Sub, i128::wrapping_sub, g))
        .stub(Stub::Rust),
    gives("wrapping_mul", OTHER, |b, g| b.wrapping(Binary::Mul, i128::wrapping_mul, g))
        .stub(Stub::Rust),
    unary("to_bits", |b, g| b.bits_of_float(g)).stub(Stub::Rust),
    unary("count_zeros", |b, g| b.counted(Counted::ZEROS, g)).stub(Stub::Rust),
    unary("leading_ones", |b, g| b.counted(Counted::LEADING_ONES, g)).stub(Stub::Rust),
    unary("trailing_ones", |b, g| b.counted(Counted::TRAILING_ONES, g)).stub(Stub::Rust),
];

const fn unary(name: &'static str, run: super::Gives) -> Signature {
    gives(name, &[], run)
}

/// What scalars and tiles share.
pub(super) const ELEMENTWISE: &[Signature] = &[
    unary("exp", |b, g| b.elementwise(Transcendental::Exp, g)),
    unary("exp_m1", |b, g| b.elementwise(Transcendental::ExpM1, g)),
    unary("exp2", |b, g| b.elementwise(Transcendental::Exp2, g)),
    unary("ln", |b, g| b.elementwise(Transcendental::Ln, g)),
    unary("ln_1p", |b, g| b.elementwise(Transcendental::Ln1p, g)),
    unary("log2", |b, g| b.elementwise(Transcendental::Log2, g)),
    unary("log10", |b, g| b.elementwise(Transcendental::Log10, g)),
    unary("sqrt", |b, g| b.elementwise(Unary::Sqrt, g)),
    unary("cbrt", |b, g| b.elementwise(Transcendental::Cbrt, g)),
    unary("sin", |b, g| b.elementwise(Transcendental::Sin, g)),
    unary("cos", |b, g| b.elementwise(Transcendental::Cos, g)),
    unary("tanh", |b, g| b.elementwise(Transcendental::Tanh, g)),
    unary("erf", |b, g| b.elementwise(Transcendental::Erf, g)),
    unary("erfc", |b, g| b.elementwise(Transcendental::Erfc, g)),
    value("powf", POWER, |b, g| b.with_other(Binary::Powf, g)),
    unary("exp_approx", |b, g| b.elementwise(Transcendental::ExpApprox, g)),
    unary("exp2_approx", |b, g| b.elementwise(Transcendental::Exp2Approx, g)),
    unary("ln_approx", |b, g| b.elementwise(Transcendental::LnApprox, g)),
    unary("log2_approx", |b, g| b.elementwise(Transcendental::Log2Approx, g)),
    unary("sin_approx", |b, g| b.elementwise(Transcendental::SinApprox, g)),
    unary("cos_approx", |b, g| b.elementwise(Transcendental::CosApprox, g)),
    unary("tanh_approx", |b, g| b.elementwise(Transcendental::TanhApprox, g)),
    unary("abs", |b, g| b.elementwise(Unary::Abs, g)),
    unary("count_ones", |b, g| b.counted(Counted::ONES, g)),
    unary("leading_zeros", |b, g| b.counted(Counted::LEADING_ZEROS, g)),
    unary("trailing_zeros", |b, g| b.counted(Counted::TRAILING_ZEROS, g)),
    unary("reverse_bits", |b, g| b.reverse_bits(g)),
    gives("rotate_left", TURNS, |b, g| b.rotate(Funnel::Left, g)),
    gives("rotate_right", TURNS, |b, g| b.rotate(Funnel::Right, g)),
    value("mul_hi", OTHER, |b, g| b.with_other(Binary::MulHi, g)),
    gives("cast", &[], |b, g| b.cast_to(g)),
    gives("bitcast", &[], |b, g| b.bitcast_to(g)),
];

const AXIS: Parameter = param("axis", Kind::Axis("the tile")).by(last_axis);
const AXES: Parameter = param("axis", Kind::Axes).by(last_axis);
const TILE_LAYOUT: Parameter = param("layout", Kind::Layout).by(plain_layout);

pub(super) const TILE: &[Signature] = &[
    gives("reshape", &[param("shape", Kind::Shape).by(all_in_a_row)], |b, g| b.reshape(g)),
    gives(
        "broadcast",
        &[param("shape", Kind::Shape).by(|b, of| Some(format!("{:?}", extents(b, of)?)))],
        |b, g| b.broadcast(g),
    ),
    gives(
        "expand",
        &[param("axis", Kind::NewAxis).by(|b, of| {
            let Val::Value(tile) = of else { return None };
            let rank = b.ty(*tile).shape().len();
            (rank < 5).then(|| rank.to_string())
        })],
        |b, g| b.expand(g),
    ),
    unary("rsqrt", |b, g| b.elementwise(Unary::Rsqrt, g)),
    unary("floor", |b, g| b.elementwise(Rounding::Floor, g)),
    unary("ceil", |b, g| b.elementwise(Rounding::Ceil, g)),
    unary("trunc", |b, g| b.elementwise(Rounding::Trunc, g)),
    unary("round", |b, g| b.elementwise(Rounding::HalfAway, g)),
    unary("round_ties_even", |b, g| b.elementwise(Rounding::HalfEven, g)),
    value("copysign", SIGN, |b, g| b.with_other(Binary::Copysign, g)),
    gives("funnel_shl", FUNNEL, |b, g| b.funnel_shift(Funnel::Left, g)),
    gives("funnel_shr", FUNNEL, |b, g| b.funnel_shift(Funnel::Right, g)),
    unary("is_nan", |b, g| b.is_nan(g)),
    unary("is_infinite", |b, g| b.beside_infinity(Compare::Eq, g)),
    unary("is_finite", |b, g| b.beside_infinity(Compare::Lt, g)),
    unary("recip", |b, g| b.recip(g)),
    gives("powi", EXPONENT, |b, g| b.powi(g)),
    value("clamp", BOUNDS, |b, g| b.clamp(g)),
    gives("t", &[], |b, g| b.transpose(g)),
    gives(
        "permute",
        &[param("order", Kind::Any).by(|b, of| {
            Some(format!("{:?}", (0..extents(b, of)?.len()).rev().collect::<Vec<_>>()))
        })],
        |b, g| b.permute(g),
    ),
    gives("split", &[], |b, g| b.split_pairs(g))
        .usage(|b, of| (extents(b, of)?.last() == Some(&2)).then(|| ".split()".to_owned())),
    gives("slice", &[param("ranges", Kind::Any).by(|b, of| halved(extents(b, of)?))], |b, g| {
        b.tile_slice(g)
    }),
    gives("concat", &[param("other", Kind::Any), AXIS], |b, g| b.concat(g)),
    gives("lt", OTHER, |b, g| b.compared(Compare::Lt, g)),
    gives("le", OTHER, |b, g| b.compared(Compare::Le, g)),
    gives("gt", OTHER, |b, g| b.compared(Compare::Gt, g)),
    gives("ge", OTHER, |b, g| b.compared(Compare::Ge, g)),
    gives("eq", OTHER, |b, g| b.compared(Compare::Eq, g)),
    gives("ne", OTHER, |b, g| b.compared(Compare::Ne, g)),
    gives("sum", &[AXES], |b, g| b.walked(Purpose::Reduction, Binary::Add, g)),
    gives("max", &[AXES], |b, g| b.walked(Purpose::Reduction, Binary::Max, g)),
    gives("min", &[AXES], |b, g| b.walked(Purpose::Reduction, Binary::Min, g)),
    gives("argmax", &[AXIS], |b, g| b.arg_extreme(Compare::Gt, g)),
    gives("argmin", &[AXIS], |b, g| b.arg_extreme(Compare::Lt, g)),
    value(
        "map",
        &[param("f", Kind::Closure("`map` takes a closure of one value")).text("|v| v + v")],
        |b, g| b.map(g.receiver(), g.closure(0), g.at(0), g.loc),
    ),
    value("reduce", &[AXES, joining("`reduce` takes a closure of two values")], |b, g| {
        b.walked_by(Purpose::Reduction, g)
    }),
    value("scan", &[AXIS, joining("`scan` takes a closure of two values")], |b, g| {
        b.walked_by(FORWARD, g)
    }),
    value(
        "scan_reverse",
        &[AXIS, joining("`scan_reverse` takes a closure of two values")],
        |b, g| b.walked_by(BACKWARD, g),
    ),
    gives(
        "scan_exclusive",
        &[AXIS, INITIAL, joining("`scan_exclusive` takes a closure of two values")],
        |b, g| b.walked_from(Direction::Forward, g),
    ),
    gives(
        "scan_reverse_exclusive",
        &[AXIS, INITIAL, joining("`scan_reverse_exclusive` takes a closure of two values")],
        |b, g| b.walked_from(Direction::Backward, g),
    ),
    gives("cumsum", &[AXIS], |b, g| b.walked(FORWARD, Binary::Add, g)),
    gives("cumprod", &[AXIS], |b, g| b.walked(FORWARD, Binary::Mul, g)),
    value("flip", &[AXIS], |b, g| b.flip(g)),
    gives("sort", &[AXIS], |b, g| b.sorted(Order::Ascending, g)),
    gives("sort_descending", &[AXIS], |b, g| b.sorted(Order::Descending, g)),
    gives("argsort", &[AXIS], |b, g| b.arg_sorted(Order::Ascending, g)),
    gives("argsort_descending", &[AXIS], |b, g| b.arg_sorted(Order::Descending, g)),
    gives("top_k", &[param("k", Kind::Size("the number of elements")).text("8"), AXIS], |b, g| {
        b.top_k(g)
    }),
    gives(
        "gather",
        &[
            AXIS,
            param("indices", Kind::Any).by(|b, of| {
                let &[extent] = extents(b, of)? else { return None };
                Some(format!("arange(0, {extent})"))
            }),
        ],
        |b, g| b.gather_along(g),
    ),
    gives("histogram", &[param("bins", Kind::Size("the number of bins")).text("256")], |b, g| {
        b.histogram(g)
    }),
    gives("to_layout", &[TILE_LAYOUT], |b, g| b.in_layout(g, TileOp::ToLayout, g.at(0))),
    gives("assert_layout", &[TILE_LAYOUT], |b, g| b.in_layout(g, TileOp::AssertLayout, g.name.loc)),
    value("dim", &[AXIS], |b, g| b.extent_of(g)),
    gives("item", &[], |b, g| b.item(g)),
];

const INITIAL: Parameter = param("initial", Kind::Any).by(|b, of| b.zeros_of_each(of));

const fn joining(headline: &'static str) -> Parameter {
    param("f", Kind::Closure(headline)).by(|b, of| b.sums_of_each(of))
}

/// Several tiles at once: a tuple of them.
pub(super) const TILES: &[Signature] = &[
    gives(
        "reduce",
        &[
            param("axis", Kind::Axes).by(last_axis),
            joining("`reduce` takes a closure of two tuples"),
        ],
        |b, g| b.several_by(Purpose::Reduction, g),
    ),
    gives("scan", &[AXIS, joining("`scan` takes a closure of two tuples")], |b, g| {
        b.several_by(FORWARD, g)
    }),
    gives(
        "scan_reverse",
        &[AXIS, joining("`scan_reverse` takes a closure of two tuples")],
        |b, g| b.several_by(BACKWARD, g),
    ),
    gives(
        "scan_exclusive",
        &[AXIS, INITIAL, joining("`scan_exclusive` takes a closure of two tuples")],
        |b, g| b.several_from(Direction::Forward, g),
    ),
    gives(
        "scan_reverse_exclusive",
        &[AXIS, INITIAL, joining("`scan_reverse_exclusive` takes a closure of two tuples")],
        |b, g| b.several_from(Direction::Backward, g),
    ),
];

/// The extents of a tile that has axes.
fn extents<'b>(builder: &'b Builder<'_>, of: &Val) -> Option<&'b [u32]> {
    let Val::Value(tile) = of else { return None };
    Some(builder.ty(*tile).shape()).filter(|shape| !shape.is_empty())
}

/// The shape of all elements along one axis.
fn all_in_a_row(builder: &Builder<'_>, of: &Val) -> Option<String> {
    let elements: u64 = extents(builder, of)?.iter().map(|extent| u64::from(*extent)).product();
    Some(format!("[{elements}]"))
}

fn last_axis(builder: &Builder<'_>, of: &Val) -> Option<String> {
    let several = matches!(of, Val::Tuple(_));
    let rank = if several { builder.rank_of_each(of) } else { extents(builder, of)?.len() };
    Some(rank.checked_sub(1)?.to_string())
}

fn plain_layout(builder: &Builder<'_>, of: &Val) -> Option<String> {
    let Val::Value(value) = of else { return None };
    extents(builder, of)?;
    builder.plain_layout(*value)
}

// ----------------------------------------------------------------------------- shared and tensor memory

const STORED: &[Parameter] = &[param("value", Kind::Any)];
const INDICES: Parameter = param("indices", Kind::Any).by(|b, of| {
    let Val::Value(window) = of else { return None };
    let rank = b.ty(*window).shared()?.shape.len();
    Some(if rank == 1 { "indices" } else { "[rows, columns]" }.to_owned())
});
const AT: &[Parameter] = &[INDICES];
const AT_VALUE: &[Parameter] = &[INDICES, param("values", Kind::Any)];
const AT_CURRENT_NEW: &[Parameter] =
    &[INDICES, param("current", Kind::Any), param("new", Kind::Any)];
const WINDOW_AXIS: Parameter = param("axis", Kind::Axis("the window")).text("0");
const RANK: Parameter = param("rank", Kind::I32("the rank of a block is an `i32`")).text("0");
const OF_BLOCK: Need =
    need(Capability::Clusters, "blocks can access each other's shared memory from Hopper on");

pub(super) const SHARED: &[Signature] = &[
    gives("load", &[], |b, g| Some(Val::Value(b.load_shared(g.receiver(), g.loc)?))),
    does("store", STORED, |b, g| b.store_shared(g)),
    gives("gather", AT, |b, g| b.gather_shared(g)),
    does("scatter", AT_VALUE, |b, g| b.scatter_shared(g)),
    gives("atomic_add", AT_VALUE, |b, g| b.atomic_shared(Atomic::Add, g)),
    gives("atomic_max", AT_VALUE, |b, g| b.atomic_shared(Atomic::Max, g)),
    gives("atomic_min", AT_VALUE, |b, g| b.atomic_shared(Atomic::Min, g)),
    gives("atomic_and", AT_VALUE, |b, g| b.atomic_shared(Atomic::And, g)),
    gives("atomic_or", AT_VALUE, |b, g| b.atomic_shared(Atomic::Or, g)),
    gives("atomic_xor", AT_VALUE, |b, g| b.atomic_shared(Atomic::Xor, g)),
    gives("atomic_exchange", AT_VALUE, |b, g| b.atomic_shared(Atomic::Exchange, g)),
    gives("atomic_compare_exchange", AT_CURRENT_NEW, |b, g| {
        b.atomic_shared(Atomic::CompareExchange, g)
    }),
    does(
        "store_async",
        &[param("value", Kind::Any).text("tile"), param("bar", Kind::Barrier).text("bar")],
        |b, g| b.shared_store_async(g),
    ),
    gives("of_block", &[RANK], |b, g| b.shared_remote(g)).needs(&OF_BLOCK),
    gives("with_layout", &[TILE_LAYOUT], |b, g| b.shared_layout(g)),
    gives("reshape", &[param("shape", Kind::View).by(all_in_a_row)], |b, g| b.shared_reshape(g)),
    gives(
        "tile",
        &[
            param("at", Kind::Any)
                .by(|b, of| Some(format!("{:?}", vec![0; extents(b, of)?.len()]))),
            param("shape", Kind::View).by(|b, of| Some(format!("{:?}", extents(b, of)?))),
        ],
        |b, g| b.shared_tile(g),
    ),
    gives("view", &[], |b, g| b.shared_view(g)).usage(|_, _| Some(".view::<u32>()".to_owned())),
    gives("t", &[], |b, g| b.shared_transpose(g)),
    value("dim", &[WINDOW_AXIS], |b, g| b.extent_of(g)),
    value("bytes", &[], |b, g| b.window_bytes(g)),
];

pub(super) const TENSOR_MEMORY: &[Signature] = &[
    gives("load", &[], |b, g| b.tensor_memory_load(g)),
    does("store", STORED, |b, g| b.tensor_memory_store(g)),
    gives(
        "tile",
        &[param("at", Kind::Any).text("[0, 0]"), param("shape", Kind::Shape).text("[128, 64]")],
        |b, g| b.tensor_memory_tile(g),
    ),
    gives("view", &[param("shape", Kind::Shape)], |b, g| b.tensor_memory_view(g))
        .usage(|_, _| Some(".view::<bf16>([128, 64])".to_owned())),
    gives(
        "with_layout",
        &[param("layout", Kind::Layout).text("tmem_block([128, 128], 1)")],
        |b, g| b.tensor_memory_layout(g),
    ),
    value("dim", &[WINDOW_AXIS], |b, g| b.extent_of(g)),
    value("bytes", &[], |b, g| b.window_bytes(g)),
];

// --------------------------------------------------------------------------------------------- barriers

const PHASE: &[Parameter] =
    &[param("phase", Kind::I32("the phase of a barrier is an `i32`")).text("0")];

pub(super) const BARRIER: &[Signature] = &[
    does(
        "expect",
        &[param("bytes", Kind::I32("the number of bytes is an `i32`")).text("tile.bytes()")],
        |b, g| b.barrier_expect(g),
    ),
    does("expect_copies", &[], |b, g| b.barrier_expect_copies(g)),
    does("arrive", &[], |b, g| {
        b.does(BarrierOp::Arrive(MemoryOrder::Release), vec![g.receiver()], g)
    }),
    does("arrive_relaxed", &[], |b, g| b.barrier_arrive_relaxed(g)),
    does("wait", PHASE, |b, g| {
        let phase = b.barrier_phase(g)?;
        b.does(BarrierOp::Wait, vec![g.receiver(), phase], g)
    }),
    gives("try_wait", PHASE, |b, g| {
        let phase = b.barrier_phase(g)?;
        Some(b.number_of(BarrierOp::Test, vec![g.receiver(), phase], Dtype::Bool, g))
    }),
    gives("of_block", &[RANK], |b, g| b.barrier_of_block(g)),
];

pub(super) const BARRIERS: &[Signature] = &[value("len", &[], |b, g| b.barriers_len(g))];

pub(super) const NAMED: &[Signature] = &[
    does("sync", &[], |b, g| b.named_op(NamedOp::Sync, g)),
    does("arrive", &[], |b, g| b.named_op(NamedOp::Arrive, g)),
];

// ---------------------------------------------------------------------------------------------- tensors

const TENSOR_AXIS: Parameter = param("axis", Kind::Axis("the tensor")).text("0");

/// A part of a tile, its first half along the last axis: `[0..32, 0..16]`.
fn halved(shape: &[u32]) -> Option<String> {
    let (last, others) = shape.split_last()?;
    let half = (last / 2).max(1);
    let ends = others.iter().chain([&half]);
    Some(format!("[{}]", ends.map(|end| format!("0..{end}")).collect::<Vec<_>>().join(", ")))
}

/// One of these an axis of the tensor: `[0, 0]`.
fn each_axis(builder: &Builder<'_>, of: &Val, one: &str) -> Option<String> {
    let param = of.tensor()?;
    let rank = builder.params[param as usize].kind.rank() as usize;
    Some(format!("[{}]", vec![one; rank].join(", ")))
}

pub(super) const TENSOR: &[Signature] = &[
    gives(
        "tile",
        &[
            param("at", Kind::Any).by(|b, of| each_axis(b, of, "0")),
            param("shape", Kind::Shape).by(|b, of| each_axis(b, of, "64")),
        ],
        |b, g| b.window(g),
    ),
    gives(
        "tile_rows",
        &[
            param("rows", Kind::Any).text("rows"),
            param("at", Kind::Any).by(|b, of| each_axis(b, of, "0")),
            param("shape", Kind::Shape).by(|b, of| each_axis(b, of, "64")),
        ],
        |b, g| b.window_of_rows(g),
    ),
    gives("slice", &[param("ranges", Kind::Any).by(|b, of| each_axis(b, of, "0..n"))], |b, g| {
        b.tensor_slice(g)
    }),
    value("dim", &[TENSOR_AXIS], |b, g| b.dim(g.number(0), g)),
    value("dims", &[], |b, g| {
        let rank = b.params[g.tensor() as usize].kind.rank();
        array((0..rank).map(|axis| b.dim(axis, g)).collect())
    }),
    value("stride", &[TENSOR_AXIS], |b, g| {
        b.number_of(SourceOp::ParamStride(g.tensor(), g.number(0)), Vec::new(), Dtype::I64, g)
    }),
    value("ptr", &[], |b, g| b.origin(g)),
];

/// What a tensor has besides that is reached through a tensor map.
pub(super) const MAP: &[Signature] = &[
    gives("at", &[param("at", Kind::Corner).text("[i, j]")], |b, g| b.block_at(g)),
    value("block", &[], |b, g| {
        let block = b.params[g.tensor() as usize].block.clone().unwrap_or_default();
        array(block.iter().map(|extent| Val::i32(*extent)).collect())
    }),
    value("block_bytes", &[], |b, g| {
        let param = &b.params[g.tensor() as usize];
        let extents = param.block.iter().flatten().map(|extent| i128::from(*extent));
        Val::i32(extents.product::<i128>() * i128::from(param.kind.dtype().bytes()))
    }),
];

const CHANGED: &[Parameter] = &[param("current", Kind::Any), param("new", Kind::Any)];

pub(super) const VIEW: &[Signature] = &[
    gives("load", &[], |b, g| b.load_tensor(g)),
    does("store", STORED, |b, g| b.store_tensor(g)),
    does("prefetch", &[], |b, g| b.prefetch_tensor(g)),
    gives("evict_first", &[], |b, g| b.evict_window(Evict::First, g)),
    gives("evict_last", &[], |b, g| b.evict_window(Evict::Last, g)),
    gives("acquire", &[], |b, g| b.order_window(MemoryOrder::Acquire, g)),
    gives("release", &[], |b, g| b.order_window(MemoryOrder::Release, g)),
    gives("acq_rel", &[], |b, g| b.order_window(MemoryOrder::AcquireRelease, g)),
    gives("system_scope", &[], |b, g| b.scope_window(Scope::System, g)),
    gives("atomic_load", &[], |b, g| b.atomic_tensor(Atomic::Load, g)),
    does("atomic_store", STORED, |b, g| b.atomic_store(g)),
    gives("atomic_add", STORED, |b, g| b.atomic_tensor(Atomic::Add, g)),
    gives("atomic_max", STORED, |b, g| b.atomic_tensor(Atomic::Max, g)),
    gives("atomic_min", STORED, |b, g| b.atomic_tensor(Atomic::Min, g)),
    gives("atomic_and", STORED, |b, g| b.atomic_tensor(Atomic::And, g)),
    gives("atomic_or", STORED, |b, g| b.atomic_tensor(Atomic::Or, g)),
    gives("atomic_xor", STORED, |b, g| b.atomic_tensor(Atomic::Xor, g)),
    gives("atomic_exchange", STORED, |b, g| b.atomic_tensor(Atomic::Exchange, g)),
    gives("atomic_compare_exchange", CHANGED, |b, g| b.atomic_tensor(Atomic::CompareExchange, g)),
];

// --------------------------------------------------------------------- copies, products, commits in flight

const ON: Need = Need { what: Some("copies that complete on a barrier"), ..families::TMA_COPIES };

/// What is reported about something that was started.
pub(super) const STARTED: &[Signature] = &[
    gives("on", &[param("bar", Kind::PairBarrier)], |b, g| b.on(g)).needs(&ON),
    gives("when", &[param("condition", Kind::Condition)], |b, g| b.when(g)),
    gives("multicast", &[param("mask", Kind::I32("a mask of blocks is an `i32`"))], |b, g| {
        b.multicast(g)
    }),
    gives("evict_first", &[], |b, g| b.evict(Evict::First, g)),
    gives("evict_last", &[], |b, g| b.evict(Evict::Last, g)),
    gives("accumulate", &[param("adds", Kind::Condition)], |b, g| b.accumulate(g)),
];

// ----------------------------------------------------------------------------------------------- others

const REGISTERS: Number = Number {
    code: Code::Partition,
    headline: "the threads of a partition cannot have {} registers",
    unit: "registers",
    legal: Legal::Multiple { of: 8, least: 24, most: 256 },
    why: "`setmaxnreg` sets the registers of a thread in these steps",
    ..Number::within("the number of registers of a partition", 0, 0)
};

pub(super) const PARTITION: &[Signature] = &[
    gives("registers", &[param("count", Kind::Number(&REGISTERS)).text("40")], |b, g| {
        b.partition_registers(g)
    }),
    gives("run", &[param("body", Kind::Any).text("|| load()")], |b, g| b.partition_run(g)),
];

pub(super) const LAYOUT: &[Signature] = &[gives("fp4_padded", &[], |b, g| b.fp4_padded(g))];

/// A parameter that may be absent.
pub(super) const OPTION: &[Signature] = &[
    value("is_some", &[], |_, g| truth(is_present(&g.of))).stub(Stub::Rust),
    value("is_none", &[], |_, g| truth(!is_present(&g.of))).stub(Stub::Rust),
];

fn is_present(val: &Val) -> bool {
    matches!(val, Val::Optional(optional) if optional.of.is_some())
}

/// An array of Rust.
pub(super) const ARRAY: &[Signature] = &[value("len", &[], |b, g| b.array_len(g)).stub(Stub::Rust)];
