//! The messages for what layout inference finds.

use kernel_layout::forms::blocked_form_for;
use kernel_layout::tile::{TileError, TileLayout};
use kernel_layout::{Conversion, Dim, Form, Layout, LayoutError, basis_text};

use super::{Code, Diagnostic, one_of};
use crate::layouts::{LayoutProblem, MAX_REGISTERS, Memory, Place, SharedLayout};
use crate::loc::Loc;

mod boxes;
mod bulk;
mod gather;
mod mended;
mod tensor_copy;

/// A layout of shared memory as the user wrote it; if inference chose it, its bases.
fn shared_text(layout: &SharedLayout) -> String {
    match &layout.form {
        Some(form) => format!("`{}`", form.in_code()),
        None => offsets_text(&layout.layout),
    }
}

/// Two different layouts of shared memory, in words that differ.
fn shared_texts(layouts: [&SharedLayout; 2]) -> [String; 2] {
    let texts = layouts.map(shared_text);
    if texts[0] == texts[1] { layouts.map(|one| offsets_text(&one.layout)) } else { texts }
}

/// The bases of a layout of shared memory.
fn offsets_text(layout: &Layout) -> String {
    let bases: Vec<String> = layout.bases(Dim::Offset).iter().map(basis_text).collect();
    format!("offsets {}", bases.join(" "))
}

/// Why a thread cannot hold any number of elements.
pub(crate) const SPILLED: &str = "a thread has 255 registers, and each element takes its own; up to four times as many compile, and the rest are spilled to slow local memory";

impl LayoutProblem {
    /// The diagnostic of this problem.
    pub fn into_diagnostic(self) -> Diagnostic {
        match self {
            LayoutProblem::Form { at, form, place, error } => unbuilt(at, &form, &place, &error),
            LayoutProblem::OtherMemory { at, form, actual, place } => {
                other_memory(at, &form, actual, &place)
            }
            LayoutProblem::Lanes { at, form, actual, required, place } => {
                let headline = format!("`{form}` does not use the lanes of a warp");
                let diagnostic = Diagnostic::new(Code::LayoutForm, at, headline)
                    .compare("lanes", required, actual)
                    .why("a warp has 32 lanes, and each holds a part of the tile");
                mended::with_help(diagnostic, &form, &place)
            }
            LayoutProblem::Warps { at, form, actual, required, place } => {
                let headline = format!("`{form}` is for another number of warps");
                let diagnostic = Diagnostic::new(Code::LayoutForm, at, headline)
                    .compare("warps", required, actual)
                    .why("a layout spreads a tile over all warps that run its part of the kernel: those of the kernel's attribute, or of a partition");
                mended::with_help(diagnostic, &form, &place)
            }
            LayoutProblem::Registers { at, form, place, actual } => {
                let headline = format!("`{form}` gives each thread more than registers can hold");
                let diagnostic = Diagnostic::new(Code::TileBudget, at, headline)
                    .compare("registers a thread", format!("at most {MAX_REGISTERS}"), actual)
                    .why(SPILLED);
                with_help(diagnostic, &place)
            }
            LayoutProblem::Apart { at, form, view_at, bytes } => Diagnostic::new(
                Code::SharedUse,
                view_at,
                "the pinned layout takes apart the bytes of an element of this view",
            )
            .compare("bytes one after the other", bytes, "fewer")
            .place(at, format!("pinned here to `{}`", form.in_code()))
            .why("a thread reads an element with one access"),
            LayoutProblem::Cluster { at, form, actual } => Diagnostic::new(
                Code::LayoutForm,
                at,
                format!("`{form}` spreads a tile over the blocks of a cluster"),
            )
            .compare("blocks", "1", actual),
            LayoutProblem::Asserted { at, chosen_at, actual, required, form } => {
                asserted(at, chosen_at, &actual, &required, &form).help("to_layout")
            }
            LayoutProblem::Box { at, chosen_at, shape, refusal } => {
                boxes::refused(at, chosen_at, &shape, refusal)
            }
            LayoutProblem::Rows { at, pinned_at, actual, warps } => {
                gather::refused(at, pinned_at, &actual, warps)
            }
            LayoutProblem::Bulk { at, chosen_at, refusal } => {
                bulk::refused(at, chosen_at, &refusal)
            }
            LayoutProblem::TensorCopy { at, ends, refusal } => {
                tensor_copy::refused(at, &ends, refusal)
            }
            LayoutProblem::Descriptor { at, side, generation, origin, allocation, refusal } => {
                boxes::undescribed((at, side, generation), origin, &allocation, &refusal)
            }
            LayoutProblem::DotOperand { at, index, pinned_at, actual, required, form } => {
                let side = if index == 0 { "left" } else { "right" };
                let headline = format!("the product cannot take its {side} operand in this layout");
                let parent = if let Form::DotOperand { parent, .. } = &form {
                    Some(&**parent)
                } else {
                    None
                };
                let instruction = if matches!(parent, Some(Form::MmaV2 { .. })) {
                    Some("mma.sync")
                } else if matches!(parent, Some(Form::Wgmma { .. })) {
                    Some("wgmma")
                } else {
                    None
                };
                let why = match instruction {
                    Some(instruction) => format!(
                        "{instruction} takes its operands from fixed lanes and registers, here `{form}`; without `.to_layout(..)` inference chooses it"
                    ),
                    None => format!(
                        "this product uses fused multiply-add, not tensor cores: a thread holds the rows and columns that it multiplies, here `{form}`; without `.to_layout(..)` inference chooses it"
                    ),
                };
                compare_bases(Diagnostic::new(Code::DotOperand, at, headline), &required, &actual)
                    .place(pinned_at, "layout chosen here")
                    .why(why)
                    .help(format!(".to_layout({})", form.in_code()))
            }
            LayoutProblem::DotAccumulator { at, pinned_at, actual, required, form } => {
                let headline = "the product cannot accumulate in this layout";
                let why = format!(
                    "this product uses fused multiply-add, not tensor cores, and takes blocked accumulators; without `.to_layout(..)` inference chooses `{form}`. `dot_tf32` multiplies `f32` on tensor cores"
                );
                compare_bases(Diagnostic::new(Code::DotOperand, at, headline), &required, &actual)
                    .place(pinned_at, "layout chosen here")
                    .why(why)
                    .help(format!(".to_layout({})", form.in_code()))
            }
        }
    }
}

