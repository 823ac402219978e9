//! `mma.sp`: products whose A is half zeros. Each row is multiplied by the rows of B that its metadata names, as if A were dense and B had
//! no others; the sixteen rows differ in that, and a dense product is done for each.

use super::{accumulate, words, write_words};
use crate::code::{LANES, Mma, MmaKind, MmaMetadata};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::warp::lane_number;
use crate::machine::{Context, Warp};
use crate::numeric::fragment::{Register, b_place};
use crate::numeric::matrix;
use crate::numeric::sparse::{Form, Indices, Meaningless, ROWS, rows_of_b};

/// `mma.sp.sync`, `mma.sp::ordered_metadata.sync`; `defined` are the lanes of upper and lower rows that take defined elements only.
pub(super) fn mma(
    cx: &Context<'_>,
    warp: &mut Warp,
    (op, metadata): (&Mma, MmaMetadata),
    defined: [u32; 2],
) -> Run<()> {
    let per_register = match op.kind {
        MmaKind::Float { a, .. } => a.per_register(),
        MmaKind::Int { a, .. } => a.per_register(),
        MmaKind::Scaled(_) | MmaKind::Bits { .. } | MmaKind::F64 { .. } => {
            unreachable!("the decoder gives metadata to products of floats and bytes")
        }
    };
    let form = Form { per_register, kept: 2 * per_register * op.a.len() };
    let selector = named(form, metadata.selector, "mma.sp")?;
    let unknown = without(form, selector, warp.regs.w_defined(metadata.data));
    let rows = rows_of_b(form, warp.regs.w(metadata.data), (selector, metadata.indices), unknown)
        .map_err(|meaningless| refused(form, metadata.indices, meaningless))?;
    let a = words::<4>(warp, &op.a);
    let (b, c) = (words::<4>(warp, &op.b), words::<4>(warp, &op.c));
    let mut d = [[0; LANES]; 4];
    for (row, rows) in rows.iter().enumerate() {
        let b = gathered(per_register, &b[..op.b.len()], rows);
        let (a, b) = (&a[..op.a.len()], &b[..op.a.len() / 2]);
        let (product, to_a_row) = match op.kind {
            MmaKind::Float { a: left, b: right, half: false } => {
                (matrix::mma_f32(left, a, right, b, &c, cx.launch.tensor_core).to_vec(), 2)
            }
            MmaKind::Float { a: left, b: right, half: true } => {
                let c = [c[0], c[1]];
                (matrix::mma_f16(left, a, right, b, &c, cx.launch.tensor_core).to_vec(), 1)
            }
            MmaKind::Int { a: left, b: right, saturate, .. } => {
                (matrix::mma_s32(left, a, right, b, &c, accumulate(saturate)).to_vec(), 2)
            }
            MmaKind::Scaled(_) | MmaKind::Bits { .. } | MmaKind::F64 { .. } => {
                unreachable!("no elements were found of these")
            }
        };
        let first = row / 8 * to_a_row;
        let lanes = 4 * (row % 8)..4 * (row % 8) + 4;
        for register in first..first + to_a_row {
            d[register][lanes.clone()].copy_from_slice(&product[register][lanes.clone()]);
        }
    }
    let known = |first: usize| {
        let lost = (0..8).filter(|row| unknown >> (first + row) & 1 != 0);
        lost.fold(u32::MAX, |lanes, row| lanes & !(0xF << (4 * row)))
    };
    let defined = [defined[0] & known(0), defined[1] & known(8)];
    write_words(warp, &op.d, &d, defined, op.d.len() / 2);
    Ok(())
}

/// The selector, which names lanes that there are.
pub(crate) fn named(form: Form, selector: u32, instruction: &str) -> Run<usize> {
    let choices = 4 / form.givers();
    let number = selector as usize;
    if number < choices {
        return Ok(number);
    }
    let detail = format!(
        "the sparsity selector of `{instruction}` is {selector}: required a number below {choices}, as {} of each four lanes give metadata",
        form.givers()
    );
    Err(Trap::new(FaultKind::IllegalOperand, detail))
}

/// The rows, by their bits, of which a lane that gives metadata holds nothing defined.
pub(crate) fn without(form: Form, selector: usize, defined: u32) -> u32 {
    let lost = |row: &usize| {
        let mut lanes = (0..form.groups()).map(|group| form.place(selector, *row, group).0);
        lanes.any(|lane| defined >> lane & 1 == 0)
    };
    (0..ROWS).filter(lost).fold(0, |rows, row| rows | 1 << row)
}

/// B of the rows that one row of A takes, in the registers of a dense product.
fn gathered(per_register: usize, b: &[&Register], rows: &[usize]) -> [Register; 2] {
    let bits = 32 / per_register;
    let mask = u32::MAX >> (32 - bits);
    std::array::from_fn(|register| {
        std::array::from_fn(|lane| {
            let element = |j: usize| {
                let at = b_place(per_register, register, j, lane);
                let row = *rows.get(at.row)?;
                let within = row % (4 * per_register);
                let word = b[row / (4 * per_register)][4 * at.column + within / per_register];
                Some((word >> (bits * (within % per_register)) & mask) << (bits * j))
            };
            (0..per_register).filter_map(element).fold(0, |word, element| word | element)
        })
    })
}

pub(crate) fn refused(form: Form, indices: Indices, meaningless: Meaningless) -> Trap {
    let Meaningless { lane, row, group, bits } = meaningless;
    let required = match (form.per_register, indices) {
        (1, _) => "0b0100 or 0b1110",
        (_, Indices::Any) => "two different indices",
        (_, Indices::Ascending) => "two indices, the smaller one in the low bits",
    };
    let detail = format!(
        "the metadata of group {group} of row {row} of A is {bits:#06b}: required {required} (PTX ISA, \"Sparse matrix storage\")"
    );
    Trap::new(FaultKind::IllegalOperand, detail).lane(lane_number(lane))
}
