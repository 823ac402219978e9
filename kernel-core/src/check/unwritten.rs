//! Tensor memory that is read before anything can have written it: its contents are undefined when it is allocated.
//!
//! Accepted: a first product with `.accumulate(false)` or `.accumulate(k > 0)`, or after a store. Refused: a product that always adds to sums
//! of which no statement before it, on any path, writes a part; a load of such memory. What the other partitions write may have come first.

use std::collections::BTreeSet;

use la_arena::ArenaMap;

use crate::{
    diag::{Code, Diagnostic},
    ir::{
        Const, Does, Kernel, Memory, Op, ProductOp, Region, SourceOp, Stmt, StmtKind, Tcgen05,
        TensorMemory, Type, Value,
    },
};

/// The allocations that may have been written.
type Written = BTreeSet<u32>;

/// The first read of what nothing can have written.
pub(super) fn check(kernel: &Kernel) -> Option<Diagnostic> {
    if kernel.tensor_memory.is_empty() {
        return None;
    }
    let mut always = ArenaMap::default();
    kernel.body.each_op(&mut |op, _, result, _| {
        if let (Op::Source(SourceOp::Const(Const::Bool(true))), Some(result)) = (op, result) {
            always.insert(result, ());
        }
    });
    Walk { kernel, always }.region(&kernel.body, &mut Written::new())
}

struct Walk<'k> {
    kernel: &'k Kernel,
    /// The conditions that always hold.
    always: ArenaMap<Value, ()>,
}

impl Walk<'_> {
    /// The allocation that a window is of.
    fn allocation(&self, window: Value) -> Option<TensorMemory> {
        let Type::TensorMemory(window) = self.kernel.ty(window) else { return None };
        Some(self.kernel.tensor_memory[window.root].of.unwrap_or(window.root))
    }

    fn number(allocation: TensorMemory) -> u32 {
        allocation.into_raw().into_u32()
    }

    /// The allocations that a statement accesses so.
    fn accessed(&self, stmt: &Stmt, does: Does) -> Vec<(TensorMemory, bool)> {
        let StmtKind::Op { op, args, result } = &stmt.kind else { return Vec::new() };
        let effects = self.kernel.effects(op, args, *result);
        let accesses = effects.accesses.iter().filter(|access| access.does == does);
        let of = accesses.filter_map(|access| match access.memory {
            Memory::TensorMemory(window) => {
                Some((self.allocation(window)?, args.get(2) == Some(&window)))
            }
            Memory::Tensor(_) | Memory::Address(_) | Memory::Shared(_) | Memory::Registers(_) => {
                None
            }
        });
        of.collect()
    }

    /// All that a region writes.
    fn writes(&self, region: &Region, written: &mut Written) {
        region.each_stmt(&mut |stmt| {
            let all = self.accessed(stmt, Does::Writes);
            written.extend(all.into_iter().map(|(allocation, _)| Self::number(allocation)));
        });
    }

    /// Follows the first iteration of each loop, and both sides of each branch.
    fn region(&self, region: &Region, written: &mut Written) -> Option<Diagnostic> {
        region.stmts.iter().find_map(|stmt| self.statement(stmt, written))
    }

    fn statement(&self, stmt: &Stmt, written: &mut Written) -> Option<Diagnostic> {
        if let Some(found) = self.read(stmt, written) {
            return Some(found);
        }
        let all = self.accessed(stmt, Does::Writes);
        written.extend(all.into_iter().map(|(allocation, _)| Self::number(allocation)));
        let before = written.clone();
        let regions = stmt.kind.regions();
        let parts = matches!(stmt.kind, StmtKind::Specialize { .. });
        for (index, inner) in regions.iter().enumerate() {
            let mut own = before.clone();
            if parts {
                let others = regions.iter().enumerate().filter(|(other, _)| *other != index);
                others.for_each(|(_, other)| self.writes(other, &mut own));
            }
            if let Some(found) = self.region(inner, &mut own) {
                return Some(found);
            }
            written.extend(own);
        }
        None
    }

    /// A read of what nothing has written.
    fn read(&self, stmt: &Stmt, written: &Written) -> Option<Diagnostic> {
        let StmtKind::Op { op, args, .. } = &stmt.kind else { return None };
        let product = matches!(op, Op::Product(ProductOp::Tcgen05(Tcgen05::Mma { .. })));
        // A product that does not always add may overwrite.
        let adds = product && args.get(3).is_some_and(|adds| self.always.contains_idx(*adds));
        let (allocation, sums) =
            self.accessed(stmt, Does::Reads).into_iter().find(|(allocation, sums)| {
                let read = !(product && *sums) || adds;
                read && !written.contains(&Self::number(*allocation))
            })?;
        let name = self.kernel.tensor_memory[allocation].name.as_deref();
        let name = name.map_or("tensor memory".to_owned(), |name| format!("`{name}`"));
        let undefined =
            "tensor memory is not cleared when it is allocated (PTX ISA, \"tcgen05.alloc\")";
        Some(if product && sums {
            Diagnostic::new(
                Code::TensorMemory,
                stmt.loc,
                format!("the first product adds to {name}, which nothing has written"),
            )
            .compare("", "a first product that overwrites, or a store before it", "neither")
            .why(undefined)
            .help("tcgen05::mma(..).accumulate(k > 0)")
            .exemplified()
        } else {
            Diagnostic::new(
                Code::TensorMemory,
                stmt.loc,
                format!("{name} is read, which nothing has written"),
            )
            .compare("", "a store, a copy or a product before it", "none")
            .why(undefined)
        })
    }
}
