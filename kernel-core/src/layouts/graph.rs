//! The graph of tiles that require matching layouts.

use kernel_layout::{Dim, Form, Layout};
use la_arena::{Arena, ArenaMap, Idx};

use super::coalesce::Extent;
use super::gather::Idle;
use super::{Access, Known, accumulators};
use crate::ir::{
    CopyOp, Elem, Factors, Kernel, MemoryOp, Op, ProductOp, Region, Stmt, StmtKind, TensorMemoryOp,
    Terminator, TileOp, Type, Value,
};
use crate::loc::Loc;

/// A tile, or an operation without a result that accesses tiles.
pub(super) type Node = Idx<NodeData>;

#[derive(Debug)]
pub(super) struct NodeData {
    pub(super) shape: Vec<u32>,
    pub(super) element_bytes: u32,
    /// The warps that hold it.
    pub(super) warps: u32,
    /// Where a layout spreads from here, and what becomes of it.
    pub(super) edges: Vec<(Node, Transfer)>,
    pub(super) role: Role,
    pub(super) layout: Option<Layout>,
    /// The place in the program; then that of the node from which the layout spread.
    pub(super) at: Loc,
    /// The layout as it was written or chosen, if that is known: matrix products derive their operands from it.
    pub(super) form: Option<Form>,
    /// The matrix product whose accumulator this is, on its way from the result back to the product or to a wait.
    pub(super) sums_of: Option<Sums>,
}

/// The accumulator of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sums {
    /// An index into [`Graph::dots`].
    Dot(usize),
    /// Of a `wgmma` product: an index into [`Graph::warpgroup_products`].
    Warpgroup(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    /// Its elements come from global memory.
    Load(Access),
    /// Operand of a reduction, a scan or a sort of this axis.
    Reduced(u32),
    /// Result of a matrix product: an index into [`Graph::dots`].
    Dot(usize),
    /// Read from tensor memory: an index into [`Graph::tensor_memory`].
    TensorMemory(usize),
}

/// What becomes of a layout along an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    Same,
    /// The axis is removed.
    Slice(u32),
    /// An axis of extent 1 is inserted.
    Expand(u32),
    /// Axes collapse to extent 1.
    Collapse(Vec<u32>),
    Permute(Vec<u32>),
    Reshape(Vec<u32>),
    /// A last axis of extent 2 is added, along which each thread holds both elements in neighbouring registers.
    Join,
}

impl Transfer {
    pub(super) fn apply(&self, layout: &Layout) -> Layout {
        match self {
            Transfer::Same => layout.clone(),
            Transfer::Slice(axis) => layout.slice(*axis as usize),
            Transfer::Expand(axis) => layout.expand_axis(*axis as usize),
            Transfer::Collapse(axes) => {
                let collapse = |layout: Layout, axis: &u32| layout.collapse_axis(*axis as usize);
                axes.iter().fold(layout.clone(), collapse).remove_zero_bases(Dim::Register)
            }
            Transfer::Permute(order) => layout.permute_axes(order),
            Transfer::Reshape(shape) => layout.reshape(shape),
            Transfer::Join => joined(layout),
        }
    }
}

/// The layout of a tile of which each thread holds the pairs of what it holds in `layout`.
fn joined(layout: &Layout) -> Layout {
    let last = layout.outs().len();
    let wide = layout.expand_axis(last);
    let mut outs = wide.outs().to_vec();
    outs[last].1 = 2;
    let mut ins = wide.ins().to_vec();
    let mut pair = vec![0; last + 1];
    pair[last] = 1;
    for (dim, bases) in &mut ins {
        if *dim == Dim::Register {
            bases.insert(0, pair.clone());
        }
    }
    Layout::new(ins, outs).expect("a layout stays one with an axis more")
}

/// A tile that is recomputed in every layout that is asked for, and how.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    pub(super) op: Op,
    pub(super) args: Vec<Value>,
}

/// A layout pinned by the user.
#[derive(Debug)]
pub(super) struct Pin {
    pub(super) node: Node,
    pub(super) form: Form,
    pub(super) at: Loc,
    pub(super) operand: Value,
}

/// A gather or a scatter.
#[derive(Debug)]
pub(super) struct ByRows {
    /// That of the operation.
    pub(super) node: Node,
    /// The numbers of the rows.
    pub(super) rows: Value,
}

