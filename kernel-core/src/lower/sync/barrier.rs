//! Mbarriers (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").
//!
//! When a partition arrives, each of its warps arrives, after its own lanes have reached the place, so no warp waits for
//! another one. The hardware's counts are therefore those of the kernel times the warps of the largest partition that arrives; a
//! smaller partition's warps, and the one thread of an `expect`, arrive several times.

use kernel_ptx::{Instruction, Modifier, Opcode, Operand, SpecialRegister, Type, Word};
use la_arena::ArenaMap;

use crate::ir::{BarrierOp, Barriers, Kernel, MemoryOrder, Op, Region, StmtKind, SyncOp, Value};
use crate::lower::emitter::{Emitter, Meets, Val, mods};
use crate::lower::{Data, Lower};

/// The bytes of an mbarrier (PTX ISA, "Size and alignment of mbarrier object").
pub(crate) const BARRIER_BYTES: u32 = 8;
/// All lanes of a warp.
pub(crate) const ALL_LANES: Operand = Operand::Int(0xffff_ffff);

/// How many warps arrive for one arrival of each allocation of mbarriers.
pub(crate) fn weights(kernel: &Kernel) -> ArenaMap<Barriers, u32> {
    fn visit(kernel: &Kernel, region: &Region, warps: u32, weights: &mut ArenaMap<Barriers, u32>) {
        for stmt in &region.stmts {
            if let StmtKind::Op {
                op: Op::Sync(SyncOp::Barrier(BarrierOp::Arrive(_))), args, ..
            } = &stmt.kind
                && let crate::ir::Type::Barrier(barrier) = kernel.ty(args[0])
            {
                let weight = weights.entry(barrier.root).or_insert(1);
                *weight = (*weight).max(warps);
            }
            for (inner, warps) in stmt.kind.regions_with_warps(warps) {
                visit(kernel, inner, warps, weights);
            }
        }
    }
    let mut weights = ArenaMap::default();
    visit(kernel, &kernel.body, kernel.warps, &mut weights);
    weights
}

impl Emitter {
    /// The lanes of a warp wait for each other.
    pub(crate) fn sync_warp(&mut self) {
        self.push(warp_sync(), 0, true);
    }
}

/// The lanes of a warp wait for each other.
pub(crate) fn warp_sync() -> Instruction {
    Instruction::new(Opcode::Bar, mods![Word::Warp, Word::Sync], [ALL_LANES])
}

