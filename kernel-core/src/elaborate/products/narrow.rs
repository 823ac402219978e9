//! Operands of products whose numbers are narrower than a byte.
//!
//! `.kind::mxf4` and `.kind::mxf4nvf4` read two numbers to a byte. `.kind::f8f6f4` and `.kind::mxf8f6f4`, which multiply FP4 with FP8, find
//! sixteen numbers in the first eight of sixteen bytes (PTX ISA, "tcgen05.mma: Packing formats used in shared memory").
//! An allocation that such a product reads gets this layout by itself.

use kernel_layout::Form;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Builder, language::value::Val, signatures::Given},
    ir::{Dtype, Scaled, Shared, SharedType, Type, Value, dtype::Packing},
    layouts::wgmma::Side,
    loc::Loc,
    syntax::Expr,
};

/// The fewest numbers along `k`: a row of the swizzle of 128 bytes.
const LEAST_NUMBERS: u32 = 128;
/// Where the manual says how these products read FP4.
const SECTION: &str = "(PTX ISA, \"tcgen05.mma: Packing formats used in shared memory\")";

/// The layout of elements that no register holds, as tensor maps and products have them.
const WIDE: Form = Form::NvmmaShared {
    swizzle_bytes: 128,
    element_bits: 128,
    transposed: false,
    fp4_padded: false,
};
/// The layout of padded FP4 numbers.
const PADDED: Form =
    Form::NvmmaShared { swizzle_bytes: 128, element_bits: 8, transposed: false, fp4_padded: true };

/// How a product reads FP4 numbers from an allocation, and where it stands.
#[derive(Clone, Copy)]
pub(crate) enum Reads {
    /// Two to each byte.
    Packed(Loc),
    /// Eight bytes of numbers, eight of padding.
    Padded(Loc),
}

fn is_padded(form: &Form) -> bool {
    matches!(form, Form::NvmmaShared { fp4_padded: true, .. })
}

