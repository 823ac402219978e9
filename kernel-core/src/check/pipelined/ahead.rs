//! What the copies of a pipelined loop may depend on, which start iterations ahead: the loop variable, values from before the loop, and what is
//! loaded from memory that stays the same while the loop runs.

use la_arena::ArenaMap;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::Written,
    ir::{Access, Kernel, Memory, ParamKind, Region, Stmt, StmtKind, Terminator, Value, Wait},
    loc::Loc,
};

const EXAMPLE: &str = "for k in pipeline(range(0, n, 1), 3) {\n    \
         let page = load(table.ptr() + k); // `table: Tensor<i32, 1>`, which nothing writes\n    \
         copy_async(cache.tile([page * 64, 0], [64, 64]), s);\n    \
         acc = dot(q, s.load(), acc);\n\
     }";

/// Why a value is not known iterations ahead.
#[derive(Clone, Copy)]
enum Late {
    /// The iteration before computes it, here.
    Carried(Loc),
    /// It is loaded from memory that the loop writes, at the second place.
    Written(Loc, Loc),
    /// It is loaded from memory that others may write before the loop has waited for them, at the second place.
    Awaited(Loc, Loc),
}

/// What a statement of the loop does to memory that the indices of copies may be loaded from.
enum Change {
    Write(Memory),
    /// Instructions that the user wrote out.
    Anything,
    /// A wait, or an atomic operation, after which the writes of others may be seen.
    Wait,
}

/// The head of a pipelined loop.
pub(super) struct Ahead<'a> {
    kernel: &'a Kernel,
    written: &'a Written,
    /// The parameter that an address comes from, if it is one.
    origins: ArenaMap<Value, u32>,
    changes: Vec<(Change, Loc)>,
    late: ArenaMap<Value, Late>,
}

impl<'a> Ahead<'a> {
    /// That of a loop with this body.
    pub(super) fn of(kernel: &'a Kernel, written: &'a Written, body: &Region) -> Self {
        let mut changes = Vec::new();
        body.each_stmt(&mut |stmt| changes_of(kernel, stmt, &mut changes));
        let mut late = ArenaMap::default();
        if let Terminator::Continue(0, next) = &body.end {
            for (&carried, &next) in body.args[1..].iter().zip(next) {
                late.insert(carried, Late::Carried(kernel.values[next].loc));
            }
        }
        Ahead { kernel, written, origins: kernel.origins(), changes, late }
    }

    /// The first copy of the head, or condition of one, that depends on what is not known ahead.
    pub(super) fn problem(&mut self, head: &[Stmt]) -> Option<Diagnostic> {
        head.iter().find_map(|stmt| self.cross(stmt))
    }

    /// Whether a load gives the same iterations ahead.
    pub(super) fn is_stable(&self, stmt: &Stmt) -> bool {
        self.changed(stmt).is_none()
    }

    fn cross(&mut self, stmt: &Stmt) -> Option<Diagnostic> {
        if let StmtKind::If { condition, then, otherwise, results } = &stmt.kind {
            let branch = self.late.get(*condition).copied();
            if let Some(late) = branch.filter(|_| stmt.has_effect()) {
                let what = format!("the condition of {}", name(stmt));
                return Some(self.refusal(&what, late, stmt.loc, Some(*condition)));
            }
            let found = [then, otherwise].into_iter().find_map(|side| self.problem(&side.stmts));
            for (index, &result) in results.iter().enumerate() {
                let ends = [then, otherwise].map(|side| side.end.values().get(index).copied());
                let late = ends.into_iter().flatten().find_map(|end| self.late.get(end).copied());
                if let Some(late) = branch.or(late) {
                    self.late.insert(result, late);
                }
            }
            return found;
        }
        let mentioned = stmt.kind.mentioned();
        let found = mentioned.iter().find_map(|&arg| Some((arg, *self.late.get(arg)?)));
        let mut late = found.map(|(_, late)| late).or_else(|| self.changed(stmt));
        for inner in stmt.kind.regions() {
            inner.each_stmt(&mut |stmt| late = late.or_else(|| self.changed(stmt)));
        }
        if let Some(late) = late {
            if stmt.has_effect() {
                let arg = found.map(|(arg, _)| arg);
                return Some(self.refusal(name(stmt), late, stmt.loc, arg));
            }
            stmt.kind.results().into_iter().for_each(|result| _ = self.late.insert(result, late));
        }
        None
    }

