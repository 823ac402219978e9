//! Which windows of shared memory are read, written and multiplied: matrices and rows, and not all buffers of a ring.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::Builder,
    ir::{SharedType, Value},
    loc::Loc,
};

/// The ranks of what is read of a ring of so many axes.
fn buffers(axes: usize) -> String {
    if axes <= 3 { "1 or 2".to_owned() } else { format!("1 to {}", axes - 1) }
}

impl Builder<'_> {
    /// A window that threads read or write as a whole: anything but all buffers of a ring.
    pub(crate) fn whole_window(
        &mut self,
        window: Value,
        shared: &SharedType,
        loc: Loc,
    ) -> Option<()> {
        let axes = self.shared[shared.root].shape.len();
        let is_ring = shared.is_plain() && shared.shape.len() == axes;
        let is_tile = shared.shape.iter().all(|extent| extent.is_power_of_two());
        if shared.shape.len() <= 2 || !is_ring && is_tile {
            return Some(());
        }
        self.too_many_axes((window, shared), &buffers(axes), loc)
    }

    /// Refuses a window with more axes than these ranks.
    fn too_many_axes(
        &mut self,
        (window, shared): (Value, &SharedType),
        ranks: &str,
        loc: Loc,
    ) -> Option<()> {
        if let Some(refused) = self.longer_than_it_is(window, shared, loc) {
            return self.refuse(refused);
        }
        self.refuse(
            Code::SharedUse
                .at(loc, "one buffer of a ring is read or written at a time")
                .compare("rank", ranks, shared.shape.len())
                .help(self.applied(window, "[0]")),
        )
    }

    /// What is said of an operand with more axes than a matrix has, all but two of extent 1.
    fn longer_than_it_is(
        &self,
        window: Value,
        shared: &SharedType,
        loc: Loc,
    ) -> Option<Diagnostic> {
        let mut extents: Vec<u32> = shared.shape.iter().copied().filter(|one| *one > 1).collect();
        if shared.shape.first() != Some(&1) || extents.len() > 2 {
            return None;
        }
        extents.resize(extents.len().max(1), 1);
        let (matrix, whole) = (format!("{extents:?}"), format!("{:?}", shared.shape));
        let data = &self.shared[shared.root];
        let is_all = data.shape == shared.shape;
        let place = if is_all { data.loc } else { loc };
        let diagnostic = Code::SharedUse
            .at(place, "shared memory of more than two axes is used as a whole")
            .compare("extents", &matrix, &whole)
            .why(format!("a copy drops and adds axes of extent 1: a window of extents {whole} fills shared memory of {matrix}"));
        Some(if is_all {
            diagnostic.of_operand(0, None).help(matrix)
        } else {
            let help = self.applied(window, &format!(".reshape({matrix})"));
            diagnostic.of_operand(0, Some(help.clone())).help(help)
        })
    }

    /// A window that is one matrix, or a row.
    pub(crate) fn check_window(
        &mut self,
        window: Value,
        shared: &SharedType,
        loc: Loc,
    ) -> Option<()> {
        if shared.shape.len() <= 2 {
            return Some(());
        }
        self.too_many_axes((window, shared), "1 or 2", loc)
    }
}
