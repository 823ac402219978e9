//! The blocks of tensor maps: `#[block(BM, BK)] x: TensorMap<f16, 2>`.

use super::{Builder, Env};
use crate::{
    diag::{Code, Diagnostic},
    ir::{Fact, ParamKind},
    layouts::tma::MAP_BYTES,
    loc::Loc,
    syntax::{Expr, TypeExpr, TypeKind},
};

/// Why a block is declared.
const WHY: &str =
    "the launch encodes the tensor map, for which it needs the block that one copy moves";

impl Builder<'_> {
    /// Reads the block of a tensor map, and what it says of the tensor.
    pub(super) fn map_block(
        &mut self,
        param: u32,
        extents: &[Expr],
        loc: Loc,
        scope: Env,
        out: &mut Vec<Fact>,
    ) {
        let ParamKind::Tensor { dtype, rank, .. } = self.params[param as usize].kind else {
            let what = super::describe_param(&self.params[param as usize].kind);
            self.report(
                Diagnostic::new(Code::FactAttribute, loc, format!("a `{what}` has no block"))
                    .help("#[block(64, 64)] x: TensorMap<f16, 2>"),
            );
            return;
        };
        if extents.len() != rank as usize {
            let each = vec!["64"; rank as usize].join(", ");
            self.report(
                Diagnostic::new(Code::FactAttribute, loc, "`block` needs one extent an axis")
                    .compare("extents", rank.to_string(), extents.len().to_string())
                    .help(format!("#[block({each})]")),
            );
            return;
        }
        let mut block = Vec::new();
        for expr in extents {
            let val = self.expr(expr, scope);
            let Some(value) = self.const_int(&val, "an extent of a block", expr.loc) else {
                return;
            };
            let Some(extent) = self.extent(value, expr.loc) else { return };
            block.push(extent);
        }
        let inner = block.last().copied().unwrap_or(1) * dtype.bytes();
        if !inner.is_multiple_of(MAP_BYTES) {
            let at = extents.last().map_or(loc, |expr| expr.loc);
            let least = MAP_BYTES / dtype.bytes();
            self.report(
                Diagnostic::new(Code::TensorMap, at, "the rows of the block are too short for a tensor map")
                    .compare("bytes", format!("a multiple of {MAP_BYTES}"), inner.to_string())
                    .why("TMA moves pieces of 16 bytes along the innermost axis (CUDA driver API, `cuTensorMapEncodeTiled`: boxDim)")
                    .help(least.to_string()),
            );
            return;
        }
        self.params[param as usize].block = Some(block);
        // What the map needs of its tensor is checked when the launch encodes it.
        let of = i64::from(MAP_BYTES / dtype.bytes());
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

    /// A tensor map has a block; a plain tensor has none.
    pub(super) fn wants_block(&mut self, param: u32, ty: &TypeExpr) {
        let TypeKind::Path(path) = &ty.kind else { return };
        let Some(last) = path.segments.last() else { return };
        let ParamKind::Tensor { dtype, rank, mutable } = self.params[param as usize].kind else {
            return;
        };
        let map = matches!(last.name.as_str(), "TensorMap" | "TensorMapMut");
        let has = self.params[param as usize].block.is_some();
        let name = self.params[param as usize].name.clone();
        if map && !has && self.problems.reports() == 0 {
            let each = vec!["64"; rank as usize].join(", ");
            let kind = if mutable { "TensorMapMut" } else { "TensorMap" };
            self.report(
                Diagnostic::new(Code::TensorMap, ty.loc, "a tensor map is declared with its block")
                    .why(WHY)
                    .help(format!("#[block({each})] {name}: {kind}<{}, {rank}>", dtype.name())),
            );
        }
        if map && self.problems.reports() == 0 {
            let why = "the unit that copies tiles by tensor map (TMA) comes with Hopper";
            self.wants_hopper("a tensor map", why, ty.loc);
        }
        if !map && has {
            let kind = if mutable { "TensorMapMut" } else { "TensorMap" };
            self.report(
                Diagnostic::new(Code::FactAttribute, ty.loc, "a block belongs to a tensor map")
                    .compare("", format!("`{kind}`"), format!("`{}`", last.name))
                    .why(WHY)
                    .help(format!("{name}: {kind}<{}, {rank}>", dtype.name())),
            );
        }
    }
}
