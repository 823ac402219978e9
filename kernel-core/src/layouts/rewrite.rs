//! Rewrites the kernel so that every operand has the layout that its operation requires: fluid tiles are computed in every layout that
//! is required, all others are converted where they are used in another layout than their own.

use kernel_layout::{Form, Layout};
use la_arena::{Arena, ArenaMap};

use super::coalesce::Extent;
use super::dot;
use super::graph::{Graph, Transfer, is_effect, to_operands};
use super::wgmma;
use crate::ir::{
    Crews, Elem, Kernel, Layouts, Op, ProductOp, Region, Stmt, StmtKind, Terminator, TileOp, Type,
    Value, ValueData,
};
use crate::loc::Loc;

/// The layouts that are asked of each tile that is recomputed in every one, and the tile in each; the first is the tile itself.
pub(super) type Versions = ArenaMap<Value, Vec<(Layout, Value)>>;

/// Rewrites the body of a kernel according to a graph in which every node has a layout.
pub(super) fn rewrite(kernel: &mut Kernel, graph: Graph) -> (Layouts, Versions) {
    let operands = operand_layouts(kernel, &graph);
    let products = graph.warpgroup_products.iter();
    let groups = products
        .map(|product| (product.node, wgmma::taken(kernel, product.args, product.metadata)))
        .collect();
    let crews = kernel.crews();
    let body = std::mem::take(&mut kernel.body);
    let mut rewriter = Rewriter {
        crews,
        values: &mut kernel.values,
        graph,
        operands,
        groups,
        layouts: Layouts::default(),
        versions: ArenaMap::default(),
        effects: 0,
        loops: Vec::new(),
        branches: Vec::new(),
        frames: Vec::new(),
        homes: ArenaMap::default(),
    };
    rewriter.ask_region(&body);
    rewriter.ask_for_the_unused();
    rewriter.effects = 0;
    let body = rewriter.region(body, FrameKind::Once);
    let (layouts, versions) = (rewriter.layouts, rewriter.versions);
    kernel.body = body;
    (layouts, versions)
}

/// The layouts of the operands of every matrix product, and of their scales, under its result's node.
fn operand_layouts(kernel: &Kernel, graph: &Graph) -> ArenaMap<super::graph::Node, Vec<Layout>> {
    let layouts = |dot: &super::graph::Dot| {
        let form = dot.form.as_ref().expect("solve gives every product a form");
        dot::taken(kernel, dot, form).into_iter().map(|(_, layout)| layout).collect()
    };
    graph.dots.iter().map(|dot| (dot.node, layouts(dot))).collect()
}

/// How often a region runs for each time that it is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FrameKind {
    /// At most once: a branch, or the kernel.
    Once,
    /// Several times: a loop.
    Loop,
}

/// A region that is being rewritten.
struct Frame {
    kind: FrameKind,
    /// Its statements so far.
    out: Vec<Stmt>,
    /// Tiles that were converted in this region, the layout, the result.
    converted: Vec<(Value, Layout, Value)>,
}

struct Rewriter<'a> {
    crews: Crews,
    values: &'a mut Arena<ValueData>,
    graph: Graph,
    operands: ArenaMap<super::graph::Node, Vec<Layout>>,
    /// The layouts of left operands in registers and of metadata of `wgmma` products, under the node of the result.
    groups: ArenaMap<super::graph::Node, [Option<Layout>; 2]>,
    layouts: Layouts,
    versions: Versions,
    /// How many effects were passed: an index into the graph's.
    effects: usize,
    /// What the enclosing loops carry, and what they result in.
    loops: Vec<(Vec<Value>, Vec<Value>)>,
    /// Results of the enclosing branches.
    branches: Vec<Vec<Value>>,
    frames: Vec<Frame>,
    /// The depth of the region that defines a value.
    homes: ArenaMap<Value, usize>,
}

