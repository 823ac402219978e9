//! What lowering relies on, checked: layouts that fit their tiles and one another.
//!
//! * the layout of a tile covers its shape, with 32 lanes and the warps that run what makes it;
//! * operands have the layout that follows from that of the result: the same for elementwise operations, the slice for an expansion;
//! * operands of a product hold the rows and columns that the accumulator's threads need, as the instruction requires them;
//! * a reduction leaves the slice of its operands' layout, a scan the layout itself;
//! * what regions pass has the layout of what receives it;
//! * a conversion ends in the layout that it names;
//! * a gather or a scatter has four rows in the first four registers, and the same in all lanes of a warp;
//! * an instruction moves every tile that is read from or written to tensor memory;
//! * shared memory has a place for every element.
//!
//! Only the resulting layouts are checked, not the decisions of inference.

use std::collections::BTreeSet;

use kernel_layout::forms::LANES;
use kernel_layout::{Dim, Form, Layout};

use super::Inferred;
use super::dot::{Product, further_layout, mma_warps, tensor_core};
use super::graph::{Transfer, to_operands};
use super::wgmma;
use crate::ir::{
    CopyOp, Crews, Factors, Kernel, Op, ProductOp, Region, StmtKind, TensorMemoryOp, Terminator,
    TileOp, Type, Value,
};

/// Checks the layouts of a kernel in which no value has the type of an error.
///
/// # Errors
/// With a sentence on the first that is wrong. Values appear under their arena index.
pub fn verify(kernel: &Kernel, inferred: &Inferred) -> Result<(), String> {
    for (shared, _) in kernel.shared.iter() {
        let layout = inferred.shared.get(shared).ok_or("shared memory without a layout")?;
        let legal = layout.in_dims().eq([Dim::Offset]) && layout.is_surjective();
        require(legal, || format!("shared memory in {layout}, which does not hold every element"))?;
    }
    let mut verifier = Verifier {
        kernel,
        inferred,
        covering: Vec::new(),
        crews: kernel.crews(),
        loops: Vec::new(),
    };
    verifier.region(&kernel.body, &[])
}

