//! TMA copies, issued by one thread (PTX ISA, "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor").

use kernel_ptx::{Base, Modifier, Opcode, Operand, Param, Space, Symbol, Type, Word};

use super::bulk::CopyInstruction;
use crate::ir::{Evict, StoreWait, Tma, TmaKind, TmaOperands, Value};
use crate::layouts::tma::{FAR_OUTSIDE, MapCoordinate, MapExtent, Planning, TensorMap, TmaPlan};
use crate::lower::Lower;
use crate::lower::emitter::{Val, mods};

/// Bytes of a tensor map (CUDA driver API, `CUtensorMap`).
const MAP_BYTES: u64 = 128;
/// What a tensor map's address is a multiple of.
const MAP_ALIGNMENT: u32 = 64;

/// The cache policies that `createpolicy.fractional` makes of all of an access: evicted first, last.
const EVICT_FIRST: i64 = 0x12F0_0000_0000_0000;
const EVICT_LAST: i64 = 0x14F0_0000_0000_0000;

impl Lower<'_> {
    pub(crate) fn tma(&mut self, tma: Tma, args: &[Value]) {
        if tma.kind.by_rows() {
            return self.by_rows(tma, args);
        }
        if self.kernel.has_filter(tma.param) {
            return self.by_places(tma, args);
        }
        let rank = match self.kernel.params[tma.param as usize].kind {
            crate::ir::ParamKind::Tensor { rank, .. } => rank as usize,
            crate::ir::ParamKind::Pointer(_) | crate::ir::ParamKind::Scalar(_) => {
                unreachable!("ir::verify requires a tensor here")
            }
        };
        let operands = tma.operands(rank, args);
        let planning =
            Planning { kernel: self.kernel, known: self.facts.known(), layouts: self.plan.layouts };
        let plan = planning.plan(tma, args).expect("layouts::boxes has refused what has no plan");
        let map = self.map_address(&plan.map);
        let nowhere = (!plan.ends.is_empty()).then(|| self.map_address(&plan.map.of_no_element()));
        let mut corner: Vec<Val> = operands.coordinates.iter().map(|&at| self.scalar(at)).collect();
        let ends = self.in_slice(&plan, &operands, &mut corner);
        let first = self.e.first_of(self.e.threads - 1);
        let condition = operands.condition.map_or(Val::Int(1), |value| self.scalar(value));
        let issues = self.e.and(Type::Pred, first, condition);
        if issues == Val::Int(0) {
            return;
        }
        let dim = [Word::D1, Word::D2, Word::D3, Word::D4, Word::D5][plan.map.dims.len() - 1];
        let copy = self.tma_instruction(tma, dim, &operands, issues);
        for one in &plan.boxes {
            let at = one.at.iter().map(|&at| self.coordinate(&corner, at));
            let mut at: Vec<Val> = at.collect();
            at.extend(&ends);
            let mut base = map;
            if let Some(nowhere) = nowhere {
                let reaches = self.reaches(&plan.map, &at);
                at[0] = self.e.select(Type::B32, reaches, at[0], Val::Int(FAR_OUTSIDE.into()));
                let of = self.e.select(Type::B64, reaches, Val::Reg(map), Val::Reg(nowhere));
                base = self.e.reg(of, Type::B64);
            }
            let at = at.into_iter().map(|at| Operand::Reg(self.e.reg(at, Type::B32)));
            let lists = vec![at.collect()];
            let tensor = Operand::TensorAddress { base: Base::Reg(base), offset: 0, lists };
            let shared =
                operands.window.map(|window| self.window_address(window, one.offset_bytes));
            self.issue_tma(tma, &copy, shared, tensor);
        }
        if tma.kind.reads_shared() {
            self.commit_stores(condition);
        }
    }

    /// Turns positions in a slice into coordinates of its map, see `layouts::tma::slice`; gives those of the dimensions for its ends.
    ///
    /// No position reaches memory outside of the slice, not even one before it or one that has wrapped around.
    fn in_slice(
        &mut self,
        plan: &TmaPlan,
        operands: &TmaOperands<Value>,
        corner: &mut [Val],
    ) -> Vec<Val> {
        let mut ends = Vec::new();
        for &(axis, bounds) in &operands.slice {
            let ([first, end], at) = (bounds.map(|bound| self.scalar(bound)), corner[axis]);
            let elements = plan.map.dims.iter().find_map(|dim| match dim.extent {
                MapExtent::Tile { axis: of, elements } if of as usize == axis => Some(elements),
                MapExtent::Axis { .. }
                | MapExtent::Const(_)
                | MapExtent::Tile { .. }
                | MapExtent::Ends { .. } => None,
            });
            let Some(elements) = elements else {
                let index = self.e.sub(Type::S32, at, first);
                let extent = self.e.sub(Type::S32, end, first);
                // Before the slice counts as huge.
                let inside = self.e.compare(Word::Lt, Type::U32, index, extent);
                let outside = Val::Int(FAR_OUTSIDE.into());
                corner[axis] = self.e.select(Type::B32, inside, at, outside);
                continue;
            };
            let elements = Val::Int(elements.into());
            // A negative position counts as huge, so that nothing is left.
            let at = self.e.extreme(Opcode::Min, Type::U32, at, end);
            let rest = self.e.sub(Type::S32, end, at);
            let left = self.e.extreme(Opcode::Min, Type::S32, rest, elements);
            corner[axis] = self.e.sub(Type::S32, elements, left);
            ends.push(self.e.add(Type::S32, at, left));
        }
        ends
    }

    /// Whether a box has an element that is in the extents of its map.
    fn reaches(&mut self, map: &TensorMap, at: &[Val]) -> Val {
        let mut reaches = Val::Int(1);
        for (index, (dim, &at)) in map.dims.iter().zip(at).enumerate() {
            let extent = match dim.extent {
                MapExtent::Axis { axis, divide } => {
                    let extent = self.param_dim(map.param, axis);
                    let numbers = if index == 0 { map.element().1 } else { 1 };
                    let extent = self.e.shl(Type::S32, extent, numbers.ilog2());
                    self.e.shr(Type::U32, extent, divide.ilog2())
                }
                MapExtent::Const(extent) => {
                    Val::Int(i64::try_from(extent).expect("an extent is at most 2^32"))
                }
                MapExtent::Tile { elements, .. } => Val::Int(elements.into()),
                MapExtent::Ends { axis, .. } => {
                    let extent = self.param_dim(map.param, axis);
                    self.e.add(Type::S32, extent, Val::Int(1))
                }
            };
            let last = (dim.box_elems - 1) / dim.element_stride * dim.element_stride;
            let [at, end] =
                [at, extent].map(|value| self.e.add(Type::S32, value, Val::Int(last.into())));
            // What ends before the first element counts as huge.
            let inside = self.e.compare(Word::Lt, Type::U32, at, end);
            reaches = self.e.and(Type::Pred, reaches, inside);
        }
        reaches
    }

    /// The instructions of a TMA copy whose tensor map has `dim` dimensions.
    pub(crate) fn tma_instruction(
        &mut self,
        tma: Tma,
        dim: Word,
        operands: &TmaOperands<Value>,
        issues: Val,
    ) -> CopyInstruction {
        let barrier = operands.barrier.map(|barrier| self.barrier_address(barrier));
        let beside = operands.barrier.and_then(|barrier| self.beside(barrier));
        let box_ = if self.kernel.has_filter(tma.param) { Word::Im2col } else { Word::Tile };
        let modifiers = modifiers(tma.kind, dim, box_);
        self.copy_instruction((modifiers, beside), barrier, operands.mask, tma.evict, issues)
    }

    /// Issues one of them.
    pub(crate) fn issue_tma(
        &mut self,
        tma: Tma,
        copy: &CopyInstruction,
        shared: Option<Operand>,
        tensor: Operand,
    ) {
        let mut places: Vec<Operand> = shared.into_iter().chain([tensor]).collect();
        if tma.kind.reads_shared() {
            places.reverse();
        }
        self.issue(copy, places);
    }

    /// The threads that have stores in flight: one thread, or one of each warp in kernels that scatter. In those each group
    /// of stores is one in all of these threads, empty if they issued nothing, so that the same number waits for the same stores.
    fn storing(&mut self) -> Val {
        let others = if self.scatters { crate::lower::LANES - 1 } else { self.e.threads - 1 };
        self.e.first_of(others)
    }

    /// Ends the group of the stores that were issued under a condition.
    pub(crate) fn commit_stores(&mut self, condition: Val) {
        let storing = self.storing();
        let commits = self.e.and(Type::Pred, storing, condition);
        let guard = self.e.guard(commits);
        let commit = mods![Word::Async, Word::Bulk, Word::CommitGroup];
        self.e.effect_if(guard, Opcode::Cp, commit, []);
    }

    /// A coordinate of a box, from those of the copy.
    fn coordinate(&mut self, corner: &[Val], at: MapCoordinate) -> Val {
        let start = at.start.map_or(Val::Int(0), |start| {
            let value = corner[start.axis as usize];
            let value = self.e.shl(Type::S32, value, start.log2_times);
            self.e.shr(Type::S32, value, start.log2_divide)
        });
        self.e.add(Type::S32, start, Val::Int(i64::from(at.plus)))
    }

    /// What is reported about a copy that may complete on a barrier of the other block of its pair.
    pub(crate) fn beside(&self, barrier: Value) -> Option<Modifier> {
        let remote = matches!(self.kernel.ty(barrier), crate::ir::Type::Barrier(ty) if ty.remote);
        remote.then(|| Word::CtaGroup2.into())
    }

    /// The blocks of the cluster that receive a copy, as a register of 16 bits.
    pub(crate) fn multicast_mask(&mut self, mask: Value) -> Operand {
        let mask = self.scalar(mask);
        self.in_16_bits(mask)
    }

    /// The low half of a number, as a register.
    pub(crate) fn in_16_bits(&mut self, number: Val) -> Operand {
        let number = Val::Reg(self.e.reg(number, Type::B32));
        self.e.pure(Opcode::Cvt, mods![Type::U16, Type::U32], Type::B16, &[number]).operand()
    }

    /// The register of a cache policy, if one is asked for.
    pub(crate) fn cache_policy(&mut self, evict: Evict) -> Option<Operand> {
        let bits = match evict {
            Evict::Normal => return None,
            Evict::First => EVICT_FIRST,
            Evict::Last => EVICT_LAST,
        };
        Some(Operand::Reg(self.e.reg(Val::Int(bits), Type::B64)))
    }

    /// The address of what is `offset` bytes into a shared window.
    pub(crate) fn window_address(&mut self, window: Value, offset: u32) -> Operand {
        let still = crate::lower::tiles::coords::ThreadMap::new(Vec::new());
        let (value, constant) = self.shared_address(window, &still, offset);
        self.e.at(value, constant)
    }

    /// The generic address of a tensor map, which is a parameter of the entry.
    pub(crate) fn map_address(&mut self, map: &TensorMap) -> kernel_ptx::Reg {
        let index = self.maps.iter().position(|known| known.serves(map)).unwrap_or_else(|| {
            self.maps.push(map.clone());
            self.maps.len() - 1
        });
        self.maps[index].written |= map.written;
        let first = self.params.list.len() - self.params.maps;
        let at = u32::try_from(first + index).expect("few parameters");
        if index == self.params.maps {
            self.params.maps += 1;
            self.params.list.push(Param {
                name: format!("map{index}"),
                space: Space::Param,
                ty: Type::B8,
                align: MAP_ALIGNMENT,
                dims: vec![MAP_BYTES],
                register: None,
            });
        }
        let symbol = Operand::Symbol(Symbol::Param(at), 0);
        let key = Val::Int(i64::from(at));
        let address = self.e.pure_of(Opcode::Mov, mods![Type::B64], Type::B64, symbol, key);
        let generic =
            self.e.pure(Opcode::Cvta, mods![Space::Param, Type::U64], Type::B64, &[address]);
        self.e.reg(generic, Type::B64)
    }

    /// The thread that stores waits until at most `pending` of its stores are in flight; the others wait for it.
    pub(crate) fn tma_wait(&mut self, pending: u32, until: StoreWait) {
        let storing = self.storing();
        let guard = self.e.guard(storing);
        let mut modifiers: Vec<Modifier> = mods![Word::Async, Word::Bulk, Word::WaitGroup].to_vec();
        if until == StoreWait::Read {
            modifiers.push(Word::Read.into());
        }
        let pending = Operand::Int(i128::from(pending));
        self.e.effect_if(guard, Opcode::Cp, &modifiers, [pending]);
        self.barrier();
    }

    /// What every thread has written to shared memory is there for asynchronous operations.
    pub(crate) fn fence_async(&mut self) {
        let mut fence = mods![Word::Proxy, Word::Async].to_vec();
        if !self.kernel.writes_others() {
            fence.push(Word::SharedCta.into());
        }
        self.e.effect(Opcode::Fence, &fence, []);
        self.barrier();
    }
}

