//! The numbers of the rows that a gather or a scatter moves: which layouts they can have.
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

use kernel_layout::forms::LANES;
use kernel_layout::{Dim, Form, Layout};

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
pub(super) fn dealt(rows: u32, warps: u32) -> Layout {
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
    pub(super) fn of(at: Loc, pinned_at: Loc, layout: &Layout, rows: u32) -> Option<Idle> {
        let warps = layout.in_size(Dim::Warp);
        let (actual, possible) = (instructions(layout), instructions(&dealt(rows, warps)));
        (actual > possible).then_some(Idle { at, pinned_at, actual, possible, warps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases(layout: &Layout, dim: Dim) -> Vec<u32> {
        layout.bases(dim).iter().map(|basis| basis[0]).collect()
    }

    #[test]
    fn rows_are_dealt_out_four_at_a_time() {
        let layout = dealt(256, 4);
        assert_eq!(bases(&layout, Dim::Register), [1, 2, 16, 32, 64, 128]);
        assert_eq!(bases(&layout, Dim::Lane), [0; 5]);
        assert_eq!(bases(&layout, Dim::Warp), [4, 8]);
        assert_eq!(instructions(&layout), 16);
    }

    #[test]
    fn warps_for_which_no_rows_are_left_repeat_others() {
        let layout = dealt(8, 4);
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
