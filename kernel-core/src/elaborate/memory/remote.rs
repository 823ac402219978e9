//! The shared memory of other blocks of the cluster: `tile.of_block(rank)`.

use kernel_ptx::Capability;

use crate::{
    diag::Code,
    elaborate::{Builder, language::value::Val, signatures::Given},
    ir::{Const, CopyOp, SharedType, Type, Value, WindowOp},
    loc::Loc,
};

/// The bytes of elements that a counted store takes (PTX ISA, "st.async").
const COUNTED_BYTES: [u32; 2] = [4, 8];

impl Builder<'_> {
    /// `window.of_block(rank)`
    pub(crate) fn shared_remote(&mut self, given: &Given<'_>) -> Option<Val> {
        let Type::Shared(shared) = self.ty(given.receiver()).clone() else { return None };
        let rank = self.rank_of_block(shared.remote, given)?;
        self.whole_tiles(&shared, "`of_block`", given.loc)?;
        let ty = Type::Shared(SharedType { remote: true, ..shared });
        let operands = vec![given.receiver(), rank];
        Some(Val::Value(self.emit(WindowOp::Remote, operands, ty, given.loc)))
    }

    /// The rank that `of_block` is given, for what is this block's own.
    pub(crate) fn rank_of_block(&mut self, remote: bool, given: &Given<'_>) -> Option<Value> {
        if remote {
            return self.refuse(
                Code::SharedUse
                    .at(given.name.loc, "`of_block` is given twice")
                    .compare("", "a window or barrier of this block", "one of another block")
                    .why("a rank is the number of a block in the cluster, the same in every block"),
            );
        }
        self.in_cluster(given.val(0), given.at(0), given.loc)?;
        self.note_use(given.value(0), given.loc, given.at(0));
        Some(given.value(0))
    }

    /// How many blocks a cluster has.
    pub(crate) fn blocks_of_cluster(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// Whether the attribute asks for clusters that the target does not have, which was reported.
    pub(crate) fn cluster_refused(&self) -> bool {
        !self.target.has(Capability::Clusters) && self.cluster != [1; 3]
    }

    /// The blocks of a cluster, if those are several, or a report that there is no other block for `what`.
    pub(crate) fn several_blocks(&mut self, what: &str, loc: Loc) -> Option<u32> {
        let blocks = self.blocks_of_cluster();
        if blocks > 1 {
            return Some(blocks);
        }
        self.refuse(
            Code::Cluster
                .at(loc, format!("this kernel has no clusters: there is no other block to {what}"))
                .compare("blocks of a cluster", "2 or more", "1")
                .why("only blocks of one cluster run at the same time and reach each other's shared memory; the attribute says how many are one")
                .help("cluster = [2, 1]"),
        )
    }

    /// A rank in the kernel's cluster.
    pub(crate) fn in_cluster(&mut self, rank: &Val, rank_loc: Loc, loc: Loc) -> Option<()> {
        let blocks = self.several_blocks("access", loc)?;
        if let Val::Const(Const::Int(rank), _) = rank
            && !(0..i128::from(blocks)).contains(rank)
        {
            return self.refuse(
                Code::Cluster.at(rank_loc, "no block of the cluster has this rank").compare(
                    "rank",
                    format!("0 to {}", blocks - 1),
                    rank,
                ),
            );
        }
        Some(())
    }

    /// How the rank of another block of the cluster is written.
    pub(crate) fn another_block(&self) -> &'static str {
        let blocks = self.blocks_of_cluster();
        if blocks.is_multiple_of(2) {
            "cluster::rank() ^ 1"
        } else {
            "(cluster::rank() + 1) % cluster::size()"
        }
    }

    /// Reports shared memory of another block in place of the block's own.
    pub(crate) fn own_window(&mut self, shared: &SharedType, what: &str, loc: Loc) -> Option<()> {
        if !shared.remote {
            return Some(());
        }
        self.refuse(
            Code::SharedUse.at(loc,
                format!("{what} needs shared memory of its own block"),
            )
            .compare("", "a window of this block", "one of another block")
            .why("another block's shared memory has `load`, `store`, `gather`, `scatter`, atomics, `store_async` and `bulk::send` (PTX ISA, \"mapa\")"),
        )
    }

    /// The name of a barrier of the kernel, for help; `bar` if there is none.
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
        self.refuse(
            Code::SharedUse
                .at(loc, "a copy completes on a barrier of the block that receives it")
                .compare("", "the barrier: `bar`", "one of another block: `bar.of_block(..)`")
                .why("the receiving block's barrier at the same place counts the bytes"),
        )
    }

    /// `remote.store_async(value, bar)`
    pub(crate) fn shared_store_async(&mut self, given: &Given<'_>) -> Option<()> {
        let window = given.receiver();
        let Type::Shared(shared) = self.ty(window).clone() else { return None };
        if !shared.remote {
            let help = if self.cluster == [1; 3] {
                let stored = self.written(given.val(0)).unwrap_or_else(|| "x".to_owned());
                self.applied(window, &format!(".store({stored})"))
            } else {
                self.applied(window, &format!(".of_block({})", self.another_block()))
            };
            return self.refuse(
                Code::SharedUse
                    .at(given.loc, "`store_async` needs a window of another block")
                    .compare("", "a window of another block", "one of this block")
                    .why("within a block, store and then arrive: `tile.store(x)`, `bar.arrive()`")
                    .help(help),
            );
        }
        let tile = self.stored_tile(window, given.arg(0), given.loc)?;
        let num = self.num(window);
        if !COUNTED_BYTES.contains(&self.cells.settled(num).bytes()) {
            let wants = "types of 32 and 64 bits; for others use `bulk::send`";
            return self.refuse_dtype("`store_async`", wants, num, given.at(0));
        }
        self.does(CopyOp::StoreAsync, vec![window, tile, given.value(1)], given)
    }
}
