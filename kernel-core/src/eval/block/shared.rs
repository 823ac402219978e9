//! Windows of shared memory, and what is there.

use super::{Machine, coordinates, flat, global::changed, product};
use crate::eval::Fault;
use crate::eval::element::{Data, Element, Window};
use crate::eval::world::BarrierPlace;
use crate::ir::{Atomic, Copied, Dtype, Shared, Value};

impl Machine<'_> {
    pub(super) fn shared_alloc(&self, root: Shared) -> Data {
        let extents = self.kernel.shared[root].shape.clone();
        Data::Window(Window { rank: self.rank, root, start: 0, extents, transposed: false })
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
        let start = window.start + place * product(&extents);
        Ok(Data::Window(Window { start, extents, ..window }))
    }

    pub(super) fn shared_transpose(&self, window: Value) -> Data {
        let window = self.window(window).clone();
        Data::Window(Window { transposed: !window.transposed, ..window })
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
        let bytes = tile.len() * self.shared_dtype(window).bytes() as usize;
        self.write_shared_of(rank, window, tile);
        let place = BarrierPlace { rank, ..self.barrier_place(barrier) };
        self.world.complete(place, 0, i64::try_from(bytes).expect("shared memory is small"));
    }

    /// The element type of a window of shared memory.
    pub(super) fn shared_dtype(&self, window: Value) -> Dtype {
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

    /// Where in its allocation the elements of a window at tiles of indices are; none outside of the window.
    fn places(&self, window: Value, indices: &[Value]) -> Result<Vec<Option<usize>>, Fault> {
        let shape = self.shape(window);
        let window = self.window(window);
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
            Ok(Some(window.place(at)))
        };
        (0..count).map(place).collect()
    }

    fn memory_of(&mut self, window: Value) -> &mut [Element] {
        let (rank, root) = (self.window(window).rank, self.window(window).root);
        &mut self.world.blocks[rank].shared[root]
    }

    /// A window, and its tiles of indices.
    pub(super) fn gather_shared(&mut self, args: &[Value]) -> Result<Data, Fault> {
        let outside = Element::zero(self.shared_dtype(args[0]));
        let places = self.places(args[0], &args[1..])?;
        let memory = self.memory_of(args[0]);
        let read = |place: Option<usize>| place.map_or(outside, |place| memory[place]);
        Ok(Data::Tile(places.into_iter().map(read).collect()))
    }

    /// A window, its tiles of indices, and the elements that are written there. The last one of several stays.
    pub(super) fn scatter_shared(&mut self, args: &[Value]) -> Result<(), Fault> {
        let (&values, at) = args.split_last().expect("ir::verify requires a tile");
        let places = self.places(at[0], &at[1..])?;
        let values = self.elements(values).to_vec();
        let memory = self.memory_of(at[0]);
        for (place, value) in places.into_iter().zip(values) {
            if let Some(place) = place {
                memory[place] = value;
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
        let mut old_values = Vec::new();
        for (index, place) in self.places(at[0], &at[1..])?.into_iter().enumerate() {
            let Some(place) = place else {
                old_values.push(Element::zero(dtype));
                continue;
            };
            let operands: Vec<Element> =
                values.iter().map(|&value| self.elements(value)[index]).collect();
            let element = &mut self.memory_of(at[0])[place];
            let old = *element;
            *element = changed(op, dtype, old, &operands)?;
            old_values.push(old);
        }
        Ok(result.map(|result| self.shaped(result, old_values)))
    }
}

impl Window {
    /// Where in the allocation the element at coordinates of the window is.
    fn place(&self, mut at: Vec<u32>) -> usize {
        if self.transposed {
            at.reverse();
        }
        self.start + flat(&at, &self.extents)
    }
}
