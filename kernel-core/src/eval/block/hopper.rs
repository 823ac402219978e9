//! Mbarriers, TMA copies and asynchronous products, in the order in which they are started.
//!
//! Everything is done when it is started, so a wait for an own copy finds it done. This is the meaning of a program that waits
//! correctly; the emulator finds those that do not.

use super::Machine;
use super::products::{Factor, products};
use crate::eval::element::{Data, Element};
use crate::eval::world::{BarrierPlace, Stopped};
use crate::eval::{Fault, arith, memory};
use crate::ir::{
    BarrierOp, Binary, ClusterOp, Dtype, Named, NamedOp, Tma, TmaKind, TmaOperands, TmaReduce,
    Type, Value,
};

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
            BarrierOp::Arrive => {
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

    pub(super) fn named(&mut self, op: NamedOp, named: Named) -> Result<(), Fault> {
        let (rank, counts) = (self.rank, self.kernel.named[named].warps);
        let all = self.world.come(rank, named, self.warps, counts);
        match op {
            NamedOp::Arrive => Ok(()),
            NamedOp::Sync => self.wait(|world| world.have_come(rank, named, all)),
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

    pub(super) fn tma(&mut self, tma: Tma, args: &[Value]) -> Result<(), Fault> {
        let dtype = self.tensor_dtype(tma.param);
        let rank = memory::tensor(self.world.args, tma.param as usize).0.len();
        let operands = tma.operands(rank, args);
        if let Some(condition) = operands.condition
            && !self.scalar(condition).as_bool()?
        {
            return Ok(());
        }
        let Some(window) = operands.window else { return Ok(()) };
        let block = self.kernel.tma_block(tma.param, self.shape(window));
        match tma.kind {
            TmaKind::Load | TmaKind::Staged => {
                let at = self.offsets(&operands.coordinates)?;
                let tile = self.read_mapped(tma.param, &at, &block)?;
                self.receive(window, &operands, &tile, dtype)
            }
            TmaKind::Store => {
                let at = self.offsets(&operands.coordinates)?;
                begins_inside(&at)?;
                let tile = self.read_shared(window);
                self.write_elements(tma.param, &at, &block, |_, new| Ok(new), &tile)
            }
            TmaKind::Reduce(how) => {
                let at = self.offsets(&operands.coordinates)?;
                begins_inside(&at)?;
                let tile = self.read_shared(window);
                let combine = |old, new| Ok(arith::binary(combined(how), dtype, old, new));
                self.write_elements(tma.param, &at, &block, combine, &tile)
            }
            TmaKind::Prefetch => Ok(()),
            TmaKind::Gather => {
                let mut tile = Vec::new();
                for at in self.row_corners(&operands.coordinates)? {
                    tile.extend(self.read_mapped(tma.param, &at, &block)?);
                }
                self.receive(window, &operands, &tile, dtype)
            }
            TmaKind::Scatter => {
                let tile = self.read_shared(window);
                let columns = tile.len() / self.shape(operands.coordinates[0])[0] as usize;
                let corners = self.row_corners(&operands.coordinates)?;
                for at in &corners {
                    begins_inside(at)?;
                }
                for (at, row) in corners.iter().zip(tile.chunks_exact(columns)) {
                    self.write_elements(tma.param, at, &block, |_, new| Ok(new), row)?;
                }
                Ok(())
            }
        }
    }

    /// A store or a reduction by tensor map does not begin before the tensor; an H200 stops there.
    /// Where the rows of a gather or a scatter begin, one after the other.
    fn row_corners(&self, coordinates: &[Value]) -> Result<Vec<[i128; 2]>, Fault> {
        let column = self.int(coordinates[1])?;
        self.elements(coordinates[0]).iter().map(|row| Ok([row.as_int()?, column])).collect()
    }

    /// A tile arrives in each block that a load goes to, and its bytes at the barrier there; of a load to this block alone, at the one that it names.
    fn receive(
        &mut self,
        window: Value,
        operands: &TmaOperands<Value>,
        tile: &[Element],
        dtype: Dtype,
    ) -> Result<(), Fault> {
        let bytes = i64::try_from(tile.len()).expect("tiles are small") * i64::from(dtype.bytes());
        for rank in self.receivers(operands.mask)? {
            self.write_shared_of(rank, window, tile.to_vec());
            if let Some(barrier) = operands.barrier {
                let named = self.barrier_place(barrier);
                let rank = if operands.mask.is_some() { rank } else { named.rank };
                self.world.complete(BarrierPlace { rank, ..named }, 0, bytes);
            }
        }
        Ok(())
    }

    pub(super) fn wgmma(&self, args: &[Value]) -> Vec<Element> {
        let operand = match self.ty(args[1]) {
            Type::Shared(window) => window.dtype,
            Type::Tile(..)
            | Type::Scalar(_)
            | Type::Barrier(_)
            | Type::TensorMemory(_)
            | Type::Error => {
                unreachable!("ir::verify requires shared memory here")
            }
        };
        let in_shared = if operand == Dtype::F32 { Factor::Cut } else { Factor::Exact };
        // Registers are rounded on the way to the product.
        let in_registers = if operand == Dtype::F32 { Factor::Rounded } else { Factor::Exact };
        let (a, left) = match self.ty(args[0]) {
            Type::Shared(_) => (self.read_shared(args[0]), in_shared),
            Type::Tile(..)
            | Type::Scalar(_)
            | Type::Barrier(_)
            | Type::TensorMemory(_)
            | Type::Error => (self.elements(args[0]).to_vec(), in_registers),
        };
        let b = self.read_shared(args[1]);
        let depth = self.shape(args[0])[1] as usize;
        let columns = self.shape(args[1])[1] as usize;
        let operands = (&a[..], &b[..], self.elements(args[2]));
        products([left, in_shared], operands, [depth, columns], self.dtype(args[2]))
    }
}

/// A store, a reduction or a scatter by tensor map does not begin before the tensor; an H200 stops there.
fn begins_inside(at: &[i128]) -> Result<(), Fault> {
    match at.iter().rev().enumerate().find(|(_, at)| **at < 0) {
        Some((dimension, &at)) => Err(Fault::BeforeTensor { dimension, at }),
        None => Ok(()),
    }
}

/// The operation that combines two elements.
pub(super) fn combined(how: TmaReduce) -> Binary {
    match how {
        TmaReduce::Add => Binary::Add,
        TmaReduce::Min => Binary::Min,
        TmaReduce::Max => Binary::Max,
        TmaReduce::And => Binary::And,
        TmaReduce::Or => Binary::Or,
        TmaReduce::Xor => Binary::Xor,
    }
}
