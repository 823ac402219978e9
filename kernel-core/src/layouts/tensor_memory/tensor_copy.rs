//! Copies from shared to tensor memory: which instruction does one, and which layout of shared memory it reads.

use kernel_layout::tensor_copy::{self, CopyRefusal, TensorCopy};
use kernel_layout::tile::TileLayout;
use kernel_layout::{Dim, Form, Layout};
use la_arena::ArenaMap;

use crate::ir::{Kernel, Shared, SharedType, TensorMemoryType};
use crate::layouts::tensor_memory::{self, BLOCK_ROWS, COLUMN_BITS};

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
    /// The tile is also used row by row, and has the layout of one row.
    ByRows,
    /// No descriptor leads through shared memory.
    Source {
        /// The axis along which elements are contiguous there.
        contiguous: usize,
    },
    /// The layouts do not fit together.
    Layout(CopyRefusal),
}

impl TensorCopyRefusal {
    /// Whether the source would need another layout.
    pub(crate) fn is_of_the_source(&self) -> bool {
        match self {
            TensorCopyRefusal::ByRows | TensorCopyRefusal::Source { .. } => true,
            TensorCopyRefusal::Bits { .. }
            | TensorCopyRefusal::BlockRows { .. }
            | TensorCopyRefusal::Layout(_) => false,
        }
    }
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
        .expect("elaborate has checked the parts of tiles in tensor memory");
    let shared = &layouts[from.root];
    if shared.tensor_rank() != 2 {
        return Err(TensorCopyRefusal::ByRows);
    }
    let shared = as_window(from, shared.clone());
    let bytes = to.dtype.bytes();
    let held = tensor_memory::held(kernel, to.root);
    tensor_copy::tensor_copy(&shared, &memory, held, bytes).map_err(|refusal| match refusal {
        CopyRefusal::Source => {
            let along = |axis: usize| {
                shared.bases(Dim::Offset).first().is_some_and(|basis| basis[axis] != 0)
            };
            let contiguous = (0..2).find(|&axis| along(axis)).unwrap_or(1);
            TensorCopyRefusal::Source { contiguous }
        }
        CopyRefusal::Rows { .. }
        | CopyRefusal::Copies { .. }
        | CopyRefusal::Gaps
        | CopyRefusal::RowBits { .. }
        | CopyRefusal::Interrupted { .. } => TensorCopyRefusal::Layout(refusal),
    })
}

/// The layout of an allocation as a window has its axes, or the other way.
fn as_window(window: &SharedType, layout: Layout) -> Layout {
    if window.transposed { layout.permute_axes(&[1, 0]) } else { layout }
}

/// The swizzles of tiles whose rows are contiguous, the widest first.
fn swizzles(element_bytes: u32) -> [Form; 3] {
    let element_bits = element_bytes * 8;
    [128, 64, 32].map(|swizzle_bytes| Form::NvmmaShared {
        swizzle_bytes,
        element_bits,
        transposed: false,
        fp4_padded: false,
    })
}

/// The layout of the allocation of `from` with the widest swizzle from which such a tile is copied, or the one without; as it is written.
pub(crate) fn nearest(kernel: &Kernel, from: &SharedType, to: &TensorMemoryType) -> Option<Form> {
    let memory = tensor_memory::window(kernel, to).ok()?;
    let held = tensor_memory::held(kernel, to.root);
    let bytes = to.dtype.bytes();
    let mut allocated = from.shape.clone();
    if from.transposed {
        allocated.reverse();
    }
    let reads = |form: &Form| {
        let layout = form.to_layout(&allocated).ok();
        let layout = layout.map(|layout| as_window(from, layout));
        layout.is_some_and(|one| tensor_copy::tensor_copy(&one, &memory, held, bytes).is_ok())
    };
    swizzles(bytes).into_iter().find(reads).or_else(|| {
        let source = as_window(from, tensor_copy::unswizzled_source(&memory, bytes)?);
        Some(Form::Tile(TileLayout::from_linear(&source).ok()?)).filter(reads)
    })
}

/// The layout of the allocation that a window is of from which tensor memory is filled, if nothing else asks for one.
pub(crate) fn source(kernel: &Kernel, from: &SharedType, to: &TensorMemoryType) -> Option<Layout> {
    let memory = tensor_memory::window(kernel, to).ok()?;
    let held = tensor_memory::held(kernel, to.root);
    let (shape, bytes) = (memory.shape(), to.dtype.bytes());
    let reads = |layout: &Layout| tensor_copy::tensor_copy(layout, &memory, held, bytes).is_ok();
    let swizzled =
        swizzles(bytes).into_iter().filter_map(|form| form.to_layout(&shape).ok()).find(reads);
    let unswizzled = || tensor_copy::unswizzled_source(&memory, bytes).filter(reads);
    Some(as_window(from, swizzled.or_else(unswizzled)?))
}
