//! What is said of a copy behind the call that starts it: `.on(bar)`, `.when(p)`, `.multicast(mask)`, `.evict_first()`; and of products and commits
//! of the tensor cores, which one thread starts as well.
//!
//! The copy is one statement of the IR, and what is said of it changes that statement.

use kernel_ptx::Capability;

use std::rc::Rc;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::value::{CopyVal, Val},
    },
    ir::{
        Bulk, BulkKind, Const, CtaGroup, Dtype, Evict, Op, ParamKind, Stmt, StmtKind, Tcgen05, Tma,
        TmaKind, Type, Value,
    },
    loc::Loc,
    syntax::{Expr, Segment},
};

/// What can be said of a copy.
const COPY_METHODS: &[&str] = &["on", "when", "multicast", "evict_first", "evict_last"];

/// What is said of a copy that one thread starts.
struct Said<'o> {
    multicast: &'o mut bool,
    guarded: &'o mut bool,
    evict: &'o mut Evict,
    /// Its last operand is a window of shared memory.
    has_window: bool,
}

impl Said<'_> {
    /// That of an operation; none of a copy that all threads take part in.
    fn of(op: &mut Op) -> Option<Said<'_>> {
        match op {
            Op::Tma(Tma { kind, multicast, guarded, evict, .. }) => {
                let has_window = *kind != TmaKind::Prefetch;
                Some(Said { multicast, guarded, evict, has_window })
            }
            Op::Bulk(bulk) => {
                let has_window = bulk.has_window();
                let Bulk { multicast, guarded, evict, .. } = bulk;
                Some(Said { multicast, guarded, evict, has_window })
            }
            _ => None,
        }
    }
}

