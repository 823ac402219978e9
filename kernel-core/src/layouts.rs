//! Layout inference: which thread holds which element of every tile, and where in shared memory every element is.
//!
//! A tile is a node of a graph. An edge says that two tiles require matching layouts: an elementwise operation requires one layout for
//! operands and result, an expansion requires the slice of its result's layout, a loop one layout for what it carries. Layouts enter
//! at anchors and spread along the edges; the first to reach a tile stays. The anchors, in order:
//!
//! 1. what the user pinned;
//! 2. tiles of tensor memory: as what reaches them pins them, if an instruction moves them so, else a row to a lane;
//! 3. accumulators of matrix products, then their operands, unless those come from global memory;
//! 4. loads from global memory: as their only use pins them, then those of most bytes first, so that neighbouring lanes read
//!    neighbouring addresses;
//! 5. stores to global memory, likewise;
//! 6. whatever is left, the largest tile first, by rows.
//!
//! Where layouts meet that do not match, a conversion is inserted before the operation that requires another one, outside of
//! loops that do not change the tile. Two kinds of tiles never need one and never spread a layout, because they are recomputed in
//! every layout that is asked for: those computed from constants, ranges and scalars alone (indices, masks, zeros), and what is
//! read from shared memory.
//!
//! # Why do loads and stores refuse some layouts?
//! A layout that spreads to a large load or store may make each row of lanes touch less than the 32 bytes that a memory
//! transaction moves: an accumulator of `f16`, say, puts 16 bytes of a row into four lanes. Then it is cheaper to access memory
//! along its rows and to pass the tile through shared memory.
//!
//! # Which registers does an operand have that is smaller than the result?
//! `expand` and `broadcast` require the layout of their result with the axis removed or collapsed, without registers that would
//! repeat others. An element of the result is therefore always in the same thread's operand.
//!
//! No register of a layout repeats another, but for fragments of matrix products of tiles smaller than one instruction, what
//! the user pinned larger than the tile, and what follows from these.

use kernel_layout::{Dim, Form, Layout, LayoutError};
use la_arena::ArenaMap;

use crate::ir::{Dtype, Kernel, Layouts, Shared};
use crate::loc::Loc;

mod asserted;
mod blocked;
mod graph;
mod known;
mod memory;
mod needed;
mod products;
mod rewrite;
mod solve;
pub(crate) mod tensor_memory;
#[cfg(test)]
pub(crate) mod tests;
mod verify;

pub(crate) use coalesce::copied;
pub use dot::{Product, TensorCore, mma_warps, tensor_core};
pub use known::{Access, Known, analyze};
pub(crate) use known::{Axis, Subject, log2_fact, stride};
pub(crate) use memory::views::{contiguous_part, in_tile, over_positions, positions};
use memory::{boxes, coalesce, run_axis, shared};
pub use memory::{bulk, gather, tma};
pub(crate) use needed::needed;
pub(crate) use products::tcgen05;
pub use products::wgmma;
use products::{accumulators, dot};
pub(crate) use shared::pinned as pinned_shared;
pub(crate) use shared::{LEAST_COPY_BYTES, TILE_BYTES, boxed, tile_bytes, tiles};
pub(crate) use solve::{of_elements, pinned};
pub(crate) use tensor_memory::tensor_copy;
pub use verify::verify;

/// Registers that one tile may take in each thread: four times those that there are. Parts of such a tile live in local
/// memory; beyond it, most of it does, and `ptxas` takes minutes to say where.
pub(crate) const MAX_REGISTERS: u64 = 1024;

/// The layouts of a kernel.
#[derive(Clone, Debug)]
pub struct Inferred {
    /// The layout of every tile value: inputs `Register`, `Lane` and `Warp`, in this order.
    pub layouts: Layouts,
    /// The layout of every shared allocation: input `Offset`, in elements.
    ///
    /// It is that of one tile: of the last two axes, or of the last one if windows of rank 1 are accessed. Leading axes
    /// repeat it, row-major.
    pub shared: ArenaMap<Shared, Layout>,
    /// Gathers and scatters that pinned layouts leave to some of the warps.
    pub idle: Vec<gather::Idle>,
}

/// Where a layout says that elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// In the registers of a block's threads.
    Registers,
    /// In shared memory.
    Shared,
    /// In tensor memory.
    Tensor,
}

impl Memory {
    /// What a layout is one of.
    pub(crate) fn of(layout: &Layout) -> Memory {
        if layout.has_in(Dim::Offset) {
            Memory::Shared
        } else if layout.has_in(Dim::Row) || layout.has_in(Dim::Col) {
            Memory::Tensor
        } else {
            Memory::Registers
        }
    }
}

/// What a layout is given to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its memory.
    pub memory: Memory,
    /// Its extents.
    pub shape: Vec<u32>,
    /// The size of an element.
    pub element_bytes: u32,
    /// The kernel's warps.
    pub warps: u32,
}