/// A layout that cannot be built for its tile.
fn unbuilt(at: Loc, form: &Form, place: &Place, error: &LayoutError) -> Diagnostic {
    let shape = &place.shape;
    let load = matches!(form, Form::TensorMemoryLoad { .. });
    let written = if load { form.in_code() } else { form.to_string() };
    let headline = format!("`{written}` is not a layout of a tile of extents {shape:?}");
    let diagnostic = explain(Diagnostic::new(Code::LayoutForm, at, headline), form, place, error);
    if load {
        // Another layout of the registers would not make an instruction of the load.
        return mended::with_plain_load(diagnostic, form, place, error);
    }
    if let (Form::Tile(tile), LayoutError::TensorMemoryRows { required, .. }) = (form, error) {
        return mended::with_copies(diagnostic, tile, *required);
    }
    if matches!(form, Form::TensorMemory { .. }) {
        return mended::with_block(diagnostic, form, place);
    }
    if matches!(
        form,
        Form::NvmmaShared { fp4_padded: true, .. } | Form::NvmmaShared { element_bits: 128, .. }
    ) {
        // Nothing else pads, or holds elements that no register does.
        return diagnostic;
    }
    with_help(diagnostic, place)
}

/// An assertion that does not hold.
fn asserted(
    at: Loc,
    chosen_at: Option<Loc>,
    actual: &Layout,
    required: &Layout,
    form: &Form,
) -> Diagnostic {
    let conversion = Conversion::between(actual, required);
    let cost = match conversion {
        Conversion::Shuffle(_) if conversion.stays_in_lane() => {
            "a choice between registers in each thread, by its lane or warp"
        }
        Conversion::Shuffle(_) => "shuffles between the lanes of each warp",
        Conversion::Trivial
        | Conversion::Registers(_)
        | Conversion::SharedMemory
        | Conversion::ClusterSharedMemory => "an exchange through shared memory, with a barrier",
    };
    let headline = format!("the tile does not have the asserted layout `{form}`");
    let diagnostic =
        compare_bases(Diagnostic::new(Code::AssertedLayout, at, headline), required, actual);
    match chosen_at {
        Some(chosen_at) => diagnostic
            .place(chosen_at, "layout chosen here")
            .why(format!("a conversion would cost {cost}, which the assertion forbids; pin the layout where it is chosen, or convert the tile")),
        None => diagnostic.why("constants, positions and loads from shared memory get the layouts that their uses require, and no use requires this one"),
    }
}

