//! [`Layout`] itself: its parts, its validation, and how it is applied.

use crate::{Dim, LayoutError};

/// One coordinate for each output dimension, in the layout's order: where one input bit leads.
pub type Basis = Vec<u32>;

/// The most input bits, and the most output bits, of a layout.
pub(crate) const BIT_LIMIT: usize = 64;

/// A linear map over GF(2) from named input dimensions to named output dimensions.
///
/// Input dimension `d` of size 2ᵏ has `k` bases; bit `i` of the input adds (XORs) basis `i` to the output.
/// Every size is a power of two. Two layouts are equal when they have the same dimensions in the same order and the
/// same bases; use [`Layout::mismatch`] to compare without regard to the order of the input dimensions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    ins: Vec<(Dim, Vec<Basis>)>,
    outs: Vec<(Dim, u32)>,
}

impl Layout {
    /// A layout from its bases.
    ///
    /// `ins` lists the input dimensions with one basis per input bit, lowest bit first; `outs` lists the output
    /// dimensions with their sizes; a basis has one coordinate per output dimension.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// // Two registers along axis 1 and four lanes: two along axis 1, two along axis 0.
    /// let layout = Layout::new(
    ///     vec![(Dim::Register, vec![vec![0, 1]]), (Dim::Lane, vec![vec![0, 2], vec![1, 0]])],
    ///     vec![(Dim::Axis(0), 2), (Dim::Axis(1), 4)],
    /// )?;
    /// assert_eq!(layout.apply(&[(Dim::Register, 1), (Dim::Lane, 3)]), [1, 3]);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// When a dimension repeats, a size is not a power of two, a basis has the wrong number of coordinates or leaves
    /// its output dimension, or there are more than 64 input or output bits.
    pub fn new(ins: Vec<(Dim, Vec<Basis>)>, outs: Vec<(Dim, u32)>) -> Result<Layout, LayoutError> {
        for (index, &(dim, size)) in outs.iter().enumerate() {
            if !size.is_power_of_two() {
                return Err(LayoutError::NotPowerOfTwo { what: "shape", index, actual: size });
            }
            if outs[..index].iter().any(|&(other, _)| other == dim) {
                return Err(LayoutError::RepeatedDim { dim });
            }
        }
        for (index, (dim, bases)) in ins.iter().enumerate() {
            if ins[..index].iter().any(|(other, _)| other == dim) {
                return Err(LayoutError::RepeatedDim { dim: *dim });
            }
            // Sizes are `u32`, so one dimension has at most 31 bits.
            if bases.len() > 31 {
                return Err(LayoutError::TooManyBits { actual: bases.len(), limit: 31 });
            }
            for (bit, basis) in bases.iter().enumerate() {
                check_basis(*dim, bit, basis, &outs)?;
            }
        }
        let layout = Layout { ins, outs };
        let bits = layout.in_bits().max(layout.out_bits());
        if bits > BIT_LIMIT {
            return Err(LayoutError::TooManyBits { actual: bits, limit: BIT_LIMIT });
        }
        Ok(layout)
    }

    /// A layout whose parts are right by construction.
    pub(crate) fn trusted(ins: Vec<(Dim, Vec<Basis>)>, outs: Vec<(Dim, u32)>) -> Layout {
        match Layout::new(ins, outs) {
            Ok(layout) => layout,
            Err(error) => unreachable!("an operation on layouts gave an impossible one: {error}"),
        }
    }

    /// The layout without dimensions: the neutral element of [`Layout::product`].
    pub fn empty() -> Layout {
        Layout { ins: Vec::new(), outs: Vec::new() }
    }

    /// The layout that maps `0..size` along `dim_in` to `0..size` along `dim_out`.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let layout = Layout::identity(Dim::Lane, Dim::Axis(0), 8);
    /// assert_eq!(layout.bases(Dim::Lane), [[1], [2], [4]]);
    /// ```
    ///
    /// # Requires
    /// `size` is a power of two.
    pub fn identity(dim_in: Dim, dim_out: Dim, size: u32) -> Layout {
        let bases = (0..log2(size)).map(|bit| vec![1 << bit]).collect();
        Layout::trusted(vec![(dim_in, bases)], vec![(dim_out, size)])
    }

    /// The layout that maps all of `0..size` along `dim_in` to 0, in an output dimension of size 1: a broadcast.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let layout = Layout::zeros(Dim::Lane, Dim::Axis(0), 4);
    /// assert_eq!(layout.bases(Dim::Lane), [[0], [0]]);
    /// assert_eq!(layout.out_size(Dim::Axis(0)), 1);
    /// ```
    ///
    /// # Requires
    /// `size` is a power of two.
    pub fn zeros(dim_in: Dim, dim_out: Dim, size: u32) -> Layout {
        let bases = (0..log2(size)).map(|_| vec![0]).collect();
        Layout::trusted(vec![(dim_in, bases)], vec![(dim_out, 1)])
    }