impl Place {
    /// The layout that a form says for a place in memory; `at` is where it was pinned.
    ///
    /// # Errors
    /// If the form fits other extents, or is one of another memory.
    fn layout(self, form: &Form, at: Loc) -> Result<Layout, Box<LayoutProblem>> {
        let form = form.clone();
        let whole = tensor_memory::filled(&form).map(Form::Tile);
        let layout = match whole.as_ref().unwrap_or(&form).to_layout(&self.shape) {
            Ok(layout) => layout,
            Err(error) => {
                return Err(Box::new(LayoutProblem::Form { at, form, place: self, error }));
            }
        };
        let actual = Memory::of(&layout);
        if actual != self.memory {
            let place = self;
            return Err(Box::new(LayoutProblem::OtherMemory { at, form, actual, place }));
        }
        Ok(layout)
    }
}

/// An allocation of shared memory as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Where.
    pub at: Loc,
    /// Of which elements.
    pub dtype: Dtype,
    /// The extents.
    pub shape: Vec<u32>,
}

/// A layout of shared memory, and how it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLayout {
    /// The layout.
    pub layout: Layout,
    /// What the user wrote; none if inference chose.
    pub form: Option<Form>,
}

impl SharedLayout {
    /// That of an allocation.
    fn of(kernel: &Kernel, root: Shared, layout: &Layout) -> Box<SharedLayout> {
        let form = kernel.shared[root].pinned.clone();
        Box::new(SharedLayout { layout: layout.clone(), form })
    }
}

/// The two ends of a copy to tensor memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyEnds {
    /// The extents of the tile.
    pub shape: [u32; 2],
    /// The bits of an element.
    pub element_bits: u32,
    /// The layout of shared memory.
    pub shared: Box<SharedLayout>,
    /// Where it was pinned, if it was.
    pub shared_at: Option<Loc>,
    /// Where that memory was allocated.
    pub shared_made_at: Loc,
    /// A layout that the allocation of shared memory can be pinned to and that is copied.
    pub nearest: Option<Form>,
    /// The layout of tensor memory.
    pub memory: Form,
    /// Where that was allocated.
    pub memory_at: Loc,
}

/// Where the layout of an allocation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was inferred.
    Inferred,
    /// It was pinned there.
    Pinned(Loc),
    /// A tensor map, declared there, says which swizzle its tiles have.
    Declared(Loc),
}

/// Why a kernel has no layouts. Facts; the diagnostic has the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutProblem {
    /// No instruction copies between the layouts of shared and of tensor memory.
    TensorCopy {
        /// The copy.
        at: Loc,
        /// What it joins.
        ends: Box<CopyEnds>,
        /// Why.
        refusal: tensor_copy::TensorCopyRefusal,
    },
    /// A pinned layout cannot be built for the tile.
    Form {
        /// Where it was pinned.
        at: Loc,
        /// The layout as written.
        form: Form,
        /// What it was given to.
        place: Place,
        /// Why.
        error: LayoutError,
    },
    /// A layout of one memory was given to what is in another.
    OtherMemory {
        /// Where it was pinned.
        at: Loc,
        /// The layout as written.
        form: Form,
        /// What the layout is one of.
        actual: Memory,
        /// What it was given to.
        place: Place,
    },
    /// A pinned layout distributes a tile over another number of lanes than a warp has.
    Lanes {
        /// Where it was pinned.
        at: Loc,
        /// The layout as written.
        form: Form,
        /// Its lanes.
        actual: u32,
        /// The lanes of a warp.
        required: u32,
        /// What it was given to.
        place: Place,
    },
    /// A pinned layout distributes a tile over another number of warps than the kernel has.
    Warps {
        /// Where it was pinned.
        at: Loc,
        /// The layout as written.
        form: Form,
        /// Its warps.
        actual: u32,
        /// The kernel's warps.
        required: u32,
        /// What it was given to.
        place: Place,
    },
    /// A pinned layout gives each thread more than registers can hold.
    Registers {
        /// Where it was pinned.
        at: Loc,
        /// The layout as written.
        form: Form,
        /// What it was given to.
        place: Place,
        /// The registers of a thread.
        actual: u64,
    },
    /// A pinned layout distributes a tile over the blocks of a cluster.
    Cluster {
        /// Where it was pinned.
        at: Loc,
        /// The layout as written.
        form: Form,
        /// Its blocks.
        actual: u32,
    },
    /// A pinned layout takes apart the bytes of the elements of a view.
    Apart {
        /// Where the layout was pinned.
        at: Loc,
        /// The layout as written.
        form: Form,
        /// The view.
        view_at: Loc,
        /// The bytes that have to be one after the other.
        bytes: u32,
    },
    /// The user asserts a layout that a tile does not have.
    Asserted {
        /// The name of the method that asserts.
        at: Loc,
        /// Where the tile's layout was chosen; none for a tile that is recomputed in every layout that its uses ask for.
        chosen_at: Option<Loc>,
        /// The tile's layout.
        actual: Layout,
        /// The asserted layout.
        required: Layout,
        /// The same as written.
        form: Form,
    },
    /// A TMA copy between places that no map joins.
    Box {
        /// The copy.
        at: Loc,
        /// Where the layout of the shared side was chosen.
        chosen_at: Option<Loc>,
        /// The extents of the shared side.
        shape: Vec<u32>,
        /// Why.
        refusal: tma::TmaRefusal,
    },
    /// The rows of a gather or a scatter were pinned to a layout that its instructions cannot take them from.
    Rows {
        /// The operation.
        at: Loc,
        /// Where the layout was pinned.
        pinned_at: Loc,
        /// The pinned layout.
        actual: Layout,
        /// The warps that run it.
        warps: u32,
    },
    /// A bulk copy that shared memory does not allow.
    Bulk {
        /// The copy.
        at: Loc,
        /// Where the layout of the shared side was chosen.
        chosen_at: Option<Loc>,
        /// Why.
        refusal: bulk::BulkRefusal,
    },
    /// An operand of a product that no descriptor describes.
    Descriptor {
        /// The operand.
        at: Loc,
        /// Which one.
        side: wgmma::Side,
        /// What reads it.
        generation: wgmma::Generation,
        /// Where its layout comes from.
        origin: Origin,
        /// What it is in.
        allocation: Allocation,
        /// Why.
        refusal: Box<kernel_layout::wgmma::Refusal>,
    },
    /// An operand of a matrix product was pinned to a layout that the product cannot use.
    DotOperand {
        /// The operand.
        at: Loc,
        /// 0 for the left operand, 1 for the right one.
        index: u32,
        /// Where the layout was pinned.
        pinned_at: Loc,
        /// The pinned layout.
        actual: Layout,
        /// What the accumulator's layout asks for.
        required: Layout,
        /// The same as a user would write it.
        form: Form,
    },
    /// The accumulator of a matrix product was pinned to a layout that the product cannot use.
    DotAccumulator {
        /// The accumulator.
        at: Loc,
        /// Where the layout was pinned.
        pinned_at: Loc,
        /// The pinned layout.
        actual: Layout,
        /// What the product would choose.
        required: Layout,
        /// The same as a user would write it.
        form: Form,
    },
}

