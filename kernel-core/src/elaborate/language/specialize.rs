//! Warp specialisation: `warp_specialize(default, [partition(warps).registers(n).run(part), ..])`.
//!
//! The default partition continues in the warps that ran the statements before: it may use and change every variable, tiles
//! included. The others run in warps of their own, at the same time. From outside they take constants, scalars, addresses
//! and handles on memory, which are the same in every thread, but no tiles, whose elements are in registers of other threads;
//! their changes are visible nowhere else.

use std::rc::Rc;

use kernel_ptx::Capability;

use super::{
    control::LoopKind,
    reach::{assigned, expr_returns},
    value::{ClosureVal, PartitionVal, Val},
};
use crate::{
    diag::{Code, Lacking, Missing, Spot},
    elaborate::{Builder, signatures::Given},
    ir::{
        Dtype, Partition, Placement, PlacementProblem, Region, StmtKind, Terminator, Type, Value,
        ValueData,
    },
    loc::Loc,
    syntax::Expr,
};

/// How a partition is written.
const EXAMPLE: &str = "partition(1).run(|| load())";

/// Whose warps run a part of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crew {
    /// The kernel's own.
    Own,
    /// Those of a partition.
    Partition,
}

impl Crew {
    /// The most warps that there can be.
    pub(crate) const fn most_warps(self) -> u64 {
        match self {
            Crew::Own => 32,
            Crew::Partition => 8,
        }
    }
}

/// A partition, what it runs, and where that is written.
type Part = (Rc<PartitionVal>, Rc<ClosureVal>, Loc);

/// `partition(warps)`
pub(crate) fn partition(given: &Given<'_>) -> Val {
    let (warps, loc) = (given.number(0), given.loc);
    Val::Partition(Rc::new(PartitionVal { warps, registers: None, run: None, loc }))
}

