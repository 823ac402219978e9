//! What must be known at compile time: integers, and the extents of tiles.

use super::value::Val;
use crate::{
    diag::{Code, Lacking, Missing, Spot},
    elaborate::Builder,
    ir::Const,
    loc::Loc,
    syntax::Expr,
};

/// Where an integer is from that is known at compile time.
pub(crate) const A_PARAMETER: &str =
    "#[kernel(.., instances(N = [1, 2]))]\npub fn name<const N: i32>(..)";
/// Why an integer is known at compile time.
pub(crate) const KNOWN: &str = "tile extents, axes and unrolled loops shape the generated code; literals, `const` items, const generic parameters and arithmetic on these are known at compile time";
/// The same of one that counts elements or bytes.
pub(crate) const AN_EXTENT: &str =
    "#[kernel(.., instances(N = [64, 128]))]\npub fn name<const N: i32>(..)";

impl Builder<'_> {
    /// A small integer known at compile time: a count, an axis.
    pub(crate) fn const_int(&mut self, val: &Val, what: &str, loc: Loc) -> Option<i128> {
        self.const_int_or(val, what, loc, A_PARAMETER)
    }

    /// An integer known at compile time that counts elements or bytes.
    pub(crate) fn const_size(&mut self, val: &Val, what: &str, loc: Loc) -> Option<i128> {
        self.const_int_or(val, what, loc, AN_EXTENT)
    }

    /// Whether a number has another type than `usize`, or a report.
    pub(crate) fn no_index(&mut self, val: &Val, what: &str, loc: Loc) -> Option<()> {
        let val = self.plain(val.clone());
        let Val::Const(Const::Int(value), num) = val else { return Some(()) };
        if !self.cells.is_index(num) {
            return Some(());
        }
        let written = self.written(&val).unwrap_or_else(|| value.to_string());
        self.refuse(
            Code::DtypeMismatch
                .at(loc, format!("{what} is an `i32` in kernels"))
                .compare("", "an `i32`", "a `usize`")
                .why("Rust counts the elements of an array in `usize`; extents, axes and counts of Kiln are `i32`")
                .help(format!("{written} as i32")),
        )
    }

    /// An integer known at compile time; `help` is what may be written for one that is not.
    pub(crate) fn const_int_or(
        &mut self,
        val: &Val,
        what: &str,
        loc: Loc,
        help: &str,
    ) -> Option<i128> {
        let val = self.plain(val.clone());
        if let Val::Const(Const::Int(value), _) = val {
            return Some(value);
        }
        if val.is_absent() {
            return None;
        }
        if val.value().is_some_and(|value| self.is_scalar(value)) {
            return self.refuse(
                Code::NotConstant
                    .at(loc, format!("{what} must be known at compile time"))
                    .why(KNOWN)
                    .help(help),
            );
        }
        let headline = format!("{what} must be an integer");
        let actual = self.describe(&val);
        let whole = if let Val::Const(Const::Float(float), _) = &val {
            (float.fract() == 0.0 && float.abs() < 1e9).then(|| format!("{float:.0}"))
        } else {
            None
        };
        self.refuse(
            Code::Kind
                .at(loc, headline)
                .compare("", "an integer known at compile time", actual)
                .why("the generated code is made for this number: a literal, a `const` item, a const generic parameter, or arithmetic on these")
                .help_if(whole),
        )
    }

    /// An extent list such as `[BM, BN]`: powers of two.
    pub(crate) fn shape(&mut self, val: &Val, at: &Expr) -> Option<Vec<u32>> {
        let val = self.plain(val.clone());
        if let Val::Array(parts) = &val {
            return self.extents(parts, at, 0);
        }
        if val.is_absent() {
            return None;
        }
        let help = match (&val, at.text()) {
            (Val::Const(Const::Int(_), _), Some(extent)) => Some(format!("[{extent}]")),
            _ => None,
        };
        let diagnostic = Code::Kind.at(at.loc, "extents are an array of integers").compare(
            "",
            "an array such as `[64, 32]`",
            self.describe(&val),
        );
        self.refuse(match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic
                .why("extents are known at compile time: how many registers and how much shared memory a kernel takes depends on them")
                .help("[64, 32]")
                .exemplified(),
        })
    }

    /// The extents in `parts`, which stand at `at` from its element `first` on.
    pub(crate) fn extents(&mut self, parts: &[Val], at: &Expr, first: usize) -> Option<Vec<u32>> {
        let mut shape: Vec<Option<u32>> = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let loc = at.part(first + index);
            let extent = self
                .no_index(part, "an extent of a tile", loc)
                .and_then(|()| self.const_size(part, "an extent of a tile", loc));
            shape.push(extent.and_then(|extent| self.extent(extent, loc)));
        }
        let shape: Vec<u32> = shape.into_iter().collect::<Option<_>>()?;
        if shape.is_empty() || shape.len() > 5 {
            return self.refuse(Code::Axis.at(at.loc, "a tile has 1 to 5 axes").compare(
                "rank",
                "1 to 5",
                shape.len(),
            ));
        }
        let elements: u128 = shape.iter().map(|extent| u128::from(*extent)).product();
        if elements > u128::from(u32::MAX) {
            // Beyond this no block could hold it, and counts would need more than 32 bits everywhere.
            return self.refuse(
                Code::TileBudget.at(at.loc, "a tile of too many elements").compare(
                    "elements",
                    format!("at most {}", u32::MAX),
                    elements,
                ),
            );
        }
        Some(shape)
    }

    pub(crate) fn extent(&mut self, extent: i128, loc: Loc) -> Option<u32> {
        match u32::try_from(extent) {
            Ok(value) if value.is_power_of_two() && value <= 1 << 20 => Some(value),
            _ => {
                if extent > 1 << 20 {
                    return self.refuse(
                        Code::Extent.at(loc,
                            format!("the extent {extent} is larger than 1048576"),
                        )
                        .compare("extent", "a power of two from 1 to 1048576", extent)
                        .why("a tile lives in the registers of one block, which hold far less; loop over tiles for a larger range"),
                    );
                }
                let up = u64::try_from(extent).ok().and_then(u64::checked_next_power_of_two);
                let mut diagnostic =
                    Code::Extent.at(loc, format!("the extent {extent} is not a power of two"))
                        .compare("extent", "a power of two from 1 to 1048576", extent)
                        .why("a layout maps the bits of register, lane and warp numbers to the bits of tile coordinates, so each extent is a power of two");
                if let Some(up) = up.filter(|_| extent > 0) {
                    diagnostic = diagnostic.help(up.to_string()).lacks(Some(Missing {
                        what: Lacking::Extent { extent, up: i128::from(up) },
                        after: loc,
                        before: loc,
                        spot: Spot::Before,
                    }));
                }
                self.refuse(diagnostic)
            }
        }
    }
}
