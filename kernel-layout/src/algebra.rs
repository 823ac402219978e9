//! Combining layouts and taking them apart: product, composition, quotient, restriction.

use crate::layout::{Basis, log2};
use crate::{Dim, Layout};

impl Layout {
    /// `self` as the inner tile and `other` as the arrangement of tiles.
    ///
    /// Formula: the bases of `self`, followed in each input dimension by those of `other`, whose coordinates are
    /// multiplied by the size of `self` in that output dimension. Dimensions that one of them lacks count as size 1.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let registers = Layout::identity(Dim::Register, Dim::Axis(0), 2);
    /// let lanes = Layout::identity(Dim::Lane, Dim::Axis(0), 4);
    /// let layout = registers.product(&lanes);
    /// assert_eq!(layout.bases(Dim::Register), [[1]]);
    /// assert_eq!(layout.bases(Dim::Lane), [[2], [4]]);
    /// assert_eq!(layout.shape(), [8]);
    /// ```
    ///
    /// # Requires
    /// The result has at most 64 input bits, 64 output bits and 31 bits in a dimension.
    ///
    /// # Ensures
    /// `product` is associative and [`Layout::empty`] is neutral (`law_product_is_a_monoid`); sizes multiply.
    #[must_use]
    pub fn product(&self, other: &Layout) -> Layout {
        let outs: Vec<(Dim, u32)> = union(self.out_dims(), other.out_dims())
            .into_iter()
            .map(|dim| (dim, self.out_size(dim) << log2(other.out_size(dim))))
            .collect();
        let ins = union(self.in_dims(), other.in_dims())
            .into_iter()
            .map(|dim| {
                let inner = self.bases(dim).iter().map(|basis| self.respread(basis, &outs, |_| 1));
                let outer = other
                    .bases(dim)
                    .iter()
                    .map(|basis| other.respread(basis, &outs, |out| self.out_size(out)));
                (dim, inner.chain(outer).collect())
            })
            .collect();
        Layout::trusted(ins, outs)
    }

    /// A basis of `self` written over other output dimensions: missing coordinates are 0, others are scaled.
    fn respread(&self, basis: &[u32], outs: &[(Dim, u32)], scale: impl Fn(Dim) -> u32) -> Basis {
        outs.iter()
            .map(|&(dim, _)| self.out_index(dim).map_or(0, |index| basis[index] * scale(dim)))
            .collect()
    }

    /// The place of an output dimension in the order.
    pub(crate) fn out_index(&self, dim: Dim) -> Option<usize> {
        self.out_dims().position(|other| other == dim)
    }

    /// First `self`, then `outer`.
    ///
    /// Formula: `self.compose(outer)` maps `x` to `outer(self(x))`.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let lanes = Layout::identity(Dim::Lane, Dim::Offset, 4);
    /// // Shared memory that holds the tensor backwards in pairs: offset bit 0 is axis bit 1.
    /// let shared = Layout::new(vec![(Dim::Offset, vec![vec![2], vec![1]])], vec![(Dim::Axis(0), 4)])?;
    /// assert_eq!(lanes.compose(&shared).bases(Dim::Lane), [[2], [1]]);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Requires
    /// Every output dimension of `self` is no larger than the input dimension of that name of `outer`.
    ///
    /// # Ensures
    /// `compose` is associative, and agrees with applying twice (`law_compose_applies_twice`).
    #[must_use]
    pub fn compose(&self, outer: &Layout) -> Layout {
        for &(dim, size) in self.outs() {
            assert!(
                size <= outer.in_size(dim),
                "composing needs {dim} of size {size}, the outer layout has {}",
                outer.in_size(dim)
            );
        }
        let through = |basis: &Basis| {
            let at: Vec<(Dim, u32)> = self.out_dims().zip(basis.iter().copied()).collect();
            outer.apply(&at)
        };
        let ins = self
            .ins()
            .iter()
            .map(|(dim, bases)| (*dim, bases.iter().map(through).collect()))
            .collect();
        Layout::trusted(ins, outer.outs().to_vec())
    }

