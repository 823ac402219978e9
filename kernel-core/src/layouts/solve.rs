//! Gives every node of the graph its layout: anchors, in order of importance, and what spreads from them.

use std::collections::VecDeque;

use kernel_layout::forms::LANES;
use kernel_layout::{Dim, Form, Layout, LayoutError};
use la_arena::ArenaMap;

use super::dot;
use super::gather::{self, Idle};
use super::graph::{
    ByRows, Graph, Moved, Node, Pin, Recipe, Role, Sums, Transfer, WarpgroupProduct,
};
use super::run_axis::{arrives, run_axis, written};
use super::tensor_memory;
use super::wgmma;
use super::{Access, Accesses, Known, LayoutProblem, MAX_REGISTERS, Memory, Place};
use crate::ir::{Elem, Kernel, Op, TileOp, Type, Value};
use crate::loc::Loc;

/// Chooses all layouts; gives what the user pinned and cannot be.
///
/// Afterwards every node has a layout and every matrix product a form, whether or not there are problems.
pub(super) fn solve(
    kernel: &Kernel,
    known: &Known,
    graph: &mut Graph,
    accesses: Accesses,
) -> Vec<LayoutProblem> {
    let mut solver = Solver { kernel, known, graph, accesses, queue: VecDeque::new() };
    let mut problems = solver.pin();
    solver.place_tensor_memory();
    problems.extend(solver.place_rows());
    solver.place_warpgroup_products();
    solver.place_dots();
    solver.place_operands();
    solver.place_loads();
    solver.place_effects();
    solver.place_rest();
    solver.finish_effects();
    problems.extend(solver.check_dots());
    problems
}

/// The layout that a user pinned a tile of registers to.
///
/// # Errors
/// With what is wrong with it.
pub(crate) fn pinned(
    form: &Form,
    at: Loc,
    ty: &Type,
    warps: u32,
) -> Result<Layout, Box<LayoutProblem>> {
    let element_bytes = match ty.elem() {
        Some(Elem::Number(dtype)) => dtype.bytes(),
        Some(Elem::Ptr(_)) | None => 8,
    };
    let (form, shape) = (form.clone(), ty.shape().to_vec());
    let place = Place { memory: Memory::Registers, shape, element_bytes, warps };
    let impossible = |error| {
        let (form, place) = (form.clone(), place.clone());
        Box::new(LayoutProblem::Form { at, form, place, error })
    };
    if matches!(
        form,
        Form::NvmmaShared { .. } | Form::Swizzled { .. } | Form::RowMajor | Form::SharedLinear(_)
    ) {
        // Whether it would fit the tile does not matter.
        return Err(Box::new(LayoutProblem::OtherMemory {
            at,
            form,
            actual: Memory::Shared,
            place,
        }));
    }
    if tensor_memory::filled(&form).is_some() {
        let actual = Memory::Tensor;
        return Err(Box::new(LayoutProblem::OtherMemory { at, form, actual, place }));
    }
    let registers = |elements: u64| elements.saturating_mul(u64::from(element_bytes.div_ceil(4)));
    let layout = form.to_layout(&place.shape).map_err(|error| match (&form, error) {
        (Form::Linear(bases), LayoutError::TooManyBits { limit, .. })
            if bases.bases(Dim::Register).len() > limit =>
        {
            let bits = u32::try_from(bases.bases(Dim::Register).len()).unwrap_or(u32::MAX);
            let actual = registers(1u64.checked_shl(bits).unwrap_or(u64::MAX));
            let (form, place) = (form.clone(), place.clone());
            Box::new(LayoutProblem::Registers { at, form, place, actual })
        }
        (_, error) => impossible(error),
    })?;
    let actual = Memory::of(&layout);
    if actual != Memory::Registers {
        return Err(Box::new(LayoutProblem::OtherMemory { at, form, actual, place }));
    }
    let blocks = layout.in_size(Dim::Block);
    if blocks > 1 {
        return Err(Box::new(LayoutProblem::Cluster { at, form, actual: blocks }));
    }
    let lanes = layout.in_size(Dim::Lane);
    if lanes != LANES {
        return Err(Box::new(LayoutProblem::Lanes {
            at,
            form,
            actual: lanes,
            required: LANES,
            place,
        }));
    }
    let actual = layout.in_size(Dim::Warp);
    if actual != warps {
        return Err(Box::new(LayoutProblem::Warps { at, form, actual, required: warps, place }));
    }
    let actual = registers(u64::from(layout.in_size(Dim::Register)));
    if actual > MAX_REGISTERS {
        return Err(Box::new(LayoutProblem::Registers { at, form, place, actual }));
    }
    // Bases written by hand may list the dimensions in another order, or leave an empty one out.
    let ins = [Dim::Register, Dim::Lane, Dim::Warp].map(|dim| (dim, layout.bases(dim).to_vec()));
    Layout::new(ins.to_vec(), layout.outs().to_vec()).map_err(impossible)
}

