//! The source text of what the IR only numbers, for messages about whole kernels.

use std::collections::BTreeMap;

use la_arena::ArenaMap;

use super::{
    Builder,
    language::{scope::Holder, value::ViewVal},
};
use crate::{ir::Value, loc::Loc};

/// Where a value decides for the block.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    /// The condition, the range, the coordinate.
    pub(crate) at: Loc,
    /// In a function: where the kernel calls it, and its name.
    pub(crate) call: Option<(Loc, String)>,
}

/// Whether all names that were met are of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Names {
    #[default]
    AllKnown,
    /// Nothing defines one: what it stands for is left out.
    SomeLeftOut,
}

/// How the source writes a kernel's values.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// By statement and value. The IR has one place for a statement, which is that of all of its operands.
    uses: BTreeMap<(Loc, la_arena::RawIdx), Use>,
    /// Addresses that are written through inside a function: where that was called, and its name.
    pub(crate) called: ArenaMap<Value, (Loc, String)>,
    /// Numbers of bytes that the compiler counts.
    pub(crate) counted: ArenaMap<Value, ()>,
    /// What held each value first.
    pub(crate) holders: BTreeMap<u32, Holder>,
    /// Whether device items are still to come: what they do may be what is missing.
    pub(crate) awaits: bool,
    /// Whether the body was reported in part, so that the rest is only looked at.
    pub(crate) tainted: bool,
    /// Its first `stamp!`, which may have been left out.
    pub(crate) stamp: Option<Loc>,
    /// Names that nothing defines.
    pub(crate) names: Names,
    /// Whether what is found wrong is certain, whatever is still to come.
    pub(crate) certain: bool,
}

impl Written {
    /// Where an operand of a statement is written.
    pub(crate) fn place(&self, stmt: Loc, value: Value) -> Loc {
        self.find(stmt, value).map_or(stmt, |found| found.at)
    }

    pub(crate) fn find(&self, stmt: Loc, value: Value) -> Option<&Use> {
        self.uses.get(&(stmt, value.into_raw()))
    }

    /// What held a value first.
    pub(crate) fn holder(&self, value: Value) -> Option<&Holder> {
        self.holders.get(&value.into_raw().into_u32())
    }

    /// The name of what held a value first.
    pub(crate) fn name(&self, value: Value) -> Option<String> {
        self.holder(value).map(|holder| holder.name.to_string())
    }
}

impl Builder<'_> {
    /// The value decides in the statement at `stmt`, where it is written at `at`.
    pub(crate) fn note_use(&mut self, value: Value, stmt: Loc, at: Loc) {
        let call = self.calls.first().map(|call| (call.loc, call.function.name.name.clone()));
        self.written.uses.entry((stmt, value.into_raw())).or_insert(Use { at, call });
    }

    /// The same for the coordinates of a window.
    pub(crate) fn note_corner(&mut self, view: &ViewVal, stmt: Loc) {
        for (value, at) in view.corner().into_iter().flatten().zip(&view.places) {
            self.note_use(value, stmt, *at);
        }
    }

    /// Notes from where the function was called in which this address is written through.
    pub(crate) fn note_write(&mut self, at: Value) {
        if let Some(call) = self.calls.first() {
            self.written.called.insert(at, (call.loc, call.function.name.name.clone()));
        }
    }
}
