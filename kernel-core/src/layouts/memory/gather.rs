//! Gathers and scatters: which layouts the numbers of their rows can have, which map they need, and where in shared memory their rows are.
//!
//! An instruction takes four rows from four registers of one thread (PTX ISA, "cp.async.bulk.tensor": `.tile::gather4`,
//! `.tile::scatter4`), and one thread of a warp executes it for the warp. So four adjacent rows are in one thread, in
//! adjacent registers, and every lane of a warp has the same:
//!
//! | of 256 rows, four warps | registers | lanes | warps |
//! |---|---|---|---|
//! | distributed | 1, 2, 16, 32, 64, 128 | 0, 0, 0, 0, 0 | 4, 8 |
//! | all in each warp | 1, 2, 4, 8, 16, 32, 64, 128 | 0, 0, 0, 0, 0 | 0, 0 |
//!
//! With the first layout each warp issues 16 instructions, with the second one warp issues 64 and the others none.
//!
//! The box of the map of a gather is one row, as wide as the swizzle (CUDA driver API, `cuTensorMapEncodeTiled`; PTX ISA,
//! "cp.async.bulk.tensor": `.tile::gather4`); an instruction puts four of them one after the other. A tile of 128 rows of 128 `f32` in the
//! swizzle of 128 bytes is four columns of boxes: row r of column c is at 128·r + 16384·c.

use kernel_layout::forms::{LANES, nvmma_shared, row_major_shared};
use kernel_layout::tma::{Declined, Rule};
use kernel_layout::{Dim, Form, Layout};

use super::tma::{
    BOX_ELEMENTS, MAP_BYTES, MapDim, MapExtent, MapStride, PaddedRefusal, Padding, Planning,
    TensorMap, TmaRefusal, preferred, tensor,
};
use crate::ir::{Dtype, Tma, Value};
use crate::layouts::SharedLayout;
use crate::layouts::known::stride;
use crate::layouts::shared::{whole_window, window_of};
use crate::loc::Loc;

/// Rows that one instruction moves.
pub const ROWS: u32 = 4;

/// The layout that distributes rows to all warps, as a user writes it.
pub fn form(warps: u32) -> Form {
    Form::Slice {
        axis: 0,
        parent: Box::new(Form::Blocked {
            per_thread: vec![1, ROWS],
            lanes: vec![LANES, 1],
            warps: vec![1, warps],
            order: vec![1, 0],
        }),
    }
}

/// The layout that distributes rows to all warps.
pub(crate) fn distributed(rows: u32, warps: u32) -> Layout {
    let layout = form(warps).to_layout(&[rows]).expect("rows and warps are powers of two");
    layout.remove_zero_bases(Dim::Register)
}

/// Whether a layout has four neighbours in the first four registers, and the same in all lanes of a warp.
pub(crate) fn accepts(layout: &Layout) -> bool {
    let registers = layout.bases(Dim::Register);
    registers.starts_with(&[vec![1], vec![2]])
        && layout.bases(Dim::Lane).iter().all(|basis| *basis == [0])
}

/// Instructions that a warp executes for rows in a layout, those of one box of columns.
pub(crate) fn instructions(layout: &Layout) -> u32 {
    let repeated = layout.free_variable_mask(Dim::Register).count_ones();
    (layout.in_size(Dim::Register) >> repeated) / ROWS
}

/// A gather or a scatter whose layout keeps warps idle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The operation.
    pub at: Loc,
    /// Where the layout of its rows was pinned.
    pub pinned_at: Loc,
    /// The instructions that a warp executes, for one box of columns.
    pub actual: u32,
    /// Those that it would execute if all warps did.
    pub possible: u32,
    /// The warps.
    pub warps: u32,
}

impl Idle {
    /// What is to be said of an operation whose rows have this layout, if anything.
    pub(crate) fn of(at: Loc, pinned_at: Loc, layout: &Layout, rows: u32) -> Option<Idle> {
        let warps = layout.in_size(Dim::Warp);
        let (actual, possible) = (instructions(layout), instructions(&distributed(rows, warps)));
        (actual > possible).then_some(Idle { at, pinned_at, actual, possible, warps })
    }
}

