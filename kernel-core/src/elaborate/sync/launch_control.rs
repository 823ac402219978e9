//! Cluster launch control: blocks that take over the work of clusters that have not begun.

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{Num, Val},
    },
    ir::{Dtype, Value},
    loc::Loc,
};

/// The words of an answer (PTX ISA, "`clusterlaunchcontrol.try_cancel`").
const WORDS: u32 = 4;
/// How an answer is made.
const ANSWER: &str = "let answer = shared::<u32>([4]);";

impl Builder<'_> {
    /// The four words in shared memory that an answer is written to, as the hardware has them.
    pub(crate) fn answer(&mut self, val: &Val, loc: Loc) -> Option<Value> {
        let Some((value, shared)) = self.shared_window(val) else {
            return self.refuse(
                Code::Kind.at(loc, "the answer of `cluster::try_cancel` has to be in shared memory")
                    .compare("", "a `Shared<u32>` of extents [4]", self.describe(val))
                    .why("the answer is 16 bytes, which count on a barrier (PTX ISA, \"clusterlaunchcontrol.try_cancel\")")
                    .help(ANSWER),
            );
        };
        self.own_window(&shared, "`cluster::try_cancel`", loc)?;
        self.whole_tiles(&shared, "`cluster::try_cancel`", loc)?;
        if shared.shape != [WORDS] {
            let place = self.shared[shared.root].loc;
            return self.refuse(
                Code::ShapeMismatch
                    .at(loc, "the answer of `cluster::try_cancel` is four `u32`")
                    .compare("extents", format!("[{WORDS}]"), format!("{:?}", shared.shape))
                    .place(place, "allocated here")
                    .help(ANSWER),
            );
        }
        let num = self.num(value);
        if let Err((_, actual)) = self.cells.unify(Num::Known(Dtype::U32), num) {
            let place = self.shared[shared.root].loc;
            return self.refuse(
                Code::DtypeMismatch
                    .at(loc, "the answer of `cluster::try_cancel` is four `u32`")
                    .compare("element type", "u32", actual)
                    .place(place, "allocated here")
                    .help(ANSWER),
            );
        }
        if self.shared[shared.root].pinned.is_some() {
            let place = self.shared[shared.root].loc;
            return self.refuse(
                Code::SharedUse
                    .at(loc, "the layout of an answer cannot be pinned")
                    .compare("", "shared memory without `.with_layout(..)`", "a pinned layout")
                    .place(place, "allocated here")
                    .help(ANSWER),
            );
        }
        Some(value)
    }
}
