//! Mbarriers, and named barriers.

use super::Machine;
use crate::eval::Fault;
use crate::eval::element::{Data, Element};
use crate::eval::world::{BarrierPlace, Stopped};
use crate::ir::{BarrierOp, Named, NamedOp, Value};

impl Machine<'_> {
    pub(super) fn barrier(&mut self, op: BarrierOp, args: &[Value]) -> Result<Option<Data>, Fault> {
        let parity = |machine: &Self| Ok(machine.int(args[1])? & 1 == 1);
        match op {
            BarrierOp::Alloc(root) => {
                Ok(Some(Data::Barrier(BarrierPlace { rank: self.rank, root, index: 0 })))
            }
            BarrierOp::Index => {
                let (place, actual) = (self.barrier_place(args[0]), self.int(args[1])?);
                let ring = self.world.ring(place);
                let index = usize::try_from(actual).ok().filter(|&index| index < ring).ok_or_else(
                    || {
                        let extent = u32::try_from(ring).expect("rings are short");
                        Fault::SharedIndex { actual, extent }
                    },
                )?;
                Ok(Some(Data::Barrier(BarrierPlace { index, ..place })))
            }
            BarrierOp::Remote => {
                let (place, rank) = (self.barrier_place(args[0]), self.rank_of(args[1])?);
                Ok(Some(Data::Barrier(BarrierPlace { rank, ..place })))
            }
            BarrierOp::Expect => {
                let bytes = i64::try_from(self.int(args[1])?).expect("an i32");
                // Announced before the arrival, which could end the phase.
                self.world.complete(self.barrier_place(args[0]), 0, -bytes);
                self.world.complete(self.barrier_place(args[0]), 1, 0);
                Ok(None)
            }
            BarrierOp::Arrive(_) => {
                self.world.complete(self.barrier_place(args[0]), 1, 0);
                Ok(None)
            }
            BarrierOp::Wait => {
                let (place, parity) = (self.barrier_place(args[0]), parity(self)?);
                self.wait(|world| world.is_over(place, parity))?;
                Ok(None)
            }
            BarrierOp::Test => {
                let (place, parity) = (self.barrier_place(args[0]), parity(self)?);
                if !self.world.is_over(place, parity) {
                    self.pass(Stopped::Asks)?;
                }
                Ok(Some(Data::Scalar(Element::Bool(self.world.is_over(place, parity)))))
            }
        }
    }

    pub(super) fn named(&mut self, op: NamedOp, named: Named) -> Result<(), Fault> {
        let (rank, counts) = (self.rank, self.kernel.named[named].warps);
        let all = self.world.come(rank, named, self.warps, counts);
        match op {
            NamedOp::Arrive => Ok(()),
            NamedOp::Sync => self.wait(|world| world.have_come(rank, named, all)),
        }
    }
}