/// How a gather or a scatter is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsPlan {
    /// The map.
    pub map: TensorMap,
    /// From one row to the next in shared memory.
    pub pitch_bytes: u32,
    /// The parts of a row, each for an instruction of its own.
    pub columns: Vec<Columns>,
}

/// A part of the rows: as many columns as a box has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The first one, from that of the operation on.
    pub first: u32,
    /// Where its part of row 0 starts in the window, in bytes.
    pub offset_bytes: u32,
}

impl Planning<'_> {
    /// The plan of a gather or a scatter, whose operands are `args`.
    ///
    /// # Errors
    /// If no map does it, with the reason.
    pub fn by_rows(&self, tma: Tma, args: &[Value]) -> Result<RowsPlan, TmaRefusal> {
        let (dtype, rank) = tensor(self.kernel, tma.param);
        let operands = tma.operands(rank, args);
        let window = operands.window.expect("ir::verify requires a window of a gather");
        let window = window_of(self.kernel, window);
        if let Some(packing) = super::tma::padded::packing(self.kernel, window.root) {
            return Err(TmaRefusal::Padded(packing, PaddedRefusal::ByRows));
        }
        let element_bytes = dtype.bytes();
        let (rows, columns) = (window.shape[0], window.shape[1]);
        let options = &self.kernel.params[tma.param as usize].map;
        let layout = whole_window(&self.layouts[window.root], &window.shape, element_bytes)
            .ok_or(TmaRefusal::Part)?;
        let actual = || SharedLayout::of(self.kernel, window.root, &layout);
        let required = preferred(&window.shape, element_bytes, options.swizzle_bytes);
        if let Some(swizzle) = options.swizzle_bytes
            && required != layout
        {
            return Err(TmaRefusal::Swizzle { required: swizzle, actual: actual() });
        }
        self.begins_at_a_unit(operands.coordinates[1], dtype)?;
        let lines = lines(&layout, [rows, columns], element_bytes * 8, actual)?;
        let at = |axis| match stride(self.kernel, tma.param, axis).map(u64::try_from) {
            Some(Ok(known)) => MapStride::Elements(known),
            Some(Err(_)) | None => MapStride::Axis { axis, times: 1 },
        };
        if let MapStride::Elements(actual) = at(1)
            && actual != 1
        {
            return Err(TmaRefusal::Rule { rule: Rule::InnerStride, required: 1, actual });
        }
        let dim = |axis, box_elems| MapDim {
            extent: MapExtent::Axis { axis, divide: 1 },
            stride: at(axis),
            box_elems,
            element_stride: 1,
        };
        let map = TensorMap {
            param: tma.param,
            dtype,
            padding: Padding::None,
            dims: vec![dim(1, lines.columns), dim(0, 1)],
            places: None,
            swizzle_bytes: lines.swizzle_bytes,
            fill: options.fill,
            l2_promotion_bytes: options.l2_promotion_bytes,
            written: tma.kind.reads_shared(),
        };
        debug_assert!(
            layout.out_size(Dim::axis(0)) == rows,
            "the window's layout is one of its extents"
        );
        let columns = (0..columns / lines.columns).map(|index| Columns {
            first: index * lines.columns,
            offset_bytes: index * rows * lines.pitch_bytes,
        });
        Ok(RowsPlan { map, pitch_bytes: lines.pitch_bytes, columns: columns.collect() })
    }

    /// Whether a copy can begin at this column.
    pub(super) fn begins_at_a_unit(&self, column: Value, dtype: Dtype) -> Result<(), TmaRefusal> {
        let unit = i128::from(MAP_BYTES / dtype.bytes());
        if let Some(at) = self.known.constant(column)
            && at.rem_euclid(unit) != 0
        {
            let bytes = at.rem_euclid(unit) * i128::from(dtype.bytes());
            return Err(TmaRefusal::Rule {
                rule: Rule::InnerCoordinate,
                required: MAP_BYTES.into(),
                actual: u64::try_from(bytes).expect("less than 16"),
            });
        }
        self.past_a_unit(column, dtype).map_or(Ok(()), Err)
    }
}

