//! The IR as text, for dumps and snapshots.
//!
//! Values are numbered in order of appearance, so that a change in one place leaves the text elsewhere alone, and so that
//! two kernels that differ only in how they were built print the same. Source positions are not printed.

use std::fmt;

use kernel_layout::{Form, Layout};
use la_arena::ArenaMap;

use self::names::name;
use super::{
    Copied, CopyOp, Corner, Direction, ElementwiseOp, Fact, Factors, Kernel, Layouts, MemoryOp, Op,
    ParamKind, Partition, ProductOp, Region, ReportOp, Scaled, Shared, SourceOp, Stmt, StmtKind,
    SyncOp, Terminator, TileOp, Value, WindowOp,
};

use crate::loc::Loc;

mod names;

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::new(self, None);
        printer.kernel();
        f.write_str(&printer.out)
    }
}

impl Kernel {
    /// The text of the kernel with what later phases know of it.
    ///
    /// Layouts are numbered in order of appearance and listed on top; a tile's type is followed by the number of its
    /// layout (`f32[128] in L0`), a statement by its line and what it costs: `// line 12: shuffle, 8 a warp`. A value without a
    /// layout shows none.
    pub fn annotated(&self, known: Annotations<'_>) -> String {
        let mut printer = Printer::new(self, Some(Shown { known, legend: Vec::new() }));
        printer.kernel();
        let legend = printer.layouts.map(|shown| shown.legend).unwrap_or_default();
        let lines = legend.iter().enumerate();
        let lines: Vec<String> =
            lines.map(|(number, layout)| format!("L{number} = {layout}\n")).collect();
        lines.concat() + &printer.out
    }
}

/// What later phases know of a kernel, for its text.
#[derive(Clone, Copy)]
pub struct Annotations<'a> {
    /// The layouts of tiles.
    pub layouts: &'a Layouts,
    /// The layouts of shared allocations.
    pub shared: &'a ArenaMap<Shared, Layout>,
    /// What a statement costs, if that is known.
    pub cost: &'a dyn Fn(&StmtKind) -> Option<String>,
    /// The line of a place in the source, if lines are shown after every statement that makes or takes a tile.
    pub line: Option<&'a dyn Fn(Loc) -> u32>,
}

impl fmt::Debug for Annotations<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Annotations")
            .field("layouts", self.layouts)
            .field("shared", self.shared)
            .finish_non_exhaustive()
    }
}

/// What is shown, and the layouts already given a number.
struct Shown<'a> {
    known: Annotations<'a>,
    legend: Vec<&'a Layout>,
}

impl<'a> Shown<'a> {
    fn number(&mut self, layout: &'a Layout) -> usize {
        if let Some(number) = self.legend.iter().position(|seen| *seen == layout) {
            return number;
        }
        self.legend.push(layout);
        self.legend.len() - 1
    }
}

struct Printer<'a> {
    kernel: &'a Kernel,
    layouts: Option<Shown<'a>>,
    numbers: ArenaMap<Value, u32>,
    next: u32,
    depth: usize,
    out: String,
}

impl<'a> Printer<'a> {
    fn new(kernel: &'a Kernel, layouts: Option<Shown<'a>>) -> Self {
        let numbers = ArenaMap::default();
        Printer { kernel, layouts, numbers, next: 0, depth: 0, out: String::new() }
    }

    fn line(&mut self, text: &str) {
        if !text.is_empty() {
            self.out += &"  ".repeat(self.depth);
            self.out += text;
        }
        self.out.push('\n');
    }

