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
        if let Some(refused) = self.longer_than_it_is(window, shared, loc) {
            return self.refuse(refused);
        }
        self.refuse(
            Code::SharedUse
                .at(loc, "one buffer of a ring is read or written at a time")
                .compare("rank", buffers(axes), shared.shape.len())
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
        let matrix = format!("{extents:?}");
        Some(
            Code::SharedUse
                .at(loc, "shared memory is read and multiplied as a matrix or a row")
                .compare("extents", &matrix, format!("{:?}", shared.shape))
                .why("axes of extent 1 can be left out: a copy drops and adds them, so that a window of extents [1, 16, 1, 128] fills an allocation of [16, 128]")
                .help(self.applied(window, &format!(".reshape({matrix})"))),
        )
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
        if let Some(refused) = self.longer_than_it_is(window, shared, loc) {
            return self.refuse(refused);
        }
        self.refuse(
            Code::SharedUse
                .at(loc, "one buffer of a ring is read or written at a time")
                .compare("rank", "1 or 2", shared.shape.len())
                .help(self.applied(window, "[0]")),
        )
    }
}