impl Builder<'_> {
    /// The copy that was just started, for what is said of it.
    pub(crate) fn copying(&mut self, loc: Loc) -> Val {
        let stmts = &self.regions.last().expect("a region is open").stmts;
        if self.terminated || stmts.is_empty() {
            return Val::Unit;
        }
        Val::Copying(Rc::new(CopyVal { depth: self.regions.len(), index: stmts.len() - 1, loc }))
    }

    /// A method of a copy.
    pub(crate) fn copy_method(
        &mut self,
        copy: &Rc<CopyVal>,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        loc: Loc,
    ) -> Val {
        let at = |index: usize| args.get(index).map_or(loc, |arg| arg.loc);
        match (name.name.as_str(), vals) {
            ("on", [barrier]) => {
                let what = "a copy that completes on a barrier";
                if self.wants(Capability::Tma, what, super::tma::SINCE_HOPPER, loc).is_none() {
                    return Val::Error;
                }
                let Some(barrier) = self.barrier_of_pair(barrier, at(0)) else {
                    return Val::Error;
                };
                self.change(copy, name, loc, |builder, op, args| match op {
                    Op::Tcgen05(_) => builder.of_tensor_cores("on", &op, loc),
                    _ => builder.on_barrier(op, args, barrier, loc),
                })
            }
            ("when", [condition]) => self.when(copy, (condition, at(0)), name, loc),
            ("accumulate", [flag]) => {
                let Some(value) = self.value(flag, at(0)) else { return Val::Error };
                if !self.is_scalar(value) || self.cells.known(self.num(value)) != Some(Dtype::Bool)
                {
                    let actual = self.describe(flag);
                    return self.report(
                        Diagnostic::new(
                            Code::Kind,
                            at(0),
                            "`accumulate` takes one condition for the whole product",
                        )
                        .compare("", "a scalar (bool)", actual),
                    );
                }
                self.change(copy, name, loc, |builder, op, args| {
                    builder.accumulates(op, args, value, loc)
                })
            }
            ("multicast", [mask]) => self.multicast(copy, (mask, at(0)), name, loc),
            ("evict_first", []) => self.evict(copy, Evict::First, name, loc),
            ("evict_last", []) => self.evict(copy, Evict::Last, name, loc),
            ("on" | "when" | "multicast" | "accumulate", _) => {
                self.count(name, 1, vals.len(), None, loc)
            }
            ("evict_first" | "evict_last", _) => {
                self.count(name, 0, vals.len(), Some(format!(".{}()", name.name)), loc)
            }
            _ => self.no_method(&Val::Copying(copy.clone()), name, vals, COPY_METHODS),
        }
    }

    /// What was started: a copy, a product or a commit.
    fn noun(&self, copy: &CopyVal) -> &'static str {
        let stmts = &self.regions.last().expect("a region is open").stmts;
        match stmts.get(copy.index).map(|stmt| &stmt.kind) {
            Some(StmtKind::Op { op: Op::Tcgen05(Tcgen05::Mma { .. }), .. }) => "product",
            Some(StmtKind::Op { op: Op::Tcgen05(Tcgen05::Commit { .. }), .. }) => "commit",
            _ => "copy",
        }
    }

    /// `.when(condition)`
    fn when(
        &mut self,
        copy: &Rc<CopyVal>,
        (condition, at): (&Val, Loc),
        name: &Segment,
        loc: Loc,
    ) -> Val {
        let Some(value) = self.value(condition, at) else { return Val::Error };
        if !self.is_scalar(value) || self.cells.known(self.num(value)) != Some(Dtype::Bool) {
            let actual = self.describe(condition);
            let headline = format!("`when` takes one condition for the whole {}", self.noun(copy));
            return self.report(Diagnostic::new(Code::Kind, at, headline).compare(
                "",
                "a scalar (bool)",
                actual,
            ));
        }
        self.note_use(value, copy.loc, at);
        let what = self.noun(copy);
        self.change(copy, name, loc, |builder, mut op, mut args| {
            let (guarded, has_window) = match &mut op {
                Op::Tcgen05(
                    Tcgen05::Mma { guarded, .. }
                    | Tcgen05::Copy { guarded }
                    | Tcgen05::Commit { guarded, .. },
                ) => (guarded, false),
                other => match Said::of(other) {
                    Some(said) => (said.guarded, said.has_window),
                    None => return builder.only_one_thread("when", loc),
                },
            };
            if *guarded {
                return builder.said_twice("when", (what, ".when(a & b)"), loc);
            }
            *guarded = true;
            args.insert(args.len() - usize::from(has_window), value);
            Some((op, args))
        })
    }

    /// `.evict_first()`, `.evict_last()`
    fn evict(&mut self, copy: &Rc<CopyVal>, evict: Evict, name: &Segment, loc: Loc) -> Val {
        self.change(copy, name, loc, |builder, mut op, args| {
            if let Op::Bulk(Bulk { kind: BulkKind::Send, .. }) = op {
                builder.report(
                    Diagnostic::new(Code::CopyOperands, loc, "what is sent passes by no cache")
                        .why("bytes go from the shared memory of one block to that of another"),
                );
                return None;
            }
            if let Op::Tcgen05(_) = op {
                return builder.of_tensor_cores(&name.name, &op, loc);
            }
            let Some(said) = Said::of(&mut op) else {
                return builder.only_one_thread(&name.name, loc);
            };
            if let Some(first) = said.evict.method() {
                return builder.evicted_twice(first, &name.name, loc);
            }
            *said.evict = evict;
            Some((op, args))
        })
    }

    /// `.multicast(mask)`
    fn multicast(
        &mut self,
        copy: &Rc<CopyVal>,
        (mask, mask_loc): (&Val, Loc),
        name: &Segment,
        loc: Loc,
    ) -> Val {
        let Some(value) = self.scalar_i32(mask, "a mask of blocks is an `i32`", mask_loc) else {
            return Val::Error;
        };
        let what = self.noun(copy);
        let verb = if what == "commit" { "tell" } else { "copy to" };
        if self.mask_in_cluster(mask, verb, mask_loc, loc).is_none() {
            return Val::Error;
        }
        self.note_use(value, copy.loc, mask_loc);
        self.change(copy, name, loc, |builder, mut op, mut args| {
            if let Op::Tcgen05(Tcgen05::Commit { multicast, .. }) = &mut op {
                if *multicast {
                    return builder.said_twice("multicast", (what, ".multicast(a | b)"), loc);
                }
                *multicast = true;
                // Behind the barrier.
                args.insert(1, value);
                return Some((op, args));
            }
            let loads = match &op {
                Op::Tcgen05(_) => return builder.of_tensor_cores("multicast", &op, loc),
                Op::Tma(tma) if tma.kind == TmaKind::Staged => {
                    builder.report(
                        Diagnostic::new(Code::CopyOperands, loc, "a copy to several blocks needs a barrier")
                            .why("in each of the blocks its bytes count on the barrier that lies at the same place: say first which one")
                            .help("copy_async(x.at([i, j]), tile).on(full).multicast(mask)"),
                    );
                    return None;
                }
                Op::Tma(tma) => tma.kind.completes_on_a_barrier(),
                Op::Bulk(bulk) => bulk.kind == BulkKind::Load,
                _ => return builder.only_one_thread("multicast", loc),
            };
            if !loads {
                builder.report(
                    Diagnostic::new(Code::CopyOperands, loc, "only a load goes to several blocks")
                        .why("a store writes one tensor, once; a prefetch fills the cache that all blocks share"),
                );
                return None;
            }
            if builder.completes_elsewhere(&op, &args) {
                builder.report(
                    Diagnostic::new(Code::CopyOperands, loc, "a copy to several blocks completes in each of them")
                        .compare("", "the barrier: `bar`", "one of another block: `bar.of_block(..)`")
                        .why("in each of the blocks its bytes count on the barrier that lies at the same place"),
                );
                return None;
            }
            let said = Said::of(&mut op)?;
            if *said.multicast {
                return builder.said_twice("multicast", (what, ".multicast(a | b)"), loc);
            }
            *said.multicast = true;
            // Behind the barrier, before the condition and the window.
            args.insert(args.len() - 1 - usize::from(*said.guarded), value);
            Some((op, args))
        })
    }

    /// Whether a copy completes on a barrier of another block.
    fn completes_elsewhere(&self, op: &Op, args: &[Value]) -> bool {
        let Op::Tma(tma) = op else { return false };
        let ParamKind::Tensor { rank, .. } = self.params[tma.param as usize].kind else {
            return false;
        };
        let barrier = tma.operands(rank as usize, args).barrier;
        barrier.is_some_and(|bar| matches!(self.ty(bar), Type::Barrier(ty) if ty.remote))
    }

    /// A mask of blocks that the kernel's clusters have; `verb` is what is done to the others.
    fn mask_in_cluster(&mut self, mask: &Val, verb: &str, mask_loc: Loc, loc: Loc) -> Option<()> {
        let blocks = self.several_blocks(verb, loc)?;
        if let Val::Const(Const::Int(bits), _) = mask
            && (*bits <= 0 || *bits >> blocks != 0)
        {
            self.report(
                Diagnostic::new(
                    Code::Cluster,
                    mask_loc,
                    "the mask does not fit the blocks of the cluster",
                )
                .compare(
                    "mask",
                    format!("0b1 to {:#b}", (1u64 << blocks) - 1),
                    if *bits < 0 { bits.to_string() } else { format!("{bits:#b}") },
                )
                .why(format!("bit i of the mask stands for the block of rank i; this kernel's clusters have {blocks} blocks")),
            );
            return None;
        }
        Some(())
    }

    fn said_twice(
        &mut self,
        word: &str,
        (what, help): (&str, &str),
        loc: Loc,
    ) -> Option<(Op, Vec<Value>)> {
        let headline = format!("`{word}` is said twice of one {what}");
        self.report(
            Diagnostic::new(Code::CopyOperands, loc, headline)
                .why(format!("the {what} is one instruction, which has each of these once"))
                .help(help),
        );
        None
    }

    /// Reports what can be said only of a copy of a tensor, of something that tensor cores do.
    fn of_tensor_cores(&mut self, word: &str, op: &Op, loc: Loc) -> Option<(Op, Vec<Value>)> {
        let required = match word {
            "multicast" => "a load of a tensor, or `tcgen05::commit(..)`",
            _ => "a copy of a tensor",
        };
        let headline = format!("`{word}` is said of what tensor cores do");
        let diagnostic =
            Diagnostic::new(Code::CopyOperands, loc, headline).compare("", required, started(op));
        self.report(match (word, op) {
            ("on", Op::Tcgen05(Tcgen05::Copy { .. } | Tcgen05::Mma { .. })) => diagnostic
                .why("all that the tensor cores were told so far arrives at a barrier together (PTX ISA, \"tcgen05.commit\")")
                .help(format!("tcgen05::commit({});", self.barrier_in_sight())),
            _ => diagnostic,
        });
        None
    }

    /// Reports a second priority in the cache, by the methods that say the first one and this one.
    fn evicted_twice(&mut self, first: &str, second: &str, loc: Loc) -> Option<(Op, Vec<Value>)> {
        let help = format!(".{second}()");
        if second == first {
            return self.said_twice(first, ("copy", &help), loc);
        }
        self.report(
            Diagnostic::new(
                Code::CopyOperands,
                loc,
                format!("`{first}` and `{second}` are said of one copy"),
            )
            .why("the copy is one instruction, which has one priority in the second-level cache")
            .help(help),
        );
        None
    }

    /// Reports what is said of a copy in which each thread has its part.
    fn only_one_thread(&mut self, word: &str, loc: Loc) -> Option<(Op, Vec<Value>)> {
        let diagnostic = Diagnostic::new(
            Code::CopyOperands,
            loc,
            format!("`{word}` is said of a copy that completes in groups"),
        )
        .compare("", "a copy that one thread starts: `tma::load(..)`, `copy_async(..).on(bar)`, `bulk::load(..)`", "a `copy_async(..)` without a barrier")
        .why("in groups every thread copies its own part (PTX ISA, \"cp.async\")");
        self.report(diagnostic);
        None
    }

    /// A copy to shared memory that completes on a barrier goes by tensor map.
    fn on_barrier(
        &mut self,
        op: Op,
        args: Vec<Value>,
        barrier: Value,
        loc: Loc,
    ) -> Option<(Op, Vec<Value>)> {
        if let Op::Tma(tma @ Tma { kind: TmaKind::Staged, .. }) = op {
            let mut args = args;
            // Behind the coordinates.
            let ParamKind::Tensor { rank, .. } = self.params[tma.param as usize].kind else {
                return None;
            };
            args.insert(rank as usize, barrier);
            return Some((Op::Tma(Tma { kind: TmaKind::Load, ..tma }), args));
        }
        let Op::CopyAsync(param) = op else {
            let (actual, why, help) = match op {
                Op::Tma(Tma { kind: TmaKind::Load | TmaKind::Gather, .. })
                | Op::Bulk(Bulk { kind: BulkKind::Load | BulkKind::Send, .. }) => {
                    ("a load that has its barrier", "a copy counts its bytes on one barrier", None)
                }
                Op::Tma(Tma { kind: TmaKind::Prefetch, .. })
                | Op::Bulk(Bulk { kind: BulkKind::Prefetch(_), .. }) => {
                    ("a prefetch", "nobody is told when a prefetch has come", None)
                }
                _ => (
                    "a store",
                    "a store is waited for by the partition that issues it",
                    Some("tma::store_wait(0);"),
                ),
            };
            let diagnostic = Diagnostic::new(
                Code::CopyOperands,
                loc,
                "this copy does not complete on a barrier",
            )
            .compare("", "`copy_async` of a window of a tensor to shared memory", actual)
            .why(why);
            self.report(match help {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            });
            return None;
        };
        let mut args = args;
        let window = args.pop()?;
        if let Type::Shared(shared) = self.ty(window).clone() {
            self.fills_block(param, &shared, loc)?;
        }
        args.extend([barrier, window]);
        Some((Op::Tma(Tma::plain(TmaKind::Load, param)), args))
    }

    /// Changes the statement of a copy, which moves behind what its new operands are computed from.
    fn change(
        &mut self,
        copy: &Rc<CopyVal>,
        name: &Segment,
        loc: Loc,
        with: impl FnOnce(&mut Self, Op, Vec<Value>) -> Option<(Op, Vec<Value>)>,
    ) -> Val {
        if self.terminated {
            return Val::Unit;
        }
        let here = copy.depth == self.regions.len();
        let stmts = &mut self.regions.last_mut().expect("a region is open").stmts;
        let known = here.then(|| stmts.get(copy.index).cloned()).flatten();
        let Some(Stmt { kind: StmtKind::Op { op, args, result: None }, loc: at }) = known else {
            return self.report(
                Diagnostic::new(
                    Code::CopyOperands,
                    loc,
                    format!("`{}` is said of a copy elsewhere than where it is started", name.name),
                )
                .place(copy.loc, "started here")
                .why("the copy is one instruction, and this is a part of it"),
            );
        };
        let Some((op, args)) = with(self, op, args) else { return Val::Error };
        let stmts = &mut self.regions.last_mut().expect("a region is open").stmts;
        stmts.remove(copy.index);
        stmts.push(Stmt { kind: StmtKind::Op { op, args, result: None }, loc: at });
        self.copying(copy.loc)
    }
}

