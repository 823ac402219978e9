//! The operations: which method does each, and those on the elements of their operands.

use super::{Machine, product};
use crate::eval::element::{Data, Element};
use crate::eval::{Arg, Fault, arith, memory};
use crate::ir::{
    CopyOp, Elem, ElementwiseOp, MemoryOp, Op, ProductOp, ReportOp, SourceOp, SyncOp, TileOp,
    Value, WindowOp,
};

impl Machine<'_> {
    pub(super) fn op(
        &mut self,
        op: &Op,
        args: &[Value],
        result: Option<Value>,
    ) -> Result<Option<Data>, Fault> {
        let given = || result.expect("ir::verify requires a result of this operation");
        Ok(Some(match op {
            Op::Source(op) => self.source(op, given()),
            Op::Tile(op) => self.tile(op, args, given()),
            Op::Elementwise(op) => self.elementwise(op, args, given()),
            Op::Memory(op) => return self.memory(op, args, result),
            Op::Window(WindowOp::Alloc(root)) => self.shared_alloc(*root),
            Op::Window(WindowOp::Index) => self.shared_index(args)?,
            Op::Window(WindowOp::Transpose) => self.shared_transpose(args[0]),
            Op::Window(WindowOp::Reshape) => self.shared_reshape(args[0], given()),
            Op::Window(WindowOp::Part) => self.shared_part(args, given())?,
            Op::Window(WindowOp::Retype) => self.shared_retype(args[0], given()),
            Op::Window(WindowOp::Remote) => self.shared_remote(args)?,
            Op::Copy(op) => return self.copy(op, args).map(|()| None),
            Op::Sync(op) => return self.sync(op, args),
            Op::Product(ProductOp::Dot(factors)) => Data::Tile(self.dot(*factors, args)),
            Op::Product(ProductOp::Wgmma { sparse }) => Data::Tile(self.wgmma(*sparse, args)),
            Op::Product(ProductOp::WgmmaWait(_)) => self.data(args[0]).clone(),
            Op::Product(ProductOp::Tcgen05(op)) => return self.tcgen05(*op, args).map(|()| None),
            Op::TensorMemory(op) => return self.tensor_memory(*op, args),
            Op::Assert(message) => return self.assert(args[0], message).map(|()| None),
            // What is printed is of no consequence to what is computed.
            Op::Report(ReportOp::Print(_) | ReportOp::Stamp(_)) => return Ok(None),
            Op::Report(ReportOp::Assert(_)) => {
                return self.assert(args[0], "a condition of the kernel").map(|()| None);
            }
        }))
    }

    fn source(&self, op: &SourceOp, result: Value) -> Data {
        match op {
            SourceOp::Const(value) => {
                Data::Scalar(arith::number(self.dtype(result), arith::constant(*value)))
            }
            SourceOp::ParamPtr(param) | SourceOp::TensorPtr(param) => {
                Data::Scalar(Element::Pointer(memory::base(self.world.args, *param as usize)))
            }
            SourceOp::ParamDim(param, axis) => {
                let (shape, _) = memory::tensor(self.world.args, *param as usize);
                integer(shape[*axis as usize])
            }
            SourceOp::ParamStride(param, axis) => {
                let (_, strides) = memory::tensor(self.world.args, *param as usize);
                integer(strides[*axis as usize])
            }
            SourceOp::ParamScalar(param) => self.scalar_param(*param, result),
            SourceOp::BlockId(axis) => integer(self.block[*axis as usize]),
            SourceOp::NumBlocks(axis) => integer(self.grid[*axis as usize]),
            SourceOp::Arange(low) => self.arange(*low, result),
        }
    }

    fn tile(&self, op: &TileOp, args: &[Value], result: Value) -> Data {
        match op {
            TileOp::Splat => Data::Tile(vec![self.scalar(args[0]); product(self.shape(result))]),
            TileOp::Broadcast => self.broadcast(args[0], result),
            // Row-major order does not see axes of extent 1, nor where one axis ends and the next begins.
            TileOp::Expand(_) | TileOp::Reshape | TileOp::ToLayout(_) | TileOp::AssertLayout(_) => {
                self.data(args[0]).clone()
            }
            TileOp::Join => self.join(args),
            TileOp::Split(index) => self.split(*index, args[0]),
            TileOp::Permute(order) => self.permute(order, args[0], result),
            TileOp::Flip(axis) => self.flip(*axis as usize, args[0]),
            TileOp::Sort(axis) => self.sort(*axis as usize, args[0], result),
            TileOp::Gather(axis) => self.gather(*axis as usize, args, result),
            TileOp::Histogram => self.histogram(args[0], result),
        }
    }

    fn elementwise(&self, op: &ElementwiseOp, args: &[Value], result: Value) -> Data {
        let dtype = self.dtype(args[0]);
        let operands: Vec<&[Element]> = args.iter().map(|&arg| self.elements(arg)).collect();
        let element = |index: usize| {
            let at = |operand: usize| operands[operand][index];
            match op {
                ElementwiseOp::Unary(op) => arith::unary(*op, dtype, at(0)),
                ElementwiseOp::Binary(op) => match self.ty(args[0]).elem() {
                    Some(Elem::Ptr(_)) => arith::offset(*op, dtype, at(0), at(1)),
                    Some(Elem::Number(_)) | None => arith::binary(*op, dtype, at(0), at(1)),
                },
                ElementwiseOp::Compare(op) => arith::compare(*op, at(0), at(1)),
                ElementwiseOp::Select => match at(0).as_bool() {
                    Ok(true) => at(1),
                    Ok(false) => at(2),
                    Err(_) => Element::Undefined,
                },
                ElementwiseOp::Fma => arith::fma(dtype, at(0), at(1), at(2)),
                ElementwiseOp::FunnelShift(op) => {
                    arith::funnel_shift(*op, dtype, [at(0), at(1), at(2)])
                }
                ElementwiseOp::Bitcast => match (self.ty(args[0]).elem(), self.ty(result).elem()) {
                    (Some(Elem::Ptr(_)), _) => at(0).address(),
                    (_, Some(Elem::Ptr(_))) => memory::pointer(self.world.args, at(0)),
                    _ => arith::bitcast(dtype, self.dtype(result), at(0)),
                },
                ElementwiseOp::Cast => arith::cast(self.dtype(result), at(0)),
            }
        };
        self.shaped(result, (0..operands[0].len()).map(element).collect())
    }

    fn memory(
        &mut self,
        op: &MemoryOp,
        args: &[Value],
        result: Option<Value>,
    ) -> Result<Option<Data>, Fault> {
        let given = || result.expect("ir::verify requires a result of this operation");
        match op {
            MemoryOp::LoadTensor(param, _) => {
                let read = self.read_tile(*param, args, self.shape(given()))?;
                return Ok(Some(Data::Tile(read)));
            }
            MemoryOp::LoadPtr { masked } => {
                return self.load_pointers(*masked, args, given()).map(Some);
            }
            MemoryOp::LoadShared => return Ok(Some(Data::Tile(self.read_shared(args[0])))),
            MemoryOp::GatherShared => return self.gather_shared(args).map(Some),
            MemoryOp::ScatterShared => self.scatter_shared(args)?,
            MemoryOp::AtomicShared(op) => return self.atomic_shared(*op, args, result),
            MemoryOp::Atomic(op, _) => return self.atomic(*op, args, result),
            MemoryOp::AtomicTensor { param, op, .. } => {
                return self.atomic_tile(*op, *param, args, result);
            }
            MemoryOp::StoreTensor(param, _) => self.write_tile(*param, args)?,
            MemoryOp::PrefetchTensor { .. } => {}
            MemoryOp::StorePtr { masked } => self.store_pointers(*masked, args)?,
            MemoryOp::StoreShared => {
                self.write_shared(args[0], self.elements(args[1]).to_vec());
            }
        }
        Ok(None)
    }

    /// A copy is done as it is started.
    fn copy(&mut self, op: &CopyOp, args: &[Value]) -> Result<(), Fault> {
        match op {
            CopyOp::StoreAsync => {
                self.write_counted(args[0], self.elements(args[1]).to_vec(), args[2]);
                Ok(())
            }
            CopyOp::Async(copied, _) => self.copy_async(*copied, args),
            CopyOp::Tma(tma) => self.tma(*tma, args),
            CopyOp::Bulk(bulk) => self.bulk(*bulk, args),
            CopyOp::Commit
            | CopyOp::Wait(_)
            | CopyOp::WaitAll
            | CopyOp::Staged(_)
            | CopyOp::BulkWait { .. } => Ok(()),
        }
    }

    fn sync(&mut self, op: &SyncOp, args: &[Value]) -> Result<Option<Data>, Fault> {
        match op {
            SyncOp::Barrier(op) => self.barrier(*op, args),
            SyncOp::Cluster(op) => self.cluster(*op, args),
            SyncOp::Named(op, named) => self.named(*op, *named).map(|()| None),
            SyncOp::Block | SyncOp::FenceAsync | SyncOp::Grid(_) => Ok(None),
        }
    }

    fn scalar_param(&self, param: u32, result: Value) -> Data {
        match &self.world.args[param as usize] {
            Arg::Scalar { bits } => {
                Data::Scalar(Element::from_bits(self.dtype(result), u128::from(*bits)))
            }
            Arg::Tensor { .. } | Arg::Pointer { .. } | Arg::Absent => {
                unreachable!("eval::check_args gave this parameter a scalar")
            }
        }
    }

    fn assert(&self, condition: Value, message: &str) -> Result<(), Fault> {
        for element in self.elements(condition) {
            if !element.as_bool()? {
                return Err(Fault::Assert(message.replace("{}", "..")));
            }
        }
        Ok(())
    }
}

fn integer(value: impl Into<i128>) -> Data {
    Data::Scalar(Element::Int(value.into()))
}
