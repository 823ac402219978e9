//! Where two layouts differ, as facts for diagnostics.

use std::fmt;

use crate::layout::Basis;
use crate::{Dim, Layout};

/// The first input bit at which a layout is not the required one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Mismatch {
    /// The input dimension.
    pub dim: Dim,
    /// The bit of that dimension.
    pub bit: usize,
    /// Where the bit leads, or `None` when the dimension has no such bit.
    pub actual: Option<Basis>,
    /// Where the bit should lead, or `None` when there should be no such bit.
    pub required: Option<Basis>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |basis: &Option<Basis>| {
            basis.as_ref().map_or_else(|| "none".to_owned(), |basis| format!("{basis:?}"))
        };
        write!(
            f,
            "{} basis {}: required {}, actual {}",
            self.dim,
            self.bit,
            word(&self.required),
            word(&self.actual)
        )
    }
}

impl Layout {
    /// Whether both are the same map, however they are written: every place holds the same element of the same tensor.
    ///
    /// The order of dimensions does not matter, of inputs or outputs, and a dimension of size 1 counts as none.
    ///
    /// ```
    /// use kernel_layout::Form;
    /// let form = |per_thread, lanes, warps| Form::Blocked { per_thread, lanes, warps, order: vec![1, 0] };
    /// // Four warps below one another, or a slice of a layout of one axis more.
    /// let plain = form(vec![1, 4], vec![8, 4], vec![4, 1]).to_layout(&[32, 16])?;
    /// let parent = Form::Blocked {
    ///     per_thread: vec![1, 1, 4],
    ///     lanes: vec![1, 8, 4],
    ///     warps: vec![1, 4, 1],
    ///     order: vec![2, 1, 0],
    /// };
    /// let sliced = Form::Slice { axis: 0, parent: Box::new(parent) }.to_layout(&[32, 16])?;
    /// assert!(sliced.means_the_same(&plain));
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Ensures
    /// It holds exactly when [`Layout::mismatch`] finds nothing (`law_meaning_is_what_every_place_holds`).
    pub fn means_the_same(&self, other: &Layout) -> bool {
        let matter = |layout: &Layout| -> Vec<(Dim, u32)> {
            let mut outs: Vec<_> =
                layout.outs().iter().copied().filter(|&(_, size)| size > 1).collect();
            outs.sort_unstable();
            outs
        };
        let outs = matter(self);
        if outs != matter(other) {
            return false;
        }
        let dims: Vec<Dim> = outs.into_iter().map(|(dim, _)| dim).collect();
        let plain =
            |layout: &Layout| layout.sublayout(&layout.in_dims().collect::<Vec<_>>(), &dims);
        plain(self).mismatch(&plain(other)).is_none()
    }

    /// The first difference between this layout and a required one, or `None` when they are the same map.
    ///
    /// The order of input dimensions does not matter, and a dimension of size 1 counts as none.
    ///
    /// ```
    /// use kernel_layout::forms::blocked;
    /// use kernel_layout::{Dim, Layout};
    /// let actual = blocked(&[4], &[32], &[4], &[0], &[256])?;
    /// let required = blocked(&[8], &[32], &[4], &[0], &[256])?;
    /// let mismatch = actual.mismatch(&required).expect("they differ");
    /// assert_eq!((mismatch.dim, mismatch.bit), (Dim::Register, 2));
    /// assert_eq!((mismatch.actual, mismatch.required), (None, Some(vec![4])));
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Requires
    /// Both have the same output dimensions with the same sizes.
    pub fn mismatch(&self, required: &Layout) -> Option<Mismatch> {
        let actual = self.transpose_outs(&required.out_dims().collect::<Vec<_>>());
        assert_eq!(
            actual.outs(),
            required.outs(),
            "layouts of different tensors cannot be compared"
        );
        let further = actual.in_dims().filter(|&dim| !required.has_in(dim));
        required.in_dims().chain(further).find_map(|dim| {
            let (have, want) = (actual.bases(dim), required.bases(dim));
            let bit =
                (0..have.len().max(want.len())).find(|&bit| have.get(bit) != want.get(bit))?;
            Some(Mismatch {
                dim,
                bit,
                actual: have.get(bit).cloned(),
                required: want.get(bit).cloned(),
            })
        })
    }
}
