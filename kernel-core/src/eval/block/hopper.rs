//! Mbarriers, copies by tensor map and asynchronous products, in the order in which they are started.
//!
//! What is started is done at once, so a wait finds everything there. This is the meaning of a program that waits rightly; one that
//! does not is found by the emulator.

use super::Machine;
use super::ops::products;
use crate::eval::element::{Data, Element};
use crate::eval::{Fault, arith, memory};
use crate::ir::{BarrierOp, Binary, Dtype, Tma, TmaKind, TmaReduce, Type, Value};

impl Machine<'_> {
    pub(super) fn barrier(&mut self, op: BarrierOp, args: &[Value]) -> Result<Option<Data>, Fault> {
        match op {
            // A barrier is nothing but its name here.
            BarrierOp::Alloc(_) => Ok(Some(Data::Scalar(Element::Undefined))),
            BarrierOp::Index => Ok(Some(self.data(args[0]).clone())),
            BarrierOp::Test => Ok(Some(Data::Scalar(Element::Bool(true)))),
            BarrierOp::Remote => Err(Fault::Concurrent("the blocks of a cluster")),
            BarrierOp::Expect | BarrierOp::Arrive | BarrierOp::Wait => Ok(None),
        }
    }

    pub(super) fn tma(&mut self, tma: Tma, args: &[Value]) -> Result<(), Fault> {
        let dtype = self.tensor_dtype(tma.param);
        let rank = memory::tensor(self.args, tma.param as usize).0.len();
        let operands = tma.operands(rank, args);
        if operands.mask.is_some() {
            return Err(Fault::Concurrent("the blocks of a cluster"));
        }
        if let Some(condition) = operands.condition
            && !self.scalar(condition).as_bool()?
        {
            return Ok(());
        }
        let Some(window) = operands.window else { return Ok(()) };
        let block = self.kernel.tma_block(tma.param, self.shape(window));
        match tma.kind {
            TmaKind::Load => {
                let tile = self.read_tile(tma.param, &operands.coordinates, &block)?;
                self.write_shared(window, tile);
                Ok(())
            }
            TmaKind::Store => {
                let tile = self.read_shared(window);
                self.write_elements(
                    tma.param,
                    &operands.coordinates,
                    &block,
                    |_, new| Ok(new),
                    &tile,
                )
            }
            TmaKind::Reduce(how) => {
                let tile = self.read_shared(window);
                let combine = |old, new| Ok(arith::binary(combined(how), dtype, old, new));
                self.write_elements(tma.param, &operands.coordinates, &block, combine, &tile)
            }
            TmaKind::Prefetch => Ok(()),
        }
    }

    pub(super) fn wgmma(&self, args: &[Value]) -> Vec<Element> {
        let a = match self.ty(args[0]) {
            Type::Shared(_) => self.read_shared(args[0]),
            Type::Tile(..) | Type::Scalar(_) | Type::Barrier(_) | Type::Error => {
                self.elements(args[0]).to_vec()
            }
        };
        let b = self.read_shared(args[1]);
        let depth = self.shape(args[0])[1] as usize;
        let columns = self.shape(args[1])[1] as usize;
        let operand = match self.ty(args[1]) {
            Type::Shared(window) => window.dtype,
            Type::Tile(..) | Type::Scalar(_) | Type::Barrier(_) | Type::Error => Dtype::F32,
        };
        let operands = (&a[..], &b[..], self.elements(args[2]));
        products(operand == Dtype::F32, operands, [depth, columns], self.dtype(args[2]))
    }
}

/// The operation that combines two elements.
fn combined(how: TmaReduce) -> Binary {
    match how {
        TmaReduce::Add => Binary::Add,
        TmaReduce::Min => Binary::Min,
        TmaReduce::Max => Binary::Max,
        TmaReduce::And => Binary::And,
        TmaReduce::Or => Binary::Or,
        TmaReduce::Xor => Binary::Xor,
    }
}
