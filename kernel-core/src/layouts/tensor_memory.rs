//! Layouts of allocations of tensor memory, and of the registers that are read from and written to it.

pub(crate) mod tensor_copy;

use kernel_layout::forms::{
    PartRefusal, TENSOR_MEMORY_COLUMNS, TensorMemoryMoves, TmemAtom, TmemColumns,
    check_tensor_memory, tensor_memory_moves, tensor_memory_part, tensor_memory_registers,
};
use kernel_layout::tensor_copy::RowsHeld;
use kernel_layout::tile::{CopyShape, TileLayout, sparse_metadata};
use kernel_layout::{Dim, Form, Layout, LayoutError};

use super::{LayoutProblem, Memory, Place};
use crate::ir::{
    CtaGroup, Kernel, TensorMemory, TensorMemoryData, TensorMemoryRole, TensorMemoryType,
};
use crate::loc::Loc;

/// Warps that together reach all rows.
pub(crate) const QUARTERS: u32 = 4;
/// The columns of 32 bits of one multiprocessor.
pub(crate) const COLUMNS: u32 = TENSOR_MEMORY_COLUMNS;
/// The rows of a block, of which a product makes 64 or 128.
pub(crate) const BLOCK_ROWS: u32 = 128;
/// The most columns of one product (PTX ISA, "tcgen05.mma: Matrix shape").
pub(crate) const PRODUCT_COLUMNS: u32 = 256;
/// The fewest columns of an allocation (PTX ISA, "tcgen05.alloc").
const LEAST_COLUMNS: u32 = 32;
/// The fewest columns of an instruction of 128 rows (PTX ISA, "tcgen05.mma: Matrix shape").
pub(crate) const LEAST_PRODUCT_COLUMNS: u32 = 16;
/// The fewest columns of an instruction of 64 rows (PTX ISA, "tcgen05.mma: Matrix shape").
const LEAST_COLUMNS_OF_64_ROWS: u32 = 8;
/// Bits of a column.
pub(crate) const COLUMN_BITS: u32 = 32;
/// The elements of metadata of a row in a pair of columns, as the metadata operand of a product names it (PTX ISA, "Sparsity selector").
pub(crate) const PAIR_OF_COLUMNS: u32 = 2 * COLUMN_BITS / 16;

/// The layout that a user pinned an allocation to; the extents are those of one tile.
///
/// # Errors
/// With what is wrong with it.
pub(crate) fn pinned(
    form: &Form,
    at: Loc,
    shape: Vec<u32>,
    element_bytes: u32,
) -> Result<Layout, Box<LayoutProblem>> {
    let place = Place { memory: Memory::Tensor, shape, element_bytes, warps: 1 };
    let element_bits = element_bytes * 8;
    let refused = |error| {
        let (form, place) = (form.clone(), place.clone());
        Box::new(LayoutProblem::Form { at, form, place, error })
    };
    if let Form::TensorMemory { col_stride, .. } = *form {
        // Elements fill the columns, or have one each: those are what instructions take to registers.
        let allowed: &[u32] = match element_bits {
            8 => &[1, 4],
            16 => &[1, 2],
            _ => &[1],
        };
        if !allowed.contains(&col_stride) {
            let (what, actual) = ("column stride", col_stride);
            return Err(refused(LayoutError::NotOneOf { what, actual, allowed }));
        }
    }
    let mut layout = place.clone().layout(form, at)?;
    if *form == Form::TensorMemoryScales {
        // Fewer rows than 128 need no columns for the others.
        layout = layout.remove_zero_bases(Dim::Col);
    }
    if Memory::of(&layout) == Memory::Tensor && !layout.has_in(Dim::Col) {
        // A single column, which the notation of tiles leaves out.
        layout = layout.product(&Layout::identity(Dim::Col, Dim::Axis(1), 1));
    }
    check_tensor_memory(&layout, element_bits).map_err(&refused)?;
    Ok(layout)
}

/// Of a layout with a row in the first lane of each warp alone, the one in which all lanes hold it: what [`layout`] says of it.
pub(super) fn filled(form: &Form) -> Option<TileLayout> {
    let Form::Tile(tile) = form else { return None };
    CopyShape::filled(tile)
}

/// Which rows of tensor memory hold what the layout of an allocation says.
pub(crate) fn held(kernel: &Kernel, root: TensorMemory) -> RowsHeld {
    match filled(&form(kernel, root)) {
        Some(_) => RowsHeld::FirstOfWarps,
        None => RowsHeld::All,
    }
}