/// Chooses the layout of every tile and of every shared allocation, and inserts the conversions between them.
///
/// Assertions of layouts are compared with what is chosen without them, and are gone afterwards.
///
/// Afterwards the operands of every elementwise operation have the layout of its result, operands of matrix products that of
/// the accumulator's operands, and everything that a loop or a branch passes that of what receives it. Statements may have
/// been duplicated, and [`TileOp::ToLayout`](crate::ir::TileOp::ToLayout) inserted, with the layout as [`Form::Linear`].
///
/// The kernel satisfies [`verify`](crate::ir::verify), before and after. On an error it is unchanged.
///
/// # Errors
/// With all layouts that the user pinned and that are not possible.
pub fn infer(kernel: &mut Kernel) -> Result<Inferred, Vec<LayoutProblem>> {
    infer_for(kernel, Accesses::Contiguous)
}

/// What global memory is accessed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accesses {
    /// Threads exchange elements first where that makes an access contiguous.
    Contiguous,
    /// A tile is accessed in the layout that it has anyway: shared memory has no room for an exchange.
    AsHeld,
}

/// [`infer`], with one way or the other to access global memory.
pub(crate) fn infer_for(
    kernel: &mut Kernel,
    accesses: Accesses,
) -> Result<Inferred, Vec<LayoutProblem>> {
    if !asserted::any(&kernel.body) {
        return infer_and_compare(kernel, &[], accesses);
    }
    let mut bare = kernel.clone();
    let assertions = asserted::take(&mut bare);
    let inferred = infer_and_compare(&mut bare, &assertions, accesses)?;
    *kernel = bare;
    Ok(inferred)
}

/// [`infer`] for a kernel from which the assertions were taken.
fn infer_and_compare(
    kernel: &mut Kernel,
    assertions: &[asserted::Assertion],
    accesses: Accesses,
) -> Result<Inferred, Vec<LayoutProblem>> {
    let known = analyze(kernel);
    let mut graph = graph::build(kernel, &known);
    let mut problems = solve::solve(kernel, &known, &mut graph, accesses);
    problems.extend(asserted::impossible(kernel, assertions));
    problems.extend(shared::check_pinned(kernel));
    if !problems.is_empty() {
        return Err(problems);
    }
    let idle = std::mem::take(&mut graph.idle);
    let places = asserted::places(assertions, &graph);
    let (layouts, versions) = rewrite::rewrite(kernel, graph);
    let failed = asserted::failed(kernel, assertions, &places, &layouts, &versions);
    if !failed.is_empty() {
        return Err(failed);
    }
    let shared = shared::choose(kernel, &layouts);
    let refused = boxes::check(kernel, &shared);
    if !refused.is_empty() {
        return Err(refused);
    }
    Ok(Inferred { layouts, shared, idle })
}
