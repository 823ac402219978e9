//! The functions of modules: `tma::load`, `wgmma::wait`.

use kernel_ptx::Capability;

use super::{
    Does, Kind, Need, Number, Parameter, Signature, Stub, does, gives, need, param, starts, value,
};
use crate::{
    elaborate::{language::value::Val, products::wgmma::MOST_PENDING},
    ir::{Atomic, BulkKind, ClusterOp, Dtype, Scope, StoreWait, Tcgen05, TmaKind, TmaReduce},
};

const PENDING_STORES: Number = Number {
    headline: "a wait cannot leave {} stores in flight",
    unit: "pending stores",
    ..Number::within("the number of pending stores", 0, StoreWait::MOST_PENDING)
};

const PENDING_PRODUCTS: Number = Number {
    headline: "a wait cannot leave {} products in flight",
    unit: "pending products",
    ..Number::within("the number of pending products", 0, MOST_PENDING)
};

// ---------------------------------------------------------------------------------------------- atomics

const AT: Parameter = param("at", Kind::Address);
const AT_VALUE: &[Parameter] = &[AT, param("value", Kind::Any)];
const AT_CURRENT_NEW: &[Parameter] = &[AT, param("current", Kind::Any), param("new", Kind::Any)];

pub(super) const ATOMIC: &[Signature] = &[
    gives("add", AT_VALUE, |b, g| b.atomic((Atomic::Add, Scope::Gpu), g)),
    gives("max", AT_VALUE, |b, g| b.atomic((Atomic::Max, Scope::Gpu), g)),
    gives("min", AT_VALUE, |b, g| b.atomic((Atomic::Min, Scope::Gpu), g)),
    gives("and", AT_VALUE, |b, g| b.atomic((Atomic::And, Scope::Gpu), g)),
    gives("or", AT_VALUE, |b, g| b.atomic((Atomic::Or, Scope::Gpu), g)),
    gives("xor", AT_VALUE, |b, g| b.atomic((Atomic::Xor, Scope::Gpu), g)),
    gives("exchange", AT_VALUE, |b, g| b.atomic((Atomic::Exchange, Scope::Gpu), g)),
    gives("compare_exchange", AT_CURRENT_NEW, |b, g| {
        b.atomic((Atomic::CompareExchange, Scope::Gpu), g)
    }),
    gives("add_system", AT_VALUE, |b, g| b.atomic((Atomic::Add, Scope::System), g)),
    gives("max_system", AT_VALUE, |b, g| b.atomic((Atomic::Max, Scope::System), g)),
    gives("min_system", AT_VALUE, |b, g| b.atomic((Atomic::Min, Scope::System), g)),
    gives("and_system", AT_VALUE, |b, g| b.atomic((Atomic::And, Scope::System), g)),
    gives("or_system", AT_VALUE, |b, g| b.atomic((Atomic::Or, Scope::System), g)),
    gives("xor_system", AT_VALUE, |b, g| b.atomic((Atomic::Xor, Scope::System), g)),
    gives("exchange_system", AT_VALUE, |b, g| b.atomic((Atomic::Exchange, Scope::System), g)),
    gives("compare_exchange_system", AT_CURRENT_NEW, |b, g| {
        b.atomic((Atomic::CompareExchange, Scope::System), g)
    }),
];

// ------------------------------------------------------------------------------------------- TMA copies

const MAP: Parameter = param("map", Kind::Map("64"));
const MAP_MUT: Parameter = param("map", Kind::MapMut("64"));
const CORNER: Parameter = param("at", Kind::Corner).text("[i, j]");
const PAIR_BAR: Parameter = param("bar", Kind::PairBarrier);
const INTO: Parameter = param("to", Kind::Window).text("tile");
const FROM: Parameter = param("from", Kind::Window).text("tile");
const STORED: &[Parameter] = &[MAP_MUT, CORNER, FROM];
const ROWS: Parameter = param("rows", Kind::Any);
const COLUMN: Parameter =
    param("col", Kind::I32("the column of a gather or a scatter is an `i32`"));
const STORES_LEFT: &[Parameter] = &[param("pending", Kind::Number(&PENDING_STORES)).text("0")];

pub(crate) const TMA_COPIES: Need = need(Capability::Tma, "TMA exists from Hopper on");

const BY_ROWS: Need = Need {
    capability: Capability::TmaGather,
    what: None,
    why: "the instructions that gather and scatter rows exist from Blackwell on (PTX ISA, \"cp.async.bulk.tensor\": .tile::gather4); for older targets, access memory at a tile of addresses, or copy row by row: `copy_async(..)`",
    instead: Some(|b, g| Some(b.rows_by_threads(g))),
};

const fn tma(name: &'static str, parameters: &'static [Parameter], run: Does) -> Signature {
    starts(name, parameters, run).needs(&TMA_COPIES)
}