/// A layout of one memory for what is in another.
fn other_memory(at: Loc, form: &Form, actual: Memory, place: &Place) -> Diagnostic {
    let name = |memory: Memory| match memory {
        Memory::Registers => "a layout of registers",
        Memory::Shared => "a layout of shared memory",
        Memory::Tensor => "a layout of tensor memory",
    };
    let why = match (place.memory, actual) {
        (Memory::Registers, Memory::Shared) => {
            "a tile's layout says which thread holds which element; `shared(..).with_layout(..)` sets the layout of shared memory"
        }
        (Memory::Registers, _) => "a tile's layout says which thread holds which element",
        (Memory::Tensor, _) => {
            "a layout of tensor memory says which element lies in which row and column"
        }
        (Memory::Shared, Memory::Registers) => {
            "shared memory has offsets; `.to_layout(..)` says which thread holds which element of a tile"
        }
        (Memory::Shared, Memory::Shared | Memory::Tensor) => {
            "a layout of shared memory says which element lies at which offset"
        }
    };
    let headline = format!("`{form}` is {}", name(actual));
    let diagnostic = Diagnostic::new(Code::LayoutForm, at, headline)
        .compare("", name(place.memory), name(actual))
        .why(why);
    with_help(diagnostic, place)
}

/// The longest access of one thread, in bytes.
const VECTOR_BYTES: u32 = 16;

impl Place {
    /// A layout that the place can have: by rows, in vectors of 16 bytes; in shared memory, with the widest swizzle.
    pub(crate) fn possible(&self) -> Option<Form> {
        let shape = &self.shape;
        let rank = u32::try_from(shape.len()).expect("a rank is small");
        match self.memory {
            Memory::Registers if rank > 0 => {
                let order: Vec<u32> = (0..rank).rev().collect();
                let vector = (VECTOR_BYTES / self.element_bytes).max(1);
                Some(blocked_form_for(shape, &order, vector, self.warps))
            }
            Memory::Shared => {
                let swizzled = Form::nvmma_default_for(shape, self.element_bytes * 8, false, false);
                let none = matches!(swizzled, Form::NvmmaShared { swizzle_bytes: 0, .. });
                Some(if none { Form::RowMajor } else { swizzled })
            }
            Memory::Tensor => mended::whole_block(self),
            Memory::Registers => None,
        }
    }
}

fn with_help(diagnostic: Diagnostic, place: &Place) -> Diagnostic {
    diagnostic.help_if(place.possible().map(|form| form.in_code()))
}

/// What a block of tensor memory is.
const BLOCK: &str = "a product has 64 or 128 rows and up to 256 columns; each element of an accumulator has a column of 32 bits, those of an operand fill the columns (PTX ISA, \"tcgen05.mma: Data path layout\")";

/// The layout in tensor memory of what a load moves.
fn memory_of(form: &Form) -> String {
    let memory = if let Form::TensorMemoryLoad { memory, .. } = form { memory } else { form };
    memory.in_code()
}

