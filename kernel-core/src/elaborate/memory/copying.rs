//! The options of a copy, after the call that starts it: `.on(bar)`, `.when(p)`, `.multicast(mask)`, `.evict_first()`; and of products and commits
//! of the tensor cores, which one thread starts as well.
//!
//! The copy is one statement of the IR, and an option changes that statement.

use std::rc::Rc;

use kernel_ptx::Capability;

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{CopyVal, Part, Val, ViewVal},
        signatures::Given,
    },
    ir::{
        Bulk, BulkKind, Const, Copied, CopyOp, CtaGroup, Dtype, Evict, Extents, MemoryOp,
        Multiplied, Op, ProductOp, Stmt, StmtKind, Tcgen05, Tma, TmaKind, Type, Value,
    },
    layouts::MAX_REGISTERS,
    loc::Loc,
};

/// What is reported about a copy that one thread starts.
struct Said<'o> {
    multicast: &'o mut bool,
    guarded: &'o mut bool,
    /// Its last operand is a window of shared memory.
    has_window: bool,
}

impl Said<'_> {
    /// That of an operation; none of a copy that all threads take part in.
    fn of(op: &mut Op) -> Option<Said<'_>> {
        if let Op::Copy(CopyOp::Tma(Tma { kind, multicast, guarded, .. })) = op {
            let has_window = *kind != TmaKind::Prefetch;
            return Some(Said { multicast, guarded, has_window });
        }
        let Op::Copy(CopyOp::Bulk(bulk)) = op else { return None };
        let has_window = bulk.has_window();
        let Bulk { multicast, guarded, .. } = bulk;
        Some(Said { multicast, guarded, has_window })
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

    /// `.on(bar)`
    pub(crate) fn on(&mut self, given: &Given<'_>) -> Option<Val> {
        let barrier = given.value(0);
        self.change(given, |builder, op, args| {
            if matches!(op, Op::Product(ProductOp::Tcgen05(_))) {
                return builder.of_tensor_cores("on", &op, given.loc);
            }
            builder.on_barrier(&op, args, barrier, given.loc)
        })
    }

    /// `.accumulate(adds)`
    pub(crate) fn accumulate(&mut self, given: &Given<'_>) -> Option<Val> {
        self.change(given, |builder, op, args| {
            builder.accumulates(op, args, given.value(0), given.loc)
        })
    }

    /// One truth value for the whole of what was started, or a report.
    pub(crate) fn one_condition(
        &mut self,
        given: &Given<'_>,
        (val, loc): (&Val, Loc),
    ) -> Option<Value> {
        let value = self.value(val, loc)?;
        if self.is_scalar(value) && self.cells.known(self.num(value)) == Some(Dtype::Bool) {
            return Some(value);
        }
        let (name, noun) = (given.signature.name, self.noun(given.started()));
        let headline = format!("`{name}` takes one condition for the whole {noun}");
        self.refuse_kind(headline, "a scalar (bool)", (val, loc))
    }

    /// What was started: a copy, a product or a commit.
    fn noun(&self, copy: &CopyVal) -> &'static str {
        let stmts = &self.regions.last().expect("a region is open").stmts;
        match stmts.get(copy.index).map(|stmt| &stmt.kind) {
            Some(StmtKind::Op {
                op: Op::Product(ProductOp::Tcgen05(Tcgen05::Mma { .. })), ..
            }) => "product",
            Some(StmtKind::Op {
                op: Op::Product(ProductOp::Tcgen05(Tcgen05::Commit { .. })),
                ..
            }) => "commit",
            _ => "copy",
        }
    }

    /// `.when(condition)`
    pub(crate) fn when(&mut self, given: &Given<'_>) -> Option<Val> {
        let (copy, value, loc) = (given.started(), given.value(0), given.loc);
        self.note_use(value, copy.loc, given.at(0));
        let what = self.noun(copy);
        self.change(given, |builder, mut op, mut args| {
            let (guarded, has_window) = if let Op::Product(ProductOp::Tcgen05(
                Tcgen05::Mma { guarded, .. }
                | Tcgen05::Copy { guarded }
                | Tcgen05::Commit { guarded, .. },
            )) = &mut op
            {
                (guarded, false)
            } else {
                let Some(said) = Said::of(&mut op) else {
                    return builder.only_one_thread("when", loc);
                };
                (said.guarded, said.has_window)
            };
            if *guarded {
                return builder.said_twice("when", (what, Some(".when(a & b)")), loc);
            }
            *guarded = true;
            args.insert(args.len() - usize::from(has_window), value);
            Some((op, args))
        })
    }

    /// `.evict_first()`, `.evict_last()`
    pub(crate) fn evict(&mut self, evict: Evict, given: &Given<'_>) -> Option<Val> {
        let (name, loc) = (given.signature.name, given.loc);
        self.change(given, |builder, mut op, args| {
            if let Op::Copy(CopyOp::Bulk(Bulk { kind: BulkKind::Send, .. })) = op {
                return builder.refuse(
                    Code::CopyOperands
                        .at(loc, "`bulk::send` does not go through a cache")
                        .why("bytes go from the shared memory of one block to that of another"),
                );
            }
            if let Op::Product(ProductOp::Tcgen05(_)) = op {
                return builder.of_tensor_cores(name, &op, loc);
            }
            // The window of a copy in groups may have one.
            let of_window = matches!(op, Op::Copy(CopyOp::Async(..)));
            if let Op::Copy(
                CopyOp::Async(_, said)
                | CopyOp::Tma(Tma { evict: said, .. })
                | CopyOp::Bulk(Bulk { evict: said, .. }),
            ) = &mut op
            {
                if let Some(first) = said.method() {
                    let help = (!of_window).then(|| format!(".{name}()"));
                    return builder.evicted_twice(first, name, ("copy", help), loc);
                }
                *said = evict;
            }
            Some((op, args))
        })
    }

    /// `.multicast(mask)`
    pub(crate) fn multicast(&mut self, given: &Given<'_>) -> Option<Val> {
        let (copy, value, loc) = (given.started(), given.value(0), given.loc);
        let (mask, mask_loc) = given.arg(0);
        let what = self.noun(copy);
        let verb = if what == "commit" { "signal" } else { "copy to" };
        self.mask_in_cluster(mask, verb, mask_loc, loc)?;
        self.note_use(value, copy.loc, mask_loc);
        self.change(given, |builder, mut op, mut args| {
            if let Op::Product(ProductOp::Tcgen05(Tcgen05::Commit { multicast, .. })) = &mut op {
                if *multicast {
                    return builder.said_twice("multicast", (what, Some(".multicast(a | b)")), loc);
                }
                *multicast = true;
                // After the barrier.
                args.insert(1, value);
                return Some((op, args));
            }
            if matches!(op, Op::Product(ProductOp::Tcgen05(_))) {
                return builder.of_tensor_cores("multicast", &op, loc);
            }
            let loads = if let Op::Copy(CopyOp::Tma(tma)) = &op {
                if tma.kind == TmaKind::Staged {
                    return builder.refuse(
                        Code::CopyOperands.at(loc, "a copy to several blocks needs a barrier")
                            .why("in each block its bytes count on the barrier at the same place, so name the barrier first")
                            .help("copy_async(x.at([i, j]), tile).on(full).multicast(mask)"),
                    );
                }
                tma.kind.completes_on_a_barrier()
            } else if let Op::Copy(CopyOp::Bulk(bulk)) = &op {
                bulk.kind == BulkKind::Load
            } else {
                return builder.only_one_thread("multicast", loc);
            };
            if !loads {
                return builder.refuse(
                    Code::CopyOperands.at(loc, "only a load can go to several blocks")
                        .why("a store writes one tensor, once; a prefetch fills the cache that all blocks share"),
                );
            }
            if builder.completes_elsewhere(&op, &args) {
                return builder.refuse(
                    Code::CopyOperands.at(loc, "a copy to several blocks completes in each of them")
                        .compare("", "the barrier: `bar`", "one of another block: `bar.of_block(..)`")
                        .why("in each block its bytes count on the barrier at the same place"),
                );
            }
            let said = Said::of(&mut op)?;
            if *said.multicast {
                return builder.said_twice("multicast", (what, Some(".multicast(a | b)")), loc);
            }
            *said.multicast = true;
            // After the barrier, before the condition and the window.
            args.insert(args.len() - 1 - usize::from(*said.guarded), value);
            Some((op, args))
        })
    }

    /// Whether a copy completes on a barrier of another block.
    fn completes_elsewhere(&self, op: &Op, args: &[Value]) -> bool {
        let Op::Copy(CopyOp::Tma(tma)) = op else { return false };
        let rank = self.params[tma.param as usize].kind.rank();
        let barrier = tma.operands(rank as usize, args).barrier;
        barrier.is_some_and(|bar| matches!(self.ty(bar), Type::Barrier(ty) if ty.remote))
    }

    /// A mask of blocks that the kernel's clusters have; `verb` is what is done to the others.
    fn mask_in_cluster(&mut self, mask: &Val, verb: &str, mask_loc: Loc, loc: Loc) -> Option<()> {
        let blocks = self.several_blocks(verb, loc)?;
        if let Val::Const(Const::Int(bits), _) = mask
            && (*bits <= 0 || *bits >> blocks != 0)
        {
            return self.refuse(
                Code::Cluster.at(mask_loc,
                    "the mask does not fit the blocks of the cluster",
                )
                .compare(
                    "mask",
                    format!("0b1 to {:#b}", (1u64 << blocks) - 1),
                    if *bits < 0 { bits.to_string() } else { format!("{bits:#b}") },
                )
                .why(format!("bit i of the mask stands for the block of rank i; this kernel's clusters have {blocks} blocks")),
            );
        }
        Some(())
    }

    pub(super) fn said_twice<T>(
        &mut self,
        word: &str,
        (what, help): (&str, Option<&str>),
        loc: Loc,
    ) -> Option<T> {
        self.refuse(
            Code::CopyOperands
                .at(loc, format!("`{word}` is given twice for one {what}"))
                .why(format!("the {what} is one instruction, which takes each of these once"))
                .help_if(help)
                .exemplified(),
        )
    }

    /// Reports what can be said only of a copy of a tensor, of something that tensor cores do.
    fn of_tensor_cores(&mut self, word: &str, op: &Op, loc: Loc) -> Option<(Op, Vec<Value>)> {
        let required = match word {
            "multicast" => "a load of a tensor, or `tcgen05::commit(..)`",
            _ => "a copy of a tensor",
        };
        let headline = format!("`{word}` is not an option of tcgen05 operations");
        let diagnostic = Code::CopyOperands.at(loc, headline).compare("", required, started(op));
        self.refuse(match (word, op) {
            ("on", Op::Product(ProductOp::Tcgen05(Tcgen05::Copy { .. } | Tcgen05::Mma { .. }))) => diagnostic
                .why("`tcgen05::commit` signals a barrier when everything started so far is done (PTX ISA, \"tcgen05.commit\")")
                .help(format!("tcgen05::commit({});", self.barrier_in_sight())),
            _ => diagnostic,
        })
    }

    /// `view.evict_first()`, `view.evict_last()`
    pub(crate) fn evict_window(&mut self, evict: Evict, given: &Given<'_>) -> Option<Val> {
        let view = given.view();
        self.neighbouring_rows(view, "a priority in the cache", given)?;
        if let Some(first) = view.evict.method() {
            return self.evicted_twice(first, given.signature.name, ("access", None), given.loc);
        }
        Some(Val::View(Rc::new(ViewVal { evict, ..view.clone() })))
    }

    /// `view.prefetch()`
    pub(crate) fn prefetch_tensor(&mut self, given: &Given<'_>) -> Option<()> {
        let view = given.view();
        self.unordered(view, "prefetch", given)?;
        self.neighbouring_rows(view, "a prefetch", given)?;
        let (param, evict, corner) = (view.param, view.evict, view.corner()?);
        self.note_corner(view, given.loc);
        if view.part == Part::Block && self.target.has(Capability::Tma) {
            return self.does(Tma { evict, ..Tma::plain(TmaKind::Prefetch, param) }, corner, given);
        }
        if view.part == Part::Block {
            self.only_by_copy(param, "a prefetch", given.loc)?;
        }
        if evict == Evict::First {
            return self.refuse(
                Code::CopyOperands
                    .at(given.loc, "`evict_first` is not an option of a prefetch")
                    .why("`prefetch` has the priorities `evict_last` and `evict_normal` (PTX ISA, \"prefetch\")"),
            );
        }
        self.prefetched(&view.shape, given.loc)?;
        let extents = Extents::of(&view.shape);
        self.does(MemoryOp::PrefetchTensor { param, extents, evict }, corner, given)
    }

    /// Whether the instructions of a prefetch can be written out.
    fn prefetched(&mut self, shape: &[u32], loc: Loc) -> Option<()> {
        let elements = shape.iter().fold(1u64, |all, e| all.saturating_mul(u64::from(*e)));
        let most = u64::from(self.warps * 32) * MAX_REGISTERS;
        if elements <= most {
            return Some(());
        }
        self.refuse(
            Code::TileBudget
                .at(loc, format!("a prefetch of {elements} elements is too long"))
                .compare("elements", format!("at most {most}"), elements)
                .why("each thread has an instruction for each line of the cache that it prefetches, one after the other; a loop takes one window after the other")
                .help("for i in 0..16 { x.tile([64 * i, 0], [64, 64]).prefetch(); }")
                .exemplified(),
        )
    }

    /// Reports a second priority in the cache, by the methods that say the first one and this one.
    pub(super) fn evicted_twice<T>(
        &mut self,
        first: &str,
        second: &str,
        (what, help): (&str, Option<String>),
        loc: Loc,
    ) -> Option<T> {
        if second == first {
            return self.said_twice(first, (what, help.as_deref()), loc);
        }
        self.refuse(
            Code::CopyOperands
                .at(loc, format!("`{first}` and `{second}` are given for one {what}"))
                .why(format!(
                    "the {what} is one instruction, which has one priority in the L2 cache"
                ))
                .help_if(help),
        )
    }

    /// Reports what is said of a copy in which each thread has its part.
    fn only_one_thread(&mut self, word: &str, loc: Loc) -> Option<(Op, Vec<Value>)> {
        let diagnostic = Code::CopyOperands.at(loc,
            format!("`{word}` is not an option of a copy in groups"),
        )
        .compare("", "a copy that one thread starts: `tma::load(..)`, `copy_async(..).on(bar)`, `bulk::load(..)`", "a `copy_async(..)` without a barrier")
        .why("in groups every thread copies its own part (PTX ISA, \"cp.async\")");
        self.refuse(diagnostic)
    }

    /// A copy to shared memory that completes on a barrier goes by tensor map.
    fn on_barrier(
        &mut self,
        op: &Op,
        mut args: Vec<Value>,
        barrier: Value,
        loc: Loc,
    ) -> Option<(Op, Vec<Value>)> {
        if let &Op::Copy(CopyOp::Tma(tma @ Tma { kind: TmaKind::Staged, .. })) = op {
            // After the positions.
            let rank = self.params[tma.param as usize].kind.rank();
            args.insert(tma.positions(rank as usize), barrier);
            return Some((Op::Copy(CopyOp::Tma(Tma { kind: TmaKind::Load, ..tma })), args));
        }
        let &Op::Copy(CopyOp::Async(Copied::Tile { param, extents }, evict)) = op else {
            let (actual, why, help) = if let Op::Copy(
                CopyOp::Tma(Tma { kind: TmaKind::Load | TmaKind::Gather, .. })
                | CopyOp::Bulk(Bulk { kind: BulkKind::Load | BulkKind::Send, .. }),
            ) = op
            {
                let why = "a copy counts its bytes on one barrier";
                ("a load that already has a barrier", why, None)
            } else if let Op::Copy(
                CopyOp::Tma(Tma { kind: TmaKind::Prefetch, .. })
                | CopyOp::Bulk(Bulk { kind: BulkKind::Prefetch(_), .. }),
            ) = op
            {
                ("a prefetch", "nothing signals the end of a prefetch", None)
            } else if let Op::Copy(CopyOp::Async(Copied::Addresses { .. }, _)) = op {
                let why =
                    "TMA copies whole boxes of a tensor; the threads copy from a tile of addresses";
                ("a copy from a tile of addresses", why, None)
            } else {
                let why = "the partition that issues a store waits for it";
                ("a store", why, Some("tma::store_wait(0);"))
            };
            let diagnostic = Code::CopyOperands
                .at(loc, "this copy does not complete on a barrier")
                .compare("", "`copy_async` of a window of a tensor to shared memory", actual)
                .why(why);
            return self.refuse(diagnostic.help_if(help));
        };
        let window = args.pop()?;
        self.only_by_copy(param, "a window of extents", loc)?;
        if let Type::Shared(shared) = self.ty(window).clone() {
            self.fills_block(param, &shared, loc)?;
        }
        let tma = Tma { evict, ..Tma::plain(TmaKind::Load, param).of_extents(extents) };
        let (tma, mut args) = self.bounded_copy(tma, &args, loc)?;
        args.extend([barrier, window]);
        Some((Op::Copy(CopyOp::Tma(tma)), args))
    }

    /// Changes the statement of a copy, which moves after what its new operands are computed from.
    fn change(
        &mut self,
        given: &Given<'_>,
        with: impl FnOnce(&mut Self, Op, Vec<Value>) -> Option<(Op, Vec<Value>)>,
    ) -> Option<Val> {
        let copy = given.started();
        if self.terminated {
            return Some(Val::Unit);
        }
        let here = copy.depth == self.regions.len();
        let stmts = &mut self.regions.last_mut().expect("a region is open").stmts;
        let known = here.then(|| stmts.get(copy.index).cloned()).flatten();
        let Some(Stmt { kind: StmtKind::Op { op, args, result: None }, loc: at }) = known else {
            let name = given.signature.name;
            let headline = format!("`{name}` has to stand in the statement that starts the copy");
            return self.refuse(
                Code::CopyOperands
                    .at(given.loc, headline)
                    .place(copy.loc, "started here")
                    .why("the option is part of the instruction that starts the copy"),
            );
        };
        let (op, args) = with(self, op, args)?;
        let stmts = &mut self.regions.last_mut().expect("a region is open").stmts;
        stmts.remove(copy.index);
        stmts.push(Stmt { kind: StmtKind::Op { op, args, result: None }, loc: at });
        Some(self.copying(copy.loc))
    }
}

