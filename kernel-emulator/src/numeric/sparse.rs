//! Sparse products: what the metadata of A says. PTX ISA, "Sparse matrix storage", "Matrix fragments for multiply-accumulate operation
//! with sparse matrix A".
//!
//! The manual draws in figures which lane gives the metadata of which row; in words, with `group = lane / 4` and `within = lane % 4`:
//!
//! | elements of A | shape | lanes | their bits |
//! |---|---|---|---|
//! | 16 bits, tf32 | the smaller k | one of each four, by the selector | the low half is row `group`, the high half row `group + 8` |
//! | 16 bits, tf32 | the larger k | two of each four: the first two, or the last two | the same; the second lane has the second half of k |
//! | 8 bits | k 32 | two of each four | the first lane is row `group`, the second row `group + 8` |
//! | 8 bits | k 64 | all | the same; the second two lanes have the second half of k |
//!
//! A row's groups follow each other, four bits each, lowest first. CUTLASS's traits (`ELayout` of `SM80_SPARSE_*` and of `SM90::GMMA`) say the
//! same.

use super::fragment::Register;

/// Rows of A.
pub(crate) const ROWS: usize = 16;

/// Which indices of a group the instruction takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Indices {
    /// `.sp`: two different ones.
    Any,
    /// `.sp::ordered_metadata`: the first is below the second.
    Ascending,
}

/// The form of a sparse A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// Elements in a register of A: 1, 2 or 4.
    pub(crate) per_register: usize,
    /// Elements of a row that are kept.
    pub(crate) kept: usize,
}

impl Form {
    /// Columns of a group.
    const fn group(self) -> usize {
        if self.per_register == 1 { 2 } else { 4 }
    }

    /// Groups of a row.
    pub(crate) const fn groups(self) -> usize {
        2 * self.kept / self.group()
    }

    /// How many of each four lanes give metadata.
    pub(crate) const fn givers(self) -> usize {
        let words = self.groups() / 4;
        if words > 4 { 4 } else { words }
    }

    /// The lane and the lowest bit of the metadata of a group of a row.
    pub(crate) const fn place(self, selector: usize, row: usize, group: usize) -> (usize, usize) {
        let first = 4 * (row % 8) + self.givers() * selector;
        if self.per_register == 4 {
            (first + row / 8 + 2 * (group / 8), 4 * (group % 8))
        } else {
            (first + group / 4, 16 * (row / 8) + 4 * (group % 4))
        }
    }
}

/// Metadata that says nothing of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meaningless {
    pub(crate) lane: usize,
    pub(crate) row: usize,
    pub(crate) group: usize,
    pub(crate) bits: u32,
}

/// For each row the rows of B by which its elements are multiplied, one after the other. Rows that `skipped` has, by their bits, are not
/// looked at.
///
/// # Errors
/// With the first group whose bits have no meaning.
pub(crate) fn rows_of_b(
    form: Form,
    metadata: &Register,
    (selector, indices): (usize, Indices),
    skipped: u32,
) -> Result<[Vec<usize>; ROWS], Meaningless> {
    let mut all = [const { Vec::new() }; ROWS];
    for (row, taken) in all.iter_mut().enumerate() {
        for group in 0..form.groups() {
            let (lane, low) = form.place(selector, row, group);
            let bits = metadata[lane] >> low & 0xf;
            let column = group * form.group();
            let [first, second] = [bits & 3, bits >> 2].map(|index| column + index as usize);
            if skipped >> row & 1 != 0 {
                taken.extend_from_slice(if form.group() == 2 { &[0] } else { &[0, 0] });
            } else if form.group() == 2 {
                // Indices of the halves of an element.
                taken.push(match bits {
                    0b0100 => column,
                    0b1110 => column + 1,
                    _ => return Err(Meaningless { lane, row, group, bits }),
                });
            } else {
                let meant = match indices {
                    Indices::Any => first != second,
                    Indices::Ascending => first < second,
                };
                if !meant {
                    return Err(Meaningless { lane, row, group, bits });
                }
                taken.extend([first, second]);
            }
        }
    }
    Ok(all)
}
