//! Block-scaled `mma.sync` on registers. PTX ISA, "Block Scaling for mma.sync".
//!
//! Which lane gives which scale is what CUTLASS's traits say for the first lanes (`SFALayout`, `SFBLayout` of `SM120_16x8x32_TN_VS`
//! and `SM120_16x8x64_TN_VS`). What `thread-id` adds to the lane no device was there to be asked.
//!
//! The products are added as those of `tcgen05.mma` are: see [`tcgen05::add`].

use super::fragment::{LANES, Register, a_place, a_scale_lane, b_place, b_scale_lane, c_place};
use super::matrix::canonical;
use super::tcgen05::{self, Factor, Scale};

/// Rows and columns of D.
const ROWS: usize = 16;
const COLUMNS: usize = 8;

/// What is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scaled {
    pub(crate) a: Factor,
    pub(crate) b: Factor,
    pub(crate) scale: Scale,
    /// Scales of a row of A and of a column of B.
    pub(crate) count: usize,
}

/// The scales of an operand: in which register, and from which lanes and byte on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scales<'a> {
    pub(crate) register: &'a Register,
    /// `thread-id`
    pub(crate) thread: usize,
    /// `byte-id`
    pub(crate) byte: usize,
}

/// `mma.sync.aligned.m16n8kK.row.col.kind.block_scale.f32.A.B.f32.S`.
pub(crate) fn mma(
    how: Scaled,
    a: [&Register; 4],
    b: [&Register; 2],
    c: [&Register; 4],
    [of_a, of_b]: [Scales<'_>; 2],
) -> [Register; 4] {
    let per_register = how.a.per_cell();
    let depth = 8 * per_register;
    let (mut left, mut right) = (vec![0.0; ROWS * depth], vec![0.0; depth * COLUMNS]);
    let mut cell = [0.0; 8];
    for (r, register) in a.iter().enumerate() {
        for (lane, word) in register.iter().enumerate() {
            how.a.widen_cell(*word, &mut cell);
            for (j, value) in cell.iter().enumerate().take(per_register) {
                let place = a_place(per_register, r, j, lane);
                left[depth * place.row + place.column] = *value;
            }
        }
    }
    for (r, register) in b.iter().enumerate() {
        for (lane, word) in register.iter().enumerate() {
            how.b.widen_cell(*word, &mut cell);
            for (j, value) in cell.iter().enumerate().take(per_register) {
                let place = b_place(per_register, r, j, lane);
                right[COLUMNS * place.row + place.column] = *value;
            }
        }
    }
    let mut sums = [0.0; ROWS * COLUMNS];
    let places = |i: usize| (0..LANES).map(move |lane| (lane, c_place(i, lane)));
    for (i, register) in c.iter().enumerate() {
        for (lane, place) in places(i) {
            sums[COLUMNS * place.row + place.column] = f32::from_bits(register[lane]);
        }
    }
    let block = depth / how.count;
    for slice in 0..how.count {
        let part: Vec<f32> = left
            .chunks_exact(depth)
            .flat_map(|row| &row[block * slice..block * (slice + 1)])
            .copied()
            .collect();
        let value = |scales: Scales<'_>, lane: usize| {
            let bytes = scales.register[lane].to_le_bytes();
            how.scale.value(bytes[(scales.byte + slice) % 4])
        };
        let rows = (0..ROWS).map(|row| value(of_a, a_scale_lane(of_a.thread, row))).collect();
        let columns =
            (0..COLUMNS).map(|column| value(of_b, b_scale_lane(of_b.thread, column))).collect();
        let steps = &right[COLUMNS * block * slice..COLUMNS * block * (slice + 1)];
        tcgen05::add((&part, steps), Some((&rows, &columns)), (block, COLUMNS), &mut sums);
    }
    std::array::from_fn(|i| {
        let mut register = [0; LANES];
        for (lane, place) in places(i) {
            register[lane] = canonical(sums[COLUMNS * place.row + place.column]);
        }
        register
    })
}
