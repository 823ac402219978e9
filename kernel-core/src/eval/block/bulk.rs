//! Bulk copies, done when they are started.

use super::{Machine, product};
use crate::eval::element::Pointer;
use crate::eval::world::BarrierPlace;
use crate::eval::{Fault, arith, memory};
use crate::ir::{Bulk, BulkKind, Dtype, Elem, Type, Value};

/// What addresses of bulk copies are multiples of (PTX ISA, "cp.async.bulk").
const ALIGNMENT_BYTES: i128 = 16;

impl Machine<'_> {
    pub(super) fn bulk(&mut self, bulk: Bulk, args: &[Value]) -> Result<(), Fault> {
        let operands = bulk.operands(args);
        if let Some(condition) = operands.condition
            && !self.scalar(condition).as_bool()?
        {
            return Ok(());
        }
        if bulk.kind == BulkKind::Send {
            if let (Some(window), Some(barrier)) = (operands.window, operands.barrier) {
                let sent = self.read_shared(operands.first);
                self.write_counted(window, sent, barrier);
            }
            return Ok(());
        }
        let at = self.scalar(operands.first).as_pointer()?;
        if at.offset_bytes % ALIGNMENT_BYTES != 0 {
            return Err(Fault::Misaligned { param: at.param, offset_bytes: at.offset_bytes });
        }
        let dtype = match self.ty(operands.first) {
            Type::Scalar(Elem::Ptr(dtype)) => *dtype,
            Type::Scalar(Elem::Number(_))
            | Type::Tile(..)
            | Type::Shared(_)
            | Type::Barrier(_)
            | Type::TensorMemory(_)
            | Type::Error => unreachable!("ir::verify requires an address here"),
        };
        let Some(window) = operands.window else { return Ok(()) };
        match bulk.kind {
            BulkKind::Load => {
                let count = product(self.shape(window));
                let elements: Result<Vec<_>, Fault> = places(at, dtype)
                    .take(count)
                    .map(|place| memory::load(self.world.args, dtype, place))
                    .collect();
                let elements = elements?;
                let bytes = i64::try_from(count).expect("shared memory is small")
                    * i64::from(dtype.bytes());
                for rank in self.receivers(operands.mask)? {
                    self.write_shared_of(rank, window, elements.clone());
                    if let Some(barrier) = operands.barrier {
                        let place = BarrierPlace { rank, ..self.barrier_place(barrier) };
                        self.world.complete(place, 0, bytes);
                    }
                }
            }
            BulkKind::Store => {
                for (place, element) in places(at, dtype).zip(self.read_shared(window)) {
                    memory::store(self.world.args, dtype, place, element)?;
                }
            }
            BulkKind::Reduce(how) => {
                for (place, element) in places(at, dtype).zip(self.read_shared(window)) {
                    let old = memory::load(self.world.args, dtype, place)?;
                    let new = arith::binary(super::tma::combined(how), dtype, old, element);
                    memory::store(self.world.args, dtype, place, new)?;
                }
            }
            BulkKind::Prefetch(_) | BulkKind::Send => {}
        }
        Ok(())
    }
}

/// The places of elements that are one after the other.
fn places(first: Pointer, dtype: Dtype) -> impl Iterator<Item = Pointer> {
    (0..).map(move |index: i128| Pointer {
        offset_bytes: first.offset_bytes + index * i128::from(dtype.bytes()),
        ..first
    })
}