    /// What may change the memory that a statement loads from.
    fn changed(&self, stmt: &Stmt) -> Option<Late> {
        let StmtKind::Op { op, args, result } = &stmt.kind else { return None };
        if !stmt.loads() {
            return None;
        }
        let accesses = self.kernel.effects(op, args, *result).accesses;
        accesses.iter().filter(|read| !self.is_constant(read)).find_map(|read| {
            self.changes.iter().find_map(|(change, at)| match change {
                Change::Write(memory) => {
                    self.meets(read.memory, *memory).then_some(Late::Written(stmt.loc, *at))
                }
                Change::Anything => Some(Late::Written(stmt.loc, *at)),
                Change::Wait => Some(Late::Awaited(stmt.loc, *at)),
            })
        })
    }

    /// Whether nothing writes what is read while the kernel runs.
    fn is_constant(&self, read: &Access) -> bool {
        self.param(read.memory).is_some_and(|param| self.kernel.is_only_read(param))
    }

    /// The parameter that memory belongs to, as far as it is known.
    fn param(&self, memory: Memory) -> Option<u32> {
        match memory {
            Memory::Tensor(param) => Some(param),
            Memory::Address(address) => self.origins.get(address).copied(),
            Memory::Shared(_) | Memory::TensorMemory(_) | Memory::Registers(_) => None,
        }
    }

    /// Whether what is read may be what is written.
    fn meets(&self, read: Memory, write: Memory) -> bool {
        let root = |window: Value| self.kernel.ty(window).shared().map(|ty| ty.root);
        match (read, write) {
            (Memory::Shared(read), Memory::Shared(write)) => root(read) == root(write),
            (Memory::Tensor(_) | Memory::Address(_), Memory::Tensor(_) | Memory::Address(_)) => {
                let params = [read, write].map(|memory| self.param(memory));
                let [Some(read), Some(write)] = params else { return true };
                let is_pointer = |param: u32| {
                    matches!(self.kernel.params[param as usize].kind, ParamKind::Pointer(_))
                };
                read == write || is_pointer(read) && is_pointer(write)
            }
            (
                Memory::Shared(_)
                | Memory::Tensor(_)
                | Memory::Address(_)
                | Memory::TensorMemory(_)
                | Memory::Registers(_),
                _,
            ) => false,
        }
    }

    fn refusal(&self, what: &str, late: Late, stmt: Loc, value: Option<Value>) -> Diagnostic {
        let written = value.and_then(|value| self.written.find(stmt, value));
        let at = written.map_or(stmt, |written| written.at);
        let (on, places) = match late {
            Late::Carried(made) => (
                "a result of the previous iteration",
                vec![(made, "each iteration computes it here")],
            ),
            Late::Written(load, write) => (
                "memory that the loop writes",
                vec![(load, "it is loaded here"), (write, "the loop writes the memory here")],
            ),
            Late::Awaited(load, wait) => (
                "memory that others may write while the loop waits",
                vec![(load, "it is loaded here"), (wait, "the loop waits for others here")],
            ),
        };
        let headline = format!("{what} of a pipelined loop depends on {on}");
        let mut diagnostic = Diagnostic::new(Code::Pipeline, at, headline);
        if let Some((call, name)) = written.and_then(|written| written.call.as_ref()) {
            diagnostic = diagnostic.place(*call, format!("called here as `{name}`"));
        }
        for (place, text) in places.into_iter().filter(|(place, _)| *place != at) {
            diagnostic = diagnostic.place(place, text);
        }
        diagnostic
            .why("the copy starts iterations ahead; what it depends on is known then if it is computed from the loop variable, from values before the loop, and from loads of memory that nothing writes while the loop runs")
            .help(EXAMPLE)
            .exemplified()
    }
}

/// What it is that starts ahead, in the words of a headline.
fn name(stmt: &Stmt) -> &'static str {
    if stmt.copies_ahead() { "a copy" } else { "an assertion before the copies" }
}

/// Adds what a statement does to memory.
fn changes_of(kernel: &Kernel, stmt: &Stmt, changes: &mut Vec<(Change, Loc)>) {
    match &stmt.kind {
        StmtKind::Op { op, args, result } => {
            let effects = kernel.effects(op, args, *result);
            for access in effects.writes() {
                changes.push((Change::Write(access.memory), stmt.loc));
                if access.atomic && !matches!(access.memory, Memory::Shared(_)) {
                    changes.push((Change::Wait, stmt.loc));
                }
            }
            let for_others = |wait: &Wait| {
                wait.barrier().is_some() || wait.meets_others() || *wait == Wait::Grids
            };
            if effects.waits.iter().any(for_others) {
                changes.push((Change::Wait, stmt.loc));
            }
        }
        StmtKind::Ptx { code, .. } => {
            if code.touches_memory() {
                changes.push((Change::Anything, stmt.loc));
            }
        }
        StmtKind::If { .. }
        | StmtKind::For { .. }
        | StmtKind::Loop { .. }
        | StmtKind::Reduce { .. }
        | StmtKind::Scan { .. }
        | StmtKind::Specialize { .. } => {}
    }
}
