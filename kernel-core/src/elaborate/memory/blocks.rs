//! The blocks of tensor maps: `#[block(BM, BK)] x: TensorMap<f16, 2>`.

use crate::{
    diag::Code,
    elaborate::{
        Builder, Env,
        signatures::{Need, TMA_COPIES},
    },
    ir::{Fact, ParamKind},
    layouts::tma::MAP_BYTES,
    loc::Loc,
    syntax::{Expr, MapOption, ParamFact, TypeExpr},
};

/// Why a block is declared.
const WHY: &str = "the launch encodes the tensor map and needs the block that one copy moves";

impl Builder<'_> {
    /// Reads the block of a tensor map, and what it says of the tensor.
    pub(crate) fn map_block(
        &mut self,
        param: u32,
        (extents, options): (&[Expr], &[MapOption]),
        loc: Loc,
        scope: Env,
        out: &mut Vec<Fact>,
    ) {
        let ParamKind::Tensor { dtype, rank, .. } = self.params[param as usize].kind else {
            let what = crate::elaborate::messages::words::describe_param(
                &self.params[param as usize].kind,
            );
            self.report(
                Code::FactAttribute
                    .at(loc, "only a tensor map has a block")
                    .compare("", "a `TensorMap` or `TensorMapMut`", format!("`{what}`"))
                    .help("#[block(64, 64)] x: TensorMap<f16, 2>")
                    .exemplified(),
            );
            return;
        };
        if extents.len() != rank as usize {
            let each = vec!["64"; rank as usize].join(", ");
            self.report(
                Code::FactAttribute
                    .at(loc, "a block has one extent for each axis of its tensor")
                    .compare("extents", rank, extents.len())
                    .help(format!("#[block({each})]")),
            );
            return;
        }
        let mut block = Vec::new();
        for expr in extents {
            let val = self.expr(expr, scope);
            let Some(value) = self.const_size(&val, "an extent of a block", expr.loc) else {
                return;
            };
            let Some(extent) = self.extent(value, expr.loc) else { return };
            block.push(extent);
        }
        let inner = block.last().copied().unwrap_or(1) * dtype.bytes();
        if !inner.is_multiple_of(MAP_BYTES) {
            let at = extents.last().map_or(loc, |expr| expr.loc);
            let least = dtype.fewest_in(MAP_BYTES);
            self.report(
                Code::TensorMap.at(at, "the rows of the block are too short for a tensor map")
                    .compare("bytes of a row", format!("a multiple of {MAP_BYTES}"), inner)
                    .why("TMA moves units of 16 bytes along the innermost axis (CUDA driver API, `cuTensorMapEncodeTiled`: boxDim)")
                    .help(least.to_string()),
            );
            return;
        }
        let Some(options) = self.map_options(param, (extents, &block), options, scope) else {
            return;
        };
        self.params[param as usize].map = options;
        self.params[param as usize].block = Some(block);
        // What the map needs of its tensor is checked when the launch encodes it.
        let of = i64::from(dtype.fewest_in(MAP_BYTES));
        let last = rank - 1;
        let facts = [
            Fact::PointerAligned { param, bytes: MAP_BYTES },
            Fact::StrideEquals { param, axis: last, value: 1 },
        ];
        let strides = (0..last).map(|axis| Fact::StrideMultiple { param, axis, of });
        for fact in facts.into_iter().chain(strides.filter(|_| of > 1)) {
            if !out.contains(&fact) {
                out.push(fact);
            }
        }
    }

    /// A tensor map has a block and the strides of a map, on a target that knows it.
    pub(crate) fn map_param(
        &mut self,
        param: u32,
        ty: &TypeExpr,
        written: &[ParamFact],
        facts: &[Fact],
    ) {
        let ParamKind::Tensor { dtype, rank, mutable } = self.params[param as usize].kind else {
            return;
        };
        if self.params[param as usize].block.is_none() {
            let name = self.params[param as usize].name.clone();
            let each = vec!["64"; rank as usize].join(", ");
            let kind = if mutable { "TensorMapMut" } else { "TensorMap" };
            self.report(
                Code::TensorMap
                    .at(ty.loc, format!("the tensor map `{name}` has no block"))
                    .why(WHY)
                    .help(format!("#[block({each})] {name}: {kind}<{}, {rank}>", dtype.name())),
            );
            return;
        }
        let Need { capability, why, .. } = TMA_COPIES;
        if self.wants(capability, "tensor maps", why, ty.loc).is_some() {
            self.map_strides(param, written, facts);
        }
    }

    /// No `#[stride(..)]` says that the tensor is one that no map describes.
    fn map_strides(&mut self, param: u32, written: &[ParamFact], facts: &[Fact]) {
        let ParamKind::Tensor { dtype, rank, .. } = self.params[param as usize].kind else {
            return;
        };
        let of = i64::from(dtype.fewest_in(MAP_BYTES));
        let strides = written.iter().find_map(|fact| match fact {
            ParamFact::Stride(strides, _) => Some(strides),
            ParamFact::MultipleOf(_) | ParamFact::Block(..) => None,
        });
        for (axis, expr) in (0u32..).zip(strides.into_iter().flatten()) {
            let Some(expr) = expr else { continue };
            let inner = axis + 1 == rank;
            let broken = facts.iter().find_map(|fact| {
                let Fact::StrideEquals { param: of_param, axis: of_axis, value } = *fact else {
                    return None;
                };
                let fits = if inner { value == 1 } else { value % of == 0 };
                ((of_param, of_axis) == (param, axis) && !fits).then_some(value)
            });
            let Some(value) = broken else { continue };
            let (required, why, help) = if inner {
                (
                    "1".to_owned(),
                    "TMA copies rows of contiguous elements (CUDA driver API, `cuTensorMapEncodeTiled`: globalStrides)",
                    "1",
                )
            } else {
                (
                    format!("a multiple of {of}"),
                    "in a tensor map every row begins at a multiple of 16 bytes (CUDA driver API, `cuTensorMapEncodeTiled`: globalStrides)",
                    "_",
                )
            };
            self.report(
                Code::FactAttribute
                    .at(expr.loc, "no tensor map has this stride")
                    .compare(format!("stride of axis {axis}"), required, value)
                    .why(why)
                    .help(help),
            );
            return;
        }
    }

    /// A parameter that is not a tensor map has no block.
    pub(crate) fn plain_param(&mut self, param: u32, ty: &TypeExpr) {
        let ParamKind::Tensor { dtype, rank, mutable } = self.params[param as usize].kind else {
            return;
        };
        if self.params[param as usize].block.is_none() {
            return;
        }
        let name = self.params[param as usize].name.clone();
        let (kind, plain) =
            if mutable { ("TensorMapMut", "TensorMut") } else { ("TensorMap", "Tensor") };
        self.report(
            Code::FactAttribute
                .at(ty.loc, format!("`{name}` has a block, which only tensor maps have"))
                .compare(
                    "",
                    format!("a `{kind}<{}, {rank}>`", dtype.name()),
                    format!("a `{plain}<{}, {rank}>`", dtype.name()),
                )
                .why(WHY)
                .help(format!("{name}: {kind}<{}, {rank}>", dtype.name())),
        );
    }
}

/// Whether a parameter is written as a tensor map.
pub(crate) fn is_map(ty: &TypeExpr) -> bool {
    ty.last().is_some_and(|last| matches!(last.name.as_str(), "TensorMap" | "TensorMapMut"))
}