    fn kernel(&mut self) {
        let kernel = self.kernel;
        let params: Vec<String> = kernel
            .params
            .iter()
            .map(|param| {
                let element = |dtype| match param.points_to {
                    Some(of) => format!("ptr<{of}>"),
                    None => format!("{dtype}"),
                };
                let kind = match &param.kind {
                    ParamKind::Tensor { dtype, rank, mutable: false } => {
                        format!("tensor<{}, {rank}>", element(dtype))
                    }
                    ParamKind::Tensor { dtype, rank, mutable: true } => {
                        format!("tensor_mut<{}, {rank}>", element(dtype))
                    }
                    ParamKind::Pointer(dtype) => format!("ptr<{dtype}>"),
                    ParamKind::Scalar(dtype) => format!("{dtype}"),
                };
                let absent = if param.absent { ", absent" } else { "" };
                format!("{}: {kind}{absent}", param.name)
            })
            .collect();
        self.line(&format!("kernel {}({})", kernel.name, params.join(", ")));
        self.depth += 1;
        self.line(&format!("target {}, warps {}", kernel.target, kernel.warps));
        for &fact in &kernel.facts {
            let text = self.fact(fact);
            self.line(&text);
        }
        for (shared, data) in kernel.shared.iter() {
            let mut text = format!("shared {} : {}{:?}", name(shared), data.dtype, data.shape);
            if let Some(shown) = &mut self.layouts
                && let Some(layout) = shown.known.shared.get(shared)
            {
                let number = shown.number(layout);
                text = format!("{text} in L{number}");
            }
            if let Some(form) = &data.pinned {
                text = format!("{text} pinned {form}");
            }
            self.line(&text);
        }
        self.depth -= 1;
        self.line("{");
        self.region(&kernel.body);
        self.line("}");
    }

    fn fact(&self, fact: Fact) -> String {
        match fact {
            Fact::PointerAligned { param, bytes } => {
                format!("fact {} is aligned to {bytes} bytes", self.param(param))
            }
            Fact::StrideEquals { param, axis, value } => {
                format!("fact stride {axis} of {} is {value}", self.param(param))
            }
            Fact::StrideMultiple { param, axis, of } => {
                format!("fact stride {axis} of {} is a multiple of {of}", self.param(param))
            }
            Fact::DimMultiple { param, axis, of } => {
                format!("fact dim {axis} of {} is a multiple of {of}", self.param(param))
            }
            Fact::ScalarMultiple { param, of } => {
                format!("fact {} is a multiple of {of}", self.param(param))
            }
        }
    }

    /// A parameter's name. A wrong index is printed as one, because dumps are for finding such mistakes.
    fn param(&self, index: u32) -> String {
        self.kernel
            .params
            .get(index as usize)
            .map_or_else(|| format!("param#{index}"), |param| param.name.clone())
    }

    /// A tensor with the positions of a tile: `x [i, j]`; of a slice also where that begins and ends: `x [i in a..b, j in c..d]`.
    fn corner(&self, param: u32, positions: &[String]) -> String {
        let rank = self.kernel.params.get(param as usize).map_or(0, |param| param.kind.rank());
        let corner = Corner::of(positions, rank as usize);
        let texts: Vec<String> = match corner.slice {
            None => corner.at.to_vec(),
            Some([first, end]) => {
                let bounds = first.iter().zip(end).map(|(first, end)| format!("{first}..{end}"));
                corner
                    .at
                    .iter()
                    .zip(bounds)
                    .map(|(at, bounds)| format!("{at} in {bounds}"))
                    .collect()
            }
        };
        format!("{} [{}]", self.param(param), texts.join(", "))
    }

    fn value(&mut self, value: Value) -> String {
        if let Some(number) = self.numbers.get(value) {
            return format!("%{number}");
        }
        let number = self.next;
        self.next += 1;
        self.numbers.insert(value, number);
        format!("%{number}")
    }

    fn values(&mut self, values: &[Value]) -> String {
        let names: Vec<String> = values.iter().map(|&value| self.value(value)).collect();
        names.join(", ")
    }

    /// A value's type, and the number of its layout.
    fn ty(&mut self, value: Value) -> String {
        let mut text = format!("{}", self.kernel.ty(value));
        if let Some(shown) = &mut self.layouts
            && let Some(layout) = shown.known.layouts.get(value)
        {
            let number = shown.number(layout);
            text = format!("{text} in L{number}");
        }
        text
    }

    fn typed(&mut self, value: Value) -> String {
        let number = self.value(value);
        format!("{number} : {}", self.ty(value))
    }

    fn typed_list(&mut self, values: &[Value]) -> String {
        let names: Vec<String> = values.iter().map(|&value| self.typed(value)).collect();
        names.join(", ")
    }

