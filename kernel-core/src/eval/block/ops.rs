//! The operations.

use super::{Machine, coordinates, flat, product};
use crate::eval::element::{Data, Element, Window};
use crate::eval::world::BarrierPlace;
use crate::eval::{Arg, Fault, arith, float, memory};
use crate::ir::{Atomic, Binary, Dtype, Elem, Fill, MapOptions, Op, ParamKind, Value};

impl Machine<'_> {
    #[expect(clippy::too_many_lines, reason = "a table: one arm per operation")]
    pub(super) fn op(
        &mut self,
        op: &Op,
        args: &[Value],
        result: Option<Value>,
    ) -> Result<Option<Data>, Fault> {
        let given = || result.expect("ir::verify wants a result of this operation");
        let data = match op {
            Op::Const(value) => {
                let dtype = self.dtype(given());
                Data::Scalar(arith::number(dtype, arith::constant(*value)))
            }
            Op::ParamPtr(param) => {
                Data::Scalar(Element::Pointer(memory::base(self.world.args, *param as usize)))
            }
            Op::ParamDim(param, axis) => {
                let (shape, _) = memory::tensor(self.world.args, *param as usize);
                Data::Scalar(Element::Int(i128::from(shape[*axis as usize])))
            }
            Op::ParamStride(param, axis) => {
                let (_, strides) = memory::tensor(self.world.args, *param as usize);
                Data::Scalar(Element::Int(i128::from(strides[*axis as usize])))
            }
            Op::ParamScalar(param) => match &self.world.args[*param as usize] {
                Arg::Scalar { bits } => {
                    Data::Scalar(Element::from_bits(self.dtype(given()), u128::from(*bits)))
                }
                Arg::Tensor { .. } | Arg::Pointer { .. } => {
                    unreachable!("eval::check_args gave this parameter a scalar")
                }
            },
            Op::BlockId(axis) => Data::Scalar(Element::Int(i128::from(self.block[*axis as usize]))),
            Op::NumBlocks(axis) => {
                Data::Scalar(Element::Int(i128::from(self.grid[*axis as usize])))
            }
            Op::Arange(low) => {
                let extent = self.shape(given())[0];
                let range = (0..i128::from(extent)).map(|at| i128::from(*low) + at);
                Data::Tile(
                    range.map(|value| arith::number(Dtype::I32, Element::Int(value))).collect(),
                )
            }
            Op::Splat => Data::Tile(vec![self.scalar(args[0]); product(self.shape(given()))]),
            Op::Broadcast => {
                let from = self.shape(args[0]);
                let source = self.elements(args[0]);
                let pick = |at: Vec<u32>| {
                    let clipped: Vec<u32> =
                        at.iter().zip(from).map(|(at, &extent)| at % extent).collect();
                    source[flat(&clipped, from)]
                };
                Data::Tile(coordinates(self.shape(given())).map(pick).collect())
            }
            // Row-major order does not see axes of extent 1, nor where one axis ends and the next begins.
            Op::Expand(_) | Op::Reshape | Op::ToLayout(_) | Op::AssertLayout(_) => {
                self.data(args[0]).clone()
            }
            Op::Join => {
                let pairs = self.elements(args[0]).iter().zip(self.elements(args[1]));
                Data::Tile(pairs.flat_map(|(&a, &b)| [a, b]).collect())
            }
            Op::Split(index) => {
                let elements = self.elements(args[0]).iter().skip(*index as usize).step_by(2);
                Data::Tile(elements.copied().collect())
            }
            Op::Permute(order) => {
                let from = self.shape(args[0]);
                let source = self.elements(args[0]);
                let pick = |at: Vec<u32>| {
                    let mut original = vec![0; from.len()];
                    for (&axis, at) in order.iter().zip(at) {
                        original[axis as usize] = at;
                    }
                    source[flat(&original, from)]
                };
                Data::Tile(coordinates(self.shape(given())).map(pick).collect())
            }
            Op::Unary(op) => {
                let dtype = self.dtype(args[0]);
                let elements = self.elements(args[0]).iter().map(|&a| arith::unary(*op, dtype, a));
                self.shaped(given(), elements.collect())
            }
            Op::Binary(op) => self.shaped(given(), self.binary(*op, args[0], args[1])),
            Op::Compare(op) => {
                let pairs = self.elements(args[0]).iter().zip(self.elements(args[1]));
                self.shaped(given(), pairs.map(|(&a, &b)| arith::compare(*op, a, b)).collect())
            }
            Op::Select => {
                let choices = self.elements(args[1]).iter().zip(self.elements(args[2]));
                let elements =
                    self.elements(args[0]).iter().zip(choices).map(|(mask, (&a, &b))| {
                        match mask.as_bool() {
                            Ok(true) => a,
                            Ok(false) => b,
                            Err(_) => Element::Undefined,
                        }
                    });
                self.shaped(given(), elements.collect())
            }
            Op::Fma => {
                let dtype = self.dtype(args[0]);
                let factors = self.elements(args[0]).iter().zip(self.elements(args[1]));
                let elements = factors
                    .zip(self.elements(args[2]))
                    .map(|((&a, &b), &c)| arith::fma(dtype, a, b, c));
                self.shaped(given(), elements.collect())
            }
            Op::Cast => {
                let to = self.dtype(given());
                let elements = self.elements(args[0]).iter().map(|&value| arith::cast(to, value));
                self.shaped(given(), elements.collect())
            }
            Op::LoadTensor(param) => {
                Data::Tile(self.read_tile(*param, args, self.shape(given()))?)
            }
            Op::StoreTensor(param) => {
                let (&tile, offsets) = args.split_last().expect("ir::verify wants a tile");
                self.write_tile(*param, offsets, tile)?;
                return Ok(None);
            }
            Op::LoadPtr { masked } => {
                let dtype = self.dtype(args[0]);
                let mut loaded = Vec::new();
                for (at, pointer) in self.elements(args[0]).iter().enumerate() {
                    let element = if *masked && !self.elements(args[1])[at].as_bool()? {
                        self.elements(args[2])[at]
                    } else {
                        memory::load(self.world.args, dtype, pointer.as_pointer()?)?
                    };
                    loaded.push(element);
                }
                self.shaped(given(), loaded)
            }
            Op::StorePtr { masked } => {
                let dtype = self.dtype(args[0]);
                for at in 0..self.elements(args[0]).len() {
                    if *masked && !self.elements(args[2])[at].as_bool()? {
                        continue;
                    }
                    let pointer = self.elements(args[0])[at].as_pointer()?;
                    let value = self.elements(args[1])[at];
                    memory::store(self.world.args, dtype, pointer, value)?;
                }
                return Ok(None);
            }
            Op::Atomic(op) => {
                let dtype = self.dtype(args[0]);
                let mut old_values = Vec::new();
                for at in 0..self.elements(args[0]).len() {
                    let pointer = self.elements(args[0])[at].as_pointer()?;
                    let old = memory::load(self.world.args, dtype, pointer)?;
                    let operands = args[1..].iter().map(|&arg| self.elements(arg)[at]);
                    let new = atomic(*op, dtype, old, &operands.collect::<Vec<_>>())?;
                    memory::store(self.world.args, dtype, pointer, new)?;
                    old_values.push(old);
                }
                let Some(result) = result else { return Ok(None) };
                self.shaped(result, old_values)
            }
            Op::SharedAlloc(root) => {
                let extents = self.kernel.shared[*root].shape.clone();
                let (rank, root) = (self.rank, *root);
                Data::Window(Window { rank, root, start: 0, extents, transposed: false })
            }
            Op::SharedIndex => {
                let index = self.int(args[1])?;
                let window = self.window(args[0]).clone();
                let extent = window.extents[0];
                let Some(iteration) =
                    usize::try_from(index).ok().filter(|&iteration| iteration < extent as usize)
                else {
                    return Err(Fault::SharedIndex { actual: index, extent });
                };
                let extents = window.extents[1..].to_vec();
                let start = window.start + iteration * product(&extents);
                Data::Window(Window { start, extents, ..window })
            }
            Op::SharedTranspose => {
                let window = self.window(args[0]).clone();
                Data::Window(Window { transposed: !window.transposed, ..window })
            }
            Op::SharedRemote => {
                let rank = self.rank_of(args[1])?;
                Data::Window(Window { rank, ..self.window(args[0]).clone() })
            }
            Op::LoadShared => Data::Tile(self.read_shared(args[0])),
            Op::StoreShared => {
                let tile = self.elements(args[1]).to_vec();
                self.write_shared(args[0], tile);
                return Ok(None);
            }
            Op::StoreAsync => {
                let tile = self.elements(args[1]).to_vec();
                self.write_counted(args[0], tile, args[2]);
                return Ok(None);
            }
            Op::CopyAsync(param) => {
                let (&window, offsets) = args.split_last().expect("ir::verify wants a window");
                let tile = self.read_tile(*param, offsets, self.shape(window))?;
                self.write_shared(window, tile);
                return Ok(None);
            }
            Op::Barrier(op) => return self.barrier(*op, args),
            Op::Tma(tma) => {
                self.tma(*tma, args)?;
                return Ok(None);
            }
            Op::Bulk(bulk) => {
                self.bulk(*bulk, args)?;
                return Ok(None);
            }
            // Everything that was started has been done.
            Op::CopyCommit
            | Op::CopyWait(_)
            | Op::CopyWaitAll
            | Op::Staged(_)
            | Op::Sync
            | Op::TmaWait { .. }
            | Op::FenceAsync
            | Op::Grid(_) => return Ok(None),
            Op::TensorMemory(op) => return self.tensor_memory(*op, args),
            Op::Tcgen05(op) => {
                self.tcgen05(*op, args)?;
                return Ok(None);
            }
            Op::Cluster(op) => return self.cluster(*op, args),
            Op::Named(op, named) => {
                self.named(*op, *named)?;
                return Ok(None);
            }
            Op::Wgmma => Data::Tile(self.wgmma(args)),
            Op::WgmmaWait(_) => self.data(args[0]).clone(),
            Op::Dot { tf32 } => Data::Tile(self.dot(*tf32, args)),
            Op::Assert(message) => {
                for element in self.elements(args[0]) {
                    if !element.as_bool()? {
                        return Err(Fault::Assert(message.clone()));
                    }
                }
                return Ok(None);
            }
        };
        Ok(Some(data))
    }

    fn binary(&self, op: Binary, a: Value, b: Value) -> Vec<Element> {
        let dtype = self.dtype(a);
        let pairs = self.elements(a).iter().zip(self.elements(b));
        match self.ty(a).elem() {
            Some(Elem::Ptr(_)) => pairs.map(|(&a, &b)| arith::offset(op, dtype, a, b)).collect(),
            Some(Elem::Number(_)) | None => {
                pairs.map(|(&a, &b)| arith::binary(op, dtype, a, b)).collect()
            }
        }
    }

    pub(super) fn tensor_dtype(&self, param: u32) -> Dtype {
        match self.kernel.params[param as usize].kind {
            ParamKind::Tensor { dtype, .. } => dtype,
            ParamKind::Pointer(_) | ParamKind::Scalar(_) => {
                unreachable!("ir::verify wants a tensor here")
            }
        }
    }

    pub(super) fn offsets(&self, offsets: &[Value]) -> Result<Vec<i128>, Fault> {
        offsets.iter().map(|&offset| self.int(offset)).collect()
    }

    pub(super) fn read_tile(
        &self,
        param: u32,
        offsets: &[Value],
        shape: &[u32],
    ) -> Result<Vec<Element>, Fault> {
        self.read_elements(param, &self.offsets(offsets)?, shape, &MapOptions::default())
    }

    /// The same by tensor map: with its steps, and with what it fills with.
    pub(super) fn read_mapped(
        &self,
        param: u32,
        offsets: &[i128],
        shape: &[u32],
    ) -> Result<Vec<Element>, Fault> {
        self.read_elements(param, offsets, shape, &self.kernel.params[param as usize].map)
    }

    fn read_elements(
        &self,
        param: u32,
        offsets: &[i128],
        shape: &[u32],
        map: &MapOptions,
    ) -> Result<Vec<Element>, Fault> {
        let dtype = self.tensor_dtype(param);
        let outside = match map.fill {
            Fill::Zero => Element::zero(dtype),
            Fill::Nan => Element::Float(f64::NAN),
        };
        coordinates(shape)
            .map(|at| {
                let steps = at.iter().enumerate();
                let at: Vec<u32> =
                    steps.map(|(axis, step)| step * map.element_stride(axis)).collect();
                let place = memory::element_of(
                    self.world.args,
                    param as usize,
                    dtype,
                    &shifted(offsets, &at),
                );
                match place {
                    Some(pointer) => memory::load(self.world.args, dtype, pointer),
                    None => Ok(outside),
                }
            })
            .collect()
    }

    fn write_tile(&mut self, param: u32, offsets: &[Value], tile: Value) -> Result<(), Fault> {
        let elements = self.elements(tile).to_vec();
        let shape = self.shape(tile);
        let offsets = self.offsets(offsets)?;
        self.write_elements(param, &offsets, shape, |_, new| Ok(new), &elements)
    }

    /// Writes what `combine` makes of the old and the new element, where the tensor has one.
    pub(super) fn write_elements(
        &mut self,
        param: u32,
        offsets: &[i128],
        shape: &[u32],
        combine: impl Fn(Element, Element) -> Result<Element, Fault>,
        elements: &[Element],
    ) -> Result<(), Fault> {
        let dtype = self.tensor_dtype(param);
        for (&element, at) in elements.iter().zip(coordinates(shape)) {
            let place =
                memory::element_of(self.world.args, param as usize, dtype, &shifted(offsets, &at));
            if let Some(pointer) = place {
                let old = memory::load(self.world.args, dtype, pointer)?;
                memory::store(self.world.args, dtype, pointer, combine(old, element)?)?;
            }
        }
        Ok(())
    }

    /// What a window of shared memory holds, row by row.
    pub(super) fn read_shared(&self, window: Value) -> Vec<Element> {
        self.read_shared_of(self.window(window).rank, window)
    }

    /// What a block has at the place of a window.
    pub(super) fn read_shared_of(&self, rank: usize, window: Value) -> Vec<Element> {
        let shape = self.shape(window);
        let window = self.window(window);
        let memory = &self.world.blocks[rank].shared[window.root];
        coordinates(shape).map(|at| memory[window.place(at)]).collect()
    }

    pub(super) fn write_shared(&mut self, window: Value, tile: Vec<Element>) {
        self.write_shared_of(self.window(window).rank, window, tile);
    }

    /// Writes a window of another block, whose mbarrier counts the bytes.
    pub(super) fn write_counted(&mut self, window: Value, tile: Vec<Element>, barrier: Value) {
        let rank = self.window(window).rank;
        let bytes = tile.len() * self.window_dtype(window).bytes() as usize;
        self.write_shared_of(rank, window, tile);
        let place = BarrierPlace { rank, ..self.barrier_place(barrier) };
        self.world.complete(place, 0, i64::try_from(bytes).expect("shared memory is small"));
    }

    /// The element type of a window of shared memory.
    pub(super) fn shared_dtype(&self, window: Value) -> Dtype {
        self.window_dtype(window)
    }

    fn window_dtype(&self, window: Value) -> Dtype {
        self.kernel.shared[self.window(window).root].dtype
    }

    /// Writes the same window of the block of a rank.
    pub(super) fn write_shared_of(&mut self, rank: usize, window: Value, tile: Vec<Element>) {
        let shape = self.shape(window);
        let window = self.window(window).clone();
        let memory = &mut self.world.blocks[rank].shared[window.root];
        for (at, element) in coordinates(shape).zip(tile) {
            memory[window.place(at)] = element;
        }
    }

    fn dot(&self, tf32: bool, args: &[Value]) -> Vec<Element> {
        let operands = (self.elements(args[0]), self.elements(args[1]), self.elements(args[2]));
        let depth = self.shape(args[0])[1] as usize;
        let cols = self.shape(args[1])[1] as usize;
        let factors = [if tf32 { Factor::Rounded } else { Factor::Exact }; 2];
        products(factors, operands, [depth, cols], self.dtype(args[2]))
    }
}

