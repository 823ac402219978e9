//! Which register of which lane holds which matrix element, by the manual's per-lane formulas.
//! PTX ISA, "Matrix Fragments for mma", "ldmatrix", "stmatrix", "movmatrix" (9.7.14).
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

/// Where element `j` of register `register` of `lane` lies in A of a 16-row shape; `per_register` is
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

/// Where element `j` of register `register` of `lane` lies in B: row k, column n.
#[inline]
pub const fn b_place(per_register: usize, register: usize, j: usize, lane: usize) -> Place {
    let (group, within) = (lane / 4, lane % 4);
    Place { row: per_register * within + j + 4 * per_register * register, column: group }
}

/// Where accumulator element `i` of `lane` lies in C and D. A 32- or 64-bit accumulator has one
/// element in a register; f16 accumulators pack elements `2r` (low) and `2r + 1` into register `r`.
#[inline]
pub const fn c_place(i: usize, lane: usize) -> Place {
    let (group, within) = (lane / 4, lane % 4);
    Place { row: group + 8 * (i / 2), column: 2 * within + i % 2 }
}

/// Reads a 16x8 accumulator of 32-bit elements: by [`c_place`], the four lanes of a group hold a row's
/// pairs in order.
#[inline]
pub fn gather_c(c: &[Register; 4]) -> [[u32; 8]; 16] {
    let mut tile = [[0; 8]; 16];
    let (upper, lower) = tile.split_at_mut(8);
    for (rows, even, odd) in [(upper, &c[0], &c[1]), (lower, &c[2], &c[3])] {
        for (row, (even, odd)) in
            rows.iter_mut().zip(even.as_chunks::<4>().0.iter().zip(odd.as_chunks::<4>().0))
        {
            for within in 0..4 {
                row[2 * within] = even[within];
                row[2 * within + 1] = odd[within];
            }
        }
    }
    tile
}

/// Writes a 16x8 result of 32-bit elements.
#[inline]
pub fn scatter_d(tile: &[[u32; 8]; 16]) -> [Register; 4] {
    let mut d = [[0; LANES]; 4];
    for (half, rows) in tile.as_chunks::<8>().0.iter().enumerate() {
        for (group, row) in rows.iter().enumerate() {
            for within in 0..4 {
                d[2 * half][4 * group + within] = row[2 * within];
                d[2 * half + 1][4 * group + within] = row[2 * within + 1];
            }
        }
    }
    d
}

/// Reads a 16x8 accumulator of 16-bit elements, two to a register.
#[inline]
pub fn gather_c_halves(c: &[Register; 2]) -> [[u16; 8]; 16] {
    let mut tile = [[0; 8]; 16];
    for (r, register) in c.iter().enumerate() {
        for (lane, word) in register.iter().enumerate() {
            let Place { row, column } = c_place(2 * r, lane);
            tile[row][column] = *word as u16;
            tile[row][column + 1] = (*word >> 16) as u16;
        }
    }
    tile
}

/// Writes a 16x8 result of 16-bit elements, two to a register.
#[inline]
pub fn scatter_d_halves(tile: &[[u16; 8]; 16]) -> [Register; 2] {
    let mut d = [[0; LANES]; 2];
    for (r, register) in d.iter_mut().enumerate() {
        for (lane, word) in register.iter_mut().enumerate() {
            let Place { row, column } = c_place(2 * r, lane);
            *word = u32::from(tile[row][column]) | u32::from(tile[row][column + 1]) << 16;
        }
    }
    d
}

/// The lane whose address points at row `row` of 8x8 matrix number `matrix`, in `ldmatrix` and
/// `stmatrix`.
#[inline]
pub const fn row_address_lane(matrix: usize, row: usize) -> usize {
    8 * matrix + row
}

/// Where half `half` (0 low, 1 high) of a lane's register lies in its 8x8 matrix of 16-bit elements,
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
        rows[low.row][low.column] = *word as u16;
        rows[high.row][high.column] = (*word >> 16) as u16;
    }
    rows
}

/// `movmatrix.sync.aligned.m8n8.trans.b16`: the 8x8 matrix, transposed across the warp.
#[inline]
pub fn transpose_matrix(register: &Register) -> Register {
    load_matrix(&store_matrix(register, false), true)
}
