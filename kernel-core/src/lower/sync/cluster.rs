//! Clusters, and the order between grids (PTX ISA, "barrier.cluster", "clusterlaunchcontrol", "griddepcontrol").

use kernel_ptx::{Guard, Instruction, Opcode, Operand, Reg, Space, SpecialRegister, Type, Word};

use crate::ir::{ClusterOp, GridOp, Value};
use crate::lower::emitter::{Meets, Val, mods};
use crate::lower::{Data, Lower};

impl Lower<'_> {
    pub(crate) fn cluster(&mut self, op: ClusterOp, args: &[Value]) -> Option<Data> {
        let axis = |axis: u32, of: [SpecialRegister; 3]| of[axis as usize];
        match op {
            ClusterOp::Rank => Some(Data::Scalar(self.cluster_rank())),
            ClusterOp::BlockId(at) => Some(Data::Scalar(self.e.special(axis(
                at,
                [
                    SpecialRegister::ClusterCtaidX,
                    SpecialRegister::ClusterCtaidY,
                    SpecialRegister::ClusterCtaidZ,
                ],
            )))),
            ClusterOp::Id(at) => Some(Data::Scalar(self.e.special(axis(
                at,
                [
                    SpecialRegister::ClusteridX,
                    SpecialRegister::ClusteridY,
                    SpecialRegister::ClusteridZ,
                ],
            )))),
            ClusterOp::Sync => {
                self.cluster_sync();
                None
            }
            ClusterOp::Arrive => {
                self.cluster_arrive(Meets::Nobody);
                None
            }
            ClusterOp::Wait => {
                self.cluster_wait(Meets::Nobody);
                None
            }
            ClusterOp::TryCancel => {
                self.try_cancel(args[0], args[1]);
                None
            }
            ClusterOp::IsCanceled => {
                let answer = self.canceled(args[0]);
                Some(Data::Scalar(Val::Reg(self.is_canceled(answer))))
            }
            ClusterOp::CanceledBlockId(at) => {
                let within = self.cluster_place(at);
                Some(Data::Scalar(self.canceled_block_id(args[0], at, within)))
            }
        }
    }

    /// One thread of the first block requests a cluster that has not begun; all blocks get the answer, whose bytes count on a barrier.
    fn try_cancel(&mut self, answer: Value, barrier: Value) {
        let mut asks = self.e.first_of(self.e.threads - 1);
        let mut modifiers =
            mods![Word::TryCancel, Word::Async, Word::SharedCta, Word::MbarrierCompleteTxBytes]
                .to_vec();
        if self.kernel.cluster != [1; 3] {
            let rank = self.cluster_rank();
            let first = self.e.compare(Word::Eq, Type::S32, rank, Val::Int(0));
            asks = self.e.and(Type::Pred, asks, first);
            modifiers.push(Word::MulticastClusterAll.into());
        }
        modifiers.push(Type::B128.into());
        let guard = self.e.guard(asks);
        let to = self.window_address(answer, 0);
        let barrier = self.barrier_address(barrier);
        self.e.effect_if(guard, Opcode::Clusterlaunchcontrol, &modifiers, [to, barrier]);
    }

    /// Reads an answer. The next one is written through another proxy than threads read, and a fence orders them (PTX ISA, "Proxies").
    fn canceled(&mut self, answer: Value) -> Reg {
        let address = self.window_address(answer, 0);
        let read = self.e.fresh(Type::B128);
        let load = mods![Space::Shared, Type::B128];
        self.e.push(Instruction::new(Opcode::Ld, load, vec![Operand::Reg(read), address]), 1, true);
        self.e.effect(Opcode::Fence, mods![Word::Proxy, Word::Async, Word::SharedCta], []);
        read
    }

    fn is_canceled(&mut self, answer: Reg) -> Reg {
        let is = self.e.fresh(Type::Pred);
        let query = mods![Word::QueryCancel, Word::IsCanceled, Type::Pred, Type::B128];
        let operands = vec![Operand::Reg(is), Operand::Reg(answer)];
        self.e.push(Instruction::new(Opcode::Clusterlaunchcontrol, query, operands), 1, true);
        is
    }

    /// The coordinate of the block that was taken over; of no cluster there is none, and the instruction is not executed (PTX ISA,
    /// "`clusterlaunchcontrol.query_cancel`").
    fn canceled_block_id(&mut self, answer: Value, axis: u32, within: Val) -> Val {
        let answer = self.canceled(answer);
        let is = self.is_canceled(answer);
        let first = self.e.fresh(Type::B32);
        self.e.assign(first, Val::Int(0));
        let word = [Word::GetFirstCtaidX, Word::GetFirstCtaidY, Word::GetFirstCtaidZ];
        let query = mods![Word::QueryCancel, word[axis as usize], Type::B32, Type::B128];
        let operands = vec![Operand::Reg(first), Operand::Reg(answer)];
        let mut inst = Instruction::new(Opcode::Clusterlaunchcontrol, query, operands);
        inst.guard = Some(Guard { predicate: is, negated: false });
        self.e.push(inst, 1, true);
        let id = self.e.add(Type::S32, Val::Reg(first), within);
        let none = Val::Int(0);
        self.e.select(Type::B32, Val::Reg(is), id, none)
    }

    /// The coordinate of this block in its cluster.
    fn cluster_place(&mut self, axis: u32) -> Val {
        let at = [
            SpecialRegister::ClusterCtaidX,
            SpecialRegister::ClusterCtaidY,
            SpecialRegister::ClusterCtaidZ,
        ][axis as usize];
        if self.kernel.cluster[axis as usize] == 1 { Val::Int(0) } else { self.e.special(at) }
    }

    /// Every thread of the cluster waits for the others.
    pub(crate) fn cluster_sync(&mut self) {
        self.cluster_arrive(Meets::Cluster);
        self.cluster_wait(Meets::ClusterWait);
    }

    fn cluster_arrive(&mut self, meets: Meets) {
        let arrive = mods![Word::Cluster, Word::Arrive, Word::Release, Word::Aligned];
        self.e.meeting(Instruction::new(Opcode::Barrier, arrive, []), 0, meets);
    }

    fn cluster_wait(&mut self, meets: Meets) {
        let wait = mods![Word::Cluster, Word::Wait, Word::Acquire, Word::Aligned];
        self.e.meeting(Instruction::new(Opcode::Barrier, wait, []), 0, meets);
        self.plan.busy = 0;
    }

    /// The order between grids.
    pub(crate) fn grid_order(&mut self, op: GridOp) {
        let word = match op {
            GridOp::LaunchDependents => Word::LaunchDependents,
            GridOp::Wait => Word::Wait,
        };
        self.e.effect(Opcode::Griddepcontrol, mods![word], []);
    }
}