    /// The layout `q` with `inner.product(&q)` equal to `self`, if there is one.
    ///
    /// This recognises an instruction's tile inside a layout: `q` says how the tiles are repeated. `q` has all
    /// dimensions of `self`, in their order.
    ///
    /// ```
    /// use kernel_layout::forms::blocked;
    /// use kernel_layout::{Dim, Layout};
    /// let layout = blocked(&[4], &[32], &[4], &[0], &[512])?;
    /// let vector = Layout::identity(Dim::Register, Dim::Axis(0), 4);
    /// let rest = layout.divide_left(&vector).expect("a thread holds four consecutive elements");
    /// assert_eq!(rest.bases(Dim::Register).len(), 0);
    /// assert_eq!(rest.bases(Dim::Lane), [[1], [2], [4], [8], [16]]);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Ensures
    /// Division undoes the product (`law_divide_left_undoes_product`).
    pub fn divide_left(&self, inner: &Layout) -> Option<Layout> {
        let known = inner.out_dims().all(|dim| inner.out_size(dim) == 1 || self.has_out(dim));
        if !known || inner.in_dims().any(|dim| inner.in_size(dim) > self.in_size(dim)) {
            return None;
        }
        let mut outs = Vec::new();
        for &(dim, size) in self.outs() {
            if inner.out_size(dim) > size {
                return None;
            }
            outs.push((dim, size >> log2(inner.out_size(dim))));
        }
        let mut ins = Vec::new();
        for (dim, bases) in self.ins() {
            let (tile, rest) = bases.split_at(inner.bases(*dim).len());
            let same = inner
                .bases(*dim)
                .iter()
                .map(|basis| inner.respread(basis, self.outs(), |_| 1))
                .eq(tile.iter().cloned());
            if !same {
                return None;
            }
            let mut quotient = Vec::new();
            for basis in rest {
                quotient.push(self.scaled_down(basis, inner)?);
            }
            ins.push((*dim, quotient));
        }
        Some(Layout::trusted(ins, outs))
    }

    /// A basis divided by the sizes of `inner`, if all coordinates are multiples of them.
    fn scaled_down(&self, basis: &[u32], inner: &Layout) -> Option<Basis> {
        let parts = self.out_dims().zip(basis);
        parts
            .map(|(dim, &part)| {
                part.is_multiple_of(inner.out_size(dim)).then(|| part / inner.out_size(dim))
            })
            .collect()
    }

    /// The layout `q` with `q.product(outer)` equal to `self`, if there is one.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let tile = Layout::identity(Dim::Register, Dim::Axis(0), 4);
    /// let warps = Layout::identity(Dim::Warp, Dim::Axis(0), 2);
    /// let layout = tile.product(&warps);
    /// assert_eq!(layout.divide_right(&warps).expect("the warps are outermost").bases(Dim::Register), [[1], [2]]);
    /// ```
    ///
    /// # Ensures
    /// Division undoes the product (`law_divide_right_undoes_product`).
    pub fn divide_right(&self, outer: &Layout) -> Option<Layout> {
        let known = outer.out_dims().all(|dim| outer.out_size(dim) == 1 || self.has_out(dim));
        if !known || outer.in_dims().any(|dim| outer.in_size(dim) > self.in_size(dim)) {
            return None;
        }
        let mut outs = Vec::new();
        for &(dim, size) in self.outs() {
            if outer.out_size(dim) > size {
                return None;
            }
            outs.push((dim, size >> log2(outer.out_size(dim))));
        }
        let scale = |dim| outs.iter().find(|(other, _)| *other == dim).map_or(1, |&(_, size)| size);
        let mut ins = Vec::new();
        for (dim, bases) in self.ins() {
            let (rest, tiles) = bases.split_at(bases.len() - outer.bases(*dim).len());
            let same = outer
                .bases(*dim)
                .iter()
                .map(|basis| outer.respread(basis, self.outs(), scale))
                .eq(tiles.iter().cloned());
            let fits = rest
                .iter()
                .all(|basis| basis.iter().zip(&outs).all(|(&part, &(_, size))| part < size));
            if !same || !fits {
                return None;
            }
            ins.push((*dim, rest.to_vec()));
        }
        Some(Layout::trusted(ins, outs))
    }

