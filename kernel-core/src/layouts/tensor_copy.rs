//! Copies from shared to tensor memory: which instruction does one, and which layout of shared memory it reads.

use kernel_layout::tensor_copy::{self, CopyRefusal, RowsHeld, TensorCopy};
use kernel_layout::tile::TileLayout;
use kernel_layout::{Dim, Form, Layout};
use la_arena::ArenaMap;

use super::tensor_memory::{self, BLOCK_ROWS, COLUMN_BITS};
use crate::ir::{Kernel, Shared, SharedType, TensorMemoryType};

/// Why no instruction does a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorCopyRefusal {
    /// The blocks are of elements that have no column each.
    Bits {
        /// The bits of an element.
        actual: u32,
        /// The bits of a column.
        required: u32,
    },
    /// The blocks do not have all rows of tensor memory.
    BlockRows {
        /// The rows of a block.
        actual: u32,
        /// The rows of tensor memory.
        required: u32,
    },
    /// The window is a part of the tile that the layout is one of.
    Part {
        /// The extents of the tile.
        required: Vec<u32>,
        /// The extents of the window.
        actual: Vec<u32>,
    },
    /// No descriptor leads through shared memory.
    Source {
        /// The axis along which elements lie side by side there.
        contiguous: usize,
        /// A layout that is read.
        nearest: Option<Box<Form>>,
    },
    /// The layouts do not fit together.
    Layout(CopyRefusal),
}

/// How the tensor cores copy a window of shared memory to one of tensor memory.
///
/// # Errors
/// With why they do not.
pub(crate) fn plan(
    kernel: &Kernel,
    layouts: &ArenaMap<Shared, Layout>,
    from: &SharedType,
    to: &TensorMemoryType,
) -> Result<TensorCopy, TensorCopyRefusal> {
    let (bits, required) = (to.dtype.bytes() * 8, COLUMN_BITS);
    if let Form::TensorMemory { block: [rows, _], .. } = tensor_memory::form(kernel, to.root) {
        if bits != required {
            return Err(TensorCopyRefusal::Bits { actual: bits, required });
        }
        if rows != BLOCK_ROWS {
            return Err(TensorCopyRefusal::BlockRows { actual: rows, required: BLOCK_ROWS });
        }
    }
    let memory = tensor_memory::window(kernel, to)
        .expect("build has checked the parts of tiles in tensor memory");
    let shared = &layouts[from.root];
    let shared = if from.transposed && shared.tensor_rank() == 2 {
        shared.permute_axes(&[1, 0])
    } else {
        shared.clone()
    };
    if shared.shape() != from.shape {
        return Err(TensorCopyRefusal::Part {
            required: shared.shape(),
            actual: from.shape.clone(),
        });
    }
    let bytes = to.dtype.bytes();
    let held = tensor_memory::held(kernel, to.root);
    tensor_copy::tensor_copy(&shared, &memory, held, bytes).map_err(|refusal| match refusal {
        CopyRefusal::Source => {
            let along = |axis: usize| {
                shared.bases(Dim::Offset).first().is_some_and(|basis| basis[axis] != 0)
            };
            let contiguous = (0..2).find(|&axis| along(axis)).unwrap_or(1);
            TensorCopyRefusal::Source {
                contiguous,
                nearest: nearest((&memory, held), &from.shape, bytes),
            }
        }
        CopyRefusal::Rows { .. }
        | CopyRefusal::Copies { .. }
        | CopyRefusal::Gaps
        | CopyRefusal::RowBits { .. }
        | CopyRefusal::Interrupted { .. } => TensorCopyRefusal::Layout(refusal),
    })
}

/// The layout of shared memory with the widest swizzle from which such a tile is copied, or the one without.
fn nearest(
    (memory, held): (&Layout, RowsHeld),
    shape: &[u32],
    element_bytes: u32,
) -> Option<Box<Form>> {
    let element_bits = element_bytes * 8;
    let swizzled = [128, 64, 32].map(|swizzle_bytes| Form::NvmmaShared {
        swizzle_bytes,
        element_bits,
        transposed: false,
        fp4_padded: false,
    });
    let reads = |form: &Form| {
        let layout = form.to_layout(shape).ok();
        layout
            .is_some_and(|one| tensor_copy::tensor_copy(&one, memory, held, element_bytes).is_ok())
    };
    if let Some(form) = swizzled.into_iter().find(reads) {
        return Some(Box::new(form));
    }
    let source = tensor_copy::unswizzled_source(memory, element_bytes)?;
    let tile = TileLayout::from_linear(&source).ok()?;
    Some(Box::new(Form::Tile(tile))).filter(|form| reads(form))
}

/// The layout of the allocation that a window is of from which tensor memory is filled, where nothing else asks for one.
pub(crate) fn source(kernel: &Kernel, from: &SharedType, to: &TensorMemoryType) -> Option<Layout> {
    let memory = tensor_memory::window(kernel, to).ok()?;
    let held = tensor_memory::held(kernel, to.root);
    let shape = memory.shape();
    let layout = nearest((&memory, held), &shape, to.dtype.bytes())?.to_layout(&shape).ok()?;
    Some(if from.transposed { layout.permute_axes(&[1, 0]) } else { layout })
}