/// What tensor cores multiply of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Factor {
    /// Its elements.
    Exact,
    /// What `cvt.rna.tf32.f32` makes of an `f32`.
    Rounded,
    /// The upper 19 bits of an `f32`: what they read from shared memory.
    Cut,
}

/// `a · b + acc`, of matrices of so many columns.
pub(super) fn products(
    factors: [Factor; 2],
    (a, b, acc): (&[Element], &[Element], &[Element]),
    [depth, cols]: [usize; 2],
    dtype: Dtype,
) -> Vec<Element> {
    let operand = |element: Element, factor: Factor| match element {
        Element::Float(value) => Element::Float(match factor {
            Factor::Exact => value,
            Factor::Rounded => float::round_tf32(value),
            Factor::Cut => float::truncate_tf32(value),
        }),
        Element::Bool(_) | Element::Int(_) | Element::Pointer(_) | Element::Undefined => element,
    };
    let dot = |at: usize| {
        let (row, col) = (at / cols, at % cols);
        let pairs = (0..depth).map(|k| {
            (operand(a[row * depth + k], factors[0]), operand(b[k * cols + col], factors[1]))
        });
        arith::number(dtype, pairs.fold(acc[at], multiply_add))
    };
    (0..acc.len()).map(dot).collect()
}

impl Window {
    /// Where in the allocation the element at coordinates of the window lies.
    fn place(&self, mut at: Vec<u32>) -> usize {
        if self.transposed {
            at.reverse();
        }
        self.start + flat(&at, &self.extents)
    }
}