/// What stands against a layout of tensor memory, or against one of registers that are loaded from there.
fn of_tensor_memory(diagnostic: Diagnostic, form: &Form, error: &LayoutError) -> Diagnostic {
    match error {
        LayoutError::BlockSize { actual, required } => {
            let mut diagnostic = diagnostic;
            for (what, actual, required) in [("rows", actual[0], required[0]), ("columns", actual[1], required[1])] {
                if actual < required {
                    let row = format!("{what} of a block");
                    diagnostic = diagnostic.compare(row, format!("at most {actual}, like the tile"), required);
                }
            }
            diagnostic.why("a tile consists of whole blocks, those along its rows first; a block is the result of one product")
        }
        LayoutError::TensorMemoryCopies { column } => diagnostic
            .compare(format!("column {column} of 32 bits"), "its own elements", "copies of the elements in column 0")
            .why("copies are in other rows, so that each warp reaches one; no instruction writes a column twice (PTX ISA, \"tcgen05.cp\": .multicast)"),
        LayoutError::TensorMemoryAtom { atom, required } => diagnostic
            .compare("layout in tensor memory", *required, memory_of(form))
            .why(format!("an instruction of shape `{atom}` moves two ranges of columns of 16 rows at a time (PTX ISA, \"tcgen05.ld and tcgen05.st matrix shapes\")")),
        LayoutError::TensorMemoryAtomColumns { atom, actual, required } => diagnostic
            .compare("columns of 32 bits", format!("{required} or more"), actual)
            .why(format!("an instruction of shape `{atom}` moves {required} columns at least (PTX ISA, \"tcgen05.ld and tcgen05.st matrix shapes\")")),
        LayoutError::TensorMemoryWords { elements } => diagnostic
            .compare("elements in a column of 32 bits", format!("{elements}, or 1"), memory_of(form))
            .why("a register has one column of a row; `.unpack::16b` splits columns that hold two halves (PTX ISA, \"tcgen05.ld\")"),
        LayoutError::TensorMemoryRows { actual, required } => diagnostic
            .compare("rows of tensor memory", required, actual)
            .why("each of the four warps reaches a quarter of the 128 rows, so a tile of fewer rows has copies in all quarters (PTX ISA, \"tcgen05: Access restrictions\")"),
        LayoutError::TensorMemoryColumns { .. }
        | LayoutError::TensorMemorySplit { .. }
        | LayoutError::NotPowerOfTwo { .. }
        | LayoutError::Rank { .. }
        | LayoutError::Order { .. }
        | LayoutError::Axis { .. }
        | LayoutError::Lanes { .. }
        | LayoutError::NotOneOf { .. }
        | LayoutError::RepeatedDim { .. }
        | LayoutError::BasisRank { .. }
        | LayoutError::BasisOutside { .. }
        | LayoutError::TooManyBits { .. }
        | LayoutError::TooLarge { .. }
        | LayoutError::ForeignDim { .. }
        | LayoutError::NotSurjective { .. }
        | LayoutError::Shape { .. }
        | LayoutError::SwizzleAtom { .. }
        | LayoutError::RepeatedInterval { .. }
        | LayoutError::Tile(_)
        | LayoutError::Parent { .. } => diagnostic.why(error.to_string()),
    }
}

/// What the numbers of a form had to be, and are.
fn explain(diagnostic: Diagnostic, form: &Form, place: &Place, error: &LayoutError) -> Diagnostic {
    if let (Form::Tile(layout), LayoutError::Tile(TileError::Group { .. })) = (form, error) {
        return grouped(diagnostic, layout, &place.shape);
    }
    // Whatever the constructor found first: with another number of axes nothing else fits.
    let rank = place.shape.len();
    if let Some(axes) = form.rank().filter(|axes| *axes != rank) {
        return diagnostic.compare("axes", rank, axes).why(why_axes(form));
    }
    match error {
        LayoutError::NotPowerOfTwo { what, index, actual } => {
            diagnostic.compare(format!("{what}[{index}]"), "a power of two", actual).why(
                "a layout maps the bits of thread and register numbers to the bits of coordinates",
            )
        }
        LayoutError::Rank { actual, required, .. } => diagnostic
            .compare("axes", required, actual)
            .why("a layout has one entry for each axis of the tile"),
        LayoutError::Order { actual } => {
            let axes: Vec<usize> = (0..place.shape.len()).rev().collect();
            diagnostic.compare(
                "order",
                format!("each axis once, like {axes:?}"),
                format!("{actual:?}"),
            )
        }
        LayoutError::Shape { actual, required } => diagnostic
            .compare("extents", format!("{required:?}"), format!("{actual:?}"))
            .why("bases in shared memory are written for one shape"),
        LayoutError::NotSurjective { missing } => {
            let what = format!("element {missing:?}");
            match place.memory {
                Memory::Registers => diagnostic.compare(what, "in a thread", "in none"),
                Memory::Shared => diagnostic.compare(what, "at an offset", "at none"),
                Memory::Tensor => diagnostic.compare(what, "in a cell", "in none"),
            }
            .why("an element is where the exclusive or of some bases equals its coordinates; no choice of these bases gives this one")
        }
        LayoutError::SwizzleAtom { actual, required } => {
            let mut diagnostic = diagnostic;
            for (what, actual, required) in
                [("rows", actual[0], required[0]), ("elements of a row", actual[1], required[1])]
            {
                if actual < required {
                    diagnostic = diagnostic.compare(what, format!("at least {required}"), actual);
                }
            }
            let [rows, elements] = required;
            diagnostic.why(format!(
                "this swizzle exchanges units of 16 bytes within {rows} rows of {elements} elements"
            ))
        }
        LayoutError::TooLarge { what, log2_actual, log2_limit } => {
            let power = |log2: &usize| match u32::try_from(*log2)
                .ok()
                .and_then(|log2| 1u64.checked_shl(log2))
            {
                Some(power) => power.to_string(),
                None => format!("2^{log2}"),
            };
            diagnostic.compare(
                format!("product of {what}"),
                format!("at most {}", power(log2_limit)),
                power(log2_actual),
            )
        }
        LayoutError::TooManyBits { actual, limit } => {
            diagnostic.compare("bases of a list", format!("at most {limit}"), actual)
        }
        LayoutError::NotOneOf { what, actual, allowed } => {
            let allowed: Vec<String> = allowed.iter().map(u32::to_string).collect();
            let diagnostic = diagnostic.compare(*what, one_of(&allowed), actual);
            let of_a_block = matches!(form, Form::TensorMemory { .. });
            if of_a_block { diagnostic.why(BLOCK) } else { diagnostic }
        }
        LayoutError::BlockSize { .. }
        | LayoutError::TensorMemoryRows { .. }
        | LayoutError::TensorMemoryColumns { .. }
        | LayoutError::TensorMemoryCopies { .. }
        | LayoutError::TensorMemoryAtom { .. }
        | LayoutError::TensorMemoryAtomColumns { .. }
        | LayoutError::TensorMemoryWords { .. }
        | LayoutError::TensorMemorySplit { .. } => of_tensor_memory(diagnostic, form, error),
        LayoutError::Axis { .. }
        | LayoutError::Lanes { .. }
        | LayoutError::RepeatedDim { .. }
        | LayoutError::BasisRank { .. }
        | LayoutError::BasisOutside { .. }
        | LayoutError::ForeignDim { .. }
        | LayoutError::RepeatedInterval { .. }
        | LayoutError::Tile(_)
        | LayoutError::Parent { .. } => diagnostic.why(error.to_string()),
    }
}

