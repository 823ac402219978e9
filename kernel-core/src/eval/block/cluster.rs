//! The blocks of a cluster, as operations name them.

use super::Machine;
use crate::eval::Fault;
use crate::eval::element::{Data, Element};
use crate::eval::world::BarrierPlace;
use crate::ir::{ClusterOp, Value};

impl Machine<'_> {
    pub(super) fn cluster(&mut self, op: ClusterOp, args: &[Value]) -> Result<Option<Data>, Fault> {
        let (block, cluster) = (self.block, self.kernel.cluster);
        let int = |value: u32| Ok(Some(Data::Scalar(Element::Int(value.into()))));
        match op {
            ClusterOp::Rank => {
                let rank = u32::try_from(self.rank).expect("clusters are small");
                return int(rank);
            }
            ClusterOp::BlockId(axis) => {
                return int(block[axis as usize] % cluster[axis as usize]);
            }
            ClusterOp::Id(axis) => return int(block[axis as usize] / cluster[axis as usize]),
            ClusterOp::Sync => {
                self.world.arrive(self.rank);
                let rank = self.rank;
                self.wait(|world| world.have_arrived(rank))?;
            }
            ClusterOp::Arrive => self.world.arrive(self.rank),
            ClusterOp::Wait => {
                let rank = self.rank;
                self.wait(|world| world.have_arrived(rank))?;
            }
            ClusterOp::TryCancel => self.try_cancel(args),
            ClusterOp::IsCanceled => {
                let answer = self.read_shared(args[0]);
                return Ok(Some(Data::Scalar(Element::Bool(answer[3].as_int()? != 0))));
            }
            ClusterOp::CanceledBlockId(axis) => {
                let answer = self.read_shared(args[0]);
                let first = answer[axis as usize].as_int()?;
                let within = if answer[3].as_int()? == 0 {
                    0
                } else {
                    block[axis as usize] % cluster[axis as usize]
                };
                return Ok(Some(Data::Scalar(Element::Int(first + i128::from(within)))));
            }
        }
        Ok(None)
    }

    /// The first block of a cluster has the next one that has not begun not begin. The answer: its first block, and whether there is one.
    fn try_cancel(&mut self, args: &[Value]) {
        if self.rank != 0 {
            return;
        }
        let clusters = super::super::clusters(self.kernel, self.grid);
        let taken = clusters.get(self.world.begun);
        let first = taken.copied().unwrap_or_default();
        self.world.begun += usize::from(taken.is_some());
        let mut answer: Vec<Element> =
            first.iter().map(|&at| Element::Int(i128::from(at))).collect();
        answer.push(Element::Int(i128::from(taken.is_some())));
        for rank in 0..self.world.blocks.len() {
            self.write_shared_of(rank, args[0], answer.clone());
            let place = BarrierPlace { rank, ..self.barrier_place(args[1]) };
            self.world.complete(place, 0, 16);
        }
    }

    /// A rank that a block of the cluster has.
    pub(super) fn rank_of(&self, value: Value) -> Result<usize, Fault> {
        let (actual, blocks) = (self.int(value)?, self.world.blocks.len());
        usize::try_from(actual)
            .ok()
            .filter(|&rank| rank < blocks)
            .ok_or(Fault::ClusterRank { actual, blocks })
    }

    /// The blocks whose bits are set in the mask of a multicast; without one, this block.
    pub(super) fn receivers(&self, mask: Option<Value>) -> Result<Vec<usize>, Fault> {
        let Some(mask) = mask else { return Ok(vec![self.rank]) };
        let (mask, blocks) = (self.int(mask)?, self.world.blocks.len());
        if mask >> blocks != 0 {
            return Err(Fault::ClusterRank { actual: mask.ilog2().into(), blocks });
        }
        Ok((0..blocks).filter(|rank| mask >> rank & 1 == 1).collect())
    }
}
