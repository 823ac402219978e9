//! Tile IR to PTX: one virtual register for each element that a thread holds.
//!
//! The body is walked once, in order. `emitter` holds the code while it is built, and decides where
//! an instruction goes; the other modules each lower one kind of operation. Layouts drive everything:
//! what a lane and a warp contribute to a coordinate is a linear function of the thread's index, what a
//! register contributes is a constant.
//!
//! Lowering has no user errors: what it cannot lower, an earlier phase has rejected.

use kernel_layout::Layout;
use kernel_layout::forms::LANES;
use kernel_ptx::{Module, Opcode, Operand, Symbol};
use la_arena::ArenaMap;

use crate::ir::{
    Barriers, CopyOp, Elem, Kernel, Layouts, MemoryOp, Op, ProductOp, Region, Shared, SourceOp,
    Stmt, StmtKind, SyncOp, TileOp, Type, Value, WindowOp,
};
use crate::layouts::tma::TensorMap;
use crate::loc::Loc;

mod annotated;
mod emitter;
mod facts;
mod language;
mod memory;
mod module;
mod named;
mod products;
mod report;
mod stamp;
mod sync;
mod tensor_memory;
#[cfg(test)]
mod tests;
mod tiles;

pub(crate) use annotated::annotated;
use emitter::{Emitter, Place, Touched, Val};
use facts::Facts;
use language::control::LoopFrame;
use language::params::Params;
use language::specialize::{Crew, Split};
use memory::shared::{self, SharedPlan};
pub use named::{NamedMemory, NamedWarps, Names};
use products::dot;
pub use report::Slots;
pub(crate) use stamp::Stamping;
use sync::barrier;
use tensor_memory::TensorMemoryPlan;
use tiles::scalar;

/// A kernel in PTX.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The module, with one entry.
    pub module: Module,
    /// The name of the entry.
    pub entry: String,
    /// Bytes of dynamic shared memory that a launch must give.
    pub shared_bytes: u32,
    /// The operation that exchanges the most bytes through shared memory, and how many: what is in `shared_bytes` beside
    /// the allocations.
    pub widest_exchange: Option<(Loc, u32)>,
    /// The tensor maps that the entry takes after its other parameters, 128 bytes each, in this order.
    pub maps: Vec<TensorMap>,
    /// What the source calls what reports about the running kernel name.
    pub names: Names,
    /// For each `trap` of the entry, in order: what is wrong when it is reached, if the compiler put it there.
    pub checks: Vec<Option<String>>,
}

/// Lowers a checked kernel.
///
/// `layouts` has a layout for every tile value, `shared_layouts` one for the tile (the last two axes, or the last
/// one) of every shared allocation. `file` becomes `.file 1`; `line_of` gives line and column, from 1, of a position (line 0: unknown).
pub fn run(
    kernel: &Kernel,
    layouts: &Layouts,
    shared_layouts: &ArenaMap<Shared, Layout>,
    file: &str,
    line_of: &dyn Fn(Loc) -> (u32, u32),
) -> Lowered {
    let ordered = |order| in_order(kernel, layouts, (shared_layouts, order), file, line_of);
    let lowered = ordered(shared::Order::AsAllocated);
    if lowered.shared_bytes <= kernel.target.hardware().shared_bytes_per_block {
        return lowered;
    }
    let mut least = lowered;
    for order in [shared::Order::LongestFirst, shared::Order::Together] {
        let other = ordered(order);
        if other.shared_bytes < least.shared_bytes {
            least = other;
        }
        if least.shared_bytes <= kernel.target.hardware().shared_bytes_per_block {
            break;
        }
    }
    least
}

