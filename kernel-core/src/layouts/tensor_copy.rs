//! Copies from shared to tensor memory: which instruction does one, and which layout of shared memory it reads.

use kernel_layout::tensor_copy::{self, CopyRefusal, TensorCopy};
use kernel_layout::{Form, Layout};
use la_arena::ArenaMap;

use super::tensor_memory::{self, BLOCK_ROWS, COLUMN_BITS};
use crate::ir::{Kernel, Shared, SharedType, TensorMemory, TensorMemoryType};

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
    let memory = tensor_memory::layout(kernel, to.root)
        .expect("build has checked the layouts of tensor memory");
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
    tensor_copy::tensor_copy(&shared, &memory, to.dtype.bytes()).map_err(TensorCopyRefusal::Layout)
}

/// The layout of shared memory without a swizzle from which tensor memory is filled, where its layout is none of blocks: those are
/// filled from what tensor maps and products read as well.
pub(crate) fn unswizzled(kernel: &Kernel, root: TensorMemory, transposed: bool) -> Option<Layout> {
    if matches!(tensor_memory::form(kernel, root), Form::TensorMemory { .. }) {
        return None;
    }
    let memory = tensor_memory::layout(kernel, root).ok()?;
    let bytes = kernel.tensor_memory[root].dtype.bytes();
    let source = tensor_copy::unswizzled_source(&memory, bytes)?;
    Some(if transposed { source.permute_axes(&[1, 0]) } else { source })
}