/// The layout of an allocation as it is written: the pinned one, or blocks of 128 rows, or 64 if there are no more, and of as
/// many columns as one product has.
pub(crate) fn form(kernel: &Kernel, root: TensorMemory) -> Form {
    let data = &kernel.tensor_memory[root];
    if let Some(form) = &data.pinned {
        return form.clone();
    }
    let [rows, columns] = tile(data);
    // Sums have a column each, of whatever type; what is read as an operand is packed.
    let bits = data.dtype.bytes() * 8;
    let col_stride = match data.role {
        TensorMemoryRole::Sums => (COLUMN_BITS / bits).max(1),
        TensorMemoryRole::Values => 1,
        TensorMemoryRole::Scales => return Form::TensorMemoryScales,
        TensorMemoryRole::Metadata { factor_bytes } => match metadata_form(data, factor_bytes) {
            Some(metadata) => return metadata,
            // Elaboration has refused the product, or a part of the allocation is multiplied: it has the layout of others.
            None => 1,
        },
    };
    Form::TensorMemory {
        block: [rows.min(BLOCK_ROWS), columns.min(PRODUCT_COLUMNS)],
        col_stride,
        two_ctas: data.role == TensorMemoryRole::Sums && kernel.cta_group() == CtaGroup::Pair,
    }
}

/// The layout of an allocation for metadata of operands whose elements have so many bytes; none if its extents are not those of metadata.
pub(crate) fn metadata_form(data: &TensorMemoryData, factor_bytes: u32) -> Option<Form> {
    let [rows, columns] = tile(data).map(u64::from);
    sparse_metadata(rows, columns, factor_bytes * 8).ok().map(Form::Tile)
}

/// The layout of an allocation for a product: [`form`], or the blocks that are the same layout.
pub(crate) fn product_form(kernel: &Kernel, root: TensorMemory) -> Form {
    let data = &kernel.tensor_memory[root];
    as_blocks(form(kernel, root), &tile(data), data.dtype.bytes() * 8)
}

/// A layout of a tile in tensor memory as blocks, if they are the same layout: the notation of tiles spells blocks as well.
pub(crate) fn as_blocks(form: Form, tile: &[u32], element_bits: u32) -> Form {
    if !matches!(form, Form::Tile(_)) || filled(&form).is_some() {
        return form;
    }
    let Ok(layout) = form.to_layout(tile) else { return form };
    let strides = [1, (COLUMN_BITS / element_bits).max(1)];
    let columns = (0..=PRODUCT_COLUMNS.trailing_zeros()).rev().map(|log2| 1 << log2);
    let blocks = columns.flat_map(|columns| [[BLOCK_ROWS, columns], [BLOCK_ROWS / 2, columns]]);
    let mut forms = blocks.flat_map(|block| {
        strides.map(|col_stride| Form::TensorMemory { block, col_stride, two_ctas: false })
    });
    forms.find(|blocks| blocks.to_layout(tile).is_ok_and(|other| other == layout)).unwrap_or(form)
}

/// A layout of tensor memory as a user writes it; in words, what products make of an allocation and no user writes.
pub(crate) fn in_words(form: &Form) -> String {
    if *form == Form::TensorMemoryScales {
        return "that of the scales of a product".to_owned();
    }
    if let Form::TensorMemory { block, two_ctas: true, .. } = form {
        return format!("that of the accumulator of a pair of blocks, {block:?} in each");
    }
    format!("`{}`", form.in_code())
}

/// The extents of one tile of an allocation.
pub(crate) fn tile(data: &TensorMemoryData) -> [u32; 2] {
    let rank = data.shape.len();
    [data.shape[rank - 2], data.shape[rank - 1]]
}

/// The layout of one tile of an allocation.
///
/// # Errors
/// If there is none for its extents.
pub(crate) fn layout(kernel: &Kernel, root: TensorMemory) -> Result<Layout, Box<LayoutProblem>> {
    let data = &kernel.tensor_memory[root];
    pinned(&form(kernel, root), data.loc, tile(data).to_vec(), data.dtype.bytes())
}

