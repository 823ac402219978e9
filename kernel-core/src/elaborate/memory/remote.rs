//! The shared memory of other blocks of the cluster: `tile.of_block(rank)`.

use kernel_ptx::Capability;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Builder, language::value::Val},
    ir::{Const, Op, SharedType, Type, Value},
    loc::Loc,
    syntax::{Expr, Segment},
};

/// The bytes of elements that a counted store takes (PTX ISA, "st.async").
const COUNTED_BYTES: [u32; 2] = [4, 8];

impl Builder<'_> {
    /// `window.of_block(rank)`
    pub(crate) fn shared_remote(
        &mut self,
        window: Value,
        rank: (&Val, Loc),
        name_loc: Loc,
        loc: Loc,
    ) -> Val {
        let Type::Shared(shared) = self.ty(window).clone() else { return Val::Error };
        let why = "blocks that reach each other's shared memory come with Hopper";
        if self.wants(Capability::Clusters, "`of_block`", why, loc).is_none() {
            return Val::Error;
        }
        if shared.remote {
            return self.of_block_twice(name_loc);
        }
        let Some(value) = self.scalar_i32(rank.0, "the rank of a block is an `i32`", rank.1) else {
            return Val::Error;
        };
        if self.in_cluster(rank.0, rank.1, loc).is_none() {
            return Val::Error;
        }
        self.note_use(value, loc, rank.1);
        let ty = Type::Shared(SharedType { remote: true, ..shared });
        Val::Value(self.emit(Op::SharedRemote, vec![window, value], ty, loc))
    }

    /// The blocks of a cluster, where those are several, or a report; `what` there is no other block to do.
    pub(crate) fn several_blocks(&mut self, what: &str, loc: Loc) -> Option<u32> {
        let blocks: u32 = self.cluster.iter().product();
        if blocks > 1 {
            return Some(blocks);
        }
        let headline = format!("this kernel has no clusters: there is no other block to {what}");
        self.report(
            Diagnostic::new(Code::Cluster, loc, headline)
                .compare("blocks of a cluster", "2 or more", "1")
                .help("#[kernel(.., cluster = [2, 1])]"),
        );
        None
    }

    /// A rank in the kernel's cluster.
    pub(crate) fn in_cluster(&mut self, rank: &Val, rank_loc: Loc, loc: Loc) -> Option<()> {
        let blocks = self.several_blocks("reach", loc)?;
        if let Val::Const(Const::Int(rank), _) = rank
            && !(0..i128::from(blocks)).contains(rank)
        {
            self.report(
                Diagnostic::new(Code::Cluster, rank_loc, "no block of the cluster has this rank")
                    .compare("rank", format!("0 to {}", blocks - 1), rank.to_string()),
            );
            return None;
        }
        Some(())
    }

    /// How the rank of another block of the cluster is written.
    pub(crate) fn another_block(&self) -> &'static str {
        let blocks: u32 = self.cluster.iter().product();
        if blocks.is_multiple_of(2) {
            "cluster::rank() ^ 1"
        } else {
            "(cluster::rank() + 1) % cluster::size()"
        }
    }

    /// Reports `of_block` of what is another block's already.
    pub(crate) fn of_block_twice(&mut self, loc: Loc) -> Val {
        self.report(
            Diagnostic::new(Code::SharedUse, loc, "`of_block` is said twice")
                .compare("", "what this block has", "what another block has")
                .why("a rank counts the blocks of the cluster, from whichever of them"),
        )
    }

    /// Reports shared memory of another block where only the block's own can be.
    pub(crate) fn own_window(&mut self, shared: &SharedType, what: &str, loc: Loc) -> Option<()> {
        if !shared.remote {
            return Some(());
        }
        self.report(
            Diagnostic::new(
                Code::SharedUse,
                loc,
                format!("{what} has its shared memory in the block that runs it"),
            )
            .compare("", "a window of this block", "one of another block")
            .why("of another block's shared memory there are `load`, `store`, `store_async` and `bulk::send` (PTX ISA, \"mapa\")"),
        );
        None
    }

    /// Reports a copy whose barrier and window stand in each other's place; says whether they do. `places` is where the barrier and
    /// the window belong.
    pub(crate) fn turned_round(
        &mut self,
        name: &Segment,
        places: [usize; 2],
        (vals, args): (&[Val], &[Expr]),
    ) -> bool {
        let [bar, window] = places;
        let is = |val: &Val, is: fn(&Type) -> bool| matches!(val, Val::Value(value) if is(self.ty(*value)));
        if !is(&vals[bar], |ty| matches!(ty, Type::Shared(_)))
            || !is(&vals[window], |ty| matches!(ty, Type::Barrier(_)))
        {
            return false;
        }
        let actual = self.describe(&vals[bar]);
        let mut diagnostic = Diagnostic::new(
            Code::Kind,
            args[bar].loc,
            "the barrier of a copy stands before its shared memory",
        )
        .compare("", "a `Barrier`", actual)
        .place(args[window].loc, "the barrier stands here");
        let texts: Option<Vec<_>> = args.iter().map(Expr::text).collect();
        if let Some(mut texts) = texts {
            texts.swap(bar, window);
            let family = if args.len() == 4 { "tma" } else { "bulk" };
            diagnostic = diagnostic.help(format!("{family}::{}({})", name.name, texts.join(", ")));
        }
        self.report(diagnostic);
        true
    }

    /// The name of a barrier of the kernel, for help; `bar` where there is none.
    pub(crate) fn barrier_in_sight(&self) -> String {
        let is_one = |held: &Val| matches!(held, Val::Value(value) if matches!(self.ty(*value), Type::Barrier(bar) if !bar.ring && !bar.remote));
        let from = self.calls.last().map_or(0, |call| call.vars);
        self.scopes.name_with(from, is_one).unwrap_or("bar").to_owned()
    }

    /// A barrier of this block, which a copy completes on here or, by its place, in the block that receives it.
    pub(crate) fn own_barrier(&mut self, val: &Val, loc: Loc) -> Option<Value> {
        let (barrier, ty) = self.one_barrier(val, loc)?;
        if !ty.remote {
            return Some(barrier);
        }
        self.report(
            Diagnostic::new(
                Code::SharedUse,
                loc,
                "a copy completes on a barrier of the block that receives it",
            )
            .compare("", "the barrier: `bar`", "one of another block: `bar.of_block(..)`")
            .why("whichever block that is, its barrier at the same place counts the bytes"),
        );
        None
    }

    /// `remote.store_async(tile, bar)`
    pub(crate) fn shared_store_async(
        &mut self,
        window: Value,
        value: (&Val, Loc),
        bar: (&Val, Loc),
        loc: Loc,
    ) -> Val {
        let Type::Shared(shared) = self.ty(window).clone() else { return Val::Error };
        if !shared.remote {
            let help = if self.cluster == [1; 3] {
                let stored = self.written(value.0).unwrap_or_else(|| "x".to_owned());
                self.applied(window, &format!(".store({stored})"))
            } else {
                self.applied(window, &format!(".of_block({})", self.another_block()))
            };
            return self.report(
                Diagnostic::new(
                    Code::SharedUse,
                    loc,
                    "a store that a barrier counts goes to another block",
                )
                .compare("", "a window of another block", "one of this block")
                .why("in its own block a thread stores, and arrives: `tile.store(x)`, `bar.arrive()`")
                .help(help),
            );
        }
        let Some(barrier) = self.own_barrier(bar.0, bar.1) else { return Val::Error };
        let Some(tile) = self.stored_tile(window, value, loc) else { return Val::Error };
        let num = self.num(window);
        if !COUNTED_BYTES.contains(&self.cells.settled(num).bytes()) {
            return self.refuse_dtype(
                "`store_async`",
                "types of 32 and 64 bits; others go by `bulk::send`",
                num,
                value.1,
            );
        }
        self.op(Op::StoreAsync, vec![window, tile, barrier], None, loc);
        Val::Unit
    }
}