pub(super) const TMA: &[Signature] = &[
    tma("load", &[MAP, CORNER, PAIR_BAR, INTO], |b, g| b.tma_load(g)),
    tma("store", STORED, |b, g| b.tma_store(TmaKind::Store, g)),
    tma("reduce_add", STORED, |b, g| b.tma_reduce(TmaReduce::Add, g)).stub(Stub::Listed),
    tma("reduce_min", STORED, |b, g| b.tma_reduce(TmaReduce::Min, g)).stub(Stub::Listed),
    tma("reduce_max", STORED, |b, g| b.tma_reduce(TmaReduce::Max, g)).stub(Stub::Listed),
    tma("reduce_and", STORED, |b, g| b.tma_reduce(TmaReduce::And, g)).stub(Stub::Listed),
    tma("reduce_or", STORED, |b, g| b.tma_reduce(TmaReduce::Or, g)).stub(Stub::Listed),
    tma("reduce_xor", STORED, |b, g| b.tma_reduce(TmaReduce::Xor, g)).stub(Stub::Listed),
    tma("prefetch", &[MAP, CORNER], |b, g| b.tma_prefetch(g)),
    starts("gather", &[param("map", Kind::Map("1")), ROWS, COLUMN, PAIR_BAR, INTO], |b, g| {
        b.by_rows(TmaKind::Gather, g)
    })
    .needs(&BY_ROWS),
    starts("scatter", &[param("map", Kind::Map("1")), ROWS, COLUMN, FROM], |b, g| {
        b.by_rows(TmaKind::Scatter, g)
    })
    .needs(&BY_ROWS),
    does("store_wait", STORES_LEFT, |b, g| b.store_wait(StoreWait::Read, g)).needs(&TMA_COPIES),
    does("store_wait_written", STORES_LEFT, |b, g| b.store_wait(StoreWait::Written, g))
        .needs(&TMA_COPIES),
];

// ------------------------------------------------------------------------------------------ bulk copies

const BAR: Parameter = param("bar", Kind::Barrier);
const BULK_FROM: Parameter = param("from", Kind::OneAddress).text("p");
const BULK_STORED: &[Parameter] = &[
    param("to", Kind::OneAddress).text("p"),
    param("from", Kind::BulkWindow("a bulk store reads")).text("tile"),
];

const BULK_COPIES: Need =
    need(Capability::Tma, "bulk copies, which count their bytes on barriers, exist from Hopper on");

const fn bulk(name: &'static str, parameters: &'static [Parameter], run: Does) -> Signature {
    starts(name, parameters, run).needs(&BULK_COPIES)
}

pub(super) const BULK: &[Signature] = &[
    bulk(
        "load",
        &[BULK_FROM, BAR, param("to", Kind::BulkWindow("a bulk load fills")).text("tile")],
        |b, g| b.bulk_load(g),
    ),
    bulk("store", BULK_STORED, |b, g| b.bulk_store(BulkKind::Store, g)),
    bulk("reduce_add", BULK_STORED, |b, g| b.bulk_reduce(TmaReduce::Add, g)).stub(Stub::Listed),
    bulk("reduce_min", BULK_STORED, |b, g| b.bulk_reduce(TmaReduce::Min, g)).stub(Stub::Listed),
    bulk("reduce_max", BULK_STORED, |b, g| b.bulk_reduce(TmaReduce::Max, g)).stub(Stub::Listed),
    bulk("reduce_and", BULK_STORED, |b, g| b.bulk_reduce(TmaReduce::And, g)).stub(Stub::Listed),
    bulk("reduce_or", BULK_STORED, |b, g| b.bulk_reduce(TmaReduce::Or, g)).stub(Stub::Listed),
    bulk("reduce_xor", BULK_STORED, |b, g| b.bulk_reduce(TmaReduce::Xor, g)).stub(Stub::Listed),
    bulk(
        "prefetch",
        &[BULK_FROM, param("bytes", Kind::Size("the bytes of a prefetch")).text("256")],
        |b, g| b.bulk_prefetch(g),
    ),
    bulk(
        "send",
        &[
            param("from", Kind::BulkWindow("the source of `bulk::send` is in")).text("tile"),
            BAR,
            param("to", Kind::Any).by(|b, _| Some(format!("tile.of_block({})", b.another_block()))),
        ],
        |b, g| b.bulk_send(g),
    ),
];

// --------------------------------------------------------------------------------------- tensor cores

/// Only Hopper.
const WARPGROUPS: Need = Need {
    capability: Capability::Wgmma,
    what: None,
    why: "only Hopper has `wgmma`; `dot` uses what each target has",
    instead: Some(|_, g| g.operands().map(|[a, b, acc]| format!("dot({a}, {b}, {acc})"))),
};

/// The same of a sparse product.
const SPARSE_WARPGROUPS: Need = Need {
    why: "only Hopper has `wgmma`; `dot_sparse` uses what each target has",
    instead: Some(|b, g| b.sparse_by_warps(g)),
    ..WARPGROUPS
};

