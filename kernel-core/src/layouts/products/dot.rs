//! Matrix products: the layouts of accumulators, and with them of the operands.

use kernel_layout::forms::{
    LANES, mma_v2_accumulator, mma_v2_metadata, mma_v2_operand, mma_v2_quarters, mma_v2_scales,
};
use kernel_layout::{Form, Layout, LayoutError};
use kernel_ptx::Word;
use la_arena::ArenaMap;

use crate::ir::{Dtype, Elem, Factors, Kernel, Op, ProductOp, Scaled, Value};
use crate::layouts::blocked::blocked;
use crate::layouts::graph::{Dot, Graph, Recipe};

/// Rows and columns of the result of one `mma.sync` (PTX ISA, "Matrix multiply-accumulate operation using mma instruction").
const MMA_TILE: [u32; 2] = [16, 8];

/// The warps along rows and columns with which `layout` is that of an accumulator of `mma.sync`; none if it is not.
///
/// The operands of a product with such a result have the layouts of [`mma_v2_operand`]
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
pub struct Product {
    /// The element types of the operands.
    pub operands: [Dtype; 2],
    /// That of the accumulator.
    pub accumulator: Dtype,
    /// Rows of the accumulator.
    pub rows: u32,
    /// Columns of the accumulator.
    pub columns: u32,
    /// The numbers of a row of the left operand; of a sparse one, those that are kept.
    pub depth: u32,
    /// What the product takes of its operands.
    pub factors: Factors,
}

impl Product {
    /// The product of these operands: left, right, accumulator.
    pub fn of(kernel: &Kernel, args: &[Value], factors: Factors) -> Product {
        let dtype = |value: Value| match kernel.ty(value).elem() {
            Some(Elem::Number(dtype)) => dtype,
            Some(Elem::Ptr(_)) | None => unreachable!("ir::verify requires tiles of numbers here"),
        };
        let (left, right) = (kernel.ty(args[0]).shape(), kernel.ty(args[1]).shape());
        Product {
            operands: [dtype(args[0]), dtype(args[1])],
            accumulator: dtype(args[2]),
            rows: left[0],
            columns: right[1],
            depth: left[1] * dtype(args[0]).numbers(),
            factors,
        }
    }

    /// The kind of `mma.sync`, if it has one: of operands of different types, of numbers of fewer than eight bits, and of scales.
    pub fn kind(&self) -> Option<Word> {
        let [left, right] = self.operands;
        let scaled = self.scaled();
        let narrow = left != right || left.row().packing.is_some() || scaled.is_some();
        narrow.then(|| crate::layouts::tcgen05::kind(left, scaled))
    }

    /// How the scales are read; none of a product without.
    pub fn scaled(&self) -> Option<Scaled> {
        match self.factors {
            Factors::Full | Factors::Tf32 | Factors::Sparse => None,
            Factors::Scaled(scaled) => Some(scaled),
        }
    }
}

fn product(kernel: &Kernel, dot: &Dot) -> Product {
    Product::of(kernel, &dot.args, dot.factors)
}

/// How tensor cores do a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorCore {
    /// How many numbers along `k` a register of an operand holds.
    pub k_width: u32,
    /// How many such registers one instruction reads for each row of the left operand: 2, or 1 of shallow products.
    pub words: u32,
}

impl TensorCore {
    /// How many elements along `k` a register of an operand holds; of an element that lanes share, the one.
    pub fn elements(self, operand: Dtype) -> u32 {
        (self.k_width / operand.numbers()).max(1)
    }

    /// The layout of an operand, left or right, for an accumulator of these warps.
    ///
    /// # Errors
    /// If the shape is not that of a matrix.
    pub fn operand(
        self,
        (index, dtype): (u32, Dtype),
        warps: [u32; 2],
        shape: &[u32],
    ) -> Result<Layout, LayoutError> {
        if dtype.numbers() > self.k_width {
            return mma_v2_quarters(index, warps, shape);
        }
        mma_v2_operand(index, warps, self.elements(dtype), shape)
    }
}

/// How tensor cores do a product; none if they do not.
///
/// PTX ISA, "Matrix multiply-accumulate operation using mma instruction": m16n8k16 and m16n8k8 for `f16` and `bf16`, m16n8k8 and
/// m16n8k4 for tf32, m16n8k32 and m16n8k16 for bytes. Four lanes share a row, so that an instruction is four or eight registers deep.
/// `.kind::f8f6f4` and `.kind::mxf8f6f4` have m16n8k32 alone, with a byte for each number, `.kind::mxf4` and `.kind::mxf4nvf4` m16n8k64.
pub fn tensor_core(product: &Product) -> Option<TensorCore> {
    let operand = product.operands[0];
    let factor = operand.row().factor.filter(|factor| factor.mma.is_some())?;
    let whole = operand == Dtype::F32 && product.factors == Factors::Full;
    if !factor.sums.contains(&product.accumulator) || whole {
        return None;
    }
    let k_width = match product.kind() {
        // Two numbers to each byte of a register.
        Some(Word::KindMxf4 | Word::KindMxf4nvf4) => 8,
        Some(_) => 4,
        None => 4 / operand.bytes(),
    };
    let words = (product.depth / (4 * k_width)).min(2);
    (words > 0).then_some(TensorCore { k_width, words })
}