impl Lower<'_> {
    /// One of the kernel's own threads makes every mbarrier; then they all know them.
    pub(crate) fn init_barriers(&mut self) {
        self.allocate_tensor_memory();
        if self.kernel.barriers.is_empty() {
            if self.kernel.meets_first() {
                self.cluster_sync();
            } else if self.has_tensor_memory() {
                self.barrier();
            }
            self.find_tensor_memory();
            return;
        }
        let first = self.e.first_of(self.e.threads - 1);
        let guard = self.e.guard(first);
        for (root, data) in self.kernel.barriers.iter() {
            let count = i128::from(data.count * self.weight(root));
            for index in 0..data.ring.unwrap_or(1) {
                let address = self.barrier_at(root, Val::Int(i64::from(index * BARRIER_BYTES)));
                let modifiers = mods![Word::Init, Word::SharedCta, Type::B64];
                self.e.effect_if(
                    guard,
                    Opcode::Mbarrier,
                    modifiers,
                    [address, Operand::Int(count)],
                );
            }
        }
        let fence = mods![Word::MbarrierInit, Word::Release, Word::Cluster];
        self.e.effect_if(guard, Opcode::Fence, fence, []);
        if self.kernel.cluster == [1; 3] {
            self.barrier();
        } else {
            self.cluster_sync();
        }
        self.find_tensor_memory();
    }

    fn weight(&self, root: Barriers) -> u32 {
        self.weights.get(root).copied().unwrap_or(1)
    }

    /// The address of what is `offset` bytes into an allocation of mbarriers.
    fn barrier_at(&mut self, root: Barriers, offset: Val) -> Operand {
        let start = i64::from(self.plan.barrier_start(root));
        let base = self.shared_base();
        let (dynamic, known) = match offset {
            Val::Int(known) => (Val::Int(0), known),
            Val::Reg(_) | Val::F32(_) | Val::F64(_) => (offset, 0),
        };
        let address = self.e.add(Type::U32, base, dynamic);
        self.e.at(address, start + known)
    }

    /// The address of one mbarrier, in this block or another one.
    pub(crate) fn barrier_address(&mut self, barrier: Value) -> Operand {
        let offset = self.window(barrier);
        let ty = self.barrier_type(barrier);
        if ty.remote { self.e.at(offset, 0) } else { self.barrier_at(ty.root, offset) }
    }

    fn barrier_type(&self, barrier: Value) -> crate::ir::BarrierType {
        *self.kernel.ty(barrier).barrier().expect("ir::verify rejects what is not a barrier here")
    }

    pub(crate) fn barrier_op(
        &mut self,
        op: BarrierOp,
        args: &[Value],
        result: Option<Value>,
    ) -> Option<Data> {
        match op {
            BarrierOp::Alloc(_) => Some(Data::Window(Val::Int(0))),
            BarrierOp::Index => {
                let index = self.scalar(args[1]);
                let size = Val::Int(i64::from(BARRIER_BYTES));
                Some(Data::Window(self.e.mul(Type::S32, index, size)))
            }
            BarrierOp::Remote => {
                let rank = self.scalar(args[1]);
                let local = self.barrier_address(args[0]);
                Some(Data::Window(self.mapped(&local, rank)))
            }
            BarrierOp::Expect => {
                self.expect(args[0], args[1]);
                None
            }
            BarrierOp::Arrive(order) => {
                self.arrive(args[0], order);
                None
            }
            BarrierOp::Wait => {
                self.wait(args[0], args[1]);
                None
            }
            BarrierOp::Test => {
                let (address, parity) = (self.barrier_address(args[0]), self.scalar(args[1]));
                let tried = self.tried((args[0], address), parity.operand());
                let all = self.all_hold(Val::Reg(tried));
                result.map(|_| Data::Scalar(all))
            }
        }
    }

    /// The modifiers of an arrival: where the mbarrier is, and, if it matters, that another block sees what comes before.
    ///
    /// Otherwise only threads of the own block do (PTX ISA, "mbarrier.arrive": `.sem`, `.scope`), which is quicker: it waits for
    /// nothing.
    fn arrival(&self, barrier: Value, words: &[Word], order: MemoryOrder) -> Vec<Modifier> {
        let mut modifiers: Vec<Modifier> = words.iter().map(|&word| word.into()).collect();
        if self.barrier_type(barrier).remote {
            if self.orders_others && order.releases() {
                modifiers.extend(mods![Word::Release, Word::Cluster]);
            }
            modifiers.extend(mods![Word::SharedCluster, Type::B64]);
        } else {
            modifiers.extend(mods![Word::SharedCta, Type::B64]);
        }
        modifiers
    }

    /// One thread says how many bytes are to come, and arrives for its partition.
    fn expect(&mut self, barrier: Value, bytes: Value) {
        let first = self.e.first_of(self.e.threads - 1);
        let guard = self.e.guard(first);
        let address = self.barrier_address(barrier);
        let bytes = self.scalar(bytes).operand();
        let order = MemoryOrder::Release;
        let expect = self.arrival(barrier, &[Word::Arrive, Word::ExpectTx], order);
        self.e.effect_if(guard, Opcode::Mbarrier, &expect, [Operand::Sink, address.clone(), bytes]);
        self.arrive_for_the_rest(barrier, guard, address);
    }

    /// How many warps arrive for one arrival at a barrier.
    pub(crate) fn weight_of(&self, barrier: Value) -> u32 {
        self.weight(self.barrier_type(barrier).root)
    }

    /// What one thread does for its partition is one arrival; if partitions arrive warp by warp, it makes up for the others.
    pub(crate) fn arrive_for_the_rest(
        &mut self,
        barrier: Value,
        guard: Option<kernel_ptx::Guard>,
        address: Operand,
    ) {
        let weight = self.weight_of(barrier);
        if weight > 1 {
            let rest = Operand::Int(i128::from(weight - 1));
            let arrive = self.arrival(barrier, &[Word::Arrive], MemoryOrder::Release);
            self.e.effect_if(guard, Opcode::Mbarrier, &arrive, [Operand::Sink, address, rest]);
        }
    }

    /// Each warp arrives for itself.
    fn arrive(&mut self, barrier: Value, order: MemoryOrder) {
        let warps = self.e.threads / 32;
        let count = self.weight_of(barrier) / warps;
        // What the other lanes have read and written comes before.
        self.e.sync_warp();
        let first = self.e.first_of(31);
        let guard = self.e.guard(first);
        let address = self.barrier_address(barrier);
        let mut operands = vec![Operand::Sink, address];
        if count > 1 {
            operands.push(Operand::Int(i128::from(count)));
        }
        let arrive = self.arrival(barrier, &[Word::Arrive], order);
        self.e.effect_if(guard, Opcode::Mbarrier, &arrive, operands);
    }

    /// Tries until the phase has ended.
    fn wait(&mut self, barrier: Value, phase: Value) {
        // Addresses are computed ahead of the loop.
        let (address, parity) = (self.barrier_address(barrier), self.scalar(phase));
        let parity = self.e.reg(parity, Type::B32);
        let again = self.e.label();
        self.e.place_label(again);
        let done = self.tried((barrier, address), Operand::Reg(parity));
        let guard = Some(kernel_ptx::Guard { predicate: done, negated: true });
        self.e.effect_if(guard, Opcode::Bra, &[], [Operand::Label(again)]);
    }

    /// Whether the phase has ended, or ends while the hardware lets the thread wait.
    fn tried(&mut self, (barrier, address): (Value, Operand), parity: Operand) -> kernel_ptx::Reg {
        let done = self.e.fresh(Type::Pred);
        let mut modifiers = mods![Word::TryWait, Word::Parity].to_vec();
        let root = self.barrier_type(barrier).root;
        let ordered = self.orders_others && self.kernel.acquires_of_others(root);
        if ordered || self.kernel.is_sent_to(root) {
            // What other blocks have written is seen after it.
            modifiers.extend(mods![Word::Acquire, Word::Cluster]);
        }
        modifiers.extend(mods![Word::SharedCta, Type::B64]);
        let operands = [Operand::Reg(done), address, parity];
        self.e.push(Instruction::new(Opcode::Mbarrier, modifiers, operands), 1, true);
        done
    }

    /// Whether a predicate holds in every thread of the partition.
    fn all_hold(&mut self, predicate: Val) -> Val {
        let predicate = self.e.reg(predicate, Type::Pred);
        let all = self.e.fresh(Type::Pred);
        let (inst, meets) = if let Some(barrier) = self.crew.barrier() {
            let mut operands = vec![Operand::Reg(all)];
            operands.extend(barrier);
            operands.push(Operand::Reg(predicate));
            let modifiers = mods![Word::Red, Word::And, Type::Pred];
            (Instruction::new(Opcode::Bar, modifiers, operands), Meets::CrewAndMore)
        } else {
            let operands = [Operand::Reg(all), Operand::Reg(predicate), ALL_LANES];
            let modifiers = mods![Word::Sync, Word::All, Type::Pred];
            (Instruction::new(Opcode::Vote, modifiers, operands), Meets::Nobody)
        };
        self.e.meeting(inst, 1, meets);
        self.plan.busy = 0;
        Val::Reg(all)
    }

    /// The address, in the window of the cluster, of what another block has at the same place.
    pub(crate) fn mapped(&mut self, local: &Operand, rank: Val) -> Val {
        let &Operand::Address { base: kernel_ptx::Base::Reg(base), offset } = local else {
            unreachable!("addresses in shared memory are a register and a constant")
        };
        let local = self.e.add(Type::U32, Val::Reg(base), Val::Int(offset));
        let local = Val::Reg(self.e.reg(local, Type::B32));
        self.e.pure(Opcode::Mapa, mods![Word::SharedCluster, Type::U32], Type::B32, &[local, rank])
    }

    /// The rank of this block in its cluster.
    pub(crate) fn cluster_rank(&mut self) -> Val {
        self.e.special(SpecialRegister::ClusterCtarank)
    }
}