fn modifiers(kind: TmaKind, dim: Word, box_: Word) -> Vec<Modifier> {
    let copy: &[Modifier] = mods![Word::Async, Word::Bulk, Word::TensorWord, dim];
    let loads = |mode: Word| {
        let to = mods![Word::SharedCluster, Space::Global, mode, Word::MbarrierCompleteTxBytes];
        [copy, to].concat()
    };
    let stores = |mode: &[Modifier]| {
        [copy, mods![Space::Global, Word::SharedCta], mode, mods![Word::BulkGroup]].concat()
    };
    match kind {
        TmaKind::Load => loads(box_),
        TmaKind::Staged => unreachable!("schedule::pipeline gives every load its barrier"),
        TmaKind::Gather => loads(Word::TileGather4),
        TmaKind::Scatter => stores(mods![Word::TileScatter4]),
        TmaKind::Store => stores(mods![Word::Tile]),
        TmaKind::Reduce(how) => {
            [mods![Word::Reduce], &stores(mods![how.word(), Word::Tile])[..]].concat()
        }
        TmaKind::Prefetch => mods![
            Word::Async,
            Word::Bulk,
            Word::PrefetchWord,
            Word::TensorWord,
            dim,
            Word::L2Word,
            Space::Global,
            box_
        ]
        .to_vec(),
    }
}
