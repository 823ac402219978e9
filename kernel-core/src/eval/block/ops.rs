//! The operations: which method does each, and those on the elements of their operands.

use super::{Machine, product};
use crate::eval::element::{Data, Element};
use crate::eval::{Arg, Fault, arith, memory};
use crate::ir::{
    Binary, CopyOp, Elem, ElementwiseOp, MemoryOp, Op, ProductOp, SourceOp, SyncOp, TileOp, Value,
};

impl Machine<'_> {
    pub(super) fn op(
        &mut self,
        op: &Op,
        args: &[Value],
        result: Option<Value>,
    ) -> Result<Option<Data>, Fault> {
        let given = || result.expect("ir::verify wants a result of this operation");
        let nothing = |()| None;
        Ok(Some(match op {
            Op::Source(SourceOp::Const(value)) => {
                Data::Scalar(arith::number(self.dtype(given()), arith::constant(*value)))
            }
            Op::Source(SourceOp::ParamPtr(param)) => {
                Data::Scalar(Element::Pointer(memory::base(self.world.args, *param as usize)))
            }
            Op::Source(SourceOp::ParamDim(param, axis)) => {
                let (shape, _) = memory::tensor(self.world.args, *param as usize);
                integer(shape[*axis as usize])
            }
            Op::Source(SourceOp::ParamStride(param, axis)) => {
                let (_, strides) = memory::tensor(self.world.args, *param as usize);
                integer(strides[*axis as usize])
            }
            Op::Source(SourceOp::ParamScalar(param)) => self.scalar_param(*param, given()),
            Op::Source(SourceOp::BlockId(axis)) => integer(self.block[*axis as usize]),
            Op::Source(SourceOp::NumBlocks(axis)) => integer(self.grid[*axis as usize]),
            Op::Source(SourceOp::Arange(low)) => self.arange(*low, given()),
            Op::Tile(TileOp::Splat) => {
                Data::Tile(vec![self.scalar(args[0]); product(self.shape(given()))])
            }
            Op::Tile(TileOp::Broadcast) => self.broadcast(args[0], given()),
            // Row-major order does not see axes of extent 1, nor where one axis ends and the next begins.
            Op::Tile(
                TileOp::Expand(_) | TileOp::Reshape | TileOp::ToLayout(_) | TileOp::AssertLayout(_),
            ) => self.data(args[0]).clone(),
            Op::Tile(TileOp::Join) => self.join(args),
            Op::Tile(TileOp::Split(index)) => self.split(*index, args[0]),
            Op::Tile(TileOp::Permute(order)) => self.permute(order, args[0], given()),
            Op::Elementwise(ElementwiseOp::Unary(op)) => {
                let dtype = self.dtype(args[0]);
                self.elementwise(args, given(), |operands| arith::unary(*op, dtype, operands[0]))
            }
            Op::Elementwise(ElementwiseOp::Binary(op)) => self.binary(*op, args, given()),
            Op::Elementwise(ElementwiseOp::Compare(op)) => {
                self.elementwise(args, given(), |operands| {
                    arith::compare(*op, operands[0], operands[1])
                })
            }
            Op::Elementwise(ElementwiseOp::Select) => self.elementwise(args, given(), select),
            Op::Elementwise(ElementwiseOp::Fma) => {
                let dtype = self.dtype(args[0]);
                self.elementwise(args, given(), |operands| {
                    arith::fma(dtype, operands[0], operands[1], operands[2])
                })
            }
            Op::Elementwise(ElementwiseOp::Cast) => {
                let to = self.dtype(given());
                self.elementwise(args, given(), |operands| arith::cast(to, operands[0]))
            }
            Op::Memory(MemoryOp::LoadTensor(param)) => {
                Data::Tile(self.read_tile(*param, args, self.shape(given()))?)
            }
            Op::Memory(MemoryOp::StoreTensor(param)) => {
                return self.write_tile(*param, args).map(nothing);
            }
            Op::Memory(MemoryOp::LoadPtr { masked }) => {
                self.load_pointers(*masked, args, given())?
            }
            Op::Memory(MemoryOp::StorePtr { masked }) => {
                return self.store_pointers(*masked, args).map(nothing);
            }
            Op::Memory(MemoryOp::Atomic(op)) => return self.atomic(*op, args, result),
            Op::Memory(MemoryOp::SharedAlloc(root)) => self.shared_alloc(*root),
            Op::Memory(MemoryOp::SharedIndex) => self.shared_index(args)?,
            Op::Memory(MemoryOp::SharedTranspose) => self.shared_transpose(args[0]),
            Op::Memory(MemoryOp::SharedRemote) => self.shared_remote(args)?,
            Op::Memory(MemoryOp::LoadShared) => Data::Tile(self.read_shared(args[0])),
            Op::Memory(MemoryOp::StoreShared) => {
                self.write_shared(args[0], self.elements(args[1]).to_vec());
                return Ok(None);
            }
            Op::Copy(CopyOp::StoreAsync) => {
                self.write_counted(args[0], self.elements(args[1]).to_vec(), args[2]);
                return Ok(None);
            }
            Op::Copy(CopyOp::Async(param)) => return self.copy_async(*param, args).map(nothing),
            Op::Sync(SyncOp::Barrier(op)) => return self.barrier(*op, args),
            Op::Copy(CopyOp::Tma(tma)) => return self.tma(*tma, args).map(nothing),
            Op::Copy(CopyOp::Bulk(bulk)) => return self.bulk(*bulk, args).map(nothing),
            // Everything that was started has been done.
            Op::Copy(CopyOp::Commit | CopyOp::Wait(_) | CopyOp::WaitAll | CopyOp::Staged(_))
            | Op::Sync(SyncOp::Block)
            | Op::Copy(CopyOp::BulkWait { .. })
            | Op::Sync(SyncOp::FenceAsync | SyncOp::Grid(_)) => return Ok(None),
            Op::TensorMemory(op) => return self.tensor_memory(*op, args),
            Op::Product(ProductOp::Tcgen05(op)) => return self.tcgen05(*op, args).map(nothing),
            Op::Sync(SyncOp::Cluster(op)) => return self.cluster(*op, args),
            Op::Sync(SyncOp::Named(op, named)) => return self.named(*op, *named).map(nothing),
            Op::Product(ProductOp::Wgmma) => Data::Tile(self.wgmma(args)),
            Op::Product(ProductOp::WgmmaWait(_)) => self.data(args[0]).clone(),
            Op::Product(ProductOp::Dot { tf32 }) => Data::Tile(self.dot(*tf32, args)),
            Op::Assert(message) => return self.assert(args[0], message).map(nothing),
        }))
    }

    fn scalar_param(&self, param: u32, result: Value) -> Data {
        match &self.world.args[param as usize] {
            Arg::Scalar { bits } => {
                Data::Scalar(Element::from_bits(self.dtype(result), u128::from(*bits)))
            }
            Arg::Tensor { .. } | Arg::Pointer { .. } => {
                unreachable!("eval::check_args gave this parameter a scalar")
            }
        }
    }

    /// What a function of one element of each operand makes of all of them.
    fn elementwise(
        &self,
        args: &[Value],
        result: Value,
        function: impl Fn(&[Element]) -> Element,
    ) -> Data {
        let operands: Vec<&[Element]> = args.iter().map(|&arg| self.elements(arg)).collect();
        let at = |index: usize| operands.iter().map(|elements| elements[index]).collect::<Vec<_>>();
        let elements = (0..operands[0].len()).map(|index| function(&at(index))).collect();
        self.shaped(result, elements)
    }

    fn binary(&self, op: Binary, args: &[Value], result: Value) -> Data {
        let dtype = self.dtype(args[0]);
        let function = match self.ty(args[0]).elem() {
            Some(Elem::Ptr(_)) => arith::offset,
            Some(Elem::Number(_)) | None => arith::binary,
        };
        self.elementwise(args, result, |operands| function(op, dtype, operands[0], operands[1]))
    }

    fn assert(&self, condition: Value, message: &str) -> Result<(), Fault> {
        for element in self.elements(condition) {
            if !element.as_bool()? {
                return Err(Fault::Assert(message.to_owned()));
            }
        }
        Ok(())
    }
}

fn integer(value: impl Into<i128>) -> Data {
    Data::Scalar(Element::Int(value.into()))
}

fn select(operands: &[Element]) -> Element {
    match operands[0].as_bool() {
        Ok(true) => operands[1],
        Ok(false) => operands[2],
        Err(_) => Element::Undefined,
    }
}