/// The same, with shared memory in an order.
fn in_order(
    kernel: &Kernel,
    layouts: &Layouts,
    (shared_layouts, order): (&ArenaMap<Shared, Layout>, shared::Order),
    file: &str,
    line_of: &dyn Fn(Loc) -> (u32, u32),
) -> Lowered {
    let split = Split::of(kernel);
    let mut lower = Lower {
        kernel,
        layouts,
        facts: Facts::of(kernel),
        e: Emitter::new(kernel.warps * LANES),
        crew: Crew::of(kernel),
        values: ArenaMap::new(),
        used: kernel.body.used(),
        deferred: ArenaMap::new(),
        params: Params::of(kernel),
        stamping: None,
        plan: SharedPlan::of(kernel, shared_layouts, split.as_ref().map_or(0, Split::bytes), order),
        tensor_memory: TensorMemoryPlan::of(kernel),
        loops: Vec::new(),
        maps: Vec::new(),
        orders_others: kernel.orders_others(),
        scatters: kernel.scatters(),
        weights: barrier::weights(kernel),
        pairs_halves: sums_in_halves(kernel),
        split,
    };
    lower.block();
    module::assemble(lower, file, line_of)
}

/// Whether control reaches what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// It does.
    Continues,
    /// A jump or the end of the kernel comes first.
    Ends,
}

/// A value during lowering.
#[derive(Clone, Debug)]
enum Data {
    /// The same in every thread.
    Scalar(Val),
    /// One value for each register of the layout; registers that repeat an element have the same.
    Tile(Vec<Val>),
    /// The byte offset of a shared window, or an mbarrier, from the start of its allocation; for one of another block of the cluster, an
    /// address there, of a window without the start of the allocation.
    Window(Val),
}

#[derive(Debug)]
struct Lower<'a> {
    kernel: &'a Kernel,
    layouts: &'a Layouts,
    facts: Facts<'a>,
    e: Emitter,
    values: ArenaMap<Value, Data>,
    /// How often each value is read.
    used: ArenaMap<Value, u32>,
    deferred: ArenaMap<Value, dot::Deferred>,
    params: Params,
    /// Where each warp records its stamps, if the kernel has any.
    stamping: Option<Stamping>,
    plan: SharedPlan<'a>,
    tensor_memory: TensorMemoryPlan,
    loops: Vec<LoopFrame>,
    /// The tensor maps that the copies need.
    maps: Vec<TensorMap>,
    /// An arrival at another block's barrier orders what comes before.
    orders_others: bool,
    /// It scatters rows: a thread of each warp has stores in flight.
    scatters: bool,
    /// How many warps arrive for one arrival of a partition.
    weights: ArenaMap<Barriers, u32>,
    /// `wgmma` products keep accumulators in `f16`: loops and branches carry such tiles as words of two.
    pairs_halves: bool,
    /// The warps that run what is emitted.
    crew: Crew,
    /// How the kernel's warps are specialised, if they are.
    split: Option<Split<'a>>,
}

/// Tiles of indices, pointers and masks with at most this many registers may leave loops.
const HOISTED_REGISTERS: usize = 8;

