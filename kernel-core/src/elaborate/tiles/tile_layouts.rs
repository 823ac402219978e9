//! `layout!(S[..] + R[..])`: the notation of tile layouts.

use kernel_layout::Form;
use kernel_layout::tile::{CopyShape, Iter, TileAxis, TileLayout};

use super::tile_digits::{Digit, fault};
use crate::{
    diag::Code,
    elaborate::{Builder, Env, language::value::Val},
    loc::Loc,
    syntax::{Ident, TilePart},
};

/// The axes that a kernel may name: those of the block's threads and of its memories.
const AXES: [TileAxis; 6] = [
    TileAxis::Memory,
    TileAxis::LaneId,
    TileAxis::WarpId,
    TileAxis::Thread,
    TileAxis::TLane,
    TileAxis::TCol,
];

impl Builder<'_> {
    /// `layout!(S[..] + R[..])`
    pub(crate) fn tile_layout(&mut self, parts: &[TilePart], env: Env, loc: Loc) -> Val {
        let mut digits = Vec::new();
        for part in parts {
            let Some(own) = self.digits(part, env) else { return Val::Error };
            digits.extend(own);
        }
        if let Some(copies) = parts.first().filter(|_| parts.iter().all(|part| part.replica)) {
            return self.report(
                Code::LayoutForm
                    .at(copies.loc, "this layout has copies (`R[..]`) but no elements (`S[..]`)")
                    .compare("", "S[..], with or without R[..]", "R[..] alone"),
            );
        }
        let of = |replica| {
            digits.iter().filter(|digit| digit.replica == replica).map(|digit| digit.iter).collect()
        };
        let layout = match TileLayout::new(of(false), of(true), []) {
            Ok(layout) => layout,
            Err(error) => {
                return self.report(
                    Code::LayoutForm
                        .at(loc, "these digits are not a layout")
                        .why(error.to_string()),
                );
            }
        };
        // Here and not where the layout is used: this is the place to change, whatever the shape. Only of rows of tensor memory
        // may some hold nothing.
        let whole = CopyShape::filled(&layout);
        match fault(whole.as_ref().unwrap_or(&layout), &digits) {
            Some(fault) => self.report(fault),
            None => Val::Layout(Form::Tile(layout)),
        }
    }

    fn digits(&mut self, part: &TilePart, env: Env) -> Option<Vec<Digit>> {
        let mut extents = Vec::new();
        for extent in &part.extents {
            let val = self.plain_expr(extent, env);
            let value = self.const_int(&val, "an extent of a layout", extent.loc)?;
            let Some(value) = u64::try_from(value).ok().filter(|value| value.is_power_of_two())
            else {
                return self.refuse(
                    Code::LayoutForm
                        .at(extent.loc, "the extents of a layout are powers of two")
                        .compare("extent", "1, 2, 4, 8, ..", value),
                );
            };
            extents.push(value);
        }
        if part.strides.is_empty() {
            // Row-major, as the notation has it.
            let mut stride = 1i64;
            let mut digits = Vec::new();
            for (&extent, written) in extents.iter().zip(&part.extents).rev() {
                let iter = Iter::new(extent, stride, TileAxis::Memory);
                let (extent_at, stride_at) = (written.loc, written.loc);
                digits.insert(0, Digit { iter, extent_at, stride_at, replica: part.replica });
                stride = stride.saturating_mul(i64::try_from(extent).unwrap_or(i64::MAX));
            }
            return Some(digits);
        }
        if part.strides.len() != extents.len() {
            return self.refuse(
                Code::LayoutForm.at(part.loc, "each extent of a layout has one stride").compare(
                    "strides",
                    extents.len(),
                    part.strides.len(),
                ),
            );
        }
        let mut digits = Vec::new();
        for ((extent, written), (stride, axis)) in
            extents.into_iter().zip(&part.extents).zip(&part.strides)
        {
            let (extent_at, stride_at) = (written.loc, stride.loc);
            let val = self.plain_expr(stride, env);
            let stride = self.const_int(&val, "a stride of a layout", stride.loc)?;
            let axis = match axis {
                None => TileAxis::Memory,
                Some(name) => self.tile_axis(name)?,
            };
            let iter = Iter::new(extent, i64::try_from(stride).unwrap_or(i64::MAX), axis);
            digits.push(Digit { iter, extent_at, stride_at, replica: part.replica });
        }
        Some(digits)
    }

    /// The axis of this name.
    fn tile_axis(&mut self, name: &Ident) -> Option<TileAxis> {
        let found = AXES.into_iter().find(|axis| axis.name() == name.name);
        found.or_else(|| {
            let headline = format!("`{}` is not an axis of a layout", name.name);
            let diagnostic = Code::UnknownName.at(name.loc, headline).compare(
                "axis",
                AXES.map(TileAxis::name).join(", "),
                &name.name,
            );
            self.refuse(if TileAxis::from_name(&name.name).is_some() {
                diagnostic.why("the tiles of a kernel belong to one block: its lanes, its warps, and the registers or bytes of each")
            } else {
                diagnostic.help_if(nearest_axis(&name.name))
            })
        })
    }
}

/// The axis that a name was meant for.
fn nearest_axis(name: &str) -> Option<&'static str> {
    match name {
        "lane" | "lane_id" | "laneId" => Some("laneid"),
        "warp" | "warp_id" | "warpId" | "wid" => Some("warpid"),
        "thread" | "tid" | "thread_id" | "threadIdx" => Some("tx"),
        "reg" | "register" | "mem" | "memory" => Some("m"),
        _ => crate::diag::nearest(name, AXES.map(TileAxis::name)),
    }
}
