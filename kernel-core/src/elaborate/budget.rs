//! The size of the code of an instance: every operation on a tile is written out once for each element of a thread.

use crate::{
    diag::Code,
    elaborate::{Builder, MAX_STEPS},
    ir::{Op, ProductOp, StmtKind, TileOp, Type, Value},
    layouts::{Product, tensor_core},
    loc::Loc,
};

/// Instructions that the operations of an instance may become, counted before anything is folded. What is written by
/// hand has thousands; at this many, compiling takes seconds and `ptxas` minutes.
const MAX_INSTRUCTIONS: u64 = 1 << 16;

/// What building has emitted so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Emitted {
    instructions: u64,
    /// The operation or unrolled loop that became most, and how many.
    largest: Option<(u64, Loc)>,
}

/// An unrolled loop that is being written out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unrolling {
    pub(crate) loc: Loc,
    /// The iteration, from 1.
    pub(crate) iteration: usize,
    pub(crate) iterations: usize,
}

impl Builder<'_> {
    /// Counts a statement, and reports the first that is too much.
    pub(crate) fn count_code(&mut self, kind: &StmtKind, loc: Loc) {
        let weight = self.instructions(kind);
        let emitted = &mut self.emitted;
        let before = emitted.instructions;
        emitted.instructions = before.saturating_add(weight);
        if emitted.largest.is_none_or(|(most, _)| weight > most) {
            emitted.largest = Some((weight, loc));
        }
        if before > MAX_INSTRUCTIONS || emitted.instructions <= MAX_INSTRUCTIONS {
            return;
        }
        let limit = format!("at most {MAX_INSTRUCTIONS}");
        let unrolling = self.frames.iter().find_map(|frame| frame.unrolling);
        let diagnostic = if let Some(Unrolling { loc, iteration, iterations }) = unrolling {
            Code::Unbounded.at(loc, "this unrolled loop becomes too many instructions")
                .compare(
                    "instructions",
                    limit,
                    format!("{} by iteration {iteration} of {iterations}", self.emitted.instructions),
                )
                .why("each iteration is written out, with each operation once for every element that a thread holds")
                .help("for i in start..end // without `unroll`, or with smaller tiles")
        } else {
            let (most, at) = self.emitted.largest.unwrap_or((weight, loc));
            Code::Unbounded.at(at, "this kernel becomes too many instructions")
                .compare(
                    "instructions",
                    limit,
                    format!("{} or more, {most} of them here", self.emitted.instructions),
                )
                .why("each operation on a tile is written out once for every element that a thread holds")
                .help("warps = 8 // or smaller tiles")
        };
        self.report(diagnostic);
        // Evaluation ends here.
        self.steps = MAX_STEPS;
    }

    /// How many instructions there are so far.
    pub(crate) fn code_so_far(&self) -> u64 {
        self.emitted.instructions
    }

    /// An unrolled loop has ended that began with `before` instructions.
    pub(crate) fn count_unrolled(&mut self, before: u64, loc: Loc) {
        let became = self.emitted.instructions.saturating_sub(before);
        if self.emitted.largest.is_none_or(|(most, _)| became > most) {
            self.emitted.largest = Some((became, loc));
        }
    }

    /// About as many instructions as a statement becomes in each thread.
    fn instructions(&self, kind: &StmtKind) -> u64 {
        let threads = u64::from(self.warps * 32);
        let elements = |value: &Value| match self.ty(*value) {
            Type::Tile(_, shape) => shape.iter().map(|extent| u64::from(*extent)).product(),
            Type::Scalar(_)
            | Type::Shared(_)
            | Type::Barrier(_)
            | Type::TensorMemory(_)
            | Type::Error => 0u64,
        };
        match kind {
            StmtKind::Op { op: Op::Product(ProductOp::Dot(factors)), args, .. } => {
                let dtype = |value: Value| self.cells.settled(self.num(value));
                let &[rows, columns] = self.ty(args[2]).shape() else { return 1 };
                let product = Product {
                    operands: [dtype(args[0]), dtype(args[1])],
                    accumulator: dtype(args[2]),
                    rows,
                    columns,
                    depth: self.numbers_along_k(args[0]),
                    factors: *factors,
                };
                // An instruction of a warp multiplies 16 rows by 8 columns, one of a thread an element of each operand.
                let of_a_thread =
                    tensor_core(&product).map_or(1, |core| 16 * core.k_width * core.words);
                let products = elements(&args[2]).saturating_mul(u64::from(product.depth));
                products.div_ceil(threads * u64::from(of_a_thread)).max(1)
            }
            StmtKind::Op { op: Op::Tile(TileOp::Sort(axis)), args, result } => {
                let bits = |value: &Value| {
                    u64::from(self.ty(*value).shape()[*axis as usize].trailing_zeros())
                };
                let all = bits(&args[0]);
                let kept = result.as_ref().map_or(all, bits);
                // To merge runs, each element is compared once for each bit of a place in the merged run.
                let merges = kept * (kept + 1) / 2 + (all - kept) * (kept + 1);
                let elements = elements(&args[0]).div_ceil(threads).max(1);
                elements.saturating_mul(2 * merges + 1)
            }
            StmtKind::Op { args, result, .. } => {
                let most = args.iter().chain(result).map(elements).max().unwrap_or(0);
                most.div_ceil(threads).max(1)
            }
            StmtKind::Reduce { args, .. } | StmtKind::Scan { args, .. } => {
                let most = args.iter().map(elements).max().unwrap_or(0);
                // Between the lanes and the warps, a reduction exchanges what is left in a few steps.
                most.div_ceil(threads).max(1) + 32
            }
            StmtKind::Ptx { code, args, results } => {
                let most = args.iter().chain(results).map(elements).max().unwrap_or(0);
                let length = u64::try_from(code.instructions().count()).unwrap_or(u64::MAX);
                most.div_ceil(threads).max(1).saturating_mul(length)
            }
            // Their bodies are counted as they are built.
            StmtKind::If { .. }
            | StmtKind::For { .. }
            | StmtKind::Loop { .. }
            | StmtKind::Specialize { .. } => 1,
        }
    }
}