/// How the lines of a tile lie in shared memory: those that one instruction writes are one after the other.
pub(super) struct Lines {
    /// The swizzle, or 0.
    pub(super) swizzle_bytes: u32,
    /// From one line to the next.
    pub(super) pitch_bytes: u32,
    /// The columns of a line that one instruction writes.
    pub(super) columns: u32,
}

/// The lines of a tile of rank 2 with this layout.
pub(super) fn lines(
    layout: &Layout,
    tile: [u32; 2],
    element_bits: u32,
    actual: impl Fn() -> Box<SharedLayout>,
) -> Result<Lines, TmaRefusal> {
    let is = |swizzle: &u32| {
        nvmma_shared(*swizzle, element_bits, false, false, &tile).is_ok_and(|form| form == *layout)
    };
    let row_bytes = tile[1] * element_bits / 8;
    let swizzle = [128, 64, 32].into_iter().filter(|bytes| *bytes <= row_bytes).find(is);
    let plain = row_major_shared(&tile).is_ok_and(|form| form == *layout);
    let pitch_bytes = match swizzle {
        Some(swizzle) => swizzle,
        None if plain && tile[1] <= BOX_ELEMENTS => row_bytes,
        None => {
            let declined = if plain {
                Declined::Map {
                    rule: Rule::BoxDim,
                    dim: Some(0),
                    required: BOX_ELEMENTS.into(),
                    actual: tile[1].into(),
                }
            } else {
                Declined::Swizzle { actual: layout.to_string() }
            };
            let widest = [32, 64, 128].into_iter().filter(|bytes| *bytes <= row_bytes);
            return Err(TmaRefusal::Layout {
                actual: actual(),
                required_swizzle_bytes: widest.max().unwrap_or(0),
                declined: Box::new(declined),
            });
        }
    };
    let columns = pitch_bytes * 8 / element_bits;
    Ok(Lines { swizzle_bytes: swizzle.unwrap_or(0), pitch_bytes, columns })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases(layout: &Layout, dim: Dim) -> Vec<u32> {
        layout.bases(dim).iter().map(|basis| basis[0]).collect()
    }

    #[test]
    fn rows_are_distributed_four_at_a_time() {
        let layout = distributed(256, 4);
        assert_eq!(bases(&layout, Dim::Register), [1, 2, 16, 32, 64, 128]);
        assert_eq!(bases(&layout, Dim::Lane), [0; 5]);
        assert_eq!(bases(&layout, Dim::Warp), [4, 8]);
        assert_eq!(instructions(&layout), 16);
    }

    #[test]
    fn warps_for_which_no_rows_are_left_repeat_others() {
        let layout = distributed(8, 4);
        assert_eq!(bases(&layout, Dim::Register), [1, 2]);
        assert_eq!(bases(&layout, Dim::Warp), [4, 0]);
        assert_eq!(instructions(&layout), 1);
    }

    #[test]
    fn four_neighbours_are_in_one_thread_and_alike_in_all_lanes() {
        let blocked = |per_thread| Form::Blocked {
            per_thread: vec![per_thread],
            lanes: vec![32],
            warps: vec![4],
            order: vec![0],
        };
        let layout = |form: Form| form.to_layout(&[256]).expect("a layout of 256 rows");
        assert!(accepts(&layout(form(4))));
        assert!(accepts(&layout(blocked(256))));
        assert_eq!(instructions(&layout(blocked(256))), 64);
        // Lanes hold different rows; and two neighbours only in each thread.
        assert!(!accepts(&layout(blocked(4))));
        assert!(!accepts(&layout(blocked(2))));
    }
}