/// A tile that is read from tensor memory, or written to it.
#[derive(Debug)]
pub(super) struct Moved {
    /// That of the tile that is read, or of the operation that writes.
    pub(super) node: Node,
    /// The window of tensor memory.
    pub(super) window: Value,
    /// What is written; none of a tile that is read.
    pub(super) written: Option<Value>,
}

/// A matrix product.
#[derive(Debug)]
pub(super) struct Dot {
    pub(super) node: Node,
    /// Left operand, right operand, accumulator.
    pub(super) args: [Value; 3],
    /// The scales of both operands of a block-scaled product, or the metadata of a sparse one.
    pub(super) more: Vec<Value>,
    /// The warps that multiply.
    pub(super) warps: u32,
    pub(super) factors: Factors,
    pub(super) at: Loc,
    /// The layout of the accumulator, once chosen.
    pub(super) form: Option<Form>,
}

/// A `wgmma` product.
#[derive(Clone, Copy, Debug)]
pub(super) struct WarpgroupProduct {
    pub(super) node: Node,
    /// Left operand, right operand, accumulator.
    pub(super) args: [Value; 3],
    /// Of a sparse one.
    pub(super) metadata: Option<Value>,
}

/// An operation that writes tiles somewhere, or tests them.
#[derive(Debug)]
pub(super) struct Effect {
    pub(super) node: Node,
    /// The tiles among its operands, the one that is written first.
    pub(super) tiles: Vec<Value>,
    /// How it accesses global memory, if it does.
    pub(super) access: Option<Access>,
}

#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Arena<NodeData>,
    /// The node of every tile that has one layout.
    pub(super) of: ArenaMap<Value, Node>,
    /// Every other tile.
    pub(super) fluid: ArenaMap<Value, Recipe>,
    /// The operation that makes a tile which has one layout; none for what regions pass.
    pub(super) makers: ArenaMap<Value, Recipe>,
    /// What regions pass to a value: those that a branch or a loop gives, and those that a loop carries.
    pub(super) passed: ArenaMap<Value, Vec<Value>>,
    /// The operands of every reduction, under its first result.
    pub(super) reductions: ArenaMap<Value, Node>,
    pub(super) pins: Vec<Pin>,
    pub(super) dots: Vec<Dot>,
    pub(super) warpgroup_products: Vec<WarpgroupProduct>,
    /// What is read from and written to tensor memory.
    pub(super) tensor_memory: Vec<Moved>,
    pub(super) by_rows: Vec<ByRows>,
    /// Those of them that pinned layouts leave to some of the warps.
    pub(super) idle: Vec<Idle>,
    pub(super) loads: Vec<Node>,
    /// In the order of the statements.
    pub(super) effects: Vec<Effect>,
    /// Edges that are followed only if no other brings a layout.
    pub(super) weak: Vec<(Node, Node, Transfer)>,
    /// How often a value is used.
    pub(super) uses: ArenaMap<Value, u32>,
}

impl Graph {
    /// The layout of a tile, if it has one layout and that is chosen.
    pub(super) fn layout(&self, value: Value) -> Option<&Layout> {
        self.of.get(value).and_then(|&node| self.nodes[node].layout.as_ref())
    }

    pub(super) fn extent(&self, node: Node) -> Extent<'_> {
        let data = &self.nodes[node];
        Extent { shape: &data.shape, element_bytes: data.element_bytes, warps: data.warps }
    }
}

/// Whether a statement without a result accesses tiles: every such statement is an [`Effect`].
pub(super) fn is_effect(
    args: &[Value],
    result: Option<Value>,
    is_tile: impl Fn(Value) -> bool,
) -> bool {
    result.is_none() && args.iter().any(|&arg| is_tile(arg))
}

