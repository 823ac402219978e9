//! Matrix products: the layouts of accumulators, and with them of the operands.

use kernel_layout::forms::mma_v2_accumulator;
use kernel_layout::{Form, Layout};
use la_arena::ArenaMap;

use super::blocked::blocked;
use super::graph::{Dot, Graph, Recipe};
use crate::ir::{Dtype, Elem, Kernel, Op, ProductOp, Value};

/// Rows and columns of the result of one `mma.sync` (PTX ISA, "Matrix multiply-accumulate operation using mma instruction").
const MMA_TILE: [u32; 2] = [16, 8];
/// Lanes of a warp.
const LANES: u32 = 32;

/// The warps along rows and columns with which `layout` is that of an accumulator of `mma.sync`; none if it is not.
///
/// The operands of a product with such a result have the layouts of [`mma_v2_operand`](kernel_layout::forms::mma_v2_operand)
/// with the same warps, all others that of [`fma_operand`](kernel_layout::forms::fma_operand).
pub fn mma_warps(layout: &Layout, warps: u32) -> Option<[u32; 2]> {
    let shape = layout.shape();
    if shape.len() != 2 {
        return None;
    }
    grids(warps).find(|&grid| mma_v2_accumulator(grid, &shape).is_ok_and(|mma| mma == *layout))
}

/// All ways to arrange warps in rows and columns, most rows first.
fn grids(warps: u32) -> impl Iterator<Item = [u32; 2]> {
    (0..=warps.trailing_zeros()).map(move |log2_columns| [warps >> log2_columns, 1 << log2_columns])
}

/// Types and extents of a matrix product.
#[derive(Clone, Copy, Debug)]
struct Facts {
    operand: Dtype,
    accumulator: Dtype,
    rows: u32,
    columns: u32,
    depth: u32,
}

fn facts(kernel: &Kernel, dot: &Dot) -> Facts {
    let dtype = |value: Value| match kernel.ty(value).elem() {
        Some(Elem::Number(dtype)) => dtype,
        Some(Elem::Ptr(_)) | None => unreachable!("ir::verify requires tiles of numbers here"),
    };
    let (left, right) = (kernel.ty(dot.args[0]).shape(), kernel.ty(dot.args[1]).shape());
    Facts {
        operand: dtype(dot.args[0]),
        accumulator: dtype(dot.args[2]),
        rows: left[0],
        columns: right[1],
        depth: left[1],
    }
}

/// How tensor cores do a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorCore {
    /// How many elements along `k` a register of an operand holds.
    pub k_width: u32,
    /// How many such registers one instruction reads for each row of the left operand: 2, or 1 of shallow products.
    pub words: u32,
}

/// How tensor cores multiply operands of `operand` and depth `depth` into sums of `accumulator`; none if they do not.
///
/// PTX ISA, "Matrix multiply-accumulate operation using mma instruction": m16n8k16 and m16n8k8 for `f16` and `bf16`, m16n8k8 and
/// m16n8k4 for tf32, m16n8k32 and m16n8k16 for bytes. Four lanes share a row, so that an instruction is four or eight registers deep.
pub fn tensor_core(
    operand: Dtype,
    accumulator: Dtype,
    depth: u32,
    tf32: bool,
) -> Option<TensorCore> {
    let factor = operand.row().factor.filter(|factor| factor.mma.is_some())?;
    if !factor.sums.contains(&accumulator) || operand == Dtype::F32 && !tf32 {
        return None;
    }
    let k_width = 4 / operand.bytes();
    let words = (depth / (4 * k_width)).min(2);
    (words > 0).then_some(TensorCore { k_width, words })
}

fn k_width(facts: Facts, tf32: bool) -> Option<u32> {
    tensor_core(facts.operand, facts.accumulator, facts.depth, tf32).map(|core| core.k_width)
}

/// Whether tensor cores do a product. Its accumulator is converted to what they take, whatever its layout.
pub(super) fn on_tensor_cores(kernel: &Kernel, dot: &Dot) -> bool {
    k_width(facts(kernel, dot), dot.tf32).is_some()
}

/// Whether a product can leave its result in a layout.
pub(super) fn accepts(kernel: &Kernel, dot: &Dot, layout: &Layout, form: Option<&Form>) -> bool {
    form_of(kernel, dot, layout, form).is_some()
}

/// The form of a result's layout, if a product can have it.
pub(super) fn form_of(
    kernel: &Kernel,
    dot: &Dot,
    layout: &Layout,
    form: Option<&Form>,
) -> Option<Form> {
    if on_tensor_cores(kernel, dot) {
        // Whatever its name: a blocked layout may be that of an accumulator.
        return mma_warps(layout, dot.warps).map(|warps| Form::MmaV2 { warps });
    }
    match form {
        Some(Form::Blocked { .. }) => form.cloned(),
        // Who pins an accumulator of `mma.sync` awaits tensor cores, though its threads hold blocks, in other registers.
        Some(_) | None => blocked(layout, dot.warps).filter(|form| {
            mma_warps(layout, dot.warps).is_none()
                || form.to_layout(&layout.shape()).as_ref() == Ok(layout)
        }),
    }
}