/// Why a layout has as many axes as it has.
fn why_axes(form: &Form) -> &'static str {
    match form {
        Form::Slice { .. } => "a slice has all but one of the axes of the layout inside it",
        Form::MmaV2 { .. } | Form::Wgmma { .. } => {
            "it is the layout of a product's result, which has rows and columns"
        }
        Form::DotOperand { .. } => "it is the layout of a product's operand, which has two axes",
        Form::Linear(_) | Form::SharedLinear(_) => {
            "each basis has one coordinate for each axis of the tile"
        }
        Form::Blocked { .. }
        | Form::Swizzled { .. }
        | Form::NvmmaShared { .. }
        | Form::RowMajor
        | Form::TensorMemory { .. }
        | Form::TensorMemoryScales
        | Form::TensorMemoryLoad { .. }
        | Form::Tile(_)
        | Form::SwizzledTile(_)
        | Form::Cluster { .. } => "a layout has one entry for each axis of the tile",
    }
}

/// What the extents of a tile layout had to multiply to.
fn grouped(diagnostic: Diagnostic, layout: &TileLayout, shape: &[u32]) -> Diagnostic {
    let extents: Vec<u64> = layout.shard().iter().map(|digit| digit.extent).collect();
    let elements = |extents: &mut dyn Iterator<Item = u64>| extents.fold(1, u64::saturating_mul);
    let required = elements(&mut shape.iter().map(|&extent| u64::from(extent)));
    let actual = elements(&mut extents.iter().copied());
    // Powers of two are cut whole wherever their products agree.
    let product: Vec<String> = extents.iter().map(u64::to_string).collect();
    diagnostic
        .compare("elements", required, format!("{} = {actual}", product.join(" * ")))
        .why("the extents of a layout multiply to the elements of the tile")
}

/// One row for each input dimension in which the bases differ.
fn compare_bases(mut diagnostic: Diagnostic, required: &Layout, actual: &Layout) -> Diagnostic {
    for (dim, name) in
        [(Dim::Register, "register bases"), (Dim::Lane, "lane bases"), (Dim::Warp, "warp bases")]
    {
        if required.bases(dim) != actual.bases(dim) {
            diagnostic =
                diagnostic.compare(name, bases_text(required, dim), bases_text(actual, dim));
        }
    }
    diagnostic
}

fn bases_text(layout: &Layout, dim: Dim) -> String {
    let all: Vec<String> = layout.bases(dim).iter().map(|basis| format!("{basis:?}")).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(" ") }
}