/// What the layout of an operation's result becomes for its tile operands; none for operations that decide otherwise.
pub(super) fn to_operands(
    op: &Op,
    operand_shape: &[u32],
    result_shape: &[u32],
) -> Option<Transfer> {
    match op {
        Op::Elementwise(_)
        | Op::Memory(
            MemoryOp::LoadPtr { .. }
            | MemoryOp::Atomic(..)
            | MemoryOp::AtomicTensor { .. }
            | MemoryOp::GatherShared
            | MemoryOp::AtomicShared(_),
        ) => Some(Transfer::Same),
        Op::Tile(op) => match op {
            TileOp::Expand(axis) => Some(Transfer::Slice(*axis)),
            TileOp::Broadcast => {
                let extents = operand_shape.iter().zip(result_shape);
                let axes =
                    (0..).zip(extents).filter(|(_, (from, to))| from != to).map(|(axis, _)| axis);
                Some(Transfer::Collapse(axes.collect()))
            }
            TileOp::Reshape => Some(Transfer::Reshape(operand_shape.to_vec())),
            TileOp::Permute(order) => Some(Transfer::Permute(inverse(order))),
            TileOp::Flip(_) => Some(Transfer::Same),
            // What keeps fewer elements than there are leaves them where they are cheapest.
            TileOp::Sort(_) => (operand_shape == result_shape).then_some(Transfer::Same),
            TileOp::Join => {
                Some(Transfer::Slice(u32::try_from(operand_shape.len()).expect("at most 5")))
            }
            TileOp::Split(_) => Some(Transfer::Join),
            TileOp::Splat
            | TileOp::Gather(_)
            | TileOp::Histogram
            | TileOp::ToLayout(_)
            | TileOp::AssertLayout(_) => None,
        },
        Op::Source(_)
        | Op::Memory(_)
        | Op::Window(_)
        | Op::Copy(_)
        | Op::Sync(_)
        | Op::Product(_)
        | Op::TensorMemory(_)
        | Op::Assert(_)
        | Op::Report(_) => None,
    }
}

/// What the layout of a tile operand becomes for the result, the reverse of [`to_operands`]; the flag tells edges that only serve
/// where nothing else does.
fn to_result(op: &Op, transfer: &Transfer, result_shape: &[u32]) -> Option<(Transfer, bool)> {
    match transfer {
        Transfer::Same => Some((Transfer::Same, false)),
        Transfer::Slice(_) if *op == Op::Tile(TileOp::Join) => Some((Transfer::Join, false)),
        Transfer::Join => {
            Some((Transfer::Slice(u32::try_from(result_shape.len()).expect("at most 5")), false))
        }
        Transfer::Slice(axis) => Some((Transfer::Expand(*axis), true)),
        // From what is broadcast the rest of the result does not follow.
        Transfer::Collapse(axes) => axes.is_empty().then_some((Transfer::Same, false)),
        Transfer::Reshape(_) => Some((Transfer::Reshape(result_shape.to_vec()), false)),
        Transfer::Permute(back) => Some((Transfer::Permute(inverse(back)), false)),
        Transfer::Expand(_) => None,
    }
}

/// The order that undoes an order of axes.
fn inverse(order: &[u32]) -> Vec<u32> {
    let mut back = vec![0; order.len()];
    for (axis, &from) in (0..).zip(order) {
        back[from as usize] = axis;
    }
    back
}

/// Builds the graph of a kernel.
pub(super) fn build(kernel: &Kernel, known: &Known) -> Graph {
    let mut builder = Builder {
        kernel,
        known,
        per_thread: kernel.per_thread(),
        used: kernel.body.used(),
        graph: Graph::default(),
        loops: Vec::new(),
        branches: Vec::new(),
        warps: kernel.warps,
    };
    builder.region(&kernel.body);
    accumulators::mark(&mut builder.graph);
    builder.graph
}

struct Builder<'a> {
    kernel: &'a Kernel,
    known: &'a Known,
    /// What may differ from thread to thread.
    per_thread: ArenaMap<Value, Loc>,
    /// How often each value is read.
    used: ArenaMap<Value, u32>,
    graph: Graph,
    /// What the enclosing loops carry, and what they result in.
    loops: Vec<(&'a [Value], &'a [Value])>,
    /// Results of the enclosing branches.
    branches: Vec<&'a [Value]>,
    /// The warps that run the current region.
    warps: u32,
}

impl<'a> Builder<'a> {
    fn is_tile(&self, value: Value) -> bool {
        matches!(self.kernel.ty(value), Type::Tile(..))
    }

    fn add_node(&mut self, ty: &Type, role: Role, at: Loc) -> Node {
        let element_bytes = match ty.elem() {
            Some(Elem::Number(dtype)) => dtype.bytes(),
            Some(Elem::Ptr(_)) | None => 8,
        };
        self.graph.nodes.alloc(NodeData {
            shape: ty.shape().to_vec(),
            element_bytes,
            warps: self.warps,
            edges: Vec::new(),
            role,
            layout: None,
            at,
            form: None,
            sums_of: None,
        })
    }