impl Lower<'_> {
    fn region(&mut self, region: &Region) -> Flow {
        if self.statements(region) == Flow::Ends {
            return Flow::Ends;
        }
        self.end(&region.end)
    }

    fn statements(&mut self, region: &Region) -> Flow {
        for (index, stmt) in region.stmts.iter().enumerate() {
            self.e.loc = stmt.loc;
            self.e.place = self.place(stmt);
            if std::ptr::eq(region, &raw const self.kernel.body) {
                self.plan.at = index;
            }
            if self.defer(&region.stmts[index..]) {
                continue;
            }
            if self.stmt(stmt) == Flow::Ends {
                return Flow::Ends;
            }
        }
        Flow::Continues
    }

    /// Where the pure instructions of a statement go.
    fn place(&self, stmt: &Stmt) -> Place {
        let StmtKind::Op { result: Some(result), .. } = &stmt.kind else { return Place::Outermost };
        let Type::Tile(elem, _) = self.kernel.ty(*result) else { return Place::Outermost };
        let index = match elem {
            Elem::Ptr(_) => true,
            Elem::Number(dtype) => !dtype.is_float(),
        };
        let registers = self
            .layouts
            .get(*result)
            .map_or(0, |layout| layout.in_size(kernel_layout::Dim::Register));
        if index && registers as usize <= HOISTED_REGISTERS {
            Place::Outermost
        } else {
            Place::Here
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        match &stmt.kind {
            StmtKind::Op {
                op: op @ Op::Product(ProductOp::Wgmma { .. } | ProductOp::WgmmaWait(_)),
                args,
                result,
            } => {
                self.op(op, args, *result);
                Flow::Continues
            }
            StmtKind::Op { op, args, result } => {
                let kept = self.take_halves(args);
                self.op(op, args, *result);
                self.values.extend(kept);
                Flow::Continues
            }
            StmtKind::If { condition, then, otherwise, results } => {
                self.branch(*condition, then, otherwise, results)
            }
            StmtKind::For { from, to, step, inits, body, results } => {
                self.counted([*from, *to, *step], inits, body, results)
            }
            StmtKind::Loop { inits, body, results } => self.endless(inits, body, results),
            StmtKind::Scan { args, axis, direction, initial, combine, results } => {
                let kept = self.take_halves(args);
                let along = (*axis as usize, *direction);
                self.scan(args, along, initial, combine, results);
                self.values.extend(kept);
                Flow::Continues
            }
            StmtKind::Reduce { args, axis, combine, results } => {
                let kept = self.take_halves(args);
                self.reduce(args, *axis, combine, results);
                self.values.extend(kept);
                Flow::Continues
            }
            StmtKind::Ptx { code, args, results } => {
                let kept = self.take_halves(args);
                self.ptx(code, args, results);
                self.values.extend(kept);
                Flow::Continues
            }
            StmtKind::Specialize { default, results, .. } => self.default_part(default, results),
        }
    }

    fn op(&mut self, op: &Op, args: &[Value], result: Option<Value>) {
        let operation = Touched::by(self.kernel, &self.kernel.effects(op, args, result));
        self.e.operation = operation;
        self.emit(op, args, result);
        self.e.operation = Touched::ANYTHING;
    }

    fn emit(&mut self, op: &Op, args: &[Value], result: Option<Value>) {
        let data = match op {
            Op::Source(op) => Some(self.source(op, target(result))),
            Op::Tile(op) => Some(self.tile_op(op, args, target(result))),
            Op::Elementwise(op) => Some(self.elementwise(op, args, target(result))),
            Op::Memory(op) => self.memory(op, args, result),
            Op::Window(op) => Some(Data::Window(match op {
                WindowOp::Alloc(_) => Val::Int(0),
                WindowOp::Index => self.window_index(args[0], args[1]),
                WindowOp::Transpose | WindowOp::Reshape | WindowOp::Retype => self.window(args[0]),
                WindowOp::Part => self.window_part(args, target(result)),
                WindowOp::Remote => self.remote_window(args[0], args[1]),
            })),
            Op::Copy(op) => {
                self.asynchronous(op, args);
                None
            }
            Op::Sync(op) => self.sync(op, args, result),
            Op::Product(op) => self.product(op, args, result),
            Op::TensorMemory(op) => self.tensor_memory_op(*op, args, result),
            Op::Report(report) => {
                self.report(*report, args);
                None
            }
            Op::Assert(says) => {
                self.assert(args[0], says);
                None
            }
        };
        if let (Some(data), Some(result)) = (data, result) {
            self.values.insert(result, data);
        }
    }

    fn source(&mut self, op: &SourceOp, result: Value) -> Data {
        Data::Scalar(match op {
            SourceOp::Const(value) => self.constant(*value, result),
            SourceOp::ParamPtr(param) | SourceOp::TensorPtr(param) => self.param_pointer(*param),
            SourceOp::ParamDim(param, axis) => self.param_dim(*param, *axis),
            SourceOp::ParamStride(param, axis) => self.stride(*param, *axis),
            SourceOp::ParamScalar(param) => self.param_scalar(*param),
            SourceOp::BlockId(axis) => self.grid_position(*axis),
            SourceOp::NumBlocks(axis) => self.grid_extent(*axis),
            SourceOp::Arange(low) => return Data::Tile(self.arange(*low, result)),
        })
    }

    fn tile_op(&mut self, op: &TileOp, args: &[Value], result: Value) -> Data {
        match op {
            TileOp::Splat => self.splat(args[0], result),
            TileOp::Broadcast
            | TileOp::Expand(_)
            | TileOp::Reshape
            | TileOp::Permute(_)
            | TileOp::ToLayout(_)
            | TileOp::AssertLayout(_) => self.reshaped(op, args[0], result),
            TileOp::Flip(axis) => Data::Tile(self.flip(*axis as usize, args[0], result)),
            TileOp::Sort(axis) => Data::Tile(self.sort(*axis as usize, args[0], result)),
            TileOp::Gather(axis) => Data::Tile(self.gather(*axis as usize, args, result)),
            TileOp::Histogram => Data::Tile(self.histogram(args[0], result)),
            TileOp::Join => Data::Tile(self.join(args, result)),
            TileOp::Split(index) => Data::Tile(self.split(*index, args[0])),
        }
    }

    fn memory(&mut self, op: &MemoryOp, args: &[Value], result: Option<Value>) -> Option<Data> {
        match op {
            MemoryOp::LoadTensor(param, evict) => {
                return Some(self.tensor_load((*param, *evict), args, target(result)));
            }
            MemoryOp::LoadPtr { masked } => {
                return Some(self.load_pointers(*masked, args, target(result)));
            }
            MemoryOp::LoadShared => {
                return Some(Data::Tile(self.load_shared(args[0], target(result))));
            }
            MemoryOp::Atomic(op, scope) => {
                return self.atomic((*op, *scope), args, result);
            }
            MemoryOp::AtomicTensor { param, op, evict, ordered } => {
                return self.atomic_tensor((*op, *evict, *ordered), *param, args, result);
            }
            MemoryOp::StoreTensor(param, evict) => {
                let (value, offsets) = args.split_last().expect("the tile comes last");
                self.tensor_store((*param, *evict), offsets, *value);
            }
            MemoryOp::PrefetchTensor { param, extents, evict } => {
                let tile = self.tensor_tile(*param, args, extents.shape());
                self.prefetch(&tile, *evict);
            }
            MemoryOp::StorePtr { masked } => self.store_pointers(*masked, args),
            MemoryOp::StoreShared => self.store_shared(args[0], args[1]),
            MemoryOp::GatherShared => {
                return Some(Data::Tile(self.gather_shared(args, target(result))));
            }
            MemoryOp::ScatterShared => self.scatter_shared(args),
            MemoryOp::AtomicShared(op) => return self.atomic_shared(*op, args, result),
        }
        None
    }

    fn asynchronous(&mut self, op: &CopyOp, args: &[Value]) {
        match op {
            CopyOp::StoreAsync => self.store_async(args[0], args[1], args[2]),
            CopyOp::Async(copied, evict) => {
                let (window, offsets) = args.split_last().expect("the window comes last");
                self.copy_async((*copied, *evict), offsets, *window);
            }
            CopyOp::Commit => self.copy_commit(),
            CopyOp::Wait(groups) => self.copy_wait(*groups),
            CopyOp::WaitAll => self.copy_wait_all(),
            CopyOp::Staged(_) => {
                self.copy_wait_all();
                self.barrier();
            }
            CopyOp::Tma(tma) => self.tma(*tma, args),
            CopyOp::Bulk(bulk) => self.bulk(*bulk, args),
            CopyOp::BulkWait { pending, until } => self.tma_wait(*pending, *until),
        }
    }

    fn sync(&mut self, op: &SyncOp, args: &[Value], result: Option<Value>) -> Option<Data> {
        match op {
            SyncOp::Barrier(op) => return self.barrier_op(*op, args, result),
            SyncOp::Cluster(op) => return self.cluster(*op, args),
            SyncOp::Block => self.barrier(),
            SyncOp::FenceAsync => self.fence_async(),
            SyncOp::Named(op, named) => self.named(*op, *named),
            SyncOp::Grid(op) => self.grid_order(*op),
        }
        None
    }

    fn product(&mut self, op: &ProductOp, args: &[Value], result: Option<Value>) -> Option<Data> {
        Some(Data::Tile(match op {
            ProductOp::Dot(factors) => self.dot(args, *factors, target(result)),
            ProductOp::Wgmma { sparse } => self.wgmma(*sparse, args, target(result)),
            ProductOp::WgmmaWait(pending) => self.wgmma_wait(*pending, args[0]),
            ProductOp::Tcgen05(op) => {
                self.tcgen05(*op, args);
                return None;
            }
        }))
    }

    /// The layout of a tile.
    fn layout(&self, value: Value) -> &Layout {
        self.layouts.get(value).expect("layout inference gives every tile a layout")
    }

    /// A scalar.
    fn scalar(&self, value: Value) -> Val {
        match &self.values[value] {
            Data::Scalar(value) => *value,
            Data::Tile(_) | Data::Window(_) => {
                unreachable!("ir::verify rejects what is not a scalar here")
            }
        }
    }

    /// The registers of a tile.
    fn tile(&self, value: Value) -> &[Val] {
        match &self.values[value] {
            Data::Tile(registers) => registers,
            Data::Scalar(_) | Data::Window(_) => {
                unreachable!("ir::verify rejects what is not a tile here")
            }
        }
    }

    /// Gives operands the registers of halves that are in words only, and returns what they were: outside of a branch, what it
    /// takes out is not there.
    fn take_halves(&mut self, args: &[Value]) -> Vec<(Value, Data)> {
        let mut kept = Vec::new();
        for &arg in args {
            let Some(Data::Tile(values)) = self.values.get(arg) else { continue };
            if values.iter().any(|value| self.e.word_to_come(*value).is_some()) {
                let values = values.clone();
                kept.push((arg, Data::Tile(values.clone())));
                let taken = values.into_iter().map(|value| self.e.half_at_last(value)).collect();
                self.values.insert(arg, Data::Tile(taken));
            }
        }
        kept
    }

    /// The byte offset of a shared window.
    fn window(&self, value: Value) -> Val {
        match &self.values[value] {
            Data::Window(offset) => *offset,
            Data::Scalar(_) | Data::Tile(_) => {
                unreachable!("ir::verify rejects what is not shared memory here")
            }
        }
    }

    /// The element type of a scalar or a tile.
    fn elem(&self, value: Value) -> Elem {
        self.kernel.ty(value).elem().expect("ir::verify rejects what has no elements here")
    }

    fn constant(&self, value: crate::ir::Const, result: Value) -> Val {
        match self.elem(result) {
            Elem::Number(dtype) => scalar::constant(value, dtype),
            Elem::Ptr(_) => scalar::constant(value, crate::ir::Dtype::U64),
        }
    }

    /// Stops the kernel, with what is wrong then, if the condition fails.
    fn assert(&mut self, condition: Value, says: &str) {
        let conditions = match &self.values[condition] {
            Data::Scalar(value) => vec![*value],
            Data::Tile(values) => values.clone(),
            Data::Window(_) => unreachable!("ir::verify rejects an assertion on shared memory"),
        };
        let holds = conditions
            .into_iter()
            .fold(Val::Int(1), |all, one| self.e.and(kernel_ptx::Type::Pred, all, one));
        match holds {
            Val::Int(1) => {}
            Val::Reg(_) | Val::Int(_) | Val::F32(_) | Val::F64(_) => {
                self.e.trap_unless(holds, says);
            }
        }
    }

    /// The address of shared memory's first byte.
    fn shared_base(&mut self) -> Val {
        let symbol = Operand::Symbol(Symbol::Global(0), 0);
        self.e.pure_of(
            Opcode::Mov,
            emitter::mods![kernel_ptx::Type::U32],
            kernel_ptx::Type::B32,
            symbol,
            Val::Int(-1),
        )
    }
}

fn target(result: Option<Value>) -> Value {
    result.expect("ir::verify rejects an operation without its result")
}

/// Whether a `wgmma` product has an accumulator of `f16`.
fn sums_in_halves(kernel: &Kernel) -> bool {
    let halves = Some(Elem::Number(crate::ir::Dtype::F16));
    kernel.body.any_op(&mut |op, args| {
        matches!(op, Op::Product(ProductOp::Wgmma { .. })) && kernel.ty(args[2]).elem() == halves
    })
}