    /// ` -> (%9 : f32)`, or nothing.
    fn results(&mut self, values: &[Value]) -> String {
        if values.is_empty() { String::new() } else { format!(" -> ({})", self.typed_list(values)) }
    }

    /// ` carry (%8 = %3 : f32)`, or nothing.
    fn carries(&mut self, args: &[Value], inits: &[Value]) -> String {
        if args.is_empty() {
            return String::new();
        }
        let inits: Vec<String> = inits.iter().map(|&init| self.value(init)).collect();
        let pairs: Vec<String> = args
            .iter()
            .enumerate()
            .map(|(at, &arg)| {
                let init = inits.get(at).map_or("?", String::as_str);
                let number = self.value(arg);
                format!("{number} = {init} : {}", self.ty(arg))
            })
            .collect();
        format!(" carry ({})", pairs.join(", "))
    }

    fn region(&mut self, region: &Region) {
        self.depth += 1;
        for stmt in &region.stmts {
            self.stmt(stmt);
        }
        let end = match &region.end {
            Terminator::Return => "return".to_owned(),
            Terminator::Yield(values) => format!("yield ({})", self.values(values)),
            Terminator::Continue(0, values) => format!("continue ({})", self.values(values)),
            Terminator::Continue(depth, values) => {
                format!("continue {depth} ({})", self.values(values))
            }
            Terminator::Break(0, values) => format!("break ({})", self.values(values)),
            Terminator::Break(depth, values) => format!("break {depth} ({})", self.values(values)),
        };
        self.line(&end);
        self.depth -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Op { op, args, result } => {
                let names: Vec<String> = args.iter().map(|&arg| self.value(arg)).collect();
                let text = if let (Op::Tile(TileOp::ToLayout(Form::Linear(_))), Some(_)) =
                    (op, &self.layouts)
                {
                    // The layout follows the type.
                    format!("to_layout {}", names.join(", "))
                } else {
                    self.op(op, &names)
                };
                let tiles: Vec<Value> = args.iter().copied().chain(*result).collect();
                let note = self.note(stmt, &tiles);
                match result {
                    Some(result) => {
                        let number = self.value(*result);
                        let ty = self.ty(*result);
                        self.line(&format!("{number} = {text} : {ty}{note}"));
                    }
                    None => self.line(&format!("{text}{note}")),
                }
            }
            StmtKind::If { condition, then, otherwise, results } => {
                let condition = self.value(*condition);
                let note = self.place(results, stmt.loc);
                let results = self.results(results);
                self.line(&format!("if {condition}{results} {{{note}"));
                self.region(then);
                let nothing =
                    otherwise.stmts.is_empty() && otherwise.end == Terminator::Yield(Vec::new());
                if !nothing {
                    self.line("} else {");
                    self.region(otherwise);
                }
                self.line("}");
            }
            StmtKind::For { from, to, step, inits, body, results } => {
                let range = self.values(&[*from, *to, *step]);
                let (induction, carried) = match body.args.split_first() {
                    Some((&induction, carried)) => (self.value(induction), carried),
                    None => ("?".to_owned(), &[][..]),
                };
                let carries = self.carries(carried, inits);
                let note = self.place(&[carried, &results[..]].concat(), stmt.loc);
                let results = self.results(results);
                self.line(&format!("for {induction} in ({range}){carries}{results} {{{note}"));
                self.region(body);
                self.line("}");
            }
            StmtKind::Specialize { default, partitions, results } => {
                let note = self.place(results, stmt.loc);
                let results = self.results(results);
                self.line(&format!("specialize{results} {{{note}"));
                self.region(default);
                for Partition { warps, registers, body, .. } in partitions {
                    let registers =
                        registers.map_or(String::new(), |count| format!(", registers {count}"));
                    self.line(&format!("}} partition warps {warps}{registers} {{"));
                    self.region(body);
                }
                self.line("}");
            }
            StmtKind::Loop { inits, body, results } => {
                let carries = self.carries(&body.args, inits);
                let note = self.place(&[&body.args[..], &results[..]].concat(), stmt.loc);
                let results = self.results(results);
                self.line(&format!("loop{carries}{results} {{{note}"));
                self.region(body);
                self.line("}");
            }
            StmtKind::Ptx { code, args, results } => {
                let args = self.values(args);
                let results = self.results(results);
                self.line(&format!("ptx ({args}){results} {:?}", code.text));
            }
            StmtKind::Reduce { args, axis, combine, results } => {
                self.along(&format!("reduce {axis}"), (args, &[]), combine, results, stmt);
            }
            StmtKind::Scan { args, axis, direction, initial, combine, results } => {
                let word = match direction {
                    Direction::Forward => "scan",
                    Direction::Backward => "scan backward",
                };
                self.along(&format!("{word} {axis}"), (args, initial), combine, results, stmt);
            }
        }
    }

    /// A reduction or a scan, with what an exclusive scan begins with.
    fn along(
        &mut self,
        what: &str,
        (args, initial): (&[Value], &[Value]),
        combine: &Region,
        results: &[Value],
        stmt: &Stmt,
    ) {
        let tiles: Vec<Value> = args.iter().chain(results).copied().collect();
        let note = self.note(stmt, &tiles);
        let from = match initial {
            [] => String::new(),
            initial => format!(" from ({})", self.values(initial)),
        };
        let (args, results) = (self.values(args), self.results(results));
        let pair = self.typed_list(&combine.args);
        self.line(&format!("{what} ({args}){from} by ({pair}){results} {{{note}"));
        self.region(combine);
        self.line("}");
    }

    fn op(&self, op: &Op, args: &[String]) -> String {
        let all = &args.join(", ");
        match op {
            Op::Source(op) => self.source(op),
            Op::Tile(op) => tile(op, all),
            Op::Elementwise(op) => elementwise(op, all),
            Op::Memory(op) => self.memory(op, args),
            Op::Window(op) => window(op, all),
            Op::Copy(op) => self.copy(op, args),
            Op::Sync(op) => sync(op, all),
            Op::Product(op) => product(op, all),
            Op::TensorMemory(op) => format!("{} {all}", op.printed()),
            Op::Report(ReportOp::Print(number)) => {
                format!("print #{number} {all}").trim_end().to_owned()
            }
            Op::Report(ReportOp::Assert(number)) => format!("check #{number} {all}"),
            Op::Report(ReportOp::Stamp(number)) => format!("stamp #{number}"),
            Op::Assert(message) => format!("assert {all} {message:?}"),
        }
    }

    fn source(&self, op: &SourceOp) -> String {
        match op {
            SourceOp::Const(value) => format!("const {value}"),
            SourceOp::ParamPtr(param) => format!("param_ptr {}", self.param(*param)),
            SourceOp::TensorPtr(param) => format!("tensor_ptr {}", self.param(*param)),
            SourceOp::ParamDim(param, axis) => {
                format!("param_dim {} {axis}", self.param(*param))
            }
            SourceOp::ParamStride(param, axis) => {
                format!("param_stride {} {axis}", self.param(*param))
            }
            SourceOp::ParamScalar(param) => format!("param {}", self.param(*param)),
            SourceOp::BlockId(axis) => format!("block_id {axis}"),
            SourceOp::NumBlocks(axis) => format!("num_blocks {axis}"),
            SourceOp::Arange(lo) => format!("arange {lo}"),
        }
    }

    fn memory(&self, op: &MemoryOp, args: &[String]) -> String {
        let all = args.join(", ");
        match op {
            MemoryOp::LoadTensor(param, evict) => {
                format!("load_tensor{} {}", evict.printed(), self.corner(*param, args))
            }
            MemoryOp::StoreTensor(param, evict) => {
                let (positions, tile) = args.split_at(args.len().saturating_sub(1));
                let to = self.corner(*param, positions);
                format!("store_tensor{} {to} {}", evict.printed(), tile.join(", "))
            }
            MemoryOp::LoadPtr { masked: false } => format!("load_ptr {all}"),
            MemoryOp::LoadPtr { masked: true } => {
                let (pointers, rest) = split(args, 1);
                format!("load_ptr {pointers} where {rest}")
            }
            MemoryOp::StorePtr { masked: false } => format!("store_ptr {all}"),
            MemoryOp::StorePtr { masked: true } => {
                let (stored, mask) = split(args, 2);
                format!("store_ptr {stored} where {mask}")
            }
            MemoryOp::Atomic(op, scope) => {
                format!("atomic_{}{} {all}", op.name(), scope.suffix())
            }
            MemoryOp::AtomicTensor { param, op, evict, ordered } => {
                let (positions, tiles) = args.split_at(args.len().saturating_sub(op.values()));
                let corner = self.corner(*param, positions);
                let (name, options) = (op.name(), evict.printed() + &ordered.printed());
                format!("atomic_{name}{options} {corner} {}", tiles.join(", "))
            }
            MemoryOp::PrefetchTensor { param, extents, evict } => {
                let (evict, shape) = (evict.printed(), extents.shape());
                format!("prefetch{evict} {} {shape:?}", self.corner(*param, args))
            }
            MemoryOp::LoadShared => format!("load_shared {all}"),
            MemoryOp::StoreShared => format!("store_shared {all}"),
            MemoryOp::GatherShared => format!("gather_shared {}", indexed(args, 0)),
            MemoryOp::ScatterShared => format!("scatter_shared {}", indexed(args, 1)),
            MemoryOp::AtomicShared(op) => {
                format!("atomic_{} {}", op.name(), indexed(args, op.values()))
            }
        }
    }

    fn copy(&self, op: &CopyOp, args: &[String]) -> String {
        let all = args.join(", ");
        match op {
            CopyOp::Async(Copied::Tile { param, .. }, evict) => {
                let (positions, window) = args.split_at(args.len().saturating_sub(1));
                let from = self.corner(*param, positions);
                format!("copy_async{} {from} {}", evict.printed(), window.join(", "))
            }
            CopyOp::Async(Copied::Addresses { masked: false }, evict) => {
                format!("copy_async{} {all}", evict.printed())
            }
            CopyOp::Async(Copied::Addresses { masked: true }, evict) => {
                let (pointers, rest) = split(args, 1);
                format!("copy_async{} {pointers} where {rest}", evict.printed())
            }
            CopyOp::Commit => "copy_commit".to_owned(),
            CopyOp::Wait(pending) => format!("copy_wait {pending}"),
            CopyOp::WaitAll => "copy_wait_all".to_owned(),
            CopyOp::Staged(stages) => format!("staged {stages}"),
            CopyOp::Tma(tma) => tma.printed(&self.param(tma.param), args),
            CopyOp::Bulk(bulk) => bulk.printed(&all),
            CopyOp::StoreAsync => format!("store_async {all}"),
            CopyOp::BulkWait { pending, until } => {
                format!("tma_wait {} {pending}", until.name())
            }
        }
    }

    /// The line of a statement that deals with tiles, and what it costs, if that is known.
    fn note(&self, stmt: &Stmt, tiles: &[Value]) -> String {
        let cost = self.layouts.as_ref().and_then(|shown| (shown.known.cost)(&stmt.kind));
        comment(self.source_line(tiles, stmt.loc), cost)
    }

    /// The line of a statement that has regions and passes tiles.
    fn place(&self, tiles: &[Value], loc: Loc) -> String {
        comment(self.source_line(tiles, loc), None)
    }

    /// `line 12`, of a statement that deals with tiles, if lines are shown.
    fn source_line(&self, tiles: &[Value], loc: Loc) -> Option<String> {
        let shown = self.layouts.as_ref()?;
        let line = shown.known.line?;
        let any = tiles.iter().any(|value| shown.known.layouts.contains_idx(*value));
        any.then(|| format!("line {}", line(loc)))
    }
}

