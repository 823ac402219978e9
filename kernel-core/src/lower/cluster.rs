//! Clusters, and the order between grids (PTX ISA, "barrier.cluster", "griddepcontrol").

use kernel_ptx::{Opcode, SpecialRegister, Word};

use super::emitter::mods;
use super::{Data, Lower};
use crate::ir::{ClusterOp, GridOp};

impl Lower<'_> {
    pub(super) fn cluster(&mut self, op: ClusterOp) -> Option<Data> {
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
                self.cluster_arrive();
                None
            }
            ClusterOp::Wait => {
                self.cluster_wait();
                None
            }
        }
    }

    /// Every thread of the cluster waits for the others.
    pub(super) fn cluster_sync(&mut self) {
        self.cluster_arrive();
        self.cluster_wait();
    }

    fn cluster_arrive(&mut self) {
        let arrive = mods![Word::Cluster, Word::Arrive, Word::Release, Word::Aligned];
        self.e.effect(Opcode::Barrier, arrive, []);
    }

    fn cluster_wait(&mut self) {
        let wait = mods![Word::Cluster, Word::Wait, Word::Acquire, Word::Aligned];
        self.e.effect(Opcode::Barrier, wait, []);
        self.plan.busy = 0;
    }

    /// The order between grids.
    pub(super) fn grid_order(&mut self, op: GridOp) {
        let word = match op {
            GridOp::LaunchDependents => Word::LaunchDependents,
            GridOp::Wait => Word::Wait,
        };
        self.e.effect(Opcode::Griddepcontrol, mods![word], []);
    }
}
