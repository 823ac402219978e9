//! Sparse operands of products, of which half is kept.

use super::Dtype;

/// What a sparse operand keeps of a row, and how its metadata says so: of each four adjacent groups an element has four bits each, the
/// first group in the lowest (PTX ISA, "Sparse matrix storage").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sparsity {
    /// The adjacent elements of a group.
    pub group: u32,
}

impl Sparsity {
    /// The groups that an element of metadata describes.
    pub const GROUPS: u32 = 4;

    /// What products of operands of this type have: one of two elements of 32 bits is kept, and two of four of the others.
    pub const fn of(dtype: Dtype) -> Sparsity {
        Sparsity { group: if dtype.bytes() == 4 { 2 } else { 4 } }
    }

    /// The columns that an element of metadata describes.
    pub const fn columns(self) -> u32 {
        self.group * Sparsity::GROUPS
    }

    /// How many of them are kept.
    pub const fn kept(self) -> u32 {
        self.columns() / 2
    }
}