/// Whether tensor cores do a product. Its accumulator is converted to what they take, whatever its layout.
pub(crate) fn on_tensor_cores(kernel: &Kernel, dot: &Dot) -> bool {
    tensor_core(&product(kernel, dot)).is_some()
}

/// Whether a product can leave its result in a layout.
pub(crate) fn accepts(kernel: &Kernel, dot: &Dot, layout: &Layout, form: Option<&Form>) -> bool {
    form_of(kernel, dot, layout, form).is_some()
}

/// The form of a result's layout, if a product can have it.
pub(crate) fn form_of(
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
pub(crate) fn operand_form(kernel: &Kernel, dot: &Dot, index: u32, result: &Form) -> Form {
    let product = product(kernel, dot);
    // A product by fused multiply-add does not look at it.
    let elements = |core: TensorCore| core.elements(product.operands[index as usize]);
    let k_width = tensor_core(&product).map_or(1, elements);
    Form::DotOperand { index, parent: Box::new(result.clone()), k_width }
}

/// The layout of an operand, given the form of the result.
pub(crate) fn operand_layout(kernel: &Kernel, dot: &Dot, index: u32, result: &Form) -> Layout {
    let shape = kernel.ty(dot.args[index as usize]).shape();
    let product = product(kernel, dot);
    let layout = match (tensor_core(&product), result) {
        (Some(core), Form::MmaV2 { warps }) => {
            core.operand((index, product.operands[index as usize]), *warps, shape)
        }
        (_, result) => operand_form(kernel, dot, index, result).to_layout(shape),
    };
    layout.expect("the result's form is one that products have, and extents are powers of two")
}

/// The layouts of everything but the accumulator that a product takes, given the form of the result: its operands, and their scales or
/// the metadata of the left one.
pub(crate) fn taken(kernel: &Kernel, dot: &Dot, result: &Form) -> Vec<(Value, Layout)> {
    let operands =
        [0, 1].map(|at| (dot.args[at as usize], operand_layout(kernel, dot, at, result)));
    let more = dot.more.iter().zip(0..).map(|(&value, index)| {
        let Form::MmaV2 { warps } = result else {
            unreachable!("tensor cores do all block-scaled and sparse products, see elaborate")
        };
        let layout = further_layout(kernel, &product(kernel, dot), (value, index), *warps);
        (value, layout.expect("extents are powers of two"))
    });
    operands.into_iter().chain(more).collect()
}

/// The layout of an operand after the accumulator: the scales of either side, or metadata.
///
/// # Errors
/// If the shape is not that of a matrix.
pub(crate) fn further_layout(
    kernel: &Kernel,
    product: &Product,
    (value, index): (Value, u32),
    warps: [u32; 2],
) -> Result<Layout, LayoutError> {
    let shape = kernel.ty(value).shape();
    match product.factors {
        Factors::Sparse => mma_v2_metadata(product.operands[0].bytes(), warps, shape),
        Factors::Full | Factors::Tf32 | Factors::Scaled(_) => mma_v2_scales(index, warps, shape),
    }
}

/// Which products should keep all warps along one axis, because their result is an operand of another one, or the other way
/// round: along the rows for a left operand, along the columns for a right one. Then every warp has the rows (columns) of the
/// operand that it needs in its own registers.
pub(crate) fn chained(graph: &Graph) -> Vec<Option<u32>> {
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
            Some(Recipe { op: Op::Product(ProductOp::Dot(_)), .. }) => found.push(value),
            Some(Recipe { op: Op::Elementwise(_), args }) => {
                open.extend(args);
            }
            Some(_) | None => {}
        }
    }
    found
}

/// The layout that a product chooses for its result; `chained` is the axis that should keep all warps, if any.
pub(crate) fn choose(kernel: &Kernel, dot: &Dot, chained: Option<u32>) -> Form {
    let product = product(kernel, dot);
    if tensor_core(&product).is_none() {
        return fma_form(product, dot.warps);
    }
    let warps = dot.warps;
    let along = match chained {
        Some(0) if product.rows >= MMA_TILE[0] * warps => Some([warps, 1]),
        Some(1) if product.columns >= MMA_TILE[1] * warps => Some([1, warps]),
        Some(_) | None => None,
    };
    // A warp reads (rows + columns) · depth elements of its operands and computes rows · columns · depth products. No warp
    // should compute what another one does, and all together should read as little as possible: squares, nearly.
    let cost = |grid: &[u32; 2]| {
        let rows = (product.rows / grid[0]).max(MMA_TILE[0]);
        let columns = (product.columns / grid[1]).max(MMA_TILE[1]);
        (rows * columns, rows + columns)
    };
    let best = grids(warps).min_by_key(cost).expect("there is at least one choice");
    Form::MmaV2 { warps: along.unwrap_or(best) }
}

/// A result by fused multiply-add: squares of elements per thread, so that an operand that is read serves several products.
fn fma_form(product: Product, warps: u32) -> Form {
    let share = product.rows * product.columns / (warps * LANES);
    let side = match share {
        0..4 => 1,
        4..16 => 2,
        16.. => 4,
    };
    let per_thread = [side.min(product.rows), side.min(product.columns)];
    let (rows, columns) = (product.rows / per_thread[0], product.columns / per_thread[1]);
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