    /// Gives a tile a layout of its own.
    fn define(&mut self, value: Value, role: Role) -> Option<Node> {
        if !self.is_tile(value) {
            return None;
        }
        let node = self.add_node(self.kernel.ty(value), role, self.kernel.values[value].loc);
        self.graph.of.insert(value, node);
        Some(node)
    }

    fn define_all(&mut self, values: &[Value]) {
        for &value in values {
            self.define(value, Role::Plain);
        }
    }

    fn edge(&mut self, from: Node, to: Node, transfer: Transfer) {
        self.graph.nodes[from].edges.push((to, transfer));
    }

    fn tie_nodes(&mut self, a: Node, b: Node) {
        self.edge(a, b, Transfer::Same);
        self.edge(b, a, Transfer::Same);
    }

    /// Both require one layout, as far as they have one.
    fn tie(&mut self, a: Value, b: Value) {
        if let (Some(&a), Some(&b)) = (self.graph.of.get(a), self.graph.of.get(b)) {
            self.tie_nodes(a, b);
        }
    }

    /// What a region passes requires one layout with what receives it.
    fn pass(&mut self, values: &[Value], receivers: &[Value]) {
        for (&value, &receiver) in values.iter().zip(receivers) {
            self.tie(value, receiver);
            self.graph.passed.entry(receiver).or_default().push(value);
        }
    }

    fn count(&mut self, values: &[Value]) {
        for &value in values {
            *self.graph.uses.entry(value).or_insert(0) += 1;
        }
    }

    fn region(&mut self, region: &'a Region) {
        for stmt in &region.stmts {
            self.stmt(stmt);
        }
        match &region.end {
            Terminator::Return => {}
            Terminator::Yield(values) => {
                self.count(values);
                let results = self.branches.last().copied().unwrap_or(&[]);
                self.pass(values, results);
            }
            Terminator::Continue(depth, values) => {
                self.count(values);
                let (carried, _) = self.loops[self.loops.len() - 1 - *depth as usize];
                self.pass(values, carried);
            }
            Terminator::Break(depth, values) => {
                self.count(values);
                let (_, results) = self.loops[self.loops.len() - 1 - *depth as usize];
                self.pass(values, results);
            }
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Op { op, args, result } => {
                self.count(args);
                match result {
                    Some(result) => self.op(op, args, *result, stmt.loc),
                    None => self.effect(op, args, stmt.loc),
                }
            }
            StmtKind::If { then, otherwise, results, .. } => {
                self.define_all(results);
                self.branches.push(results);
                self.region(then);
                self.region(otherwise);
                self.branches.pop();
            }
            StmtKind::Specialize { default, partitions, results } => {
                self.define_all(results);
                self.branches.push(results);
                self.region(default);
                self.branches.pop();
                for partition in partitions {
                    let outside = std::mem::replace(&mut self.warps, partition.warps);
                    self.branches.push(&[]);
                    self.region(&partition.body);
                    self.branches.pop();
                    self.warps = outside;
                }
            }
            StmtKind::For { inits, body, results, .. } => {
                self.count(inits);
                let carried = &body.args[1..];
                self.define_all(carried);
                // The end of the last iteration passes nothing: what is carried is the result, in the same registers.
                for (&carried, &result) in carried.iter().zip(results) {
                    if let Some(&node) = self.graph.of.get(carried) {
                        self.graph.of.insert(result, node);
                    }
                    self.graph.passed.entry(result).or_default().push(carried);
                }
                self.pass(inits, carried);
                self.loops.push((carried, results));
                self.region(body);
                self.loops.pop();
            }
            StmtKind::Loop { inits, body, results } => {
                self.count(inits);
                self.define_all(&body.args);
                self.define_all(results);
                self.pass(inits, &body.args);
                self.loops.push((&body.args, results));
                self.region(body);
                self.loops.pop();
            }
            StmtKind::Ptx { args, results, .. } => {
                self.count(args);
                self.elementwise(args, results);
            }
            StmtKind::Scan { args, axis, results, .. } => {
                self.count(args);
                self.scan(args, *axis, results, stmt.loc);
            }
            StmtKind::Reduce { args, axis, results, .. } => {
                self.count(args);
                let node = self.add_node(self.kernel.ty(args[0]), Role::Reduced(*axis), stmt.loc);
                self.graph.reductions.insert(results[0], node);
                for arg in args {
                    if let Some(&arg) = self.graph.of.get(*arg) {
                        self.tie_nodes(arg, node);
                    }
                }
                for &result in results {
                    if let Some(result) = self.define(result, Role::Plain) {
                        self.edge(node, result, Transfer::Slice(*axis));
                    }
                }
            }
        }
    }

