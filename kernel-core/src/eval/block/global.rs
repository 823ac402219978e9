//! Global memory: tiles of tensors, and accesses through pointers.

use super::{Machine, coordinates};
use crate::eval::element::{Data, Element, Pointer};
use crate::eval::{Fault, arith, memory};
use crate::ir::{
    Atomic, Binary, Compare, Corner, Dtype, Fill, MapOptions, ParamKind, TmaOperands, Value,
};

impl Machine<'_> {
    pub(super) fn tensor_dtype(&self, param: u32) -> Dtype {
        match self.kernel.params[param as usize].kind {
            ParamKind::Tensor { dtype, .. } => dtype,
            ParamKind::Pointer(_) | ParamKind::Scalar(_) => {
                unreachable!("ir::verify requires a tensor here")
            }
        }
    }

    pub(super) fn offsets(&self, offsets: &[Value]) -> Result<Vec<i128>, Fault> {
        offsets.iter().map(|&offset| self.int(offset)).collect()
    }

    /// Where a tile of a tensor is, and the bounds of the slice that it is of.
    fn tile_place(&self, param: u32, operands: &[Value]) -> Result<TilePlace, Fault> {
        let rank = self.kernel.params[param as usize].kind.rank() as usize;
        let corner = Corner::of(operands, rank);
        let slice = corner.slice.map(|bounds| bounds.map(|bounds| self.offsets(bounds)));
        let slice = slice.map(|[first, end]| Ok([first?, end?])).transpose()?;
        Ok(TilePlace { corner: self.offsets(corner.at)?, slice })
    }

    pub(super) fn read_tile(
        &self,
        param: u32,
        offsets: &[Value],
        shape: &[u32],
    ) -> Result<Vec<Element>, Fault> {
        self.read_elements(param, &self.tile_place(param, offsets)?, shape, &MapOptions::default())
    }

    /// The same by TMA: with its element strides and its fill value.
    pub(super) fn read_mapped(
        &self,
        param: u32,
        place: &TilePlace,
        shape: &[u32],
    ) -> Result<Vec<Element>, Fault> {
        let map = &self.kernel.params[param as usize].map;
        if !map.filter.is_empty() {
            return self.read_places(param, &place.corner, shape, map);
        }
        self.read_elements(param, place, shape, map)
    }

    /// Where a TMA copy of a block with these extents begins, and the bounds of its slice: along an axis that the slice bounds it begins
    /// in it or after it, if the block has several elements there.
    pub(super) fn copied_place(
        &self,
        operands: &TmaOperands<Value>,
        block: &[u32],
    ) -> Result<TilePlace, Fault> {
        let corner = self.offsets(&operands.coordinates)?;
        if operands.slice.is_empty() {
            return Ok(TilePlace { corner, slice: None });
        }
        let mut slice = [vec![i128::MIN; corner.len()], vec![i128::MAX; corner.len()]];
        for &(axis, [first, end]) in &operands.slice {
            let (first, end) = (self.int(first)?, self.int(end)?);
            if corner[axis] < first && block[axis] > 1 {
                return Err(Fault::BeforeSlice { axis, first, at: corner[axis] });
            }
            (slice[0][axis], slice[1][axis]) = (first, end);
        }
        Ok(TilePlace { corner, slice: Some(slice) })
    }

    /// What is under the taps of a filter at its places, which are numbered in the order of the axes. Corner and shape are of the axes place,
    /// taps, channel.
    fn read_places(
        &self,
        param: u32,
        corner: &[i128],
        shape: &[u32],
        map: &MapOptions,
    ) -> Result<Vec<Element>, Fault> {
        let dtype = self.tensor_dtype(param);
        let outside = outside(dtype, map);
        let (extents, _) = memory::tensor(self.world.args, param as usize);
        let axes: Vec<_> = map.filter.iter().zip(&extents[1..]).collect();
        coordinates(shape)
            .map(|step| {
                let at = shifted(corner, &step);
                let mut place = at[0];
                let mut position = at.clone();
                for (index, (filter, extent)) in axes.iter().enumerate().rev() {
                    let axis = 1 + index;
                    let places = filter.places(i128::from(**extent));
                    if places == 0 {
                        return Ok(outside);
                    }
                    position[axis] = place.rem_euclid(places) * i128::from(filter.stride)
                        - i128::from(filter.padding)
                        + at[axis] * i128::from(filter.dilation);
                    place = place.div_euclid(places);
                }
                position[0] = place;
                match memory::element_of(self.world.args, param as usize, dtype, &position, None) {
                    Some(pointer) => memory::load(self.world.args, dtype, pointer),
                    None => Ok(outside),
                }
            })
            .collect()
    }

    fn read_elements(
        &self,
        param: u32,
        place: &TilePlace,
        shape: &[u32],
        map: &MapOptions,
    ) -> Result<Vec<Element>, Fault> {
        let dtype = self.tensor_dtype(param);
        let outside = outside(dtype, map);
        coordinates(shape)
            .map(|at| {
                let steps = at.iter().enumerate();
                let at: Vec<u32> =
                    steps.map(|(axis, step)| step * map.element_stride(axis)).collect();
                match self.element_of(param, place, &at) {
                    Some(pointer) => memory::load(self.world.args, dtype, pointer),
                    None => Ok(outside),
                }
            })
            .collect()
    }

    /// The last operand, at the offsets before it.
    pub(super) fn write_tile(&mut self, param: u32, args: &[Value]) -> Result<(), Fault> {
        let (&tile, offsets) = args.split_last().expect("ir::verify requires a tile");
        let elements = self.elements(tile).to_vec();
        let shape = self.shape(tile);
        let place = self.tile_place(param, offsets)?;
        self.write_elements(param, &place, shape, |_, new| Ok(new), &elements)
    }

    /// Writes what `combine` makes of the old and the new element, if the tensor has one.
    pub(super) fn write_elements(
        &mut self,
        param: u32,
        place: &TilePlace,
        shape: &[u32],
        combine: impl Fn(Element, Element) -> Result<Element, Fault>,
        elements: &[Element],
    ) -> Result<(), Fault> {
        let dtype = self.tensor_dtype(param);
        for (&element, at) in elements.iter().zip(coordinates(shape)) {
            if let Some(pointer) = self.element_of(param, place, &at) {
                let old = memory::load(self.world.args, dtype, pointer)?;
                memory::store(self.world.args, dtype, pointer, combine(old, element)?)?;
            }
        }
        Ok(())
    }

    pub(super) fn load_pointers(
        &self,
        masked: bool,
        args: &[Value],
        result: Value,
    ) -> Result<Data, Fault> {
        let dtype = self.dtype(args[0]);
        let mut loaded = Vec::new();
        for (at, pointer) in self.elements(args[0]).iter().enumerate() {
            let element = if masked && !self.elements(args[1])[at].as_bool()? {
                self.elements(args[2])[at]
            } else {
                memory::load(self.world.args, dtype, pointer.as_pointer()?)?
            };
            loaded.push(element);
        }
        Ok(self.shaped(result, loaded))
    }

    /// The elements at a tile of addresses, for a copy.
    pub(super) fn read_addresses(
        &self,
        masked: bool,
        args: &[Value],
    ) -> Result<Vec<Element>, Fault> {
        let dtype = self.dtype(args[0]);
        let read = |(at, pointer): (usize, &Element)| {
            if masked && !self.elements(args[1])[at].as_bool()? {
                return Ok(self.scalar(args[2]));
            }
            memory::load(self.world.args, dtype, pointer.as_pointer()?)
        };
        self.elements(args[0]).iter().enumerate().map(read).collect()
    }

    pub(super) fn store_pointers(&mut self, masked: bool, args: &[Value]) -> Result<(), Fault> {
        let dtype = self.dtype(args[0]);
        for at in 0..self.elements(args[0]).len() {
            if masked && !self.elements(args[2])[at].as_bool()? {
                continue;
            }
            let pointer = self.elements(args[0])[at].as_pointer()?;
            memory::store(self.world.args, dtype, pointer, self.elements(args[1])[at])?;
        }
        Ok(())
    }

    /// Behind the offsets, the tiles that change the elements of a tensor.
    pub(super) fn atomic_tile(
        &mut self,
        op: Atomic,
        param: u32,
        args: &[Value],
        result: Option<Value>,
    ) -> Result<Option<Data>, Fault> {
        let (offsets, values) = args.split_at(args.len() - op.values());
        let tile = values.first().copied().or(result).expect("ir::verify requires a tile");
        let (dtype, shape) = (self.tensor_dtype(param), self.shape(tile));
        let place = self.tile_place(param, offsets)?;
        let mut old_values = Vec::new();
        for (index, at) in coordinates(shape).enumerate() {
            let Some(pointer) = self.element_of(param, &place, &at) else {
                old_values.push(Element::zero(dtype));
                continue;
            };
            let old = memory::load(self.world.args, dtype, pointer)?;
            let operands = values.iter().map(|&value| self.elements(value)[index]);
            let new = changed(op, dtype, old, &operands.collect::<Vec<_>>())?;
            memory::store(self.world.args, dtype, pointer, new)?;
            old_values.push(old);
        }
        Ok(result.map(|result| self.shaped(result, old_values)))
    }

    pub(super) fn atomic(
        &mut self,
        op: Atomic,
        args: &[Value],
        result: Option<Value>,
    ) -> Result<Option<Data>, Fault> {
        let dtype = self.dtype(args[0]);
        let mut old_values = Vec::new();
        for at in 0..self.elements(args[0]).len() {
            let pointer = self.elements(args[0])[at].as_pointer()?;
            let old = memory::load(self.world.args, dtype, pointer)?;
            let operands = args[1..].iter().map(|&arg| self.elements(arg)[at]);
            let new = changed(op, dtype, old, &operands.collect::<Vec<_>>())?;
            memory::store(self.world.args, dtype, pointer, new)?;
            old_values.push(old);
        }
        Ok(result.map(|result| self.shaped(result, old_values)))
    }
}

