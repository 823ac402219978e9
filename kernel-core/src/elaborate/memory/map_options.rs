//! The options of tensor maps: `#[block(BM, BK, swizzle = 64, fill = nan)]`.

use kernel_layout::forms::nvmma_shared;

use kernel_ptx::Capability;

use crate::{
    diag::Code,
    elaborate::{Builder, Env},
    ir::{Fill, MapOptions, ParamKind},
    layouts::tma::BOX_ELEMENTS,
    loc::Loc,
    syntax::{Expr, ExprKind, Ident, MapOption},
};

use super::filters::FILTER_OPTIONS;

/// The options that there are.
const OPTIONS: &[&str] = &[
    "swizzle",
    "fill",
    "l2_promotion",
    "element_strides",
    "filter",
    "stride",
    "padding",
    "dilation",
];
/// The bytes over which swizzles repeat, and 0 for none (CUDA driver API, `CUtensorMapSwizzle`).
const SWIZZLES: &[u32] = &[0, 32, 64, 128];
/// The L2 promotions, in bytes (CUDA driver API, `CUtensorMapL2promotion`).
const PROMOTIONS: &[u32] = &[0, 64, 128, 256];
/// The widest step from one element to the next (CUDA driver API, `cuTensorMapEncodeTiled`: elementStrides).
const MOST_STEP: i128 = 8;