    /// Written-out instructions have all tiles in one layout.
    fn elementwise(&mut self, args: &[Value], results: &[Value]) {
        let tiles: Vec<Value> = args.iter().copied().filter(|&arg| self.is_tile(arg)).collect();
        let Some(&first) = results.first() else {
            if let Some(&tile) = tiles.first() {
                let at = self.kernel.values[tile].loc;
                let node = self.add_node(self.kernel.ty(tile), Role::Plain, at);
                self.graph.effects.push(Effect { node, tiles, access: None });
            }
            return;
        };
        let Some(node) = self.define(first, Role::Plain) else { return };
        for &result in results {
            self.graph.of.insert(result, node);
        }
        for tile in tiles {
            if let Some(&tile) = self.graph.of.get(tile) {
                self.tie_nodes(tile, node);
            }
        }
    }

    /// A scan leaves the layout of its operands, all of them in one.
    fn scan(&mut self, args: &[Value], axis: u32, results: &[Value], at: Loc) {
        let node = self.along(args, axis, at);
        for &result in results {
            self.graph.of.insert(result, node);
        }
    }

    /// What threads exchange along an axis of tiles in one layout.
    fn along(&mut self, args: &[Value], axis: u32, at: Loc) -> Node {
        let node = self.add_node(self.kernel.ty(args[0]), Role::Reduced(axis), at);
        for &arg in args {
            if let Some(&arg) = self.graph.of.get(arg) {
                self.tie_nodes(arg, node);
            }
        }
        node
    }

    /// Whether a tile follows from constants, ranges and scalars alone.
    fn is_cheap(&self, value: Value) -> bool {
        self.graph
            .fluid
            .get(value)
            .is_some_and(|recipe| recipe.op != Op::Memory(MemoryOp::LoadShared))
    }

    fn op(&mut self, op: &'a Op, args: &'a [Value], result: Value, at: Loc) {
        if !self.is_tile(result) {
            // A scalar: tiles do not become scalars other than by reductions, which are statements of their own.
            return;
        }
        let recipe = Recipe { op: op.clone(), args: args.to_vec() };
        let tiles: Vec<Value> = args.iter().copied().filter(|&arg| self.is_tile(arg)).collect();
        let fluid = match op {
            Op::Source(_) | Op::Tile(TileOp::Splat) | Op::Memory(MemoryOp::LoadShared) => true,
            Op::Elementwise(_)
            | Op::Tile(
                TileOp::Broadcast
                | TileOp::Expand(_)
                | TileOp::Reshape
                | TileOp::Permute(_)
                | TileOp::Join
                | TileOp::Split(_),
            ) => tiles.iter().all(|&tile| self.is_cheap(tile)),
            // Elements move between threads.
            Op::Tile(
                TileOp::ToLayout(_)
                | TileOp::AssertLayout(_)
                | TileOp::Flip(_)
                | TileOp::Sort(_)
                | TileOp::Gather(_)
                | TileOp::Histogram,
            )
            | Op::Memory(_)
            | Op::Window(_)
            | Op::Copy(_)
            | Op::Sync(_)
            | Op::Product(_)
            | Op::TensorMemory(_)
            | Op::Assert(_)
            | Op::Report(_) => false,
        };
        // A tile of what each thread has for itself would have other elements in another layout.
        if fluid && !self.per_thread.contains_idx(result) {
            self.graph.fluid.insert(result, recipe);
            return;
        }
        let access = if self.used.contains_idx(result) {
            self.known.access(self.kernel, op, args)
        } else {
            self.known.unread_access(self.kernel, op, args)
        };
        let role = match access {
            Some(access) => Role::Load(access),
            None => Role::Plain,
        };
        let Some(node) = self.define(result, role) else { return };
        self.graph.makers.insert(result, recipe);
        if role != Role::Plain {
            self.graph.loads.push(node);
        }
        if let Op::Tile(TileOp::ToLayout(form)) = op {
            self.graph.pins.push(Pin { node, form: form.clone(), at, operand: args[0] });
            // What each thread has for itself is made in the layout that is asked for first, and converted to others.
            if self.per_thread.contains_idx(args[0])
                && let Some(&operand) = self.graph.of.get(args[0])
            {
                self.edge(node, operand, Transfer::Same);
            }
        } else if let Op::Product(ProductOp::Dot(factors)) = op {
            self.graph.nodes[node].role = Role::Dot(self.graph.dots.len());
            self.graph.dots.push(Dot {
                node,
                args: [args[0], args[1], args[2]],
                more: args[3..].to_vec(),
                warps: self.warps,
                factors: *factors,
                at,
                form: None,
            });
            self.tie(args[2], result);
        } else if let Op::Product(ProductOp::Wgmma { .. }) = op {
            self.graph.warpgroup_products.push(WarpgroupProduct {
                node,
                args: [args[0], args[1], args[2]],
                metadata: args.get(3).copied(),
            });
            self.tie(args[2], result);
        } else if *op == Op::TensorMemory(TensorMemoryOp::Load) {
            self.graph.nodes[node].role = Role::TensorMemory(self.graph.tensor_memory.len());
            self.graph.tensor_memory.push(Moved { node, window: args[0], written: None });
        } else if let Op::Product(ProductOp::WgmmaWait(_)) = op {
            self.tie(args[0], result);
        } else if let Op::Tile(TileOp::Gather(_)) = op {
            self.tie(args[1], result);
        } else {
            if let Op::Tile(TileOp::Sort(axis)) = op {
                self.along(&args[..1], *axis, at);
            }
            self.connect(op, &tiles, node);
        }
    }