/// What an atomic operation leaves in memory.
pub(super) fn changed(
    op: Atomic,
    dtype: Dtype,
    old: Element,
    operands: &[Element],
) -> Result<Element, Fault> {
    let with = |op| arith::binary(op, dtype, old, operands[0]);
    Ok(match op {
        Atomic::Add => with(Binary::Add),
        Atomic::Max => with(Binary::Max),
        Atomic::Min => with(Binary::Min),
        Atomic::And => with(Binary::And),
        Atomic::Or => with(Binary::Or),
        Atomic::Xor => with(Binary::Xor),
        Atomic::Exchange | Atomic::Store => operands[0],
        Atomic::Load => old,
        // Floats are compared by value: -0 equals 0, and a NaN nothing.
        Atomic::CompareExchange => {
            if arith::compare(Compare::Eq, old, operands[0]).as_bool()? {
                operands[1]
            } else {
                old
            }
        }
    })
}

/// Where a tile of a tensor is.
pub(super) struct TilePlace {
    pub(super) corner: Vec<i128>,
    /// Of a tile of a slice: where that begins and ends on each axis.
    slice: Option<[Vec<i128>; 2]>,
}

impl TilePlace {
    /// That of a tile of a whole tensor.
    pub(super) fn of_tensor(corner: &[i128]) -> TilePlace {
        TilePlace { corner: corner.to_vec(), slice: None }
    }
}

impl Machine<'_> {
    /// The address of an element of a place; none outside of the tensor and of the slice.
    fn element_of(&self, param: u32, place: &TilePlace, at: &[u32]) -> Option<Pointer> {
        let coordinates = shifted(&place.corner, at);
        let dtype = self.tensor_dtype(param);
        memory::element_of(
            self.world.args,
            param as usize,
            dtype,
            &coordinates,
            place.slice.as_ref(),
        )
    }
}

/// What a map reads outside of its tensor.
fn outside(dtype: Dtype, map: &MapOptions) -> Element {
    match map.fill {
        Fill::Zero => Element::zero(dtype),
        Fill::Nan => Element::Float(f64::NAN),
    }
}

fn shifted(offsets: &[i128], at: &[u32]) -> Vec<i128> {
    offsets.iter().zip(at).map(|(offset, &at)| offset + i128::from(at)).collect()
}
