//! TMA copies, in the order in which they are started.
//!
//! Everything is done when it is started, so a wait for an own copy finds it done. This is the meaning of a program that waits
//! correctly; the emulator finds those that do not.

use super::Machine;
use super::global::TilePlace;
use crate::eval::element::Element;
use crate::eval::world::BarrierPlace;
use crate::eval::{Fault, arith, memory};
use crate::ir::{Binary, Dtype, Tma, TmaKind, TmaOperands, TmaReduce, Value};

impl Machine<'_> {
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
        let block = self.kernel.tma_block(tma, self.shape(window));
        match tma.kind {
            TmaKind::Load | TmaKind::Staged => {
                let place = self.copied_place(&operands, &block)?;
                let tile = self.read_mapped(tma.param, &place, &block)?;
                self.receive(window, &operands, &tile, dtype)
            }
            TmaKind::Store => {
                let place = self.copied_place(&operands, &block)?;
                begins_inside(&unbounded(&place.corner, tma))?;
                let tile = self.read_shared(window);
                self.write_elements(tma.param, &place, &block, |_, new| Ok(new), &tile)
            }
            TmaKind::Reduce(how) => {
                let place = self.copied_place(&operands, &block)?;
                begins_inside(&unbounded(&place.corner, tma))?;
                let tile = self.read_shared(window);
                let combine = |old, new| Ok(arith::binary(combined(how), dtype, old, new));
                self.write_elements(tma.param, &place, &block, combine, &tile)
            }
            TmaKind::Prefetch => Ok(()),
            TmaKind::Gather => {
                let mut tile = Vec::new();
                for at in self.row_corners(&operands.coordinates)? {
                    tile.extend(self.read_mapped(tma.param, &TilePlace::of_tensor(&at), &block)?);
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
                    let place = TilePlace::of_tensor(at);
                    self.write_elements(tma.param, &place, &block, |_, new| Ok(new), row)?;
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
}

/// The corner of a copy; 0 on the axes that a slice bounds, where no instruction begins before it.
fn unbounded(corner: &[i128], tma: Tma) -> Vec<i128> {
    let mut corner = corner.to_vec();
    tma.slice.axes().for_each(|axis| corner[axis] = 0);
    corner
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