    /// Connects the result of an operation with its tile operands.
    fn connect(&mut self, op: &Op, tiles: &[Value], node: Node) {
        let result_shape = self.graph.nodes[node].shape.clone();
        for &tile in tiles {
            let Some(&operand) = self.graph.of.get(tile) else { continue };
            let shape = self.graph.nodes[operand].shape.clone();
            let Some(transfer) = to_operands(op, &shape, &result_shape) else { continue };
            if matches!(&transfer, Transfer::Collapse(axes) if !axes.is_empty())
                && self.per_thread.contains_idx(tile)
            {
                // The threads that hold the repeated elements would each have their own.
                continue;
            }
            match to_result(op, &transfer, &result_shape) {
                Some((forward, false)) => self.edge(operand, node, forward),
                Some((forward, true)) => self.graph.weak.push((operand, node, forward)),
                None => {}
            }
            self.edge(node, operand, transfer);
        }
    }

    fn effect(&mut self, op: &Op, args: &[Value], at: Loc) {
        if !is_effect(args, None, |value| self.is_tile(value)) {
            return;
        }
        let mut tiles: Vec<Value> = args.iter().copied().filter(|&arg| self.is_tile(arg)).collect();
        let writes_through_pointers =
            matches!(op, Op::Memory(MemoryOp::StorePtr { .. } | MemoryOp::Atomic(..)));
        if writes_through_pointers {
            // Addresses come first; what is written decides before they do.
            tiles.swap(0, 1);
        } else if *op == Op::Memory(MemoryOp::ScatterShared) {
            // So do indices.
            tiles.rotate_right(1);
        }
        let node = self.add_node(self.kernel.ty(tiles[0]), Role::Plain, at);
        let access = self.known.access(self.kernel, op, args);
        let by_rows = matches!(op, Op::Copy(CopyOp::Tma(tma)) if tma.kind.by_rows());
        if by_rows {
            self.graph.by_rows.push(ByRows { node, rows: tiles[0] });
        }
        if access.is_some() || by_rows {
            for tile in &tiles {
                if let Some(&tile) = self.graph.of.get(*tile) {
                    self.edge(node, tile, Transfer::Same);
                }
            }
        }
        if *op == Op::TensorMemory(TensorMemoryOp::Store) {
            let written = Some(tiles[0]);
            self.graph.tensor_memory.push(Moved { node, window: args[0], written });
            if let Some(&tile) = self.graph.of.get(tiles[0]) {
                self.edge(node, tile, Transfer::Same);
            }
        }
        self.graph.effects.push(Effect { node, tiles, access });
    }
}
