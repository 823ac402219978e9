//! How statements nest, and which values they use and make.

use la_arena::ArenaMap;

use super::{Const, Op, Partition, Region, SourceOp, Stmt, StmtKind, Terminator, Value};
use crate::loc::Loc;

impl StmtKind {
    /// The regions of statements that it runs; functions of two values are not among them.
    pub fn regions(&self) -> Vec<&Region> {
        match self {
            StmtKind::Op { .. }
            | StmtKind::Ptx { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. } => Vec::new(),
            StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
            StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => vec![body],
            StmtKind::Specialize { default, partitions, .. } => {
                std::iter::once(default).chain(partitions.iter().map(|one| &one.body)).collect()
            }
        }
    }

    /// The same, each with the warps that run it, of a statement that `warps` run.
    pub fn regions_with_warps(&self, warps: u32) -> Vec<(&Region, u32)> {
        let partitions: &[Partition] =
            if let StmtKind::Specialize { partitions, .. } = self { partitions } else { &[] };
        // The default partition comes first, and the region of any other statement alone.
        let mut others = partitions.iter().map(|one| one.warps);
        let regions = self.regions().into_iter().enumerate();
        let with = |(index, region)| {
            let other = if index > 0 { others.next() } else { None };
            (region, other.unwrap_or(warps))
        };
        regions.map(with).collect()
    }

    /// The same with functions of two values.
    pub fn all_regions(&self) -> Vec<&Region> {
        if let StmtKind::Reduce { combine, .. } | StmtKind::Scan { combine, .. } = self {
            return vec![combine];
        }
        self.regions()
    }

    /// The same, to change them.
    pub fn all_regions_mut(&mut self) -> Vec<&mut Region> {
        if let StmtKind::Reduce { combine, .. } | StmtKind::Scan { combine, .. } = self {
            return vec![combine];
        }
        self.regions_mut()
    }

    /// The regions of statements that it runs, to change them.
    pub fn regions_mut(&mut self) -> Vec<&mut Region> {
        match self {
            StmtKind::Op { .. }
            | StmtKind::Ptx { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. } => Vec::new(),
            StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
            StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => vec![body],
            StmtKind::Specialize { default, partitions, .. } => {
                let others = partitions.iter_mut().map(|one| &mut one.body);
                std::iter::once(default).chain(others).collect()
            }
        }
    }

    /// The values that it uses itself; what regions inside use is not among them.
    pub fn operands(&self) -> Vec<Value> {
        match self {
            StmtKind::Op { args, .. }
            | StmtKind::Ptx { args, .. }
            | StmtKind::Reduce { args, .. } => args.clone(),
            StmtKind::Scan { args, initial, .. } => args.iter().chain(initial).copied().collect(),
            StmtKind::If { condition, .. } => vec![*condition],
            StmtKind::For { from, to, step, inits, .. } => {
                [*from, *to, *step].into_iter().chain(inits.iter().copied()).collect()
            }
            StmtKind::Loop { inits, .. } => inits.clone(),
            StmtKind::Specialize { .. } => Vec::new(),
        }
    }

    /// The same, to change them.
    pub fn operands_mut(&mut self) -> Vec<&mut Value> {
        match self {
            StmtKind::Op { args, .. }
            | StmtKind::Ptx { args, .. }
            | StmtKind::Reduce { args, .. } => args.iter_mut().collect(),
            StmtKind::Scan { args, initial, .. } => args.iter_mut().chain(initial).collect(),
            StmtKind::If { condition, .. } => vec![condition],
            StmtKind::For { from, to, step, inits, .. } => {
                [from, to, step].into_iter().chain(inits).collect()
            }
            StmtKind::Loop { inits, .. } => inits.iter_mut().collect(),
            StmtKind::Specialize { .. } => Vec::new(),
        }
    }

    /// Whether it runs its region any number of times.
    pub fn is_loop(&self) -> bool {
        matches!(self, StmtKind::For { .. } | StmtKind::Loop { .. })
    }

    /// Every value that it uses, in the regions and functions inside as well.
    pub fn mentioned(&self) -> Vec<Value> {
        let mut all = self.operands();
        for inner in self.all_regions() {
            inner.each_use(&mut |value, _| all.push(value));
        }
        all
    }

    /// The values that it makes for what follows.
    pub fn results(&self) -> Vec<Value> {
        match self {
            StmtKind::Op { result, .. } => result.iter().copied().collect(),
            StmtKind::If { results, .. }
            | StmtKind::For { results, .. }
            | StmtKind::Loop { results, .. }
            | StmtKind::Reduce { results, .. }
            | StmtKind::Scan { results, .. }
            | StmtKind::Ptx { results, .. }
            | StmtKind::Specialize { results, .. } => results.clone(),
        }
    }
}

