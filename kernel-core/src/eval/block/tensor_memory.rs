//! Windows of tensor memory, and what is there.

use super::{Machine, coordinates, product};
use crate::eval::Fault;
use crate::eval::element::{Data, Element, TensorWindow};
use crate::eval::tensor_memory::{Arrangement, ROWS, WORD_BYTES};
use crate::ir::{TensorMemoryOp, TensorMemoryType, Type, Value};

impl Machine<'_> {
    pub(super) fn tensor_memory(
        &mut self,
        op: TensorMemoryOp,
        args: &[Value],
    ) -> Result<Option<Data>, Fault> {
        match op {
            TensorMemoryOp::Alloc(root) => Ok(Some(Data::TensorMemory(TensorWindow {
                columns: root,
                tile: [0; 2],
                at: [0; 2],
            }))),
            TensorMemoryOp::Tile([row, column]) => {
                let window = self.tensor_window(args[0]);
                let at = [window.at[0] + row, window.at[1] + column];
                Ok(Some(Data::TensorMemory(TensorWindow { at, ..window })))
            }
            TensorMemoryOp::View(_) => {
                let window = self.tensor_window(args[0]);
                let [row, byte] = self.arrangement(args[0]).place(window.at);
                let tile = [window.tile[0] + row, window.tile[1] + byte / WORD_BYTES];
                Ok(Some(Data::TensorMemory(TensorWindow { tile, at: [0; 2], ..window })))
            }
            TensorMemoryOp::Index => {
                let index = self.int(args[1])?;
                let extent = self.shape(args[0])[0];
                let Some(tile) = u32::try_from(index).ok().filter(|&tile| tile < extent) else {
                    return Err(Fault::SharedIndex { actual: index, extent });
                };
                let window = self.tensor_window(args[0]);
                let column = window.tile[1] + tile * self.arrangement(args[0]).columns();
                let tile = [window.tile[0], column];
                Ok(Some(Data::TensorMemory(TensorWindow { tile, ..window })))
            }
            TensorMemoryOp::Load => {
                Ok(Some(Data::Tile(self.read_tensor_memory(self.rank, args[0]))))
            }
            TensorMemoryOp::Store => {
                let tile = self.elements(args[1]).to_vec();
                self.write_tensor_memory(self.rank, args[0], &tile);
                Ok(None)
            }
        }
    }

    fn tensor_window(&self, value: Value) -> TensorWindow {
        match self.data(value) {
            Data::TensorMemory(window) => *window,
            Data::Scalar(_) | Data::Tile(_) | Data::Window(_) | Data::Barrier(_) => {
                unreachable!("ir::verify requires tensor memory here")
            }
        }
    }

    pub(super) fn tensor_type(&self, value: Value) -> &TensorMemoryType {
        match self.ty(value) {
            Type::TensorMemory(ty) => ty,
            Type::Shared(_) | Type::Scalar(_) | Type::Tile(..) | Type::Barrier(_) | Type::Error => {
                unreachable!("ir::verify requires tensor memory here")
            }
        }
    }

    /// How the allocation or view that a window is of is in its columns.
    fn arrangement(&self, value: Value) -> Arrangement {
        Arrangement::of(self.kernel, self.tensor_type(value).root)
    }

    /// Where the elements of a window are, copies one after the other.
    fn tensor_places(&self, value: Value) -> Vec<TensorPlace> {
        let (window, arrangement) = (self.tensor_window(value), self.arrangement(value));
        let copies = arrangement.copies();
        let elements = coordinates(self.shape(value)).enumerate();
        let mut places = Vec::new();
        for (element, at) in elements {
            let [row, byte] = arrangement.place([window.at[0] + at[0], window.at[1] + at[1]]);
            let column = window.tile[1] + byte / WORD_BYTES;
            places.extend(copies.iter().map(|copy| TensorPlace {
                element,
                word: (column * ROWS + window.tile[0] + row + copy) as usize,
                byte: (byte % WORD_BYTES) as usize,
            }));
        }
        places
    }

    /// What a window of a block's tensor memory holds, row by row.
    pub(super) fn read_tensor_memory(&self, rank: usize, value: Value) -> Vec<Element> {
        let (columns, dtype) = (self.tensor_window(value).columns, self.tensor_type(value).dtype);
        let memory = &self.world.blocks[rank].tensor_memory[columns];
        let mut read = vec![Element::Undefined; product(self.shape(value))];
        // Of copies the first one is what stays.
        for TensorPlace { element, word, byte } in self.tensor_places(value).into_iter().rev() {
            let bytes = memory[word][byte..byte + dtype.bytes() as usize].iter().rev();
            let bits = bytes.copied().try_fold(0, |bits, byte| Some(bits << 8 | u128::from(byte?)));
            read[element] = bits.map_or(Element::Undefined, |bits| Element::from_bits(dtype, bits));
        }
        read
    }

    pub(super) fn write_tensor_memory(&mut self, rank: usize, value: Value, tile: &[Element]) {
        let (columns, dtype) = (self.tensor_window(value).columns, self.tensor_type(value).dtype);
        let places = self.tensor_places(value);
        let memory = &mut self.world.blocks[rank].tensor_memory[columns];
        for TensorPlace { element, word, byte } in places {
            let bits = tile[element].to_bits(dtype).ok().map(u128::to_le_bytes);
            for index in 0..dtype.bytes() as usize {
                memory[word][byte + index] = bits.map(|bits| bits[index]);
            }
        }
    }
}

/// Where an element of a window is.
struct TensorPlace {
    /// Its index, row by row.
    element: usize,
    /// The index of its word.
    word: usize,
    /// Its first byte in that.
    byte: usize,
}