fn require(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

fn show(value: Value) -> String {
    format!("value {}", value.into_raw().into_u32())
}

struct Verifier<'a> {
    kernel: &'a Kernel,
    inferred: &'a Inferred,
    /// Layouts that were found to cover their shapes: kernels have few.
    covering: Vec<(&'a Layout, u32)>,
    crews: Crews,
    /// What the enclosing loops carry, and what they result in.
    loops: Vec<(&'a [Value], &'a [Value])>,
}

impl<'a> Verifier<'a> {
    fn is_tile(&self, value: Value) -> bool {
        matches!(self.kernel.ty(value), Type::Tile(..))
    }

    fn layout(&mut self, value: Value) -> Result<&'a Layout, String> {
        let layout = self
            .inferred
            .layouts
            .get(value)
            .ok_or_else(|| format!("{} has no layout", show(value)))?;
        let shape = self.kernel.ty(value).shape();
        require(layout.shape() == shape, || {
            format!("{} of shape {shape:?} has a layout of {:?}", show(value), layout.shape())
        })?;
        let warps = self.crews.warps(value);
        if !self.covering.contains(&(layout, warps)) {
            let legal = layout.in_dims().eq([Dim::Register, Dim::Lane, Dim::Warp])
                && layout.in_size(Dim::Lane) == LANES
                && layout.in_size(Dim::Warp) == warps
                && layout.is_surjective();
            require(legal, || format!("{} in {layout}, which does not cover it", show(value)))?;
            self.covering.push((layout, warps));
        }
        Ok(layout)
    }

    /// Tiles have the layouts of what stands for them on the other side.
    fn same(&mut self, what: &str, values: &[Value], others: &[Value]) -> Result<(), String> {
        for (&value, &other) in values.iter().zip(others) {
            if self.is_tile(value) && self.is_tile(other) {
                let required = self.layout(other)?;
                self.has(what, value, required)?;
            }
        }
        Ok(())
    }

    fn has(&mut self, what: &str, value: Value, required: &Layout) -> Result<(), String> {
        let actual = self.layout(value)?;
        require(actual == required, || {
            format!("{what}: {} has {actual}, required is {required}", show(value))
        })
    }

    /// `results` are those of the branch that the region is a side of.
    fn region(&mut self, region: &'a Region, results: &'a [Value]) -> Result<(), String> {
        for stmt in &region.stmts {
            self.stmt(&stmt.kind)?;
        }
        let at = |depth: u32| self.loops[self.loops.len() - 1 - depth as usize];
        let (what, values, receivers) = match &region.end {
            Terminator::Return => return Ok(()),
            Terminator::Yield(values) => ("a yield", values, results),
            Terminator::Continue(depth, values) => ("a continue", values, at(*depth).0),
            Terminator::Break(depth, values) => ("a break", values, at(*depth).1),
        };
        self.same(what, values, receivers)
    }

    fn stmt(&mut self, kind: &'a StmtKind) -> Result<(), String> {
        match kind {
            StmtKind::Op { op, args, result } => self.op(op, args, *result),
            StmtKind::If { then, otherwise, results, .. } => {
                self.region(then, results)?;
                self.region(otherwise, results)
            }
            StmtKind::For { inits, body, results, .. } => {
                let carried = &body.args[1..];
                // The last iteration passes nothing: what is carried is the result.
                self.same("a loop's result", results, carried)?;
                self.body(inits, carried, body, results)
            }
            StmtKind::Loop { inits, body, results } => self.body(inits, &body.args, body, results),
            StmtKind::Specialize { default, partitions, results } => {
                self.region(default, results)?;
                partitions.iter().try_for_each(|one| self.region(&one.body, &[]))
            }
            StmtKind::Ptx { args, results, .. } => {
                let all = args.iter().chain(results).copied();
                let tiles: Vec<Value> = all.filter(|&value| self.is_tile(value)).collect();
                let Some(&first) = tiles.first() else { return Ok(()) };
                self.same("written-out instructions", &tiles, &vec![first; tiles.len()])
            }
            StmtKind::Scan { args, results, .. } => {
                self.same("a scan", args, &vec![results[0]; args.len()])?;
                self.same("a scan's result", results, &vec![results[0]; results.len()])
            }
            StmtKind::Reduce { args, axis, results, .. } => {
                self.same("a reduction", &args[1..], &vec![args[0]; args.len() - 1])?;
                let slice = Transfer::Slice(*axis).apply(self.layout(args[0])?);
                for &result in results {
                    if self.is_tile(result) {
                        self.has("a reduction's result", result, &slice)?;
                    }
                }
                Ok(())
            }
        }
    }

    fn body(
        &mut self,
        inits: &[Value],
        carried: &'a [Value],
        body: &'a Region,
        results: &'a [Value],
    ) -> Result<(), String> {
        self.same("the start of a loop", inits, carried)?;
        self.loops.push((carried, results));
        self.region(body, &[])?;
        self.loops.pop();
        Ok(())
    }

    fn op(&mut self, op: &Op, args: &[Value], result: Option<Value>) -> Result<(), String> {
        let tiles: Vec<Value> = args.iter().copied().filter(|&arg| self.is_tile(arg)).collect();
        for &tile in tiles.iter().chain(&result) {
            if self.is_tile(tile) {
                self.layout(tile)?;
            }
        }
        if let Op::TensorMemory(TensorMemoryOp::Load | TensorMemoryOp::Store) = op
            && let Type::TensorMemory(window) = self.kernel.ty(args[0])
            && let Some(&tile) = tiles.iter().chain(&result).next()
        {
            let layout = self.layout(tile)?;
            let moved = super::tensor_memory::moves(self.kernel, window, layout).is_some();
            require(moved, || format!("tensor memory in {layout}, which no instruction moves"))?;
        }
        let Some(result) = result.filter(|&result| self.is_tile(result)) else {
            // What writes or tests tiles does so element by element.
            let first = tiles.first().copied();
            if let (Op::Copy(CopyOp::Tma(_)), Some(rows)) = (op, first) {
                let layout = self.layout(rows)?;
                let whole = super::gather::accepts(layout);
                require(whole, || {
                    format!("rows in {layout}, from which no instruction takes them")
                })?;
            }
            return first
                .map_or(Ok(()), |first| self.same("an effect", &tiles, &vec![first; tiles.len()]));
        };
        let own = self.layout(result)?;
        if let Op::Product(ProductOp::Dot(factors)) = op {
            self.same("an accumulator", &args[2..3], &[result])?;
            return self.product(args, own, *factors);
        }
        if let Op::Product(ProductOp::Wgmma { .. }) = op {
            let product = [args[0], args[1], args[2]];
            self.has("the sums of a product", result, &wgmma::layout(self.kernel, product))?;
            if self.is_tile(args[0]) {
                self.has("an operand", args[0], &wgmma::left_layout(self.kernel, product))?;
            }
            if let Some(&metadata) = args.get(3) {
                let required = wgmma::metadata_layout(self.kernel, product, metadata);
                self.has("metadata", metadata, &required)?;
            }
            return self.same("an accumulator", &args[2..3], &[result]);
        }
        if let Op::Product(ProductOp::WgmmaWait(_)) = op {
            return self.same("an accumulator in flight", &args[..1], &[result]);
        }
        if let Op::Tile(TileOp::Gather(_)) = op {
            return self.same("indices", &args[1..], &[result]);
        }
        if let Op::Tile(TileOp::ToLayout(form)) = op {
            return conversion(form, result, own);
        }
        for tile in tiles {
            let (from, to) = (self.kernel.ty(tile).shape(), own.shape());
            match to_operands(op, from, &to) {
                Some(Transfer::Same) => self.has("an operand", tile, own)?,
                Some(transfer) => self.has("an operand", tile, &transfer.apply(own))?,
                None => {}
            }
        }
        Ok(())
    }

    /// The operands of a product hold what the threads of the accumulator multiply.
    fn product(&mut self, args: &[Value], own: &Layout, factors: Factors) -> Result<(), String> {
        let product = Product::of(self.kernel, args, factors);
        let core = tensor_core(&product);
        let warps = mma_warps(own, own.in_size(Dim::Warp));
        if let (Some(core), Some(warps)) = (core, warps) {
            for index in 0..2 {
                let operand = args[index as usize];
                let shape = self.kernel.ty(operand).shape();
                let dtype = product.operands[index as usize];
                let required = core
                    .operand((index, dtype), warps, shape)
                    .map_err(|error| format!("a product of {}: {error}", show(operand)))?;
                self.has("an operand", operand, &required)?;
            }
            for (index, &value) in (0..).zip(&args[3..]) {
                let required = further_layout(self.kernel, &product, (value, index), warps)
                    .map_err(|error| format!("scales or metadata, {}: {error}", show(value)))?;
                self.has("scales or metadata", value, &required)?;
            }
            return Ok(());
        }
        for (axis, &operand) in args[..2].iter().enumerate() {
            let layout = self.layout(operand)?;
            let threads = [Dim::Lane, Dim::Warp].into_iter().all(|dim| {
                let mut bases = layout.bases(dim).iter().zip(own.bases(dim));
                bases.all(|(factor, sum)| factor[axis] == sum[axis] && factor[1 - axis] == 0)
            });
            let places = |layout: &Layout| -> BTreeSet<[u32; 2]> {
                let at = |register| layout.apply(&[(Dim::Register, register)]);
                (0..layout.in_size(Dim::Register)).map(at).map(|at| [at[0], at[1]]).collect()
            };
            let held = places(layout);
            let lines: BTreeSet<u32> = places(own).into_iter().map(|at| at[axis]).collect();
            let whole = lines.into_iter().all(|line| {
                (0..product.depth)
                    .all(|step| held.contains(&if axis == 0 { [line, step] } else { [step, line] }))
            });
            require(threads && whole, || {
                format!("an operand: {} has {layout}, not what {own} multiplies", show(operand))
            })?;
        }
        Ok(())
    }
}

fn conversion(form: &Form, result: Value, own: &Layout) -> Result<(), String> {
    // What a user writes as bases has to be short; what follows from layouts of many registers does not.
    let named = if let Form::Linear(bases) = form
        && bases.shape() == own.shape()
    {
        bases.clone()
    } else {
        form.to_layout(&own.shape()).map_err(|error| {
            format!("{} is converted to {form}, which is not a layout: {error}", show(result))
        })?
    };
    let dims = [Dim::Register, Dim::Lane, Dim::Warp];
    let same = dims.iter().all(|&dim| named.bases(dim) == own.bases(dim));
    require(same, || format!("{} is converted to {named} and has {own}", show(result)))
}

#[cfg(test)]
mod tests;
