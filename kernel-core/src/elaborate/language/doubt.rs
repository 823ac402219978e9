//! What is certain of a kernel while device items are still to come, or a name is none.
//!
//! A name may be that of a device item, or a slip: where the kernel's file does not tell, only `rustc` knows. So the kernel is built
//! once without the item, and what is wrong whatever the item turns out to be is reported at once:
//!
//! ```text
//! let c = nowhere(a);         // not certain, and neither is what `c` is
//! y.store(c + 1.5);           // not certain: it reads `c`
//! x.store(zeros([128]));      // certain: `x` is what it was
//! ```
//!
//! A statement is in doubt from where it asks for such an item, or reads a variable that is in doubt. What it leaves in
//! doubt are the variables that it declares, and those that it can reach and change: their value, or a type that is still
//! open. Nothing is reported about a statement in doubt, or about its blocks, since those may never be built.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
};

use super::{
    reach::jumps,
    scope::{Binding, VarId},
    value::{Num, Val},
};
use crate::{
    elaborate::{Builder, Env},
    syntax::Expr,
};

/// The doubt so far, beside the scopes, where names are looked up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Doubt {
    /// A device item was asked for that has not come yet.
    met: Cell<bool>,
    /// From here on nothing is certain.
    of_all: Cell<bool>,
    vars: RefCell<BTreeSet<VarId>>,
    /// The statements that are being built, innermost last.
    open: RefCell<Vec<Open>>,
}

/// A statement that is being built.
#[derive(Clone, Debug)]
struct Open {
    /// It is in doubt itself.
    doubted: bool,
    /// A statement inside of it was: what it computes after that is not certain.
    inside: bool,
    /// How many variables there were before it.
    before: usize,
    /// The variables that it can reach.
    reached: Vec<VarId>,
}

impl Doubt {
    /// A name has been looked up.
    pub(crate) fn looked_up(&self, binding: &Binding) {
        if matches!(binding, Binding::Awaited) {
            self.arises();
        } else if matches!(binding, Binding::Var(var) if self.vars.borrow().contains(var)) {
            self.begins();
        }
    }

    /// The innermost statement has met an item that has not come, or a name that is none and has been reported.
    pub(crate) fn arises(&self) {
        self.met.set(true);
        self.begins();
    }

    fn begins(&self) {
        match self.open.borrow_mut().last_mut() {
            Some(open) => open.doubted = true,
            None => self.of_all.set(true),
        }
    }

    /// Whether something was met that has not come, or that there is not.
    pub(crate) fn is_met(&self) -> bool {
        self.met.get()
    }

    /// A variable is declared, maybe in the place of one that is gone.
    pub(crate) fn declared(&self, var: VarId) {
        self.vars.borrow_mut().remove(&var);
    }

    /// Whether what is wrong at this point is so whatever is still to come.
    pub(crate) fn allows_reports(&self) -> bool {
        if !self.met.get() {
            return true;
        }
        let open = self.open.borrow();
        !self.of_all.get()
            && open.last().is_some_and(|innermost| !innermost.inside)
            && open.iter().all(|statement| !statement.doubted)
    }
}

impl Builder<'_> {
    /// Whether a name that nothing defines is reported with its arguments, as far as these are certain. Otherwise the name alone is reported,
    /// because the kernel would be accepted without it.
    pub(crate) fn tells_all(&self) -> bool {
        self.scopes.pending || self.problems.reports() > 0 || self.scopes.doubt.allows_reports()
    }

    /// A statement begins.
    pub(crate) fn begin_statement(&mut self, text: Option<&Expr>, env: Env) {
        if !self.awaits {
            return;
        }
        let reached = self.reached_by(text, env);
        let before = self.scopes.vars.len();
        let open = Open { doubted: false, inside: false, before, reached };
        self.scopes.doubt.open.borrow_mut().push(open);
    }

    /// The statement that began last has been built.
    pub(crate) fn end_statement(&mut self, text: Option<&Expr>) {
        if !self.awaits {
            return;
        }
        let doubt = &self.scopes.doubt;
        let Some(open) = doubt.open.borrow_mut().pop() else { return };
        if !open.doubted && !open.inside {
            return;
        }
        if let Some(outer) = doubt.open.borrow_mut().last_mut() {
            outer.inside = true;
        }
        // What comes after it may not be reached, which matters if loops are written out.
        if open.doubted && text.is_some_and(jumps) {
            doubt.of_all.set(true);
        }
        // The code below looks at every variable, and long unrolled loops have too many for that.
        if !self.steps_left(self.scopes.vars.len() / 2) {
            self.scopes.doubt.of_all.set(true);
            return;
        }
        let doubt = &self.scopes.doubt;
        if doubt.of_all.get() {
            return;
        }
        let mut reached = Vec::new();
        let declared = self.variables_from(open.before);
        for var in open.reached.into_iter().chain(declared.clone()) {
            self.reach(var, &mut reached, 0);
        }
        let changed = reached.into_iter().filter(|var| !self.is_settled(*var));
        let mut found: BTreeSet<VarId> = changed.chain(declared).collect();
        let known = self.scopes.doubt.vars.borrow().clone();
        found.extend(known);
        self.spread_doubt(&mut found);
        *self.scopes.doubt.vars.borrow_mut() = found;
    }

    fn variables_from(&self, first: usize) -> Vec<VarId> {
        (first..self.scopes.vars.len())
            .map(|index| VarId(u32::try_from(index).expect("checked when declared")))
            .collect()
    }

    /// Adds what refers to a variable in doubt, and what has an open type in common with one.
    fn spread_doubt(&self, found: &mut BTreeSet<VarId>) {
        loop {
            let open: Vec<Num> = found.iter().flat_map(|var| self.open_types(*var)).collect();
            let more: Vec<VarId> = self
                .variables_from(0)
                .into_iter()
                .filter(|var| {
                    let mut reached = Vec::new();
                    self.reach(*var, &mut reached, 0);
                    !found.contains(var)
                        && (reached.iter().any(|var| found.contains(var))
                            || self.open_types(*var).iter().any(|num| open.contains(num)))
                })
                .collect();
            if more.is_empty() {
                return;
            }
            found.extend(more);
        }
    }

    /// Whether nothing can change a variable, neither its value nor its type.
    fn is_settled(&self, var: VarId) -> bool {
        // A variable of a branch is gone after it.
        let Some(data) = self.scopes.vars.get(var.0 as usize) else { return true };
        let known = |num| self.cells.known(num).is_some();
        let settled =
            |leaf: &Val| matches!(leaf, Val::Tensor(_)) || self.num_of(leaf).is_some_and(known);
        !data.mutable && data.val.leaves().into_iter().all(settled)
    }

    fn open_types(&self, var: VarId) -> Vec<Num> {
        let Some(data) = self.scopes.vars.get(var.0 as usize) else { return Vec::new() };
        let nums = data.val.leaves().into_iter().filter_map(|leaf| self.num_of(leaf));
        nums.map(|num| self.cells.find(num)).filter(|num| matches!(num, Num::Cell(_))).collect()
    }
}