    /// The bases of an input dimension, lowest bit first; none for a dimension that the layout lacks.
    pub fn bases(&self, dim: Dim) -> &[Basis] {
        self.ins.iter().find(|(other, _)| *other == dim).map_or(&[], |(_, bases)| bases)
    }

    /// All input dimensions with their bases, in order.
    pub fn ins(&self) -> &[(Dim, Vec<Basis>)] {
        &self.ins
    }

    /// All output dimensions with their sizes, in order.
    pub fn outs(&self) -> &[(Dim, u32)] {
        &self.outs
    }

    /// The input dimensions, in order.
    pub fn in_dims(&self) -> impl ExactSizeIterator<Item = Dim> + '_ {
        self.ins.iter().map(|(dim, _)| *dim)
    }

    /// The output dimensions, in order.
    pub fn out_dims(&self) -> impl ExactSizeIterator<Item = Dim> + '_ {
        self.outs.iter().map(|(dim, _)| *dim)
    }

    /// Whether `dim` is an input dimension, even one of size 1.
    pub fn has_in(&self, dim: Dim) -> bool {
        self.in_dims().any(|other| other == dim)
    }

    /// Whether `dim` is an output dimension, even one of size 1.
    pub fn has_out(&self, dim: Dim) -> bool {
        self.out_dims().any(|other| other == dim)
    }

    /// The size of an input dimension; 1 for a dimension that the layout lacks.
    pub fn in_size(&self, dim: Dim) -> u32 {
        1 << self.bases(dim).len()
    }

    /// The size of an output dimension; 1 for a dimension that the layout lacks.
    pub fn out_size(&self, dim: Dim) -> u32 {
        self.outs.iter().find(|(other, _)| *other == dim).map_or(1, |(_, size)| *size)
    }

    /// The number of input bits of all dimensions together.
    pub fn in_bits(&self) -> usize {
        self.ins.iter().map(|(_, bases)| bases.len()).sum()
    }

    /// The number of output bits of all dimensions together.
    pub fn out_bits(&self) -> usize {
        self.outs.iter().map(|(_, size)| log2(*size)).sum()
    }

    /// The number of tensor axes among the output dimensions.
    pub fn tensor_rank(&self) -> usize {
        self.out_dims().filter(|dim| matches!(dim, Dim::Axis(_))).count()
    }

    /// The shape of the tensor: the sizes of `Axis(0)`, `Axis(1)`, ..
    pub fn shape(&self) -> Vec<u32> {
        Dim::axes(self.tensor_rank()).into_iter().map(|axis| self.out_size(axis)).collect()
    }

    /// The output coordinates at an input position, in the order of the output dimensions.
    ///
    /// Formula: the XOR of the bases of all bits set in the input. Dimensions left out count as 0.
    ///
    /// ```
    /// use kernel_layout::forms::blocked;
    /// use kernel_layout::Dim;
    /// let layout = blocked(&[2, 4], &[8, 4], &[2, 2], &[1, 0], &[64, 128])?;
    /// assert_eq!(layout.apply(&[(Dim::Register, 5), (Dim::Lane, 6), (Dim::Warp, 1)]), [3, 25]);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Requires
    /// Every value is below the size of its dimension.
    pub fn apply(&self, at: &[(Dim, u32)]) -> Vec<u32> {
        let mut coordinates = vec![0; self.outs.len()];
        for &(dim, value) in at {
            assert!(
                value < self.in_size(dim),
                "{dim} {value} lies outside a layout of {dim} size {}",
                self.in_size(dim)
            );
            for (bit, basis) in self.bases(dim).iter().enumerate() {
                if value >> bit & 1 == 1 {
                    xor_into(&mut coordinates, basis);
                }
            }
        }
        coordinates
    }
}

fn check_basis(
    dim: Dim,
    bit: usize,
    basis: &[u32],
    outs: &[(Dim, u32)],
) -> Result<(), LayoutError> {
    if basis.len() != outs.len() {
        return Err(LayoutError::BasisRank { dim, bit, actual: basis.len(), required: outs.len() });
    }
    for (&actual, &(out, size)) in basis.iter().zip(outs) {
        if actual >= size {
            return Err(LayoutError::BasisOutside { dim, bit, out, actual, size });
        }
    }
    Ok(())
}

/// Adds `basis` to `coordinates`.
pub(crate) fn xor_into(coordinates: &mut [u32], basis: &[u32]) {
    for (coordinate, part) in coordinates.iter_mut().zip(basis) {
        *coordinate ^= part;
    }
}

/// The number of bits of a size.
pub(crate) fn log2(size: u32) -> usize {
    assert!(size.is_power_of_two(), "size {size} is not a power of two");
    size.trailing_zeros() as usize
}