fn tile(op: &TileOp, all: &str) -> String {
    match op {
        TileOp::Splat => format!("splat {all}"),
        TileOp::Broadcast => format!("broadcast {all}"),
        TileOp::Expand(axis) => format!("expand {axis} {all}"),
        TileOp::Reshape => format!("reshape {all}"),
        TileOp::Permute(order) => format!("permute {order:?} {all}"),
        TileOp::Flip(axis) => format!("flip {axis} {all}"),
        TileOp::Sort(axis) => format!("sort {axis} {all}"),
        TileOp::Gather(axis) => format!("gather {axis} {all}"),
        TileOp::Histogram => format!("histogram {all}"),
        TileOp::Join => format!("join {all}"),
        TileOp::Split(index) => format!("split {index} {all}"),
        TileOp::ToLayout(form) => format!("to_layout {all} {form}"),
        TileOp::AssertLayout(form) => format!("assert_layout {all} {form}"),
    }
}

fn elementwise(op: &ElementwiseOp, all: &str) -> String {
    match op {
        ElementwiseOp::Unary(op) => format!("{} {all}", op.name()),
        ElementwiseOp::Binary(op) => format!("{} {all}", op.name()),
        ElementwiseOp::Compare(op) => format!("{} {all}", op.name()),
        ElementwiseOp::Select => format!("select {all}"),
        ElementwiseOp::Fma => format!("fma {all}"),
        ElementwiseOp::FunnelShift(op) => format!("{} {all}", op.name()),
        ElementwiseOp::Bitcast => format!("bitcast {all}"),
        ElementwiseOp::Cast => format!("cast {all}"),
    }
}

