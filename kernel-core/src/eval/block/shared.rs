//! Windows of shared memory, and what is there.

use super::{Machine, coordinates, flat, product};
use crate::eval::Fault;
use crate::eval::element::{Data, Element, Window};
use crate::eval::world::BarrierPlace;
use crate::ir::{Dtype, Shared, Value};

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

    /// The tile of a tensor at the offsets, into the window after them.
    pub(super) fn copy_async(&mut self, param: u32, args: &[Value]) -> Result<(), Fault> {
        let (&window, offsets) = args.split_last().expect("ir::verify requires a window");
        let tile = self.read_tile(param, offsets, self.shape(window))?;
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
