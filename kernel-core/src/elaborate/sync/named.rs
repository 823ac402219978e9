//! Named barriers: `named_barrier(warps)`, at which warps of several partitions meet.

use crate::{
    elaborate::{Builder, language::value::Val, signatures::Given},
    ir::{NamedData, NamedOp, SyncOp},
};

impl Builder<'_> {
    /// `named_barrier(warps)`
    pub(crate) fn named_barrier(&mut self, given: &Given<'_>) -> Option<Val> {
        let (warps, loc) = (given.number(0), given.loc);
        self.made_once(
            "a named barrier is created inside a loop or branch",
            "a block has 16 named barriers, and the compiler assigns one to each",
            &format!("let meeting = named_barrier({warps});"),
            loc,
        )?;
        Some(Val::Named(self.named.alloc(NamedData { warps, loc })))
    }

    /// `meeting.sync()`, `meeting.arrive()`
    pub(crate) fn named_op(&mut self, op: NamedOp, given: &Given<'_>) -> Option<()> {
        let Val::Named(named) = given.of else { return None };
        self.does(SyncOp::Named(op, named), Vec::new(), given)
    }
}