fn window(op: &WindowOp, all: &str) -> String {
    match op {
        WindowOp::Alloc(shared) => format!("shared_alloc {}", name(*shared)),
        WindowOp::Index => format!("shared_index {all}"),
        WindowOp::Transpose => format!("shared_transpose {all}"),
        WindowOp::Reshape => format!("shared_reshape {all}"),
        WindowOp::Part => format!("shared_part {all}"),
        WindowOp::Retype => format!("shared_retype {all}"),
        WindowOp::Remote => format!("shared_remote {all}"),
    }
}

fn sync(op: &SyncOp, all: &str) -> String {
    match op {
        SyncOp::Block => "sync".to_owned(),
        SyncOp::Barrier(op) => op.printed(all),
        SyncOp::Named(op, named) => {
            format!("{} @named{}", op.name(), named.into_raw())
        }
        SyncOp::FenceAsync => "fence_async".to_owned(),
        SyncOp::Cluster(op) => op.printed(all).trim_end().to_owned(),
        SyncOp::Grid(op) => op.name().to_owned(),
    }
}

fn product(op: &ProductOp, all: &str) -> String {
    match op {
        ProductOp::Wgmma { sparse: false } => format!("wgmma {all}"),
        ProductOp::Wgmma { sparse: true } => format!("wgmma sparse {all}"),
        ProductOp::WgmmaWait(pending) => format!("wgmma_wait {pending} {all}"),
        ProductOp::Tcgen05(op) => format!("{} {all}", op.printed()),
        ProductOp::Dot(Factors::Full) => format!("dot {all}"),
        ProductOp::Dot(Factors::Tf32) => format!("dot tf32 {all}"),
        ProductOp::Dot(Factors::Sparse) => format!("dot sparse {all}"),
        ProductOp::Dot(Factors::Scaled(Scaled::Mxf8)) => format!("dot mxf8 {all}"),
        ProductOp::Dot(Factors::Scaled(Scaled::Mxf4)) => format!("dot mxf4 {all}"),
        ProductOp::Dot(Factors::Scaled(Scaled::Nvf4)) => format!("dot nvf4 {all}"),
    }
}

