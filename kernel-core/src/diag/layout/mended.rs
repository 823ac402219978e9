//! Layouts made to fit, for another number of warps or lanes, or another tile of tensor memory: as much as possible stays as it was written.

use kernel_layout::forms::{LANES, TmemAtom, TmemColumns};
use kernel_layout::tile::{Iter, TileAxis, TileLayout};
use kernel_layout::{Dim, Form, Layout, LayoutError};

use super::{Diagnostic, Place};
use crate::layouts::tensor_memory;
use crate::loc::Loc;

/// The diagnostic with the nearest layout that has the lanes and warps of the place; if none is near, any that the tile can have.
pub(super) fn with_help(diagnostic: Diagnostic, form: &Form, place: &Place) -> Diagnostic {
    let near = mended(form, place).filter(|form| fits(form, place));
    diagnostic.help_if(near.or_else(|| place.possible()).map(|form| form.in_code()))
}

/// Adds the layout with a copy in all the rows of tensor memory, if it has none or others.
pub(super) fn with_copies(diagnostic: Diagnostic, tile: &TileLayout, required: u32) -> Diagnostic {
    let offset = || tile.offset().iter().map(|(&axis, &amount)| (axis, amount));
    let whole = |rows: u32| {
        let copies = Iter::new((required / rows).into(), rows.into(), TileAxis::TLane);
        TileLayout::new(tile.shard().to_vec(), vec![copies], offset()).ok()
    };
    let rows = TileLayout::new(tile.shard().to_vec(), Vec::new(), offset())
        .ok()
        .and_then(|once| u32::try_from(once.span(TileAxis::TLane)).ok())
        .filter(|rows| (2..required).contains(rows) && rows.is_power_of_two());
    diagnostic.help_if(rows.and_then(whole).map(|whole| Form::Tile(whole).in_code()))
}

/// Adds the block with as many of its numbers as the tile allows.
pub(super) fn with_block(diagnostic: Diagnostic, form: &Form, place: &Place) -> Diagnostic {
    diagnostic.help_if(block(form, place).map(|form| form.in_code()))
}

fn block(form: &Form, place: &Place) -> Option<Form> {
    let Form::TensorMemory { block, col_stride, two_ctas } = *form else { return None };
    let Form::TensorMemory { block: [rows, columns], .. } = whole_block(place)? else {
        return None;
    };
    let kept = |actual: u32, most: u32| if (1..=most).contains(&actual) { actual } else { most };
    let near = |rows, columns, col_stride| Form::TensorMemory {
        block: [rows, columns],
        col_stride,
        two_ctas,
    };
    let columns = kept(block[1], columns);
    let candidates = [
        near(block[0], columns, col_stride),
        near(rows, columns, col_stride),
        near(rows, columns, 1),
    ];
    candidates.into_iter().find(|form| possible(form, place))
}

/// Whether a tile of tensor memory can have a layout.
fn possible(form: &Form, place: &Place) -> bool {
    tensor_memory::pinned(form, Loc::KERNEL, place.shape.clone(), place.element_bytes).is_ok()
}

/// The block of a tile that was given none; none for a tile with fewer rows than a product.
pub(super) fn whole_block(place: &Place) -> Option<Form> {
    let &[rows, columns] = &place.shape[..] else { return None };
    let block = [rows.min(tensor_memory::BLOCK_ROWS), columns.min(tensor_memory::PRODUCT_COLUMNS)];
    let form = Form::TensorMemory { block, col_stride: 1, two_ctas: false };
    possible(&form, place).then_some(form)
}

/// Adds the load that takes each row to a thread, if it is the shape of the instruction that does not fit.
pub(super) fn with_plain_load(
    diagnostic: Diagnostic,
    form: &Form,
    place: &Place,
    error: &LayoutError,
) -> Diagnostic {
    let (
        Form::TensorMemoryLoad { memory, warps, element_bits, .. },
        LayoutError::TensorMemoryAtom { .. } | LayoutError::TensorMemoryAtomColumns { .. },
    ) = (form, error)
    else {
        return diagnostic;
    };
    let plain = Form::TensorMemoryLoad {
        atom: TmemAtom::M32x32b,
        columns: TmemColumns::Whole,
        memory: memory.clone(),
        warps: *warps,
        element_bits: *element_bits,
    };
    match plain.to_layout(&place.shape) {
        Ok(_) => diagnostic.help(plain.in_code()),
        Err(_) => diagnostic,
    }
}

fn sizes(layout: &Layout) -> [u32; 2] {
    [layout.in_size(Dim::Lane), layout.in_size(Dim::Warp)]
}

fn fits(form: &Form, place: &Place) -> bool {
    form.to_layout(&place.shape).is_ok_and(|layout| sizes(&layout) == [LANES, place.warps])
}

fn mended(form: &Form, place: &Place) -> Option<Form> {
    match form {
        Form::Blocked { per_thread, lanes, warps, order } => {
            let (per_thread, lanes, order) = (per_thread.clone(), lanes.clone(), order.clone());
            let warps = spread(warps, &order, place.warps);
            Some(Form::Blocked { per_thread, lanes, warps, order })
        }
        Form::MmaV2 { warps } => {
            let warps = spread(warps, &[1, 0], place.warps);
            Some(Form::MmaV2 { warps: warps.try_into().ok()? })
        }
        Form::TensorMemoryLoad { atom, columns, memory, warps: _, element_bits } => {
            Some(Form::TensorMemoryLoad {
                atom: *atom,
                columns: *columns,
                memory: memory.clone(),
                warps: place.warps,
                element_bits: *element_bits,
            })
        }
        Form::Slice { axis, parent } => {
            Some(Form::Slice { axis: *axis, parent: Box::new(mended(parent, place)?) })
        }
        Form::DotOperand { index, parent, k_width } => {
            let parent = Box::new(mended(parent, place)?);
            Some(Form::DotOperand { index: *index, parent, k_width: *k_width })
        }
        Form::Tile(layout) => copies(layout, place).map(Form::Tile),
        Form::Linear(_)
        | Form::Wgmma { .. }
        | Form::Swizzled { .. }
        | Form::NvmmaShared { .. }
        | Form::RowMajor
        | Form::SharedLinear(_)
        | Form::TensorMemory { .. }
        | Form::TensorMemoryScales
        | Form::SwizzledTile(_)
        | Form::Cluster { .. } => None,
    }
}

/// `warps` warps along the axes: more along the slowest one, fewer along the one with most.
fn spread(along: &[u32], order: &[u32], warps: u32) -> Vec<u32> {
    let mut along = along.to_vec();
    let Some(&slowest) = order.last() else { return along };
    let product = |along: &[u32]| along.iter().product::<u32>();
    while product(&along) > warps {
        let most = along.iter_mut().max().expect("an order of axes is not empty");
        *most /= 2;
    }
    // All are powers of two.
    along[slowest as usize] *= warps / product(&along);
    along
}

/// The layout with copies in the lanes and warps that it leaves out.
fn copies(layout: &TileLayout, place: &Place) -> Option<TileLayout> {
    let [lanes, warps] = sizes(&layout.to_linear(&place.shape).ok()?);
    let mut replica = layout.replica().to_vec();
    for (axis, actual, required) in
        [(TileAxis::LaneId, lanes, LANES), (TileAxis::WarpId, warps, place.warps)]
    {
        if actual < required {
            replica.push(Iter::new(u64::from(required / actual), actual.into(), axis));
        }
    }
    TileLayout::new(layout.shard().to_vec(), replica, []).ok()
}
