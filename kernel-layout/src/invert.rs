//! Going from elements back to the hardware that holds them.

use crate::layout::Basis;
use crate::rank::Span;
use crate::{Dim, Layout};

impl Layout {
    /// The inverse of a bijective layout: its input dimensions are the outputs of `self` and the other way round.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// // A swizzled row pair: offset bit 2 is row 1, whose columns are exchanged.
    /// let shared = Layout::new(
    ///     vec![(Dim::Offset, vec![vec![0, 1], vec![0, 2], vec![1, 2]])],
    ///     vec![(Dim::Axis(0), 2), (Dim::Axis(1), 4)],
    /// )?;
    /// let offsets = shared.invert().expect("every element has one offset");
    /// assert_eq!(offsets.apply(&[(Dim::Axis(0), 1), (Dim::Axis(1), 0)]), [6]);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Ensures
    /// Composing with the inverse, on either side, is the identity (`law_inverse_on_both_sides`).
    pub fn invert(&self) -> Option<Layout> {
        if self.is_injective() { self.pseudo_inverse() } else { None }
    }

    /// A right inverse of a surjective layout: the input position that holds each element.
    ///
    /// Where several positions hold it, the one in which all free bits (see [`Layout::free_variable_masks`]) are 0.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let twice = Layout::identity(Dim::Register, Dim::Axis(0), 4).product(&Layout::zeros(Dim::Lane, Dim::Axis(0), 2));
    /// let holder = twice.pseudo_inverse().expect("every element is held");
    /// assert_eq!(holder.apply(&[(Dim::Axis(0), 3)]), [3, 0]);
    /// ```
    ///
    /// # Ensures
    /// `l.pseudo_inverse().compose(&l)` is the identity on elements (`law_pseudo_inverse_is_a_right_inverse`).
    pub fn pseudo_inverse(&self) -> Option<Layout> {
        let elements = Layout::elements(self.outs());
        elements.invert_and_compose(self)
    }

    /// The identity on elements, as a layout from output dimensions to themselves.
    fn elements(outs: &[(Dim, u32)]) -> Layout {
        let empty = Layout::trusted(Vec::new(), outs.to_vec());
        let ins = outs
            .iter()
            .enumerate()
            .map(|(index, &(dim, size))| {
                let bases = (0..size.trailing_zeros()).map(|bit| {
                    let mut basis: Basis = vec![0; outs.len()];
                    basis[index] = 1 << bit;
                    basis
                });
                (dim, bases.collect())
            })
            .collect();
        Layout::trusted(ins, empty.outs().to_vec())
    }

    /// The map from positions of `self` to positions of `other` that hold the same element.
    ///
    /// Formula: `other(result(x)) == self(x)`; bits of `other` that are free stay 0. With a shared layout as `other`
    /// this gives the offset at which every register of every thread is found.
    ///
    /// `None` when `self` holds an element that `other` does not.
    ///
    /// ```
    /// use kernel_layout::forms::{blocked, row_major_shared};
    /// use kernel_layout::Dim;
    /// let registers = blocked(&[1, 2], &[8, 4], &[1, 1], &[1, 0], &[8, 8])?;
    /// let offsets = registers.invert_and_compose(&row_major_shared(&[8, 8])?).expect("shared memory holds all");
    /// assert_eq!(offsets.bases(Dim::Register), [[1]]);
    /// assert_eq!(offsets.bases(Dim::Lane), [[2], [4], [8], [16], [32]]);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Requires
    /// Both have the same output dimensions with the same sizes.
    ///
    /// # Ensures
    /// `result.compose(other)` equals `self` (`law_invert_and_compose_finds_the_same_element`).
    pub fn invert_and_compose(&self, other: &Layout) -> Option<Layout> {
        let turned;
        let other = if self.out_dims().eq(other.out_dims()) {
            other
        } else {
            turned = other.transpose_outs(&self.out_dims().collect::<Vec<_>>());
            &turned
        };
        assert_eq!(self.outs(), other.outs(), "both layouts must lead to the same tensor");
        let span = Span::of(&other.matrix().columns);
        let mut ins = Vec::new();
        for (dim, bases) in self.ins() {
            let mut positions = Vec::new();
            for basis in bases {
                positions.push(other.unflatten_in(span.combination(self.flatten_out(basis))?));
            }
            ins.push((*dim, positions));
        }
        let outs = other.in_dims().map(|dim| (dim, other.in_size(dim))).collect();
        Some(Layout::trusted(ins, outs))
    }
}
