//! Windows of shared memory, and what is there.

use std::sync::Arc;

use super::{Machine, coordinates, flat, global::changed, product};
use crate::eval::Fault;
use crate::eval::element::{Data, Element, Window};
use crate::eval::world::BarrierPlace;
use crate::ir::{Atomic, Copied, Dtype, Shared, Value};

impl Machine<'_> {
    pub(super) fn shared_alloc(&self, root: Shared) -> Data {
        let extents = self.kernel.shared[root].shape.clone();
        let (rank, picked) = (self.rank, None);
        Data::Window(Window { rank, root, start: 0, extents, transposed: false, picked })
    }

    pub(super) fn shared_index(&self, args: &[Value]) -> Result<Data, Fault> {
        let index = self.int(args[1])?;
        let window = self.window(args[0]).clone();
        let extent = window.extents[0];
        let Some(place) = usize::try_from(index).ok().filter(|&place| place < extent as usize)
        else {
            return Err(Fault::SharedIndex { actual: index, extent });
        };
        let extents = window.extents[1..].to_vec();
        if let Some(picked) = &window.picked {
            let count = product(&extents);
            let picked = Some(picked[place * count..][..count].into());
            return Ok(Data::Window(Window { extents, picked, ..window }));
        }
        let start = window.start + place * product(&extents);
        Ok(Data::Window(Window { start, extents, ..window }))
    }

    pub(super) fn shared_transpose(&self, window: Value) -> Data {
        let mut window = self.window(window).clone();
        if let Some(picked) = &window.picked {
            let [rows, columns] = [0, 1].map(|axis| window.extents[axis] as usize);
            let turned = |at: usize| picked[at % rows * columns + at / rows];
            window.picked = Some((0..rows * columns).map(turned).collect());
            window.extents.swap(0, 1);
            return Data::Window(window);
        }
        Data::Window(Window { transposed: !window.transposed, ..window })
    }

    /// Where each element of a window begins, in row-major order: in elements of the allocation, or in its bytes.
    fn picked(&self, window: Value) -> Arc<[usize]> {
        let shape = self.shape(window);
        let element_cells = self.element_cells(window);
        let window = self.window(window);
        match &window.picked {
            Some(picked) => picked.clone(),
            None => coordinates(shape).map(|at| window.place(&at) * element_cells).collect(),
        }
    }

    /// How many cells of the memory that stands for an allocation an element of a window has.
    fn element_cells(&self, window: Value) -> usize {
        let root = self.window(window).root;
        if self.world.bytewise.contains_idx(root) {
            self.shared_dtype(window).shared_bytes() as usize
        } else {
            1
        }
    }

    pub(super) fn shared_reshape(&self, window: Value, result: Value) -> Data {
        let (picked, extents) = (Some(self.picked(window)), self.shape(result).to_vec());
        let window = self.window(window).clone();
        Data::Window(Window { start: 0, extents, transposed: false, picked, ..window })
    }

    /// The part of a window (the first operand) that begins at coordinates (the others).
    pub(super) fn shared_part(&self, args: &[Value], result: Value) -> Result<Data, Fault> {
        let (whole, part) = (self.shape(args[0]), self.shape(result));
        let mut first = Vec::new();
        for ((&at, &extent), &all) in args[1..].iter().zip(part).zip(whole) {
            let index = self.int(at)?;
            let Some(begins) = u32::try_from(index).ok().filter(|index| *index < all) else {
                return Err(Fault::SharedIndex { actual: index, extent: all });
            };
            if begins % extent != 0 {
                return Err(Fault::SharedPart { actual: begins, extent });
            }
            first.push(begins);
        }
        let picked = self.picked(args[0]);
        let place = |at: Vec<u32>| {
            let at: Vec<u32> = at.iter().zip(&first).map(|(at, first)| at + first).collect();
            picked[flat(&at, whole)]
        };
        let picked = Some(coordinates(part).map(place).collect());
        let window = self.window(args[0]).clone();
        let extents = part.to_vec();
        Ok(Data::Window(Window { start: 0, extents, transposed: false, picked, ..window }))
    }

    /// The bytes of a window as elements of another type.
    pub(super) fn shared_retype(&self, window: Value, result: Value) -> Data {
        let bytes = self.element_cells(window);
        let of_element = self.picked(window);
        let each: Vec<usize> = of_element.iter().flat_map(|&first| first..first + bytes).collect();
        let extents = self.shape(result).to_vec();
        let picked = each.chunks(each.len() / product(&extents)).map(|element| element[0]);
        let picked = Some(picked.collect());
        let window = self.window(window).clone();
        Data::Window(Window { start: 0, extents, transposed: false, picked, ..window })
    }

    pub(super) fn shared_remote(&self, args: &[Value]) -> Result<Data, Fault> {
        let rank = self.rank_of(args[1])?;
        Ok(Data::Window(Window { rank, ..self.window(args[0]).clone() }))
    }

    /// What the operands before the window say, into it.
    pub(super) fn copy_async(&mut self, copied: Copied, args: &[Value]) -> Result<(), Fault> {
        let (&window, offsets) = args.split_last().expect("ir::verify requires a window");
        let tile = match copied {
            Copied::Tile { param, extents } => self.read_tile(param, offsets, extents.shape())?,
            Copied::Addresses { masked } => self.read_addresses(masked, args)?,
        };
        self.write_shared(window, tile);
        Ok(())
    }

    /// What a window of shared memory holds, row by row.
    pub(super) fn read_shared(&self, window: Value) -> Vec<Element> {
        self.read_shared_of(self.window(window).rank, window)
    }

    /// What a block has at the place of a window.
    pub(super) fn read_shared_of(&self, rank: usize, window: Value) -> Vec<Element> {
        let (dtype, root) = (self.shared_dtype(window), self.window(window).root);
        let places = self.picked(window);
        let cells = self.cells(rank, root);
        places.iter().map(|&place| cells.read(place, dtype)).collect()
    }

    pub(super) fn write_shared(&mut self, window: Value, tile: Vec<Element>) {
        self.write_shared_of(self.window(window).rank, window, tile);
    }

    /// Writes a window of another block, whose mbarrier counts the bytes.
    pub(super) fn write_counted(&mut self, window: Value, tile: Vec<Element>, barrier: Value) {
        let rank = self.window(window).rank;
        let bytes = tile.len() * self.shared_dtype(window).bytes() as usize;
        self.write_shared_of(rank, window, tile);
        let place = BarrierPlace { rank, ..self.barrier_place(barrier) };
        self.world.complete(place, 0, i64::try_from(bytes).expect("shared memory is small"));
    }

    /// The element type of a window of shared memory.
    pub(super) fn shared_dtype(&self, window: Value) -> Dtype {
        self.ty(window).shared().expect("ir::verify requires shared memory here").dtype
    }

    /// Writes the same window of the block of a rank.
    pub(super) fn write_shared_of(&mut self, rank: usize, window: Value, tile: Vec<Element>) {
        let (dtype, root) = (self.shared_dtype(window), self.window(window).root);
        let places = self.picked(window);
        for (&place, element) in places.iter().zip(tile) {
            self.write_cells(rank, root, place, dtype, element);
        }
    }

    /// Where in its allocation the elements of a window at tiles of indices are; none outside of the window.
    fn places(&self, window: Value, indices: &[Value]) -> Result<Vec<Option<usize>>, Fault> {
        let shape = self.shape(window);
        let picked = self.picked(window);
        let count = self.elements(indices[0]).len();
        let place = |element: usize| {
            let mut at = Vec::new();
            for (&index, &extent) in indices.iter().zip(shape) {
                let index = self.elements(index)[element].as_int()?;
                let Some(index) = u32::try_from(index).ok().filter(|index| *index < extent) else {
                    return Ok(None);
                };
                at.push(index);
            }
            Ok(Some(picked[flat(&at, shape)]))
        };
        (0..count).map(place).collect()
    }

    fn cells(&self, rank: usize, root: Shared) -> Cells<'_> {
        let bytewise = self.world.bytewise.contains_idx(root);
        Cells { cells: &self.world.blocks[rank].shared[root], bytewise }
    }

    /// Writes the element of a type that begins at a cell.
    fn write_cells(
        &mut self,
        rank: usize,
        root: Shared,
        place: usize,
        dtype: Dtype,
        element: Element,
    ) {
        let bytewise = self.world.bytewise.contains_idx(root);
        let cells = &mut self.world.blocks[rank].shared[root];
        if !bytewise {
            cells[place] = element;
            return;
        }
        let bits = element.to_bits(dtype).ok();
        for (index, cell) in cells[place..][..dtype.shared_bytes() as usize].iter_mut().enumerate()
        {
            let byte = |bits: u128| Element::from_bits(Dtype::U8, bits >> (8 * index) & 0xff);
            *cell = bits.map_or(Element::Undefined, byte);
        }
    }

    /// A window, and its tiles of indices.
    pub(super) fn gather_shared(&mut self, args: &[Value]) -> Result<Data, Fault> {
        let dtype = self.shared_dtype(args[0]);
        let outside = Element::zero(dtype);
        let places = self.places(args[0], &args[1..])?;
        let cells = self.cells(self.window(args[0]).rank, self.window(args[0]).root);
        let read = |place: Option<usize>| place.map_or(outside, |place| cells.read(place, dtype));
        Ok(Data::Tile(places.into_iter().map(read).collect()))
    }

    /// A window, its tiles of indices, and the elements that are written there. The last one of several stays.
    pub(super) fn scatter_shared(&mut self, args: &[Value]) -> Result<(), Fault> {
        let (&values, at) = args.split_last().expect("ir::verify requires a tile");
        let places = self.places(at[0], &at[1..])?;
        let values = self.elements(values).to_vec();
        let dtype = self.shared_dtype(at[0]);
        let (rank, root) = (self.window(at[0]).rank, self.window(at[0]).root);
        for (place, value) in places.into_iter().zip(values) {
            if let Some(place) = place {
                self.write_cells(rank, root, place, dtype, value);
            }
        }
        Ok(())
    }

    /// A window, its tiles of indices, and the tiles that change the elements there.
    pub(super) fn atomic_shared(
        &mut self,
        op: Atomic,
        args: &[Value],
        result: Option<Value>,
    ) -> Result<Option<Data>, Fault> {
        let (at, values) = args.split_at(args.len() - op.values());
        let dtype = self.shared_dtype(at[0]);
        let (rank, root) = (self.window(at[0]).rank, self.window(at[0]).root);
        let mut old_values = Vec::new();
        for (index, place) in self.places(at[0], &at[1..])?.into_iter().enumerate() {
            let Some(place) = place else {
                old_values.push(Element::zero(dtype));
                continue;
            };
            let operands: Vec<Element> =
                values.iter().map(|&value| self.elements(value)[index]).collect();
            let old = self.cells(rank, root).read(place, dtype);
            let new = changed(op, dtype, old, &operands)?;
            self.write_cells(rank, root, place, dtype, new);
            old_values.push(old);
        }
        Ok(result.map(|result| self.shaped(result, old_values)))
    }
}

impl Window {
    /// Where in the allocation the element at coordinates of a window that is no view is.
    fn place(&self, at: &[u32]) -> usize {
        let mut at = at.to_vec();
        if self.transposed {
            at.reverse();
        }
        self.start + flat(&at, &self.extents)
    }
}

/// The memory that stands for an allocation: its elements, or its bytes if it is read as elements of different types.
struct Cells<'a> {
    cells: &'a [Element],
    bytewise: bool,
}

impl Cells<'_> {
    /// The element of a type that begins at a cell.
    fn read(&self, place: usize, dtype: Dtype) -> Element {
        if !self.bytewise {
            return self.cells[place];
        }
        let mut bits = 0;
        for (index, cell) in self.cells[place..][..dtype.shared_bytes() as usize].iter().enumerate()
        {
            let Ok(byte) = cell.to_bits(Dtype::U8) else { return Element::Undefined };
            bits |= byte << (8 * index);
        }
        Element::from_bits(dtype, bits)
    }
}