/// What an operation starts, as it is written.
pub(crate) fn started(op: &Op) -> &'static str {
    if let Op::Product(ProductOp::Tcgen05(op)) = op {
        return match op {
            Tcgen05::Mma { group: CtaGroup::One, multiplied: Multiplied::Dense, .. } => {
                "`tcgen05::mma(..)`"
            }
            Tcgen05::Mma { group: CtaGroup::One, multiplied: Multiplied::Sparse, .. } => {
                "`tcgen05::mma_sparse(..)`"
            }
            Tcgen05::Mma { group: CtaGroup::Pair, multiplied: Multiplied::Sparse, .. } => {
                "`tcgen05::mma_sparse_pair(..)`"
            }
            Tcgen05::Mma { group: CtaGroup::One, multiplied: Multiplied::Scaled(_), .. } => {
                "`tcgen05::mma_scaled(..)`"
            }
            Tcgen05::Mma { group: CtaGroup::Pair, multiplied: Multiplied::Dense, .. } => {
                "`tcgen05::mma_pair(..)`"
            }
            Tcgen05::Mma { group: CtaGroup::Pair, multiplied: Multiplied::Scaled(_), .. } => {
                "`tcgen05::mma_scaled_pair(..)`"
            }
            Tcgen05::Copy { .. } => "`tcgen05::copy(..)`",
            Tcgen05::Commit { .. } => "`tcgen05::commit(..)`",
            Tcgen05::FenceBefore | Tcgen05::FenceAfter => "a fence",
        };
    }
    let Op::Copy(op) = op else { return "a copy" };
    match op {
        CopyOp::Async(..) => "`copy_async(..)`",
        CopyOp::Tma(tma) => match tma.kind {
            TmaKind::Load => "`tma::load(..)`",
            TmaKind::Staged => "`copy_async(..)`",
            TmaKind::Store => "`tma::store(..)`",
            TmaKind::Reduce(_) => "a reduction of `tma`",
            TmaKind::Prefetch => "`tma::prefetch(..)`",
            TmaKind::Gather => "`tma::gather(..)`",
            TmaKind::Scatter => "`tma::scatter(..)`",
        },
        CopyOp::Bulk(bulk) => match bulk.kind {
            BulkKind::Load => "`bulk::load(..)`",
            BulkKind::Store => "`bulk::store(..)`",
            BulkKind::Reduce(_) => "a reduction of `bulk`",
            BulkKind::Prefetch(_) => "`bulk::prefetch(..)`",
            BulkKind::Send => "`bulk::send(..)`",
        },
        CopyOp::StoreAsync
        | CopyOp::Commit
        | CopyOp::Wait(_)
        | CopyOp::WaitAll
        | CopyOp::Staged(_)
        | CopyOp::BulkWait { .. } => "a copy",
    }
}