impl Builder<'_> {
    /// Operands of numbers narrower than a byte are as the product reads them.
    pub(crate) fn narrow_factors(
        &mut self,
        factors: [Value; 2],
        scaled: Option<Scaled>,
        args: &[Expr],
    ) -> Option<()> {
        let dtypes = factors.map(|factor| self.cells.settled(self.num(factor)));
        for (at, side) in [Side::Left, Side::Right].into_iter().enumerate() {
            let Some(packing) = dtypes[at].row().packing else { continue };
            let (factor, loc) = (factors[at], args[at].loc);
            if scaled.is_some_and(Scaled::is_packed) {
                self.packed_factor(factor, loc)?;
            } else {
                self.padded_factor((factor, side), (dtypes, packing), loc)?;
            }
        }
        Some(())
    }

    /// A factor of two numbers to a byte, beside another one.
    fn packed_factor(&mut self, factor: Value, loc: Loc) -> Option<()> {
        let Type::Shared(window) = self.ty(factor).clone() else { return Some(()) };
        let padded = self.shared[window.root].pinned.as_ref().is_some_and(is_padded);
        if !padded {
            self.float4_reads.insert(window.root, Reads::Packed(loc));
            return Some(());
        }
        let diagnostic = Code::DotOperand.at(loc,
            "padded FP4 numbers can only be multiplied with FP8",
        )
        .compare("layout", "two numbers to each byte, as in `swizzle(128)`", PADDED.in_code())
        .why("if both operands are FP4, the tensor cores read every byte as two numbers (PTX ISA, \"tcgen05.mma: Packing formats used in shared memory\")");
        let diagnostic = self.padded_by(diagnostic, window.root);
        self.refuse(match self.float4_reads.get(window.root) {
            Some(Reads::Padded(_)) => {
                diagnostic.help(another(Dtype::E2m1x2, &self.shared[window.root].shape))
            }
            Some(Reads::Packed(_)) | None => diagnostic.help(".with_layout(swizzle(128))"),
        })
    }

    /// Adds where an allocation was padded.
    fn padded_by(&self, diagnostic: Diagnostic, root: Shared) -> Diagnostic {
        match (self.float4_reads.get(root), self.shared_pins.get(root)) {
            (_, Some(&pinned)) => diagnostic.place(pinned, "layout chosen here"),
            (Some(&Reads::Padded(read)), None) => {
                diagnostic.place(read, "another product reads it padded")
            }
            (Some(Reads::Packed(_)) | None, None) => diagnostic,
        }
    }

    /// An operand whose numbers are padded; the types are those of both operands.
    fn padded_factor(
        &mut self,
        (factor, side): (Value, Side),
        (dtypes, packing): ([Dtype; 2], Packing),
        loc: Loc,
    ) -> Option<()> {
        let (dtype, other, of) = match side {
            Side::Left => (dtypes[0], dtypes[1], packing.of),
            Side::Right => (dtypes[1], dtypes[0], packing.of),
        };
        let named = match other.row().packing {
            Some(_) => format!("an {of} operand of `tcgen05::mma`"),
            None => format!("an {of} operand beside `{}`", other.name()),
        };
        let window = match self.ty(factor).clone() {
            Type::Shared(window) => window,
            Type::TensorMemory(ty) => {
                return self.refuse(
                    Code::Kind.at(loc,
                        format!("{named} has to be in shared memory"),
                    )
                    .compare("", format!("a `Shared<{}>`", dtype.name()), format!("a `Tmem<{}>`", dtype.name()))
                    .why("in tensor memory, tensor cores read one byte for each number (PTX ISA, \"tcgen05.mma: Packing formats used in tensor memory\")")
                    .help(format!("let a = {};", allocation(dtype, &ty.shape))),
                );
            }
            Type::Scalar(_) | Type::Tile(..) | Type::Barrier(_) | Type::Error => return None,
        };
        self.along_the_depth(&window, side, (dtype, packing), loc)?;
        let elements = match side {
            Side::Left => window.shape[1],
            Side::Right => window.shape[0],
        };
        let numbers = elements * packing.numbers;
        if numbers < LEAST_NUMBERS {
            self.report(
                Code::DotShape.at(loc, format!("{named} needs a longer `k`"))
                    .compare("`k`", format!("at least {LEAST_NUMBERS}"), numbers.to_string())
                    .why(format!("its rows are padded for the swizzle of 128 bytes, where each number takes a byte {SECTION}")),
            );
        }
        if !packing.dense {
            // It is padded in any case.
            return Some(());
        }
        self.made_padded(&window, &named, loc)
    }

    /// The numbers of a padded factor are along `k`.
    fn along_the_depth(
        &mut self,
        window: &SharedType,
        side: Side,
        (dtype, packing): (Dtype, Packing),
        loc: Loc,
    ) -> Option<()> {
        if side.axis(window) == 0 {
            return Some(());
        }
        let data = &self.shared[window.root];
        let (made_at, mut shape) = (data.loc, data.shape.clone());
        if let [.., rows, columns] = &mut shape[..] {
            std::mem::swap(rows, columns);
        }
        let (filled, rest) =
            if packing.filled_bytes() == 8 { ("eight", "eight") } else { ("twelve", "four") };
        let (name, read) = match side {
            Side::Left => ("left", "read without `.t()`"),
            Side::Right => ("right", "read with `.t()`"),
        };
        self.refuse(
            Code::DotOperand.at(loc,
                format!("tensor cores cannot read their {name} operand in this layout"),
            )
            .compare(
                "the numbers of an element",
                "adjacent along `k`",
                format!("adjacent along the {}", if side == Side::Left { "rows" } else { "columns" }),
            )
            .place(made_at, "allocated here")
            .why(format!("sixteen numbers along `k` are contiguous, {filled} bytes of numbers and {rest} of padding {SECTION}"))
            .help(format!("{} // contiguous along `k`, {read}", allocation(dtype, &shape))),
        )
    }

    /// The allocation of a window is padded, for a product beside an operand of another type.
    fn made_padded(&mut self, window: &SharedType, named: &str, loc: Loc) -> Option<()> {
        let root = window.root;
        match (&self.shared[root].pinned, self.float4_reads.get(root)) {
            (Some(form), _) if is_padded(form) => {}
            (Some(form), _) => {
                let diagnostic = Code::DotOperand.at(loc,
                    format!("{named} has to be padded"),
                )
                .compare("layout", PADDED.in_code(), form.in_code())
                .why(format!("sixteen FP4 numbers fill the first eight of sixteen bytes, so both operands have the same length along `k` {SECTION}"))
                .help(format!(".with_layout({})", PADDED.in_code()));
                let diagnostic = self.padded_by(diagnostic, root);
                return self.refuse(diagnostic);
            }
            (None, Some(&Reads::Packed(read))) => {
                let shape = self.shared[root].shape.clone();
                return self.refuse(
                    Code::DotOperand.at(loc,
                        format!("{named} has to be padded"),
                    )
                    .compare("layout", PADDED.in_code(), "two numbers to each byte")
                    .place(read, "another product reads it in this layout")
                    .why(format!("bytes written in one layout and read in another would be different numbers {SECTION}"))
                    .help(another(Dtype::E2m1x2, &shape)),
                );
            }
            (None, Some(Reads::Padded(_)) | None) => {
                self.shared[root].pinned = Some(PADDED);
                self.float4_reads.insert(root, Reads::Padded(loc));
            }
        }
        Some(())
    }

    /// `layout.fp4_padded()`
    pub(crate) fn fp4_padded(&mut self, given: &Given<'_>) -> Option<Val> {
        let Val::Layout(form) = &given.of else { return None };
        if matches!(form, Form::NvmmaShared { swizzle_bytes: 128, .. }) {
            return Some(Val::Layout(PADDED));
        }
        self.refuse(
            Code::LayoutForm.at(given.loc, "padded FP4 numbers need the swizzle of 128 bytes")
                .compare("layout", "swizzle(128)", form.in_code())
                .why("tensor maps pad FP4 numbers in this swizzle, and products read it (CUDA driver API, `cuTensorMapEncodeTiled`: 16U4_ALIGN16B)")
                .help(PADDED.in_code()),
        )
    }

    /// Elements that no register holds are as tensor maps bring them, and products read them.
    pub(crate) fn pin_unheld(&mut self) {
        for (_, data) in self.shared.iter_mut().filter(|(_, data)| !data.dtype.is_held()) {
            data.pinned.get_or_insert(WIDE);
        }
    }

    /// A padded layout is one of FP4 numbers; elements that no register holds have one layout.
    pub(crate) fn padded_dtype(&mut self, form: &Form, dtype: Dtype, loc: Loc) -> Option<()> {
        if let Some(packing) = dtype.row().packing.filter(|packing| !packing.dense) {
            if *form == WIDE {
                return Some(());
            }
            let of = packing.of;
            return self.refuse(
                Code::LayoutForm.at(loc, format!("{of} numbers need the swizzle of 128 bytes"))
                    .compare("layout", WIDE.in_code(), form.in_code())
                    .why(format!("tensor maps pad {of} numbers in this swizzle, and products read it (CUDA driver API, `cuTensorMapEncodeTiled`: {})", packing.map.name.to_uppercase()))
                    .help(WIDE.in_code()),
            );
        }
        if !is_padded(form) || dtype == Dtype::E2m1x2 {
            return Some(());
        }
        self.refuse(
            Code::LayoutForm.at(loc, "a padded layout is for FP4 numbers")
                .compare("element type", "`e2m1x2`", format!("`{}`", dtype.name()))
                .why("tensor maps write, and products of FP8 by FP4 read, eight bytes of two numbers each and then eight of padding")
                .help("swizzle(128)"),
        )
    }
}

/// An allocation of these extents.
fn allocation(dtype: Dtype, shape: &[u32]) -> String {
    format!("shared::<{}>({shape:?})", dtype.name())
}

/// An allocation for one product, if there is one for another.
fn another(dtype: Dtype, shape: &[u32]) -> String {
    format!("{} // one for each product", allocation(dtype, shape))
}