    /// The layout restricted to some input and output dimensions, in the order given.
    ///
    /// ```
    /// use kernel_layout::forms::mma_v2_accumulator;
    /// use kernel_layout::Dim;
    /// let layout = mma_v2_accumulator([2, 2], &[64, 64])?;
    /// let rows = layout.sublayout(&[Dim::Warp], &[Dim::Axis(0)]);
    /// assert_eq!(rows.bases(Dim::Warp), [[0], [16]]);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    #[must_use]
    pub fn sublayout(&self, ins: &[Dim], outs: &[Dim]) -> Layout {
        let outs: Vec<(Dim, u32)> = outs.iter().map(|&dim| (dim, self.out_size(dim))).collect();
        let ins = ins
            .iter()
            .map(|&dim| {
                (
                    dim,
                    self.bases(dim)
                        .iter()
                        .map(|basis| self.respread(basis, &outs, |_| 1))
                        .collect(),
                )
            })
            .collect();
        Layout::trusted(ins, outs)
    }

    /// The inputs of both, with outputs combined by XOR: `x, y` maps to `self(x) ^ other(y)`.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let layout = Layout::identity(Dim::Register, Dim::Axis(0), 4)
    ///     .concat_ins(&Layout::identity(Dim::Lane, Dim::Axis(0), 4));
    /// assert_eq!(layout.apply(&[(Dim::Register, 1), (Dim::Lane, 3)]), [2]);
    /// ```
    ///
    /// # Requires
    /// The same output dimensions with the same sizes, and no input dimension in common.
    #[must_use]
    pub fn concat_ins(&self, other: &Layout) -> Layout {
        let other = other.transpose_outs(&self.out_dims().collect::<Vec<_>>());
        assert_eq!(self.outs(), other.outs(), "inputs can be joined only over the same outputs");
        Layout::trusted([self.ins(), other.ins()].concat(), self.outs().to_vec())
    }

    /// The outputs of both for the same input: `x` maps to `self(x), other(x)`.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let layout = Layout::identity(Dim::Lane, Dim::Row, 4).concat_outs(&Layout::zeros(Dim::Lane, Dim::Col, 4));
    /// assert_eq!(layout.bases(Dim::Lane), [[1, 0], [2, 0]]);
    /// ```
    ///
    /// # Requires
    /// The same input dimensions with the same sizes, and no output dimension in common.
    #[must_use]
    pub fn concat_outs(&self, other: &Layout) -> Layout {
        let other = other.transpose_ins(&self.in_dims().collect::<Vec<_>>());
        let ins = self
            .ins()
            .iter()
            .zip(other.ins())
            .map(|((dim, left), (_, right))| {
                assert_eq!(
                    left.len(),
                    right.len(),
                    "outputs can be joined only over the same inputs"
                );
                (*dim, left.iter().zip(right).map(|(l, r)| [&l[..], &r[..]].concat()).collect())
            })
            .collect();
        Layout::trusted(ins, [self.outs(), other.outs()].concat())
    }

    /// The layout without the all-zero bases of one input dimension: broadcasts along it are gone.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let layout = Layout::zeros(Dim::Register, Dim::Axis(0), 4).product(&Layout::identity(Dim::Register, Dim::Axis(0), 2));
    /// assert_eq!(layout.remove_zero_bases(Dim::Register).bases(Dim::Register), [[1]]);
    /// ```
    #[must_use]
    pub fn remove_zero_bases(&self, dim: Dim) -> Layout {
        let ins = self
            .ins()
            .iter()
            .map(|(other, bases)| {
                let keep = |basis: &&Basis| *other != dim || basis.iter().any(|&part| part != 0);
                (*other, bases.iter().filter(keep).cloned().collect())
            })
            .collect();
        Layout::trusted(ins, self.outs().to_vec())
    }
}

/// The dimensions of both, those of `first` before the further ones of `second`.
fn union(first: impl Iterator<Item = Dim>, second: impl Iterator<Item = Dim>) -> Vec<Dim> {
    let mut dims: Vec<Dim> = first.collect();
    for dim in second {
        if !dims.contains(&dim) {
            dims.push(dim);
        }
    }
    dims
}