impl Builder<'_> {
    /// `part.run(body)`
    pub(crate) fn partition_run(&mut self, given: &Given<'_>) -> Option<Val> {
        let (of, at) = (given.partition().clone(), given.at(0));
        let Val::Closure(body) = given.val(0) else {
            return self.refuse(
                Code::Kind
                    .at(at, "a partition runs a closure")
                    .compare("", "a closure without parameters", self.describe(given.val(0)))
                    .help("run(|| load())"),
            );
        };
        let run = Some((Rc::clone(body), at));
        Some(Val::Partition(Rc::new(PartitionVal { run, ..of })))
    }

    /// `part.registers(count)`
    pub(crate) fn partition_registers(&mut self, given: &Given<'_>) -> Option<Val> {
        if !self.target.has(Capability::Setmaxnreg) {
            let headline = "register budgets need a later target";
            return self.refuse(
                self.lacks(Capability::Setmaxnreg, headline, given.loc)
                    .why("only these targets have `setmaxnreg`; a partition without a budget runs on every target"),
            );
        }
        let (registers, of) = (Some(given.number(0)), given.partition().clone());
        Some(Val::Partition(Rc::new(PartitionVal { registers, ..of })))
    }

    /// `warp_specialize(default, [..])`
    pub(crate) fn warp_specialize(&mut self, given: &Given<'_>) -> Option<Val> {
        let (args, loc) = (given.args, given.loc);
        let Val::Closure(default) = given.val(0) else {
            return self.refuse(
                Code::Kind
                    .at(given.at(0), "the default partition is a closure")
                    .compare("", "a closure without parameters", self.describe(given.val(0)))
                    .help("warp_specialize(|| multiply(), [partition(1).run(|| load())])"),
            );
        };
        let parts = self.parts(given.val(1), &args[1])?;
        if !self.stands_alone(loc) {
            // What runs is looked at, for its own problems.
            self.look_at(&mut |builder| {
                builder.call_closure(default, Vec::new(), args[0].loc);
            });
            for (part, run, at) in &parts {
                let own = self.enter_partition(part.warps);
                self.look_at(&mut |builder| {
                    builder.call_closure(run, Vec::new(), *at);
                });
                self.leave_partition(own);
            }
            return None;
        }
        if self.only_looking == 0 {
            self.specialized = Some(loc);
        }
        let before = self.scopes.vars.clone();
        let (mut region, ended, val) = self.part(default, args[0].loc);
        let after = std::mem::replace(&mut self.scopes.vars, before.clone());
        let mut partitions = Vec::new();
        for (part, run, at) in &parts {
            let own = self.enter_partition(part.warps);
            let (mut body, ended, _) = self.part(run, *at);
            self.leave_partition(own);
            let left = std::mem::replace(&mut self.scopes.vars, before.clone());
            let changed = left.iter().zip(&before).position(|(new, old)| !new.val.same(&old.val));
            if let Some(index) = changed {
                self.changed_outside(index, run, *at);
            }
            self.check_captured(&body);
            if !ended {
                body.end = Terminator::Yield(Vec::new());
            }
            let PartitionVal { warps, registers, loc, .. } = **part;
            partitions.push(Partition { warps, registers, body, loc });
        }
        let mut results = Vec::new();
        let val = if ended {
            Val::Never
        } else {
            self.go_on(&mut region, after, &val, &mut results, loc)
        };
        let asked: Vec<_> = partitions.iter().map(|one| (one.warps, one.registers)).collect();
        if let Err(problem) = Placement::of(self.warps, &asked) {
            return Some(self.does_not_fit(problem, args[1].loc));
        }
        self.push(StmtKind::Specialize { default: region, partitions, results }, loc);
        if ended {
            self.terminate(Terminator::Return);
        }
        Some(val)
    }

    /// What follows is run by the warps of a partition; gives how many there were before.
    fn enter_partition(&mut self, warps: u32) -> u32 {
        self.crew = Crew::Partition;
        std::mem::replace(&mut self.warps, warps)
    }

    fn leave_partition(&mut self, own: u32) {
        (self.crew, self.warps) = (Crew::Own, own);
    }

    /// The partitions of an array, each with what it runs.
    fn parts(&mut self, val: &Val, arg: &Expr) -> Option<Vec<Part>> {
        let val = self.plain(val.clone());
        let Val::Array(list) = &val else {
            return self.refuse(
                Code::Kind
                    .at(arg.loc, "the partitions are an array")
                    .compare("", "an array of partitions", self.describe(&val))
                    .help(format!("[{EXAMPLE}]")),
            );
        };
        if list.is_empty() {
            return self.refuse(
                Code::Kind
                    .at(arg.loc, "there is no partition besides the default one")
                    .compare("", "an array of one partition or more", self.describe(&val))
                    .help(format!("[{EXAMPLE}]")),
            );
        }
        let mut parts = Vec::new();
        for (index, part) in list.iter().enumerate() {
            let at = arg.part(index);
            let val = self.plain(part.clone());
            if val.is_absent() {
                return None;
            }
            let (headline, required, actual) = if let Val::Partition(part) = &val {
                if let Some((run, place)) = &part.run {
                    parts.push((Rc::clone(part), Rc::clone(run), *place));
                    continue;
                }
                let required = "a partition that runs a closure";
                ("this partition runs nothing", required, "`partition(..)` alone".to_owned())
            } else {
                ("this is not a partition", "a partition", self.describe(&val))
            };
            let diagnostic = Code::Kind.at(at, headline).compare("", required, actual);
            self.report(diagnostic.help(EXAMPLE));
        }
        (parts.len() == list.len()).then_some(parts)
    }

    /// Whether the warps can be specialised here; reports it if they cannot.
    fn stands_alone(&mut self, loc: Loc) -> bool {
        if self.only_looking > 0 {
            return true;
        }
        if let Some(first) = self.specialized {
            self.report(
                Code::Specialize
                    .at(loc, "the warps of a block are specialised twice")
                    .place(first, "specialised here before")
                    .compare(
                        "",
                        "one `warp_specialize` in each kernel, outside of partitions",
                        "another one",
                    )
                    .why("each warp of a block goes to one partition, and ends with it"),
            );
            return false;
        }
        if self.regions.len() > 1 {
            self.report(
                Code::Specialize.at(loc,
                    "warps are specialised inside a loop or branch",
                )
                .compare("", "a statement of the kernel's body", "one that a loop or a branch runs")
                .why("the warps of partitions wait for this call from the start of the kernel, and reach it once; a function with an early `return` counts as a loop")
                .help("warp_specialize(\n    || for i in 0..n { multiply(i) },\n    [partition(1).run(|| for i in 0..n { load(i) })],\n);")
                    .exemplified()
                    .lacks(Some(Missing {
                        what: Lacking::LoopInside,
                        after: loc,
                        before: loc,
                        spot: Spot::Before,
                    })),
            );
            return false;
        }
        true
    }

    /// The region of a partition, whether it is left before its end, and what it gives.
    fn part(&mut self, run: &Rc<ClosureVal>, at: Loc) -> (Region, bool, Val) {
        let outer = std::mem::replace(&mut self.terminated, false);
        self.regions.push(Region::default());
        let val = self.call_whole_closure(run, at);
        let ended = std::mem::replace(&mut self.terminated, outer);
        (self.regions.pop().expect("pushed above"), ended, val)
    }

    /// The body of a closure without parameters, from which `return` leaves the closure.
    fn call_whole_closure(&mut self, closure: &Rc<ClosureVal>, at: Loc) -> Val {
        if !closure.params.is_empty() || !expr_returns(&closure.body) {
            return self.call_closure(closure, Vec::new(), at);
        }
        let scope = self.scopes.child(closure.scope);
        let body = &closure.body;
        self.run_loop(&LoopKind::Function, None, &[body], scope, body.loc, &mut |builder| {
            let val = builder.expr(body, scope);
            builder.give_back(&val, body.loc);
        })
    }

    /// Reports a partition that changes a variable from outside.
    fn changed_outside(&mut self, index: usize, run: &ClosureVal, at: Loc) {
        let name = self.scopes.name_at(index).unwrap_or("a variable").to_owned();
        let at = assigned(&run.body, &name).unwrap_or(at);
        let var = &self.scopes.vars[index];
        let (declared, val) = (var.declared, self.plain(var.val.clone()));
        let num = self.num_of(&val).filter(|_| val.value().is_none_or(|value| !self.is_ptr(value)));
        let default = |num| if self.cells.is_float(num) { Dtype::F32 } else { Dtype::I32 };
        let dtype = num.map(|num| self.cells.known(num).unwrap_or_else(|| default(num)));
        let dtype = dtype.filter(|dtype| *dtype != Dtype::Bool);
        let shape = match val.value().map(|value| self.ty(value)) {
            Some(Type::Tile(_, shape)) => Some(shape.clone()),
            Some(Type::Scalar(_)) | None => Some(Vec::new()),
            Some(Type::Shared(_) | Type::Barrier(_) | Type::TensorMemory(_) | Type::Error) => None,
        };
        let missing =
            dtype.zip(shape).zip(self.specialized).map(|((dtype, shape), whole)| Missing {
                what: Lacking::Passed { name: name.clone(), dtype: dtype.name(), shape },
                after: at,
                before: whole,
                spot: Spot::Before,
            });
        self.report(
            Code::PartitionCapture.at(at,
                format!("a partition changes `{name}`, which is declared outside of it"),
            )
            .place_if(declared, "declared here")
            .why("other warps run the code around the partition, at the same time and with registers of their own; shared memory is what both see")
            .lacks(missing),
        );
    }

    /// Reports tiles that a partition takes from outside.
    fn check_captured(&mut self, body: &Region) {
        for (value, at) in body.captured() {
            let ValueData { ty: Type::Tile(_, shape), loc } = self.values[value].clone() else {
                continue;
            };
            self.captured_tile(value, &shape, loc, at);
        }
    }

    fn captured_tile(&mut self, value: Value, shape: &[u32], made: Loc, at: Loc) {
        let is = |val: &Val| matches!(val, Val::Value(held) if *held == value);
        let holds = |val: &Val| val.leaves().into_iter().any(is);
        let name = self.scopes.name_with(0, is).map(str::to_owned);
        let actual = self.describe(&Val::Value(value));
        let headline = match (&name, self.scopes.name_with(0, holds)) {
            (Some(name), _) => format!("a partition takes the tile `{name}` from outside"),
            (None, Some(holder)) => {
                format!("a partition takes a tile of `{holder}` from outside")
            }
            (None, None) => "a partition takes a tile from outside".to_owned(),
        };
        let mut diagnostic = Code::PartitionCapture.at(at, headline)
            .place(made, "computed here, by other warps")
            .compare("", "scalars, tensors, shared memory", actual)
            .why("the elements of a tile are in registers of the threads that computed it, and other threads run the partition; pass the tile through shared memory");
        if let (Some(name), false) = (&name, self.is_ptr(value)) {
            let dtype = self.cells.name(self.num(value));
            diagnostic = diagnostic.help(format!(
                "let s = shared::<{dtype}>({shape:?});\ns.store({name}); // before, and `s.load()` in the partition"
            ));
            let known = self.cells.known(self.num(value)).zip(self.specialized);
            diagnostic = diagnostic.lacks(known.map(|(dtype, whole)| Missing {
                what: Lacking::Taken {
                    name: name.clone(),
                    dtype: dtype.name(),
                    shape: shape.to_vec(),
                },
                after: at,
                before: whole,
                spot: Spot::Before,
            }));
        }
        self.report(diagnostic);
    }

    fn does_not_fit(&mut self, problem: PlacementProblem, at: Loc) -> Val {
        let diagnostic = match problem {
            PlacementProblem::Warps { required, actual } => Code::Partition.at(at,
                "these partitions have more warps than a block",
            )
            .compare("warps", format!("at most {required}"), actual)
            .why("the kernel's own warps count as well, and so do unused warps: partitions of four warps and more begin at a multiple of four, and with register budgets the kernel's own warps fill whole groups of four"),
            PlacementProblem::Barriers { required, actual } => Code::Partition.at(at,
                "these partitions need more barriers than a block has",
            )
            .compare("partitions of more than one warp", format!("at most {required}"), actual)
            .why("the warps of each partition use a barrier of their own; a block has 16, of which the kernel's own warps use one and all warps together another"),
            PlacementProblem::Registers { required, actual, warps, at_entry } => Code::RegisterBudget.at(at,
                "these partitions leave too few registers for the kernel's own warps",
            )
            .compare(
                "registers",
                format!("at most {required}, added up over groups of four warps"),
                format!("{actual}, added up over groups of four warps"),
            )
            .why(format!("a block of {warps} warps starts with {at_entry} registers a thread, {} over its {} groups of four, and a group gets only registers that another releases (PTX ISA, \"setmaxnreg\"); partitions of one or two warps share a group with the largest of their budgets, and a group without a budget needs 24", at_entry * warps / 4, warps / 4)),
        };
        self.report(diagnostic)
    }
}