/// The form of an operand, given that of the result.
pub(super) fn operand_form(kernel: &Kernel, dot: &Dot, index: u32, result: &Form) -> Form {
    // A product by fused multiply-add does not look at it.
    let k_width = k_width(facts(kernel, dot), dot.tf32).unwrap_or(1);
    Form::DotOperand { index, parent: Box::new(result.clone()), k_width }
}

/// The layout of an operand, given the form of the result.
pub(super) fn operand_layout(kernel: &Kernel, dot: &Dot, index: u32, result: &Form) -> Layout {
    let shape = kernel.ty(dot.args[index as usize]).shape();
    let form = operand_form(kernel, dot, index, result);
    form.to_layout(shape)
        .expect("the result's form is one that products have, and extents are powers of two")
}

/// Which products should keep all warps along one axis, because their result is an operand of another one, or the other way
/// round: along the rows for a left operand, along the columns for a right one. Then every warp has the rows (columns) of the
/// operand that it needs in its own registers.
pub(super) fn chained(graph: &Graph) -> Vec<Option<u32>> {
    let mut axes = vec![None; graph.dots.len()];
    let by_result: ArenaMap<_, usize> =
        graph.dots.iter().enumerate().map(|(at, dot)| (dot.node, at)).collect();
    for (at, dot) in graph.dots.iter().enumerate() {
        for (axis, &operand) in (0..).zip(&dot.args[..2]) {
            for source in sources(graph, operand) {
                let producer = graph.of.get(source).and_then(|&node| by_result.get(node));
                if let Some(&producer) = producer {
                    axes[at].get_or_insert(axis);
                    axes[producer].get_or_insert(axis);
                }
            }
        }
    }
    axes
}

/// The results of matrix products from which a tile follows by elementwise operations.
fn sources(graph: &Graph, tile: Value) -> Vec<Value> {
    let mut found = Vec::new();
    let mut seen: ArenaMap<Value, ()> = ArenaMap::default();
    let mut open = vec![tile];
    while let Some(value) = open.pop() {
        if seen.insert(value, ()).is_some() {
            continue;
        }
        match graph.makers.get(value) {
            Some(Recipe { op: Op::Product(ProductOp::Dot { .. }), .. }) => found.push(value),
            Some(Recipe { op: Op::Elementwise(_), args }) => {
                open.extend(args);
            }
            Some(_) | None => {}
        }
    }
    found
}

/// The layout that a product chooses for its result; `chained` is the axis that should keep all warps, if any.
pub(super) fn choose(kernel: &Kernel, dot: &Dot, chained: Option<u32>) -> Form {
    let facts = facts(kernel, dot);
    if k_width(facts, dot.tf32).is_none() {
        return fma_form(facts, dot.warps);
    }
    let warps = dot.warps;
    let along = match chained {
        Some(0) if facts.rows >= MMA_TILE[0] * warps => Some([warps, 1]),
        Some(1) if facts.columns >= MMA_TILE[1] * warps => Some([1, warps]),
        Some(_) | None => None,
    };
    // A warp reads (rows + columns) · depth elements of its operands and computes rows · columns · depth products. No warp
    // should compute what another one does, and all together should read as little as possible: squares, nearly.
    let cost = |grid: &[u32; 2]| {
        let rows = (facts.rows / grid[0]).max(MMA_TILE[0]);
        let columns = (facts.columns / grid[1]).max(MMA_TILE[1]);
        (rows * columns, rows + columns)
    };
    let best = grids(warps).min_by_key(cost).expect("there is at least one choice");
    Form::MmaV2 { warps: along.unwrap_or(best) }
}

/// A result by fused multiply-add: squares of elements per thread, so that an operand that is read serves several products.
fn fma_form(facts: Facts, warps: u32) -> Form {
    let share = facts.rows * facts.columns / (warps * LANES);
    let side = match share {
        0..4 => 1,
        4..16 => 2,
        16.. => 4,
    };
    let per_thread = [side.min(facts.rows), side.min(facts.columns)];
    let (rows, columns) = (facts.rows / per_thread[0], facts.columns / per_thread[1]);
    let lane_columns = columns.min(8).max(LANES / rows.min(LANES)).min(LANES);
    let lane_rows = LANES / lane_columns;
    let warp_rows = (rows / lane_rows).clamp(1, warps);
    Form::Blocked {
        per_thread: per_thread.to_vec(),
        lanes: vec![lane_rows, lane_columns],
        warps: vec![warp_rows, warps / warp_rows],
        order: vec![1, 0],
    }
}