impl StmtKind {
    /// The values that it makes for what follows, to change them.
    pub fn results_mut(&mut self) -> Vec<&mut Value> {
        match self {
            StmtKind::Op { result, .. } => result.iter_mut().collect(),
            StmtKind::If { results, .. }
            | StmtKind::For { results, .. }
            | StmtKind::Loop { results, .. }
            | StmtKind::Reduce { results, .. }
            | StmtKind::Scan { results, .. }
            | StmtKind::Ptx { results, .. }
            | StmtKind::Specialize { results, .. } => results.iter_mut().collect(),
        }
    }
}

impl Terminator {
    /// The values that it passes.
    pub fn values(&self) -> &[Value] {
        match self {
            Terminator::Return => &[],
            Terminator::Yield(values)
            | Terminator::Continue(_, values)
            | Terminator::Break(_, values) => values,
        }
    }

    /// The same, to change them.
    pub fn values_mut(&mut self) -> &mut [Value] {
        match self {
            Terminator::Return => &mut [],
            Terminator::Yield(values)
            | Terminator::Continue(_, values)
            | Terminator::Break(_, values) => values,
        }
    }
}

impl Region {
    /// Calls `each` with every statement of the region and of those inside, in the order of the text.
    pub fn each_stmt<'k>(&'k self, each: &mut dyn FnMut(&'k Stmt)) {
        for stmt in &self.stmts {
            each(stmt);
            for inner in stmt.kind.regions() {
                inner.each_stmt(each);
            }
        }
    }

    /// Whether `meant` holds of a statement of the region or of one inside.
    pub fn any_stmt(&self, meant: &mut dyn FnMut(&Stmt) -> bool) -> bool {
        self.stmts.iter().any(|stmt| {
            meant(stmt) || stmt.kind.regions().into_iter().any(|inner| inner.any_stmt(meant))
        })
    }

    /// Whether `meant` holds of an operation of the region or of one inside, with these operands.
    pub fn any_op(&self, meant: &mut dyn FnMut(&Op, &[Value]) -> bool) -> bool {
        self.any_stmt(&mut |stmt| {
            if let StmtKind::Op { op, args, .. } = &stmt.kind { meant(op, args) } else { false }
        })
    }

    /// Calls `each` with every operation of the region and of those inside, in the order of the text: the operation, its operands, its result,
    /// and where it stands.
    pub fn each_op<'k>(&'k self, each: &mut dyn FnMut(&'k Op, &'k [Value], Option<Value>, Loc)) {
        self.each_stmt(&mut |stmt| {
            if let StmtKind::Op { op, args, result } = &stmt.kind {
                each(op, args, *result, stmt.loc);
            }
        });
    }

    /// The integers that are constants.
    pub fn constants(&self) -> ArenaMap<Value, i128> {
        let mut constants = ArenaMap::default();
        self.each_op(&mut |op, _, result, _| {
            if let (Op::Source(SourceOp::Const(Const::Int(value))), Some(result)) = (op, result) {
                constants.insert(result, *value);
            }
        });
        constants
    }

    /// Calls `each` with every value that the region makes, those of the regions and functions inside included.
    pub fn each_value(&self, each: &mut dyn FnMut(Value)) {
        self.args.iter().copied().for_each(&mut *each);
        for stmt in &self.stmts {
            stmt.kind.results().into_iter().for_each(&mut *each);
            for inner in stmt.kind.all_regions() {
                inner.each_value(each);
            }
        }
    }

    /// How often each value is read, in the regions and functions inside too.
    pub fn used(&self) -> ArenaMap<Value, u32> {
        let mut used = ArenaMap::new();
        self.each_use(&mut |value, _| {
            let count = used.get(value).copied().unwrap_or(0);
            used.insert(value, count + 1);
        });
        used
    }

    /// Calls `each` with every value that the region uses, those of the regions and functions inside included, and where.
    pub fn each_use(&self, each: &mut dyn FnMut(Value, Loc)) {
        let mut last = Loc::KERNEL;
        for stmt in &self.stmts {
            last = stmt.loc;
            stmt.kind.operands().into_iter().for_each(|value| each(value, stmt.loc));
            for inner in stmt.kind.all_regions() {
                inner.each_use(each);
            }
        }
        self.end.values().iter().for_each(|&value| each(value, last));
    }

    /// The values from outside that the region uses, each once, with the place of its first use; in the order of their uses.
    pub fn captured(&self) -> Vec<(Value, Loc)> {
        let mut own: ArenaMap<Value, ()> = ArenaMap::default();
        self.each_value(&mut |value| {
            own.insert(value, ());
        });
        let mut captured = Vec::new();
        self.each_use(&mut |value, loc| {
            if own.insert(value, ()).is_none() {
                captured.push((value, loc));
            }
        });
        captured
    }
}
