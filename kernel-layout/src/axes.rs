//! Renaming, reordering and reshaping dimensions, and fitting a tile's layout to a tensor.

use crate::layout::{Basis, log2};
use crate::{Dim, Layout};

impl Layout {
    /// The same map with its input dimensions in another order.
    ///
    /// # Requires
    /// `order` names every input dimension once.
    #[must_use]
    pub fn transpose_ins(&self, order: &[Dim]) -> Layout {
        assert!(
            order.len() == self.ins().len() && order.iter().all(|&dim| self.has_in(dim)),
            "the order must name every input"
        );
        let ins = order.iter().map(|&dim| (dim, self.bases(dim).to_vec())).collect();
        Layout::trusted(ins, self.outs().to_vec())
    }

    /// The same map with its output dimensions in another order.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let layout = Layout::identity(Dim::Lane, Dim::Row, 2).product(&Layout::identity(Dim::Lane, Dim::Col, 2));
    /// assert_eq!(layout.bases(Dim::Lane), [[1, 0], [0, 1]]);
    /// assert_eq!(layout.transpose_outs(&[Dim::Col, Dim::Row]).bases(Dim::Lane), [[0, 1], [1, 0]]);
    /// ```
    ///
    /// # Requires
    /// `order` names every output dimension once.
    #[must_use]
    pub fn transpose_outs(&self, order: &[Dim]) -> Layout {
        assert!(
            order.len() == self.outs().len() && order.iter().all(|&dim| self.has_out(dim)),
            "the order must name every output"
        );
        self.sublayout(&self.in_dims().collect::<Vec<_>>(), order)
    }

    /// The same map over other input dimensions: all input bits in order (the first dimension lowest), distributed
    /// anew.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let layout = Layout::identity(Dim::Offset, Dim::Axis(0), 8).reshape_ins(&[(Dim::Register, 2), (Dim::Lane, 4)]);
    /// assert_eq!(layout.bases(Dim::Lane), [[2], [4]]);
    /// ```
    ///
    /// # Requires
    /// The sizes multiply to the number of inputs.
    #[must_use]
    pub fn reshape_ins(&self, ins: &[(Dim, u32)]) -> Layout {
        let bits: usize = ins.iter().map(|&(_, size)| log2(size)).sum();
        assert_eq!(bits, self.in_bits(), "reshaping must keep the number of inputs");
        let mut all = self.ins().iter().flat_map(|(_, bases)| bases.iter().cloned());
        let ins =
            ins.iter().map(|&(dim, size)| (dim, all.by_ref().take(log2(size)).collect())).collect();
        Layout::trusted(ins, self.outs().to_vec())
    }

    /// The same map over other output dimensions: the row-major index (the last dimension lowest), split anew.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let layout = Layout::identity(Dim::Offset, Dim::Axis(0), 8).reshape_outs(&[(Dim::Row, 2), (Dim::Col, 4)]);
    /// assert_eq!(layout.bases(Dim::Offset), [[0, 1], [0, 2], [1, 0]]);
    /// ```
    ///
    /// # Requires
    /// The sizes multiply to the number of outputs.
    #[must_use]
    pub fn reshape_outs(&self, outs: &[(Dim, u32)]) -> Layout {
        let target = Layout::trusted(Vec::new(), outs.to_vec());
        assert_eq!(
            target.out_bits(),
            self.out_bits(),
            "reshaping must keep the number of elements"
        );
        self.map_bases(outs.to_vec(), |basis| target.unflatten_out(self.flatten_out(basis)))
    }

    /// The tensor reshaped, in row-major order of its elements.
    ///
    /// ```
    /// use kernel_layout::forms::row_major_shared;
    /// use kernel_layout::Dim;
    /// let layout = row_major_shared(&[2, 4])?.reshape(&[4, 2]);
    /// assert_eq!(layout.bases(Dim::Offset), [[0, 1], [1, 0], [2, 0]]);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Requires
    /// All output dimensions are axes, and the new shape has as many elements.
    ///
    /// # Ensures
    /// The row-major index of what each position holds does not change (`law_reshape_keeps_the_index`).
    #[must_use]
    pub fn reshape(&self, shape: &[u32]) -> Layout {
        let axes = self.in_axis_order();
        axes.reshape_outs(
            &shape
                .iter()
                .enumerate()
                .map(|(index, &size)| (Dim::axis(index), size))
                .collect::<Vec<_>>(),
        )
    }

    /// The same map with outputs `Axis(0)`, `Axis(1)`, .. in order.
    fn in_axis_order(&self) -> Layout {
        assert_eq!(self.tensor_rank(), self.outs().len(), "only a layout of a tensor has a shape");
        self.transpose_outs(&Dim::axes(self.outs().len()))
    }