/// What an operation starts, as it is written.
pub(crate) fn started(op: &Op) -> &'static str {
    match op {
        Op::CopyAsync(_) => "`copy_async(..)`",
        Op::Tma(tma) => match tma.kind {
            TmaKind::Load => "`tma::load(..)`",
            TmaKind::Staged => "`copy_async(..)`",
            TmaKind::Store => "`tma::store(..)`",
            TmaKind::Reduce(_) => "a reduction of `tma`",
            TmaKind::Prefetch => "`tma::prefetch(..)`",
            TmaKind::Gather => "`tma::gather(..)`",
            TmaKind::Scatter => "`tma::scatter(..)`",
        },
        Op::Bulk(bulk) => match bulk.kind {
            BulkKind::Load => "`bulk::load(..)`",
            BulkKind::Store => "`bulk::store(..)`",
            BulkKind::Reduce(_) => "a reduction of `bulk`",
            BulkKind::Prefetch(_) => "`bulk::prefetch(..)`",
            BulkKind::Send => "`bulk::send(..)`",
        },
        Op::Tcgen05(op) => match op {
            Tcgen05::Mma { scaled: Some(_), .. } => "`tcgen05::mma_scaled(..)`",
            Tcgen05::Mma { group: CtaGroup::One, .. } => "`tcgen05::mma(..)`",
            Tcgen05::Mma { group: CtaGroup::Pair, .. } => "`tcgen05::mma_pair(..)`",
            Tcgen05::Copy { .. } => "`tcgen05::copy(..)`",
            Tcgen05::Commit { .. } => "`tcgen05::commit(..)`",
            Tcgen05::FenceBefore | Tcgen05::FenceAfter => "a fence",
        },
        _ => "a copy",
    }
}