pub(super) const WGMMA: &[Signature] = &[
    gives(
        "mma",
        &[
            param("a", Kind::Value),
            param("b", Kind::Value),
            param("acc", Kind::Tile("the accumulator of a product")),
        ],
        |b, g| b.wgmma(g),
    )
    .needs(&WARPGROUPS),
    gives(
        "mma_sparse",
        &[
            param("a", Kind::Value),
            param("metadata", Kind::Factor),
            param("b", Kind::Value),
            param("acc", Kind::Tile("the accumulator of a product")),
        ],
        |b, g| b.wgmma_sparse(g),
    )
    .needs(&SPARSE_WARPGROUPS),
    value(
        "wait",
        &[
            param("pending", Kind::Number(&PENDING_PRODUCTS)).text("0"),
            param("acc", Kind::Tile("`wgmma::wait`")),
        ],
        |b, g| b.wgmma_wait(g),
    )
    .needs(&WARPGROUPS),
];

pub(crate) const TENSOR_MEMORY: Need = need(
    Capability::Tcgen05,
    "only Blackwell's datacenter parts have tensor memory and `tcgen05` (PTX ISA, \"tcgen05\")",
);

const A: Parameter = param("a", Kind::LeftFactor);
const B: Parameter = param("b", Kind::RightFactor);
const ACC: Parameter = param("acc", Kind::Sums);
const METADATA: Parameter = param("metadata", Kind::Metadata);

const fn tcgen05(name: &'static str, parameters: &'static [Parameter], run: Does) -> Signature {
    starts(name, parameters, run).needs(&TENSOR_MEMORY)
}

pub(super) const TCGEN05: &[Signature] = &[
    tcgen05("mma", &[A, B, ACC], |b, g| b.tcgen05_mma(g)),
    tcgen05("mma_pair", &[A, B, ACC], |b, g| b.tcgen05_mma_pair(g)),
    tcgen05(
        "mma_scaled",
        &[A, B, ACC, param("a_scales", Kind::Scales), param("b_scales", Kind::Scales)],
        |b, g| b.tcgen05_mma_scaled(g),
    ),
    tcgen05(
        "mma_scaled_pair",
        &[A, B, ACC, param("a_scales", Kind::Scales), param("b_scales", Kind::Scales)],
        |b, g| b.tcgen05_mma_scaled_pair(g),
    ),
    tcgen05("mma_sparse", &[A, METADATA, B, ACC], |b, g| b.tcgen05_mma_sparse(g)),
    tcgen05("mma_sparse_pair", &[A, METADATA, B, ACC], |b, g| b.tcgen05_mma_sparse_pair(g)),
    tcgen05("copy", &[param("from", Kind::Any), param("to", Kind::Any)], |b, g| b.tensor_copy(g)),
    tcgen05("commit", &[BAR], |b, g| {
        let commit = Tcgen05::Commit { multicast: false, guarded: false };
        b.does(commit, vec![g.value(0)], g)
    }),
];

// ------------------------------------------------------------------------------------------- clusters

const GRID_AXIS: Parameter = param("axis", Kind::GridAxis).text("0");
const ANSWER: Parameter = param("answer", Kind::Answer);

const CLUSTERS: Need = need(Capability::Clusters, "clusters exist from Hopper on");

const LAUNCH_CONTROL: Need = need(
    Capability::LaunchControl,
    "a block can take over the work of others from Blackwell on (PTX ISA, \"clusterlaunchcontrol\")",
);

pub(super) const CLUSTER: &[Signature] = &[
    value("rank", &[], |b, g| b.number_of(ClusterOp::Rank, Vec::new(), Dtype::I32, g))
        .needs(&CLUSTERS),
    value("size", &[], |b, _| Val::i32(b.blocks_of_cluster())).needs(&CLUSTERS),
    value("block_id", &[GRID_AXIS], |b, g| {
        b.number_of(ClusterOp::BlockId(g.number(0)), Vec::new(), Dtype::I32, g)
    })
    .needs(&CLUSTERS),
    value("id", &[GRID_AXIS], |b, g| {
        b.number_of(ClusterOp::Id(g.number(0)), Vec::new(), Dtype::I32, g)
    })
    .needs(&CLUSTERS),
    does("sync", &[], |b, g| b.does(ClusterOp::Sync, Vec::new(), g)).needs(&CLUSTERS),
    does("arrive", &[], |b, g| b.does(ClusterOp::Arrive, Vec::new(), g)).needs(&CLUSTERS),
    does("wait", &[], |b, g| b.does(ClusterOp::Wait, Vec::new(), g)).needs(&CLUSTERS),
    does("try_cancel", &[ANSWER, BAR], |b, g| {
        b.does(ClusterOp::TryCancel, vec![g.value(0), g.value(1)], g)
    })
    .needs(&LAUNCH_CONTROL),
    value("is_canceled", &[ANSWER], |b, g| {
        b.number_of(ClusterOp::IsCanceled, vec![g.value(0)], Dtype::Bool, g)
    })
    .needs(&LAUNCH_CONTROL),
    value("canceled_block_id", &[ANSWER, GRID_AXIS], |b, g| {
        b.number_of(ClusterOp::CanceledBlockId(g.number(1)), vec![g.value(0)], Dtype::I32, g)
    })
    .needs(&LAUNCH_CONTROL),
];