impl Rewriter<'_> {
    fn is_tile(&self, value: Value) -> bool {
        matches!(self.values[value].ty, Type::Tile(..))
    }

    /// The layout of a tile that has one.
    fn own(&self, value: Value) -> Option<Layout> {
        self.graph.layout(value).cloned()
    }

    fn by_rows(&self, value: Value) -> Layout {
        let ty = &self.values[value].ty;
        let element_bytes = match ty.elem() {
            Some(Elem::Number(dtype)) => dtype.bytes(),
            Some(Elem::Ptr(_)) | None => 8,
        };
        let warps = self.crews.warps(value);
        Extent { shape: ty.shape(), element_bytes, warps }.by_rows(None)
    }

    /// The layout in which a receiver requires what is passed to it.
    fn received(&self, receivers: &[Value]) -> Vec<Option<Layout>> {
        receivers.iter().map(|&receiver| self.own(receiver)).collect()
    }

    /// The layout in which an operation requires each operand; none if it does not matter, and for scalars.
    ///
    /// Operations are passed in the order of the program, because those without results are counted.
    fn wanted(&mut self, op: &Op, args: &[Value], result: Option<Value>) -> Vec<Option<Layout>> {
        let tiles: Vec<bool> = args.iter().map(|&arg| self.is_tile(arg)).collect();
        let Some(result) = result else {
            if !is_effect(args, None, |value| self.is_tile(value)) {
                return vec![None; args.len()];
            }
            let node = self.graph.effects[self.effects].node;
            self.effects += 1;
            let layout = self.graph.nodes[node].layout.clone();
            return tiles.into_iter().map(|tile| layout.clone().filter(|_| tile)).collect();
        };
        let Some(&node) = self.graph.of.get(result) else { return vec![None; args.len()] };
        let own = self.graph.nodes[node].layout.clone().expect("solve gives every node a layout");
        if let Op::Product(ProductOp::Dot(_)) = op {
            let mut layouts: Vec<_> = self.operands[node].iter().cloned().map(Some).collect();
            layouts.insert(2, Some(own));
            layouts
        } else if let Op::Product(ProductOp::Wgmma { .. }) = op {
            let [left, metadata] = self.groups[node].clone();
            let all = [left, None, Some(own), metadata];
            all.into_iter().take(args.len()).collect()
        } else if let Op::Product(ProductOp::WgmmaWait(_)) = op {
            vec![Some(own)]
        } else if let Op::Tile(TileOp::Gather(_)) = op {
            vec![None, Some(own)]
        } else if let Op::Tile(TileOp::ToLayout(_)) = op {
            vec![self.graph.fluid.contains_idx(args[0]).then_some(own)]
        } else {
            args.iter().map(|&arg| self.derived(op, arg, result, &own)).collect()
        }
    }

    /// The layout in which written-out instructions require each operand. Without results they are an effect, and counted as such.
    fn elementwise(&mut self, args: &[Value], results: &[Value]) -> Vec<Option<Layout>> {
        let layout = if let Some(&result) = results.first() {
            self.own(result)
        } else if args.iter().any(|&arg| self.is_tile(arg)) {
            let node = self.graph.effects[self.effects].node;
            self.effects += 1;
            self.graph.nodes[node].layout.clone()
        } else {
            None
        };
        args.iter().map(|&arg| layout.clone().filter(|_| self.is_tile(arg))).collect()
    }

    /// The layout that an operand of an operation must have for a result in `layout`.
    fn derived(&self, op: &Op, arg: Value, result: Value, layout: &Layout) -> Option<Layout> {
        let (from, to) = (self.values[arg].ty.shape(), self.values[result].ty.shape());
        let transfer = to_operands(op, from, to).filter(|_| self.is_tile(arg));
        transfer.map(|transfer: Transfer| transfer.apply(layout))
    }

    // First walk: which layouts are asked of fluid tiles?

    fn ask_region(&mut self, region: &Region) {
        for stmt in &region.stmts {
            self.ask_stmt(stmt);
        }
        let (values, receivers) = self.passed(&region.end);
        self.ask_all(&values, &receivers);
    }

    /// What a terminator passes, and in which layouts.
    fn passed(&self, end: &Terminator) -> (Vec<Value>, Vec<Option<Layout>>) {
        let loop_at = |depth: u32| &self.loops[self.loops.len() - 1 - depth as usize];
        match end {
            Terminator::Return => (Vec::new(), Vec::new()),
            Terminator::Yield(values) => {
                let results =
                    self.branches.last().expect("ir::verify requires a branch around a yield");
                (values.clone(), self.received(results))
            }
            Terminator::Continue(depth, values) => {
                (values.clone(), self.received(&loop_at(*depth).0))
            }
            Terminator::Break(depth, values) => (values.clone(), self.received(&loop_at(*depth).1)),
        }
    }

    fn ask_all(&mut self, values: &[Value], wanted: &[Option<Layout>]) {
        for (&value, wanted) in values.iter().zip(wanted) {
            if let Some(layout) = wanted {
                self.ask(value, layout);
            }
        }
    }

    /// Asks for a tile in a layout; what is not fluid is converted later.
    ///
    /// A list of what is still to be asked rather than recursion: chains of operations are as long as the program makes them.
    fn ask(&mut self, value: Value, layout: &Layout) {
        let mut open = vec![(value, layout.clone())];
        while let Some((value, layout)) = open.pop() {
            let Some(recipe) = self.graph.fluid.get(value).cloned() else { continue };
            let versions = self.versions.entry(value).or_default();
            if versions.iter().any(|(asked, _)| *asked == layout) {
                continue;
            }
            let version = if versions.is_empty() {
                value
            } else {
                self.values.alloc(self.values[value].clone())
            };
            versions.push((layout.clone(), version));
            for &arg in recipe.args.iter().rev() {
                if let Some(wanted) = self.derived(&recipe.op, arg, value, &layout) {
                    open.push((arg, wanted));
                }
            }
            self.layouts.insert(version, layout);
        }
    }

    /// Unused tiles have a layout, too.
    fn ask_for_the_unused(&mut self) {
        let fluid: Vec<Value> = self.graph.fluid.iter().map(|(value, _)| value).collect();
        // Users come after what they use, so that a tile which only unused ones use takes the layout that they ask for.
        for value in fluid.into_iter().rev() {
            if !self.versions.contains_idx(value) {
                let layout = self.by_rows(value);
                self.ask(value, &layout);
            }
        }
    }

    fn ask_stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Op { op, args, result } => {
                let wanted = self.wanted(op, args, *result);
                self.ask_all(args, &wanted);
            }
            StmtKind::If { then, otherwise, results, .. } => {
                self.branches.push(results.clone());
                self.ask_region(then);
                self.ask_region(otherwise);
                self.branches.pop();
            }
            StmtKind::Specialize { default, partitions, results } => {
                self.branches.push(results.clone());
                self.ask_region(default);
                self.branches.pop();
                for partition in partitions {
                    self.branches.push(Vec::new());
                    self.ask_region(&partition.body);
                    self.branches.pop();
                }
            }
            StmtKind::For { inits, body, results, .. } => {
                let carried = body.args[1..].to_vec();
                self.ask_loop(inits, carried, results, body);
            }
            StmtKind::Loop { inits, body, results } => {
                self.ask_loop(inits, body.args.clone(), results, body);
            }
            StmtKind::Ptx { args, results, .. } => {
                let wanted = self.elementwise(args, results);
                self.ask_all(args, &wanted);
            }
            StmtKind::Scan { args, results, .. } => {
                let wanted = self.own(results[0]);
                self.ask_all(args, &vec![wanted; args.len()]);
            }
            StmtKind::Reduce { args, results, .. } => {
                let wanted = self.reduced(results[0]);
                self.ask_all(args, &vec![Some(wanted); args.len()]);
            }
        }
    }

    fn ask_loop(&mut self, inits: &[Value], carried: Vec<Value>, results: &[Value], body: &Region) {
        let wanted = self.received(&carried);
        self.ask_all(inits, &wanted);
        self.loops.push((carried, results.to_vec()));
        self.ask_region(body);
        self.loops.pop();
    }

    /// The layout of the operands of the reduction with this first result.
    fn reduced(&self, first: Value) -> Layout {
        let node = self.graph.reductions[first];
        self.graph.nodes[node].layout.clone().expect("solve gives every node a layout")
    }

    // Second walk: the statements.

    fn depth(&self) -> usize {
        self.frames.len() - 1
    }

    fn emit(&mut self, kind: StmtKind, loc: Loc) {
        self.frames.last_mut().expect("a region is being rewritten").out.push(Stmt { kind, loc });
    }

    fn define(&mut self, value: Value) {
        let depth = self.depth();
        self.homes.insert(value, depth);
        if let Some(layout) = self.own(value) {
            self.layouts.insert(value, layout);
        }
    }

    fn define_all(&mut self, values: &[Value]) {
        for &value in values {
            self.define(value);
        }
    }

    /// A value in the layout that is required.
    fn get(&mut self, value: Value, wanted: Option<&Layout>, loc: Loc) -> Value {
        if let Some(versions) = self.versions.get(value) {
            let version =
                wanted.and_then(|layout| versions.iter().find(|(asked, _)| asked == layout));
            return version.unwrap_or(&versions[0]).1;
        }
        match (wanted, self.own(value)) {
            (Some(wanted), Some(own)) if *wanted != own => self.convert(value, wanted, loc),
            (Some(_), Some(_)) | (None, _) | (_, None) => value,
        }
    }

    fn get_all(&mut self, values: &[Value], wanted: &[Option<Layout>], loc: Loc) -> Vec<Value> {
        values
            .iter()
            .zip(wanted)
            .map(|(&value, wanted)| self.get(value, wanted.as_ref(), loc))
            .collect()
    }

    /// Converts a tile: in this region, or before the outermost loop that does not change it.
    fn convert(&mut self, value: Value, layout: &Layout, loc: Loc) -> Value {
        let home =
            self.homes.get(value).copied().expect("ir::verify requires definitions before uses");
        let known = self.frames[home..].iter().flat_map(|frame| &frame.converted);
        let same = |(from, to, _): &&(Value, Layout, Value)| *from == value && to == layout;
        if let Some((.., converted)) = known.clone().find(same) {
            return *converted;
        }
        let mut depth = self.depth();
        while depth > home && self.frames[depth].kind == FrameKind::Loop {
            depth -= 1;
        }
        let result = self.add_conversion(value, layout, loc, depth);
        self.frames[depth].converted.push((value, layout.clone(), result));
        result
    }

    fn add_conversion(&mut self, value: Value, layout: &Layout, loc: Loc, depth: usize) -> Value {
        let result = self.values.alloc(ValueData { ty: self.values[value].ty.clone(), loc });
        self.layouts.insert(result, layout.clone());
        self.homes.insert(result, depth);
        let kind = conversion(value, layout, result);
        self.frames[depth].out.push(Stmt { kind, loc });
        result
    }

    fn region(&mut self, region: Region, kind: FrameKind) -> Region {
        self.frames.push(Frame { kind, out: Vec::new(), converted: Vec::new() });
        self.define_all(&region.args);
        let mut last = Loc::KERNEL;
        for stmt in region.stmts {
            last = stmt.loc;
            self.stmt(stmt);
        }
        let (values, wanted) = self.passed(&region.end);
        let passed = self.get_all(&values, &wanted, last);
        let end = match region.end {
            Terminator::Return => Terminator::Return,
            Terminator::Yield(_) => Terminator::Yield(passed),
            Terminator::Continue(depth, _) => Terminator::Continue(depth, passed),
            Terminator::Break(depth, _) => Terminator::Break(depth, passed),
        };
        let frame = self.frames.pop().expect("pushed above");
        Region { args: region.args, stmts: frame.out, end }
    }

    fn stmt(&mut self, stmt: Stmt) {
        let loc = stmt.loc;
        match stmt.kind {
            StmtKind::Op { op, args, result } => self.op(op, &args, result, loc),
            StmtKind::If { condition, then, otherwise, results } => {
                self.branches.push(results.clone());
                let then = self.region(then, FrameKind::Once);
                let otherwise = self.region(otherwise, FrameKind::Once);
                self.branches.pop();
                self.define_all(&results);
                self.emit(StmtKind::If { condition, then, otherwise, results }, loc);
            }
            StmtKind::Specialize { default, mut partitions, results } => {
                self.branches.push(results.clone());
                let default = self.region(default, FrameKind::Once);
                self.branches.pop();
                for partition in &mut partitions {
                    self.branches.push(Vec::new());
                    let body = std::mem::take(&mut partition.body);
                    partition.body = self.region(body, FrameKind::Once);
                    self.branches.pop();
                }
                self.define_all(&results);
                self.emit(StmtKind::Specialize { default, partitions, results }, loc);
            }
            StmtKind::For { from, to, step, inits, body, results } => {
                let carried = body.args[1..].to_vec();
                let (inits, body) = self.rewrite_loop(&inits, carried, body, &results, loc);
                self.emit(StmtKind::For { from, to, step, inits, body, results }, loc);
            }
            StmtKind::Loop { inits, body, results } => {
                let carried = body.args.clone();
                let (inits, body) = self.rewrite_loop(&inits, carried, body, &results, loc);
                self.emit(StmtKind::Loop { inits, body, results }, loc);
            }
            StmtKind::Ptx { code, args, results } => {
                let wanted = self.elementwise(&args, &results);
                let args = self.get_all(&args, &wanted, loc);
                self.define_all(&results);
                self.emit(StmtKind::Ptx { code, args, results }, loc);
            }
            StmtKind::Scan { args, axis, direction, initial, combine, results } => {
                let wanted = self.own(results[0]);
                let args = self.get_all(&args, &vec![wanted; args.len()], loc);
                self.define_all(&results);
                let kind = StmtKind::Scan { args, axis, direction, initial, combine, results };
                self.emit(kind, loc);
            }
            StmtKind::Reduce { args, axis, combine, results } => {
                let layout = self.reduced(results[0]);
                let args = self.get_all(&args, &vec![Some(layout.clone()); args.len()], loc);
                self.reduce(args, axis, combine, &results, &layout, loc);
            }
        }
    }

    fn rewrite_loop(
        &mut self,
        inits: &[Value],
        carried: Vec<Value>,
        body: Region,
        results: &[Value],
        loc: Loc,
    ) -> (Vec<Value>, Region) {
        let wanted = self.received(&carried);
        let inits = self.get_all(inits, &wanted, loc);
        self.loops.push((carried, results.to_vec()));
        let body = self.region(body, FrameKind::Loop);
        self.loops.pop();
        self.define_all(results);
        (inits, body)
    }

    /// A reduction leaves the slice of its operands' layout; what is to have another one is converted after it.
    fn reduce(
        &mut self,
        args: Vec<Value>,
        axis: u32,
        combine: Region,
        results: &[Value],
        layout: &Layout,
        loc: Loc,
    ) {
        self.define_all(results);
        let mut made = results.to_vec();
        let mut conversions = Vec::new();
        for (made, &result) in made.iter_mut().zip(results) {
            let Some(own) = self.own(result) else { continue };
            let slice = Transfer::Slice(axis).apply(layout);
            if own != slice {
                *made = self.values.alloc(self.values[result].clone());
                self.layouts.insert(*made, slice);
                conversions.push(conversion(*made, &own, result));
            }
        }
        self.emit(StmtKind::Reduce { args, axis, combine, results: made }, loc);
        for kind in conversions {
            self.emit(kind, loc);
        }
    }

    fn op(&mut self, op: Op, args: &[Value], result: Option<Value>, loc: Loc) {
        if let Some(versions) = result.and_then(|result| self.versions.get(result)).cloned() {
            for (layout, version) in versions {
                let wanted: Vec<_> =
                    args.iter().map(|&arg| self.derived(&op, arg, version, &layout)).collect();
                let args = self.get_all(args, &wanted, loc);
                self.emit(StmtKind::Op { op: op.clone(), args, result: Some(version) }, loc);
                self.define(version);
            }
            return;
        }
        let wanted = self.wanted(&op, args, result);
        let made = self.get_all(args, &wanted, loc);
        if let (Op::Tile(TileOp::ToLayout(_)), Some(result)) = (&op, result)
            && let Some(layout) = self.own(result)
        {
            // Who else requires the operand in this layout finds it here.
            let frame = self.frames.last_mut().expect("a region is being rewritten");
            frame.converted.push((args[0], layout, result));
        }
        self.emit(StmtKind::Op { op, args: made, result }, loc);
        if let Some(result) = result {
            self.define(result);
        }
    }
}

fn conversion(from: Value, layout: &Layout, result: Value) -> StmtKind {
    StmtKind::Op {
        op: Op::Tile(TileOp::ToLayout(Form::Linear(layout.clone()))),
        args: vec![from],
        result: Some(result),
    }
}