/// The layout of a window that is one tile, or a part of one.
///
/// # Errors
/// With why the part has none.
///
/// # Panics
/// If the tile has none: elaboration has refused it.
pub(crate) fn window(kernel: &Kernel, window: &TensorMemoryType) -> Result<Layout, PartRefusal> {
    let whole =
        layout(kernel, window.root).expect("elaborate has checked the layouts of tensor memory");
    if whole.shape() == window.shape {
        return Ok(whole);
    }
    tensor_memory_part(&whole, &window.shape, window.dtype.bytes() * 8)
}

/// Where an element of a tile is, given the layout of the tile: its row, and its column of 32 bits.
pub(crate) fn place(memory: &Layout, [row, column]: [u32; 2], element_bytes: u32) -> [u32; 2] {
    let inverse = memory.pseudo_inverse().expect("tensor memory holds every element");
    let at = inverse.apply(&[(Dim::Axis(0), row), (Dim::Axis(1), column)]);
    let of = |dim| inverse.out_dims().position(|one| one == dim).map_or(0, |place| at[place]);
    [of(Dim::Row), of(Dim::Col) * element_bytes * 8 / COLUMN_BITS]
}

/// The columns of 32 bits of one tile.
pub(crate) fn tile_columns(layout: &Layout, data: &TensorMemoryData) -> u32 {
    (layout.in_size(Dim::Col) * data.dtype.bytes() * 8).div_ceil(COLUMN_BITS)
}

/// The columns of 32 bits of all tiles of an allocation.
pub(crate) fn columns(layout: &Layout, data: &TensorMemoryData) -> u32 {
    let tiles: u32 = data.shape[..data.shape.len() - 2].iter().product();
    tile_columns(layout, data).saturating_mul(tiles)
}

/// The first column of an allocation behind others that end there: an even one if products find metadata in it, as their operand names a pair of
/// columns (PTX ISA, "tcgen05.mma: Sparsity selector").
pub(crate) fn start(kernel: &Kernel, root: TensorMemory, end: u32) -> u32 {
    let described = kernel.tensor_memory.iter().any(|(window, data)| {
        kernel.tensor_columns(window) == root
            && matches!(data.role, TensorMemoryRole::Metadata { .. })
    });
    if described { end.saturating_add(end % 2) } else { end }
}

/// The columns that a kernel allocates for all its tiles: a power of two; 0 if there are none (PTX ISA, "tcgen05.alloc").
pub(crate) fn allocated(kernel: &Kernel) -> u32 {
    let own = kernel.tensor_memory.iter().filter(|(_, data)| data.of.is_none());
    let all = own.fold(0, |end, (root, data)| {
        let layout =
            layout(kernel, root).expect("elaborate has checked the layouts of tensor memory");
        start(kernel, root, end).saturating_add(columns(&layout, data))
    });
    if all == 0 { 0 } else { all.next_power_of_two().max(LEAST_COLUMNS) }
}

/// The fewest columns of an instruction of this many rows.
pub(crate) const fn least_product_columns(rows: u32) -> u32 {
    if rows < BLOCK_ROWS { LEAST_COLUMNS_OF_64_ROWS } else { LEAST_PRODUCT_COLUMNS }
}

/// How `warps` warps hold a tile of an allocation that they read or write.
///
/// # Errors
/// If no instruction moves such a tile.
pub(crate) fn registers(
    kernel: &Kernel,
    window: &TensorMemoryType,
    warps: u32,
    at: Loc,
) -> Result<Layout, Box<LayoutProblem>> {
    let memory = self::window(kernel, window)
        .expect("elaborate has checked the parts of tiles in tensor memory");
    let element_bytes = window.dtype.bytes();
    let (atom, columns) = (TmemAtom::M32x32b, TmemColumns::Whole);
    let element_bits = element_bytes * 8;
    tensor_memory_registers(&memory, atom, columns, warps, element_bits).map_err(|error| {
        let memory = Box::new(form(kernel, window.root));
        let form = Form::TensorMemoryLoad { atom, columns, memory, warps, element_bits };
        let shape = window.shape.clone();
        let place = Place { memory: Memory::Registers, shape, element_bytes, warps };
        Box::new(LayoutProblem::Form { at, form, place, error })
    })
}

/// The instructions that move a tile between a window and registers; none if no instruction has the layout of the registers.
pub(crate) fn moves(
    kernel: &Kernel,
    window: &TensorMemoryType,
    registers: &Layout,
) -> Option<TensorMemoryMoves> {
    let memory = self::window(kernel, window).ok()?;
    tensor_memory_moves(&memory, registers, window.dtype.bytes() * 8)
}