    /// The tensor with its axes permuted: axis `i` of the result is axis `order[i]` of `self`.
    ///
    /// ```
    /// use kernel_layout::forms::row_major_shared;
    /// use kernel_layout::Dim;
    /// let layout = row_major_shared(&[2, 4])?.permute_axes(&[1, 0]);
    /// assert_eq!(layout.shape(), [4, 2]);
    /// assert_eq!(layout.bases(Dim::Offset), [[1, 0], [2, 0], [0, 1]]);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Requires
    /// All output dimensions are axes, and `order` names each once.
    #[must_use]
    pub fn permute_axes(&self, order: &[u32]) -> Layout {
        let source = self.in_axis_order();
        assert_eq!(order.len(), source.outs().len(), "the order must name every axis");
        let picks: Vec<usize> = order.iter().map(|&axis| axis as usize).collect();
        let outs = picks
            .iter()
            .enumerate()
            .map(|(index, &pick)| (Dim::axis(index), source.outs()[pick].1))
            .collect();
        source.map_bases(outs, |basis| picks.iter().map(|&pick| basis[pick]).collect())
    }

    /// The tensor with an axis removed: the layout after a reduction of the axis to one element.
    ///
    /// The coordinate is dropped and register bases that thereby become zero are deleted; lanes, warps and blocks
    /// keep their zero bases, since threads cannot be deleted.
    ///
    /// ```
    /// use kernel_layout::forms::blocked;
    /// use kernel_layout::Dim;
    /// let parent = blocked(&[1, 4], &[8, 4], &[4, 1], &[1, 0], &[32, 16])?;
    /// let rows = parent.slice(1);
    /// assert_eq!(rows.bases(Dim::Register).len(), 0);
    /// assert_eq!(rows.bases(Dim::Lane), [[0], [0], [1], [2], [4]]);
    /// assert_eq!(rows.bases(Dim::Warp), [[8], [16]]);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Requires
    /// All output dimensions are axes, `axis` among them.
    #[must_use]
    pub fn slice(&self, axis: usize) -> Layout {
        let source = self.in_axis_order();
        assert!(
            axis < source.outs().len(),
            "axis {axis} lies outside rank {}",
            source.outs().len()
        );
        let mut sizes = source.shape();
        sizes.remove(axis);
        let outs =
            sizes.into_iter().enumerate().map(|(index, size)| (Dim::axis(index), size)).collect();
        let without = source.map_bases(outs, |basis| {
            let mut basis = basis.to_vec();
            basis.remove(axis);
            basis
        });
        without.remove_zero_bases(Dim::Register)
    }

    /// The tensor with an axis of size 1 inserted before axis `axis`.
    ///
    /// # Requires
    /// All output dimensions are axes, and `axis` is at most their number.
    ///
    /// # Ensures
    /// `slice` removes it again, as long as no register base is zero (`law_slice_undoes_expand`).
    #[must_use]
    pub fn expand_axis(&self, axis: usize) -> Layout {
        let source = self.in_axis_order();
        assert!(
            axis <= source.outs().len(),
            "axis {axis} lies outside rank {}",
            source.outs().len()
        );
        let mut sizes = source.shape();
        sizes.insert(axis, 1);
        let outs =
            sizes.into_iter().enumerate().map(|(index, size)| (Dim::axis(index), size)).collect();
        source.map_bases(outs, |basis| {
            let mut basis = basis.to_vec();
            basis.insert(axis, 0);
            basis
        })
    }

    /// The tensor with one axis collapsed to size 1, every position kept: which element of a tensor of size 1 along
    /// `axis` each position of its broadcast holds.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let layout = Layout::identity(Dim::Register, Dim::Axis(0), 4).collapse_axis(0);
    /// assert_eq!(layout.bases(Dim::Register), [[0], [0]]);
    /// assert_eq!(layout.shape(), [1]);
    /// ```
    #[must_use]
    pub fn collapse_axis(&self, axis: usize) -> Layout {
        self.shrink(&[(Dim::axis(axis), 1)])
    }

    /// The layout enlarged to `sizes`, in that order: where it is smaller, identity bases are appended to the first
    /// input dimension, so that its registers (or offsets) repeat the tile.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let tile = Layout::identity(Dim::Register, Dim::Axis(0), 2).product(&Layout::identity(Dim::Lane, Dim::Axis(0), 2));
    /// assert_eq!(tile.grow(&[(Dim::Axis(0), 16)]).bases(Dim::Register), [[1], [4], [8]]);
    /// ```
    ///
    /// # Requires
    /// There is an input dimension; every size is a power of two.
    #[must_use]
    pub fn grow(&self, sizes: &[(Dim, u32)]) -> Layout {
        let first = self.in_dims().next().expect("a layout that grows has an input dimension");
        sizes.iter().fold(self.clone(), |layout, &(dim, size)| {
            let repeats = size.checked_shr(layout.out_size(dim).trailing_zeros()).unwrap_or(0);
            if repeats > 1 {
                layout.product(&Layout::identity(first, dim, repeats))
            } else {
                layout
            }
        })
    }

