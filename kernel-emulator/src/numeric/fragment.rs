//! Which register of which lane holds which matrix element, by the manual's per-lane formulas.
//! PTX ISA, "Matrix Fragments for mma", "ldmatrix", "stmatrix", "movmatrix".
//!
//! With `group = lane / 4` and `within = lane % 4` (the manual's `groupID` and `threadID_in_group`), and
//! `e = 32 / element_bits` elements in a register (one f64 in a 64-bit one), lower k in lower bits:
//!
//! | operand | register r, element j | row | column |
//! |---|---|---|---|
//! | A, M x K | `r * e + j` | `group + 8 (r % 2)` | `e within + j + 4e (r / 2)` |
//! | B, K x N | `r * e + j` | `e within + j + 4e r` | `group` |
//! | C, D | element i | `group + 8 (i / 2)` | `2 within + i % 2` |
//!
//! The m8 shapes have the first row block alone, so their A registers advance k at each step.

use super::lossy::low16;

/// Lanes in a warp.
pub const LANES: usize = 32;

/// One 32-bit register of every lane.
pub type Register = [u32; LANES];

/// One 64-bit register of every lane.
pub type Register64 = [u64; LANES];

/// Row and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Row.
    pub row: usize,
    /// Column.
    pub column: usize,
}

/// Where element `j` of register `register` of `lane` is in A of a 16-row shape; `per_register` is
/// 32 / element bits, 1 for f64.
#[inline]
pub const fn a_place(per_register: usize, register: usize, j: usize, lane: usize) -> Place {
    let (group, within) = (lane / 4, lane % 4);
    Place {
        row: group + 8 * (register % 2),
        column: per_register * within + j + 4 * per_register * (register / 2),
    }
}

/// The same for the shapes of 8 rows (m8n8k4 f64, m8n8k16 of 8 bits, m8n8k32 of 4 bits).
#[inline]
pub const fn a_place_m8(per_register: usize, register: usize, j: usize, lane: usize) -> Place {
    let (group, within) = (lane / 4, lane % 4);
    Place { row: group, column: per_register * within + j + 4 * per_register * register }
}

/// Where element `j` of register `register` of `lane` is in B: row k, column n.
#[inline]
pub const fn b_place(per_register: usize, register: usize, j: usize, lane: usize) -> Place {
    let (group, within) = (lane / 4, lane % 4);
    Place { row: per_register * within + j + 4 * per_register * register, column: group }
}

/// Where accumulator element `i` of `lane` is in C and D. A 32- or 64-bit accumulator has one
/// element in a register; f16 accumulators pack elements `2r` (low) and `2r + 1` into register `r`.
#[inline]
pub const fn c_place(i: usize, lane: usize) -> Place {
    let (group, within) = (lane / 4, lane % 4);
    Place { row: group + 8 * (i / 2), column: 2 * within + i % 2 }
}

/// The lane of which a register holds the scales of row `row` of A; `thread` is `thread-id-a`, 0 or 1 (PTX ISA, "Block Scaling for
/// mma.sync": of each four lanes the first two give scales, or the last two).
#[inline]
pub const fn a_scale_lane(thread: usize, row: usize) -> usize {
    4 * (row % 8) + 2 * thread + row / 8
}

/// The same for column `column` of B; `thread` is `thread-id-b`, 0 to 3: one of each four lanes gives scales.
#[inline]
pub const fn b_scale_lane(thread: usize, column: usize) -> usize {
    4 * column + thread
}

/// The lane whose address points at row `row` of 8x8 matrix number `matrix`, in `ldmatrix` and
/// `stmatrix`.
#[inline]
pub const fn row_address_lane(matrix: usize, row: usize) -> usize {
    8 * matrix + row
}

/// Where half `half` (0 low, 1 high) of a lane's register is in its 8x8 matrix of 16-bit elements,
/// for `ldmatrix`, `stmatrix` and the source of `movmatrix`; `transposed` is `.trans`.
#[inline]
pub const fn matrix_place(lane: usize, half: usize, transposed: bool) -> Place {
    let (group, within) = (lane / 4, lane % 4);
    let along = 2 * within + half;
    if transposed {
        Place { row: along, column: group }
    } else {
        Place { row: group, column: along }
    }
}

/// `ldmatrix.m8n8.b16`: one register of every lane, from the eight rows in memory order.
#[inline]
pub fn load_matrix(rows: &[[u16; 8]; 8], transposed: bool) -> Register {
    let mut register = [0; LANES];
    for (lane, word) in register.iter_mut().enumerate() {
        let low = matrix_place(lane, 0, transposed);
        let high = matrix_place(lane, 1, transposed);
        *word = u32::from(rows[low.row][low.column]) | u32::from(rows[high.row][high.column]) << 16;
    }
    register
}

/// `stmatrix.m8n8.b16`: the eight rows to write, from one register of every lane.
#[inline]
pub fn store_matrix(register: &Register, transposed: bool) -> [[u16; 8]; 8] {
    let mut rows = [[0; 8]; 8];
    for (lane, word) in register.iter().enumerate() {
        let low = matrix_place(lane, 0, transposed);
        let high = matrix_place(lane, 1, transposed);
        rows[low.row][low.column] = low16((*word).into());
        rows[high.row][high.column] = (*word >> 16) as u16;
    }
    rows
}

/// `movmatrix.sync.aligned.m8n8.trans.b16`: the 8x8 matrix, transposed across the warp.
#[inline]
pub fn transpose_matrix(register: &Register) -> Register {
    load_matrix(&store_matrix(register, false), true)
}
