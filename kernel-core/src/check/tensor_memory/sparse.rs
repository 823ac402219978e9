//! The layouts in tensor memory that a sparse product requires of its accumulator and metadata.

use kernel_layout::Form;

use crate::{
    diag::{Code, Diagnostic},
    ir::{CtaGroup, Kernel, TensorMemoryType, Type, Value},
    layouts::tensor_memory::{self, BLOCK_ROWS, LEAST_PRODUCT_COLUMNS, PRODUCT_COLUMNS},
    loc::Loc,
};

/// What of the operands of a sparse product has a layout that the instruction does not read.
pub(super) fn operands(
    kernel: &Kernel,
    (group, args): (CtaGroup, &[Value]),
    places: [Loc; 3],
) -> Option<Diagnostic> {
    let Type::TensorMemory(sums) = kernel.ty(args[2]) else { return None };
    // `sums_of_pair` asks more of the accumulator of a pair.
    let of_sums = match group {
        CtaGroup::One => rows_of_sums(kernel, sums, places[2]),
        CtaGroup::Pair => None,
    };
    of_sums.or_else(|| metadata(kernel, args, places[2]))
}

/// A block of the accumulator has 128 rows.
fn rows_of_sums(kernel: &Kernel, sums: &TensorMemoryType, at: Loc) -> Option<Diagnostic> {
    let Form::TensorMemory { block: [rows, columns], col_stride, .. } =
        tensor_memory::product_form(kernel, sums.root)
    else {
        return None;
    };
    if rows == BLOCK_ROWS {
        return None;
    }
    let least = sums.shape[1].min(LEAST_PRODUCT_COLUMNS);
    let most = sums.shape[1].min(PRODUCT_COLUMNS);
    let headline = "no sparse product of `tcgen05` has this layout in tensor memory";
    Some(
        Diagnostic::new(Code::DotOperand, at, headline)
            .compare(
                "layout",
                format!("tmem_block([{BLOCK_ROWS}, {least} to {PRODUCT_COLUMNS}], {col_stride})"),
                format!("tmem_block([{rows}, {columns}], {col_stride})"),
            )
            .place(kernel.tensor_memory[sums.root].loc, "allocated here")
            .why("Kiln uses sparse instructions of 128 rows in a block, whose metadata is in all rows of tensor memory (PTX ISA, \"tcgen05.mma: Sparse Matrices\")")
            .help(format!("tmem_block([{BLOCK_ROWS}, {most}], {col_stride})")),
    )
}

/// Metadata is where the instruction looks for it.
fn metadata(kernel: &Kernel, args: &[Value], at: Loc) -> Option<Diagnostic> {
    let (Type::TensorMemory(ty), Type::Shared(right)) = (kernel.ty(args[4]), kernel.ty(args[1]))
    else {
        return None;
    };
    let data = &kernel.tensor_memory[ty.root];
    let bytes = right.dtype.bytes();
    let required = tensor_memory::metadata_form(data, bytes)?;
    let layout = |form: &Form| form.to_layout(&tensor_memory::tile(data)).ok();
    let actual = tensor_memory::form(kernel, ty.root);
    if layout(&actual) == layout(&required) {
        return None;
    }
    let (of, how) = match bytes {
        1 => ("8", "each row has a row of tensor memory"),
        2 => ("16", PAIRS),
        _ => ("32", PAIRS),
    };
    let headline = "the metadata of a product is in another layout";
    let diagnostic = Diagnostic::new(Code::DotOperand, data.loc, headline)
        .compare("layout", tensor_memory::in_words(&required), tensor_memory::in_words(&actual))
        .place(at, "multiplied here")
        .why(format!(
            "of operands of {of} bits, {how} (PTX ISA, \"tcgen05.mma: Sparsity selector\")"
        ));
    Some(match &data.pinned {
        Some(_) => diagnostic.help(required.in_code()),
        // Another product requires the layout that it has.
        None => diagnostic.help(format!("tmem::<{}>({:?})", ty.dtype.name(), ty.shape)),
    })
}

/// Where metadata of operands of 16 and 32 bits is.
const PAIRS: &str = "rows that are eight apart share the words of two rows of tensor memory";