    /// The layout cut to at most `sizes`: coordinates beyond wrap around, so bases that lead out of the tensor become
    /// zero, that is, repeat elements inside.
    ///
    /// ```
    /// use kernel_layout::{Dim, Layout};
    /// let tile = Layout::identity(Dim::Lane, Dim::Axis(0), 8).shrink(&[(Dim::Axis(0), 2)]);
    /// assert_eq!(tile.bases(Dim::Lane), [[1], [0], [0]]);
    /// ```
    ///
    /// # Requires
    /// Every size is a power of two.
    #[must_use]
    pub fn shrink(&self, sizes: &[(Dim, u32)]) -> Layout {
        let limit =
            |dim| sizes.iter().find(|(other, _)| *other == dim).map_or(u32::MAX, |&(_, size)| size);
        let outs: Vec<(Dim, u32)> =
            self.outs().iter().map(|&(dim, size)| (dim, size.min(limit(dim)))).collect();
        let masks: Vec<u32> = outs.iter().map(|&(_, size)| size - 1).collect();
        self.map_bases(outs, |basis| {
            basis.iter().zip(&masks).map(|(part, mask)| part & mask).collect()
        })
    }

    /// The layout of a tile fitted to a tensor: grown in `order` (fastest axis first), then shrunk.
    ///
    /// Every layout that is given by a tile covers a whole tensor in this way.
    ///
    /// # Requires
    /// All output dimensions are axes; `shape` has one power of two for each, and `order` names each once.
    #[must_use]
    pub fn fit(&self, shape: &[u32], order: &[u32]) -> Layout {
        let sizes: Vec<(Dim, u32)> =
            order.iter().map(|&axis| (Dim::axis(axis as usize), shape[axis as usize])).collect();
        self.grow(&sizes).shrink(&sizes).in_axis_order()
    }

    /// How many consecutive elements of the fastest (last) output dimension the lowest bits of an input dimension walk.
    ///
    /// Formula: the largest 2ᵏ such that the first `k` bases of `dim` are 1, 2, 4, .. along the last output dimension
    /// and 0 along the others. See [`Layout::num_consecutive_along`] for other output dimensions.
    ///
    /// ```
    /// use kernel_layout::forms::blocked;
    /// use kernel_layout::Dim;
    /// let layout = blocked(&[2, 4], &[8, 4], &[2, 2], &[1, 0], &[64, 128])?;
    /// assert_eq!(layout.num_consecutive(Dim::Register), 4);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    pub fn num_consecutive(&self, dim: Dim) -> u32 {
        self.out_dims().last().map_or(1, |out| self.num_consecutive_along(dim, out))
    }

    /// How many consecutive elements of output dimension `out` the lowest bits of an input dimension walk.
    ///
    /// ```
    /// use kernel_layout::forms::blocked;
    /// use kernel_layout::Dim;
    /// let layout = blocked(&[2, 4], &[8, 4], &[2, 2], &[0, 1], &[64, 128])?;
    /// assert_eq!(layout.num_consecutive_along(Dim::Register, Dim::Axis(0)), 2);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    pub fn num_consecutive_along(&self, dim: Dim, out: Dim) -> u32 {
        let walks = |(bit, basis): &(usize, &Basis)| {
            let mut parts = self.out_dims().zip(basis.iter());
            parts.all(|(other, &part)| part == if other == out { 1 << bit } else { 0 })
        };
        1 << self.bases(dim).iter().enumerate().take_while(walks).count()
    }

    /// The axes from the fastest to the slowest, as the low bits of the first input dimension and then of the others
    /// walk them; axes that no basis walks come last, the innermost first.
    ///
    /// ```
    /// use kernel_layout::forms::blocked;
    /// let layout = blocked(&[2, 1], &[8, 4], &[2, 2], &[0, 1], &[64, 128])?;
    /// assert_eq!(layout.axis_order(), [0, 1]);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    pub fn axis_order(&self) -> Vec<u32> {
        let mut order = Vec::new();
        for basis in self.ins().iter().flat_map(|(_, bases)| bases) {
            for (dim, &part) in self.out_dims().zip(basis) {
                if let Dim::Axis(axis) = dim
                    && part != 0
                    && !order.contains(&u32::from(axis))
                {
                    order.push(u32::from(axis));
                }
            }
        }
        let walked = order.clone();
        let axes = 0..u32::try_from(self.tensor_rank()).expect("a rank is small");
        order.extend(axes.rev().filter(|axis| !walked.contains(axis)));
        order
    }

    /// The same inputs over other outputs, each basis rewritten.
    fn map_bases(&self, outs: Vec<(Dim, u32)>, rewrite: impl Fn(&[u32]) -> Basis) -> Layout {
        let ins = self
            .ins()
            .iter()
            .map(|(dim, bases)| (*dim, bases.iter().map(|basis| rewrite(basis)).collect()))
            .collect();
        Layout::trusted(ins, outs)
    }
}