/// `sum + a * b`, in `f64` for floats: products of all types but `f64` itself are exact.
fn multiply_add(sum: Element, (a, b): (Element, Element)) -> Element {
    match (sum, a, b) {
        (Element::Float(sum), Element::Float(a), Element::Float(b)) => {
            Element::Float(a.mul_add(b, sum))
        }
        (Element::Int(sum), Element::Int(a), Element::Int(b)) => {
            Element::Int(sum.wrapping_add(a.wrapping_mul(b)))
        }
        _ => Element::Undefined,
    }
}

/// What an atomic operation leaves in memory.
fn atomic(op: Atomic, dtype: Dtype, old: Element, operands: &[Element]) -> Result<Element, Fault> {
    let with = |op| arith::binary(op, dtype, old, operands[0]);
    Ok(match op {
        Atomic::Add => with(Binary::Add),
        Atomic::Max => with(Binary::Max),
        Atomic::Min => with(Binary::Min),
        Atomic::And => with(Binary::And),
        Atomic::Or => with(Binary::Or),
        Atomic::Xor => with(Binary::Xor),
        Atomic::Exchange => operands[0],
        // The hardware compares bits: -0 differs from 0, and a NaN equals itself.
        Atomic::CompareExchange => {
            if old.to_bits(dtype)? == operands[0].to_bits(dtype)? {
                operands[1]
            } else {
                old
            }
        }
    })
}

fn shifted(offsets: &[i128], at: &[u32]) -> Vec<i128> {
    offsets.iter().zip(at).map(|(offset, &at)| offset + i128::from(at)).collect()
}