impl Builder<'_> {
    /// Reads what is said of a tensor map beside the extents of its block.
    pub(crate) fn map_options(
        &mut self,
        param: u32,
        (extents, block): (&[Expr], &[u32]),
        options: &[MapOption],
        scope: Env,
    ) -> Option<MapOptions> {
        let mut read = MapOptions::default();
        let mut of_filter = Vec::new();
        for (index, option) in options.iter().enumerate() {
            let name = &option.name;
            if let Some(first) = options[..index].iter().find(|one| one.name.name == name.name) {
                return self.refuse(
                    Code::FactAttribute
                        .at(name.loc, format!("`{}` is given twice", name.name))
                        .place(first.name.loc, "first given here"),
                );
            }
            match name.name.as_str() {
                "swizzle" => {
                    let bytes = self.one_of(&option.value, "a swizzle", SWIZZLES, scope)?;
                    self.swizzle_of_block(param, block, bytes, option.value.loc)?;
                    read.swizzle_bytes = Some(bytes);
                }
                "l2_promotion" => {
                    let what = "an L2 promotion";
                    read.l2_promotion_bytes =
                        self.one_of(&option.value, what, PROMOTIONS, scope)?;
                }
                "fill" => read.fill = self.fill(param, &option.value)?,
                name if FILTER_OPTIONS.contains(&name) => of_filter.push(option),
                "element_strides" => {
                    read.element_strides = self.element_strides(param, block, option, scope)?;
                }
                _ => {
                    self.unknown_option(name);
                    return None;
                }
            }
        }
        read.filter = self.filter_of_map(param, (extents, block), &of_filter, scope)?;
        if let (false, Some(option)) = (
            read.filter.is_empty(),
            options.iter().find(|option| option.name.name == "element_strides"),
        ) {
            return self.refuse(
                Code::FactAttribute
                    .at(option.name.loc, "a tensor map with a filter has no element strides")
                    .why("the steps from one place of the filter to the next are its `stride`"),
            );
        }
        Some(read)
    }

    fn unknown_option(&mut self, name: &Ident) {
        let diagnostic =
            Code::FactAttribute.at(name.loc, format!("a tensor map has no option `{}`", name.name));
        self.report(match crate::diag::nearest(&name.name, OPTIONS.iter().copied()) {
            Some(near) => diagnostic.help(near),
            None => diagnostic.why(format!("it has {}", OPTIONS.join(", "))),
        });
    }

    /// A number of bytes that the hardware has.
    fn one_of(&mut self, value: &Expr, what: &str, allowed: &[u32], scope: Env) -> Option<u32> {
        let val = self.expr(value, scope);
        let actual = self.const_size(&val, what, value.loc)?;
        if let Some(found) = allowed.iter().find(|bytes| i128::from(**bytes) == actual) {
            return Some(*found);
        }
        let list: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        self.refuse(
            Code::TensorMap
                .at(value.loc, format!("no tensor map has {what} of {actual} bytes"))
                .compare("bytes", format!("one of {}", list.join(", ")), actual),
        )
    }

    /// A block in the swizzle that is declared: the tiles in shared memory take it.
    fn swizzle_of_block(&mut self, param: u32, block: &[u32], bytes: u32, loc: Loc) -> Option<()> {
        let dtype = self.params[param as usize].kind.dtype();
        let tile = match *block {
            // A row of a gather or a scatter, of which there are as many as a swizzle wants.
            [1, columns] if self.target.has(Capability::TmaGather) => {
                vec![super::gather::LEAST_ROWS, columns]
            }
            _ => crate::layouts::tma::tile_of(block),
        };
        if bytes == 0 || nvmma_shared(bytes, dtype.shared_bytes() * 8, false, false, &tile).is_ok()
        {
            return Some(());
        }
        let row_bytes = tile.last().copied().unwrap_or(1) * dtype.shared_bytes();
        let rows: u32 = tile.iter().rev().skip(1).product();
        let diagnostic = Code::TensorMap
            .at(loc, format!("the block is too small for the swizzle of {bytes} bytes"));
        let diagnostic = if row_bytes < bytes {
            let nearest = SWIZZLES.iter().rev().find(|narrower| **narrower <= row_bytes);
            diagnostic
                .compare("bytes of a row", format!("at least {bytes}"), row_bytes)
                .help(nearest.copied().unwrap_or(0).to_string())
        } else {
            diagnostic.compare("rows", "at least 8", rows).help("0")
        };
        self.refuse(diagnostic.why("a swizzle exchanges units of 16 bytes within 8 rows, each as long as its span (PTX ISA, \"Swizzling modes\")"))
    }

    /// What elements outside of the tensor are read as: `zero` or `nan`.
    fn fill(&mut self, param: u32, value: &Expr) -> Option<Fill> {
        let dtype = self.params[param as usize].kind.dtype();
        match value.name().unwrap_or_default() {
            "zero" => Some(Fill::Zero),
            // What has a byte is copied as bytes.
            "nan" if dtype.is_float() && dtype.bytes() > 1 => Some(Fill::Nan),
            "nan" => {
                self.refuse(
                    Code::TensorMap.at(value.loc,
                        "elements of this type cannot be filled with NaN",
                    )
                    .compare("element type", "f16, bf16, f32 or f64", dtype.name())
                    .why("a tensor map fills with NaN for floating-point types only (CUDA driver API, `cuTensorMapEncodeTiled`: oobFill)")
                    .help("zero"),
                )
            }
            _ => {
                let actual = value
                    .text()
                    .map_or_else(|| "a long expression".to_owned(), |text| format!("`{text}`"));
                self.refuse(
                    Code::FactAttribute.at(value.loc,
                        "`fill` is `zero` or `nan`",
                    )
                    .compare("fill", "`zero` or `nan`", actual)
                    .help("zero"),
                )
            }
        }
    }

    /// How far apart the elements are of which a copy takes one after the other, an entry for each axis.
    fn element_strides(
        &mut self,
        param: u32,
        block: &[u32],
        option: &MapOption,
        scope: Env,
    ) -> Option<Vec<u32>> {
        let ParamKind::Tensor { rank, mutable, .. } = self.params[param as usize].kind else {
            return None;
        };
        let example = |last: &str| format!("[{}{last}]", "1, ".repeat(rank as usize - 1));
        let ExprKind::Array(parts) = &option.value.kind else {
            return self.refuse(
                Code::FactAttribute
                    .at(option.value.loc, "element strides are an array, one entry for each axis")
                    .help(example("1")),
            );
        };
        if parts.len() != rank as usize {
            return self.refuse(
                Code::FactAttribute
                    .at(option.value.loc, "element strides are an array, one entry for each axis")
                    .compare("entries", rank, parts.len())
                    .help(example("1")),
            );
        }
        if mutable {
            return self.refuse(
                Code::TensorMap.at(option.name.loc,
                    "a tensor map for stores cannot have element strides",
                )
                .why("only loads can have element strides (CUDA driver API, `cuTensorMapEncodeTiled`: elementStrides)"),
            );
        }
        let mut strides = Vec::new();
        for (axis, part) in parts.iter().enumerate() {
            let val = self.expr(part, scope);
            let actual = self.const_int(&val, "an element stride", part.loc)?;
            let innermost = axis + 1 == parts.len();
            let most = if innermost { 1 } else { MOST_STEP };
            let Some(stride) = u32::try_from(actual).ok().filter(|_| (1..=most).contains(&actual))
            else {
                let why = if innermost {
                    "along the innermost axis a copy takes every element (CUDA driver API, `cuTensorMapEncodeTiled`: elementStrides)"
                } else {
                    "an element stride is at most 8 (CUDA driver API, `cuTensorMapEncodeTiled`: elementStrides)"
                };
                let required = if most == 1 { "1".to_owned() } else { format!("1 to {most}") };
                return self.refuse(
                    Code::TensorMap
                        .at(part.loc, "no tensor map has this element stride")
                        .compare(format!("element stride of axis {axis}"), required, actual)
                        .why(why)
                        .help("1"),
                );
            };
            if stride > 1 && block[axis] * stride > BOX_ELEMENTS {
                return self.refuse(
                    Code::TensorMap.at(part.loc,
                        "the box of this block is too long for a tensor map",
                    )
                    .compare(
                        format!("elements of the box along axis {axis}"),
                        format!("at most {BOX_ELEMENTS}"),
                        block[axis] * stride,
                    )
                    .why("a box with element strides also counts the skipped elements, and one instruction copies it"),
                );
            }
            strides.push(stride);
        }
        Some(strides)
    }
}