/// A form whose bases depend on the size of the elements, for a tile of such elements.
pub(crate) fn of_elements(form: &Form, element_bits: u32) -> Form {
    match form.clone() {
        Form::TensorMemoryLoad { atom, columns, memory, warps, element_bits: _ } => {
            Form::TensorMemoryLoad { atom, columns, memory, warps, element_bits }
        }
        Form::Slice { axis, parent } => {
            Form::Slice { axis, parent: Box::new(of_elements(&parent, element_bits)) }
        }
        other @ (Form::Blocked { .. }
        | Form::Linear(_)
        | Form::MmaV2 { .. }
        | Form::Wgmma { .. }
        | Form::DotOperand { .. }
        | Form::Swizzled { .. }
        | Form::NvmmaShared { .. }
        | Form::RowMajor
        | Form::SharedLinear(_)
        | Form::TensorMemory { .. }
        | Form::TensorMemoryScales
        | Form::Tile(_)
        | Form::SwizzledTile(_)
        | Form::Cluster { .. }) => other,
    }
}

struct Solver<'a> {
    kernel: &'a Kernel,
    known: &'a Known,
    graph: &'a mut Graph,
    accesses: Accesses,
    /// Nodes whose layout has not spread yet.
    queue: VecDeque<Node>,
}

impl Solver<'_> {
    fn assign(&mut self, node: Node, layout: Layout, form: Option<Form>) {
        let data = &mut self.graph.nodes[node];
        debug_assert!(data.layout.is_none(), "the first layout of a tile stays");
        data.layout = Some(layout);
        data.form = form;
        self.queue.push_back(node);
    }

    fn is_open(&self, node: Node) -> bool {
        self.graph.nodes[node].layout.is_none()
    }

    /// The node of a tile that has one layout which is not chosen yet.
    fn open(&self, value: Value) -> Option<Node> {
        self.graph.of.get(value).copied().filter(|&node| self.is_open(node))
    }

    fn accepts(&self, node: Node, layout: &Layout, form: Option<&Form>) -> bool {
        let fits = match self.graph.nodes[node].sums_of {
            Some(Sums::Dot(at)) => dot::accepts(self.kernel, &self.graph.dots[at], layout, form),
            Some(Sums::Warpgroup(at)) => {
                *layout == wgmma::layout(self.kernel, self.graph.warpgroup_products[at].args)
            }
            None => true,
        };
        if !fits {
            return false;
        }
        match self.graph.nodes[node].role {
            Role::Plain | Role::Reduced(_) => true,
            Role::Load(access) => !self.refuses(node, access, layout),
            Role::Dot(at) => dot::accepts(self.kernel, &self.graph.dots[at], layout, form),
            Role::TensorMemory(at) => self.is_moved(self.graph.tensor_memory[at].window, layout),
        }
    }

    /// Whether a tile is not to be accessed with this layout: an exchange between threads makes the access contiguous.
    fn refuses(&self, node: Node, access: Access, layout: &Layout) -> bool {
        match self.accesses {
            Accesses::Contiguous => self.graph.extent(node).refuses(access, layout),
            Accesses::AsHeld => false,
        }
    }

    /// Spreads all layouts that are new along the edges, nearest first.
    fn spread(&mut self) {
        while let Some(from) = self.queue.pop_front() {
            for (to, transfer) in self.graph.nodes[from].edges.clone() {
                self.offer(from, to, &transfer);
            }
        }
    }

    fn offer(&mut self, from: Node, to: Node, transfer: &Transfer) {
        let source = &self.graph.nodes[from];
        let Some(layout) = source.layout.as_ref().filter(|_| self.is_open(to)) else { return };
        let layout = transfer.apply(layout);
        let form = source.form.clone().filter(|_| *transfer == Transfer::Same);
        let at = source.at;
        if self.accepts(to, &layout, form.as_ref()) {
            self.graph.nodes[to].at = at;
            self.assign(to, layout, form);
        }
    }

    /// All pins come before anything spreads: none of them gives way.
    fn pin(&mut self) -> Vec<LayoutProblem> {
        let mut problems = Vec::new();
        for at in 0..self.graph.pins.len() {
            let Pin { node, ref form, at, operand } = self.graph.pins[at];
            let form = form.clone();
            match pinned(&form, at, self.kernel.ty(operand), self.graph.nodes[node].warps) {
                Ok(layout) => self.assign(node, layout, Some(form)),
                Err(problem) => {
                    problems.push(*problem);
                    let layout = self.graph.extent(node).by_rows(None);
                    self.assign(node, layout, None);
                }
            }
        }
        self.spread();
        problems
    }

    /// Whether instructions move a window of tensor memory to registers of that layout, and back.
    fn is_moved(&self, window: Value, layout: &Layout) -> bool {
        let Type::TensorMemory(window) = self.kernel.ty(window) else { return false };
        tensor_memory::moves(self.kernel, window, layout).is_some()
    }

    /// What is read from and written to tensor memory has the pinned layout, if instructions move it so; else
    /// that in which a lane has a row.
    fn place_tensor_memory(&mut self) {
        for at in 0..self.graph.pins.len() {
            let Pin { node: pinned, operand, .. } = self.graph.pins[at];
            let Some(node) = self.open(operand) else { continue };
            let Some(layout) = self.graph.nodes[pinned].layout.clone() else { continue };
            let read = self.followers(node).into_iter().any(|node| {
                matches!(self.graph.nodes[node].role, Role::TensorMemory(_))
                    && self.accepts(node, &layout, None)
            });
            if read {
                self.offer(pinned, node, &Transfer::Same);
                self.spread();
            }
        }
        for at in 0..self.graph.tensor_memory.len() {
            let Moved { node, window, written } = self.graph.tensor_memory[at];
            if !self.is_open(node) {
                continue;
            }
            let given = written.and_then(|tile| self.graph.layout(tile));
            let given = given.filter(|layout| self.is_moved(window, layout)).cloned();
            let Type::TensorMemory(window) = self.kernel.ty(window) else { continue };
            let data = &self.graph.nodes[node];
            let layout = given.unwrap_or_else(|| {
                tensor_memory::registers(self.kernel, window, data.warps, data.at)
                    .expect("elaborate has checked how tensor memory is read and written")
            });
            self.assign(node, layout, None);
            self.spread();
        }
    }

    /// Gathers and scatters take the numbers of their rows as they are pinned, or else distributed to all warps.
    fn place_rows(&mut self) -> Vec<LayoutProblem> {
        let mut problems = Vec::new();
        for at in 0..self.graph.by_rows.len() {
            let ByRows { node, rows } = self.graph.by_rows[at];
            let data = &self.graph.nodes[node];
            let at = self.kernel.operands.get(&data.at).map_or(data.at, |[rows, ..]| *rows);
            let distributed = gather::distributed(data.shape[0], data.warps);
            let given = self.graph.layout(rows).filter(|layout| gather::accepts(layout)).cloned();
            let pinned = self.graph.of.get(rows).and_then(|&operand| {
                self.graph.pins.iter().find(|pin| pin.node == operand).map(|pin| pin.at)
            });
            if let (None, Some(pinned_at), Some(actual)) =
                (&given, pinned, self.graph.layout(rows).cloned())
            {
                let warps = data.warps;
                problems.push(LayoutProblem::Rows { at, pinned_at, actual, warps });
            }
            if let (Some(layout), Some(&operand)) = (&given, self.graph.of.get(rows)) {
                let chosen_at = self.graph.nodes[operand].at;
                self.graph.idle.extend(Idle::of(at, chosen_at, layout, data.shape[0]));
            }
            self.assign(node, given.unwrap_or(distributed), None);
            self.spread();
        }
        problems
    }

    /// Accumulators of warpgroups have the one layout that the instruction has.
    fn place_warpgroup_products(&mut self) {
        for at in 0..self.graph.warpgroup_products.len() {
            let WarpgroupProduct { node, args, .. } = self.graph.warpgroup_products[at];
            if self.is_open(node) {
                let layout = wgmma::layout(self.kernel, args);
                self.assign(node, layout, Some(wgmma::form(self.kernel, args)));
            }
        }
        self.spread();
        for at in 0..self.graph.warpgroup_products.len() {
            let WarpgroupProduct { args, metadata, .. } = self.graph.warpgroup_products[at];
            if let Some(node) = self.open(args[0]) {
                let layout = wgmma::left_layout(self.kernel, args);
                self.assign(node, layout, None);
            }
            let open = metadata.and_then(|metadata| Some((metadata, self.open(metadata)?)));
            if let Some((metadata, node)) = open {
                let layout = wgmma::metadata_layout(self.kernel, args, metadata);
                self.assign(node, layout, None);
            }
        }
        self.spread();
    }

    fn place_dots(&mut self) {
        let chained = dot::chained(self.graph);
        for (at, chained) in chained.into_iter().enumerate() {
            let dot = &self.graph.dots[at];
            let data = &self.graph.nodes[dot.node];
            let given = data
                .layout
                .as_ref()
                .and_then(|layout| dot::form_of(self.kernel, dot, layout, data.form.as_ref()));
            let form = given
                .or_else(|| self.form_from_operands(at))
                .unwrap_or_else(|| dot::choose(self.kernel, dot, chained));
            let node = dot.node;
            if self.is_open(node) {
                let layout = form
                    .to_layout(&self.graph.nodes[node].shape)
                    .expect("a form chosen for this shape");
                self.assign(node, layout, Some(form.clone()));
                self.spread();
            }
            self.graph.dots[at].form = Some(form);
        }
    }

    /// The form of the result that an operand was pinned for.
    fn form_from_operands(&self, at: usize) -> Option<Form> {
        let dot = &self.graph.dots[at];
        let shape = &self.graph.nodes[dot.node].shape;
        dot.args[..2].iter().find_map(|&operand| {
            let Some(Recipe {
                op: Op::Tile(TileOp::ToLayout(Form::DotOperand { parent, .. })),
                ..
            }) = self.graph.makers.get(operand)
            else {
                return None;
            };
            let layout = parent.to_layout(shape).ok()?;
            let warps = layout.in_size(Dim::Warp) == self.graph.nodes[dot.node].warps;
            dot::form_of(self.kernel, dot, &layout, Some(parent)).filter(|_| warps)
        })
    }

    fn place_operands(&mut self) {
        for at in 0..self.graph.dots.len() {
            for index in 0..2 {
                let dot = &self.graph.dots[at];
                let Some(node) = self.open(dot.args[index as usize]) else { continue };
                if self.comes_from_memory(node) {
                    continue;
                }
                let form = dot.form.as_ref().expect("place_dots gives every product a form");
                let layout = dot::operand_layout(self.kernel, dot, index, form);
                self.assign(node, layout, None);
                self.spread();
            }
        }
    }

    /// The tiles that would get the layout that a tile gets, itself among them.
    fn followers(&self, start: Node) -> Vec<Node> {
        let mut seen: ArenaMap<Node, ()> = ArenaMap::default();
        let mut open = vec![start];
        let mut found = Vec::new();
        while let Some(node) = open.pop() {
            if !self.is_open(node) || seen.insert(node, ()).is_some() {
                continue;
            }
            found.push(node);
            let same = |(_, transfer): &&(Node, Transfer)| *transfer == Transfer::Same;
            open.extend(self.graph.nodes[node].edges.iter().filter(same).map(|(to, _)| *to));
        }
        found
    }

    /// Whether a load from global memory would get the layout that a tile gets.
    fn comes_from_memory(&self, tile: Node) -> bool {
        self.followers(tile)
            .into_iter()
            .any(|node| matches!(self.graph.nodes[node].role, Role::Load(_)))
    }

    /// An axis that is reduced in a tile that would get the layout that a tile gets.
    fn reduced(&self, tile: Node) -> Option<u32> {
        self.followers(tile).into_iter().find_map(|node| match self.graph.nodes[node].role {
            Role::Reduced(axis) => Some(axis),
            Role::Plain | Role::Load(_) | Role::Dot(_) | Role::TensorMemory(_) => None,
        })
    }

    fn place_loads(&mut self) {
        self.read_as_pinned();
        let mut loads = self.graph.loads.clone();
        // The sort is stable: of equal loads the first in the program comes first.
        loads.sort_by_key(|&node| std::cmp::Reverse(self.graph.extent(node).bytes()));
        for node in loads {
            if let (true, Role::Load(access)) = (self.is_open(node), self.graph.nodes[node].role) {
                let layout = self.graph.extent(node).coalesced(access, self.reduced(node));
                self.assign(node, layout, None);
                self.spread();
            }
        }
    }

    /// A tile that is loaded only to be given a pinned layout is loaded in that layout, unless it refuses it.
    ///
    /// Several threads read the same elements of a vector: it is short, so that is cheaper than an exchange between them. Of
    /// larger tiles no thread reads more than it would of its part by rows.
    fn read_as_pinned(&mut self) {
        for at in 0..self.graph.pins.len() {
            let Pin { node: pinned, operand, .. } = self.graph.pins[at];
            let Some(node) = self.open(operand) else { continue };
            let data = &self.graph.nodes[node];
            let Role::Load(access) = data.role else { continue };
            let vector = data.shape.len() == 1;
            let registers = |layout: &Layout| layout.in_size(Dim::Register);
            let part = self.graph.extent(node).coalesced(access, None);
            let given = self.graph.nodes[pinned].layout.as_ref().map_or(0, registers);
            if self.graph.uses.get(operand) == Some(&1) && (vector || given <= registers(&part)) {
                self.offer(pinned, node, &Transfer::Same);
            }
        }
        self.spread();
    }

    fn place_effects(&mut self) {
        let written = written(self.kernel, self.known, self.graph);
        for at in 0..self.graph.effects.len() {
            let effect = &self.graph.effects[at];
            let (node, Some(access)) = (effect.node, effect.access) else { continue };
            let extent = self.graph.extent(node);
            let given = effect.tiles.iter().find_map(|&tile| self.graph.layout(tile));
            let runs = match given {
                Some(layout) => run_axis(layout),
                None => arrives(self.kernel, self.graph, &written, effect.tiles[0]),
            };
            let layout = match (given, runs.filter(|&axis| axis != access.axis)) {
                (Some(layout), _) if !self.refuses(node, access, layout) => layout.clone(),
                (_, Some(from)) => extent.turned(access, from),
                (_, None) => extent.coalesced(access, None),
            };
            self.assign(node, layout, None);
            self.spread();
        }
    }

    fn place_rest(&mut self) {
        let effects: ArenaMap<Node, ()> =
            self.graph.effects.iter().map(|effect| (effect.node, ())).collect();
        let mut rest: Vec<Node> = self.graph.nodes.iter().map(|(node, _)| node).collect();
        rest.retain(|&node| !effects.contains_idx(node));
        rest.sort_by_key(|&node| std::cmp::Reverse(self.graph.extent(node).bytes()));
        self.spread_weakly();
        for node in rest {
            if self.is_open(node) {
                let layout = self.graph.extent(node).by_rows(self.reduced(node));
                self.assign(node, layout, None);
                self.spread();
                self.spread_weakly();
            }
        }
    }

    fn spread_weakly(&mut self) {
        for (from, to, transfer) in self.graph.weak.clone() {
            self.offer(from, to, &transfer);
            self.spread();
        }
    }

    /// What does not access global memory takes its operand as it is.
    fn finish_effects(&mut self) {
        for at in 0..self.graph.effects.len() {
            let effect = &self.graph.effects[at];
            let node = effect.node;
            if self.is_open(node) {
                let given = self.graph.layout(effect.tiles[0]).cloned();
                let layout = given.unwrap_or_else(|| self.graph.extent(node).by_rows(None));
                self.assign(node, layout, None);
            }
        }
        self.queue.clear();
    }

    /// Operands and accumulators of matrix products that the user pinned to what the product cannot use.
    fn check_dots(&self) -> Vec<LayoutProblem> {
        let mut problems = Vec::new();
        let pinned_at = |value: Value| {
            let node = self.graph.of.get(value)?;
            self.graph.pins.iter().find(|pin| pin.node == *node).map(|pin| pin.at)
        };
        for &WarpgroupProduct { node, args, .. } in &self.graph.warpgroup_products {
            let left = args[0];
            let Some(pinned_at) = pinned_at(left) else { continue };
            let actual = self.graph.layout(left).expect("all nodes have layouts").clone();
            let required = wgmma::left_layout(self.kernel, args);
            if actual != required {
                let at = self.graph.nodes[node].at;
                let [at, ..] = self.kernel.operands.get(&at).copied().unwrap_or([at; 3]);
                let form = wgmma::left_form(self.kernel, args);
                problems.push(LayoutProblem::DotOperand {
                    at,
                    index: 0,
                    pinned_at,
                    actual,
                    required,
                    form,
                });
            }
        }
        for dot in &self.graph.dots {
            let result = dot.form.as_ref().expect("place_dots gives every product a form");
            let places = self.kernel.operands.get(&dot.at).copied().unwrap_or([dot.at; 3]);
            for index in 0..2 {
                let operand = dot.args[index as usize];
                let Some(pinned_at) = pinned_at(operand) else { continue };
                let actual = self.graph.layout(operand).expect("all nodes have layouts").clone();
                let required = dot::operand_layout(self.kernel, dot, index, result);
                if actual != required {
                    let form = dot::operand_form(self.kernel, dot, index, result);
                    problems.push(LayoutProblem::DotOperand {
                        at: places[index as usize],
                        index,
                        pinned_at,
                        actual,
                        required,
                        form,
                    });
                }
            }
            if dot::on_tensor_cores(self.kernel, dot) {
                continue;
            }
            let accumulator = dot.args[2];
            let Some(pinned_at) = pinned_at(accumulator) else { continue };
            let actual = self.graph.layout(accumulator).expect("all nodes have layouts").clone();
            let required =
                self.graph.nodes[dot.node].layout.clone().expect("all nodes have layouts");
            if actual != required {
                let form = result.clone();
                problems.push(LayoutProblem::DotAccumulator {
                    at: places[2],
                    pinned_at,
                    actual,
                    required,
                    form,
                });
            }
        }
        problems
    }
}