/// The operands up to one of them, and the rest.
fn split(args: &[String], at: usize) -> (String, String) {
    let at = at.min(args.len());
    (args[..at].join(", "), args[at..].join(", "))
}

/// A window, the tiles of indices behind it, and the last `others` operands.
fn indexed(args: &[String], others: usize) -> String {
    let (at, values) = args.split_at(args.len().saturating_sub(others));
    let Some((window, indices)) = at.split_first() else { return values.join(", ") };
    let values = if values.is_empty() { String::new() } else { format!(" {}", values.join(", ")) };
    format!("{window} [{}]{values}", indices.join(", "))
}

/// `  // line 12: free`, of what is there.
fn comment(line: Option<String>, cost: Option<String>) -> String {
    let notes: Vec<String> = line.into_iter().chain(cost).collect();
    if notes.is_empty() { String::new() } else { format!("  // {}", notes.join(": ")) }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::ir::tests::builder::{Builder, tile};
    use crate::ir::{
        Atomic, Binary, Compare, CopyOp, Dtype, Elem, Fact, MemoryOp, Op, Scope, SourceOp, SyncOp,
        TileOp, Type,
    };

    #[test]
    fn operations_read_from_left_to_right() {
        let mut b = Builder::new("everything", 2);
        let x = b.tensor("x", Dtype::F32, 2);
        let p = b.pointer("p", Dtype::I32);
        let n = b.scalar_param("n", Dtype::I32);
        b.fact(Fact::ScalarMultiple { param: n, of: 8 });
        let (root, ring) = b.shared(Dtype::F32, &[2, 16, 8]);
        b.pin_shared(root, kernel_layout::Form::RowMajor);
        let zero = b.int(0);
        let slot = b.slot(ring, zero);
        b.copy_async(x, &[zero, zero], slot);
        b.effect(CopyOp::Wait(1), &[]);
        let turned = b.transposed(slot);
        let tile_8x16 = b.load_shared(turned);
        let flat = b.op(TileOp::Reshape, &[tile_8x16], tile(Dtype::F32, &[128]));
        let sum = b.reduce(flat, 0, Binary::Add);
        let n = b.op(SourceOp::ParamScalar(n), &[], Type::scalar(Dtype::I32));
        let few = b.op(Compare::Lt, &[n, zero], Type::scalar(Dtype::Bool));
        b.effect(Op::Assert("enough".to_owned()), &[few]);
        let chosen = b.branch(few, |_| vec![sum], |b| vec![b.float(Dtype::F32, -0.5)]);
        b.branch(
            few,
            |b| {
                b.effect(SyncOp::Block, &[]);
                vec![]
            },
            |_| vec![],
        );
        let wide = b.splat(chosen[0], &[8, 16]);
        b.store_tensor(x, &[zero, n], wide);
        let pointer = b.op(SourceOp::ParamPtr(p), &[], Type::Scalar(Elem::Ptr(Dtype::I32)));
        b.effect(MemoryOp::StorePtr { masked: true }, &[pointer, n, few]);
        b.op(MemoryOp::Atomic(Atomic::Max, Scope::Gpu), &[pointer, n], Type::scalar(Dtype::I32));
        b.op(TileOp::Permute(vec![1, 0]), &[wide], tile(Dtype::F32, &[16, 8]));
        expect![[r#"
            kernel everything(x: tensor_mut<f32, 2>, p: ptr<i32>, n: i32)
              target sm_80, warps 2
              fact x is aligned to 16 bytes
              fact stride 1 of x is 1
              fact stride 0 of x is a multiple of 16
              fact dim 1 of x is a multiple of 16
              fact p is aligned to 16 bytes
              fact n is a multiple of 8
              shared @tile0 : f32[2, 16, 8] pinned row_major()
            {
              %0 = shared_alloc @tile0 : @tile0 f32[2, 16, 8]
              %1 = const 0 : i32
              %2 = shared_index %0, %1 : @tile0 f32[16, 8]
              copy_async x [%1, %1] %2
              copy_wait 1
              %3 = shared_transpose %2 : @tile0 f32[8, 16] transposed
              %4 = load_shared %3 : f32[8, 16]
              %5 = reshape %4 : f32[128]
              reduce 0 (%5) by (%7 : f32, %8 : f32) -> (%6 : f32) {
                %9 = add %7, %8 : f32
                yield (%9)
              }
              %10 = param n : i32
              %11 = lt %10, %1 : bool
              assert %11 "enough"
              if %11 -> (%12 : f32) {
                yield (%6)
              } else {
                %13 = const -0.5 : f32
                yield (%13)
              }
              if %11 {
                sync
                yield ()
              }
              %14 = splat %12 : f32[8, 16]
              store_tensor x [%1, %10] %14
              %15 = param_ptr p : ptr<i32>
              store_ptr %15, %10 where %11
              %16 = atomic_max %15, %10 : i32
              %17 = permute [1, 0] %14 : f32[16, 8]
              return
            }
        "#]]
        .assert_eq(&b.finish().to_string());
    }
}
