//! Elements of tensors and masked windows, read as other languages read them: what is written instead.

use super::own_code::VALUE;
use crate::{
    diag::{Code, Diagnostic, counted},
    elaborate::{
        Builder,
        language::value::{Num, Val, ViewVal},
        signatures::Given,
    },
    ir::{
        Binary, Compare, Const, Dtype, ElementwiseOp, Op, SourceOp, StmtKind, TileOp, Type, Value,
    },
    loc::Loc,
    syntax::Expr,
};

/// Operations between a mask and the comparison that makes it, or between offsets and what they are computed from.
const MOST_STEPS_BACK: usize = 8;

const ELEMENT: &str = "a tensor is read by windows, which know its extents and strides; `item` makes a scalar of a window of one element";
const OUTSIDE: &str = "a window needs no mask for its tensor's end: what is outside of the tensor reads 0, and is not accessed";
const CHOSEN: &str = "a window is read as a whole, with 0 outside of its tensor; `select` puts another value where a mask does not hold";

impl Builder<'_> {
    /// The operation that makes a value in the regions that are open, and its operands.
    fn made_by(&self, value: Value) -> Option<(&Op, &[Value])> {
        let mut stmts = self.regions.iter().rev().flat_map(|region| region.stmts.iter().rev());
        stmts.find_map(|stmt| {
            let StmtKind::Op { op, args, result } = &stmt.kind else { return None };
            (*result == Some(value)).then_some((op, &args[..]))
        })
    }

    /// The value that is repeated in a tile, or has its elements in other places.
    fn repeated(&self, mut value: Value) -> Value {
        for _ in 0..MOST_STEPS_BACK {
            let Some((op, [of])) = self.made_by(value) else { break };
            let same = matches!(
                op,
                Op::Tile(TileOp::Splat | TileOp::Broadcast | TileOp::Expand(_) | TileOp::Reshape)
            );
            if !same {
                break;
            }
            value = *of;
        }
        value
    }

    /// Whether a mask says no more than that adjacent positions are inside of a tensor, along the one axis of a window that is longer than 1.
    fn is_bound_of(&self, mask: Value, view: &ViewVal) -> bool {
        let mut long = view.shape.iter().enumerate().filter(|(_, extent)| **extent > 1);
        let (Some((long_axis, _)), None) = (long.next(), long.next()) else { return false };
        let Some((Op::Elementwise(ElementwiseOp::Compare(Compare::Lt)), [positions, end])) =
            self.made_by(self.repeated(mask))
        else {
            return false;
        };
        let end = self.made_by(self.repeated(*end));
        let is_end = matches!(
            end,
            Some((Op::Source(SourceOp::ParamDim(of, axis)), _))
                if *of == view.param && *axis as usize == long_axis
        );
        is_end && self.are_contiguous(self.repeated(*positions))
    }

    /// Whether offsets are `start + arange(0, N)`, with a scalar for `start`, or without one.
    fn are_contiguous(&self, offsets: Value) -> bool {
        let arange =
            |value| matches!(self.made_by(value), Some((Op::Source(SourceOp::Arange(0)), _)));
        let start = |value| matches!(self.ty(self.repeated(value)), Type::Scalar(_));
        if arange(offsets) {
            return true;
        }
        let mut sum = offsets;
        for _ in 0..MOST_STEPS_BACK {
            let Some((Op::Elementwise(ElementwiseOp::Binary(Binary::Add)), [a, b])) =
                self.made_by(sum)
            else {
                return false;
            };
            if arange(*a) && start(*b) || arange(*b) && start(*a) {
                return true;
            }
            sum = if start(*a) {
                *b
            } else if start(*b) {
                *a
            } else {
                return false;
            };
        }
        false
    }

    /// The message about a tensor that stands where an address does, beside offsets: the window that is meant, if that is known. What the
    /// help has of the call is put in by `own_code`.
    pub(crate) fn no_address(
        &self,
        param: u32,
        (tensor, loc): (&str, Loc),
        offsets: &Val,
    ) -> Diagnostic {
        let rank = self.params[param as usize].kind.rank() as usize;
        let number = self.is_number(offsets);
        let num = self.num_of(offsets);
        let other = num.and_then(|num| self.cells.known(num)).is_some_and(|of| of != Dtype::I32);
        let diagnostic = Code::Kind
            .at(loc, "a tensor is not an address")
            .compare("", "a `Ptr<T>`", "a tensor")
            .why("windows of a tensor need neither offsets nor masks: `.tile(corner, extents).load()` gives zero outside");
        let corner = ["i", "j", "k", "l", "m"].get(..rank).unwrap_or(&["i"]).join(", ");
        let (extents, item) = if number {
            (vec!["1"; rank].join(", "), ".item()")
        } else {
            (vec!["64"; rank].join(", "), "")
        };
        if rank == 1 && number {
            let cast = if other { " as i32" } else { "" };
            return diagnostic.help(format!("{tensor}.tile([{VALUE}{cast}], [1])"));
        }
        if rank == 1
            && !other
            && offsets.value().is_some_and(|offsets| self.are_contiguous(offsets))
        {
            return diagnostic.help(format!("{tensor}.tile([{VALUE}], [{VALUE}])"));
        }
        diagnostic
            .help(format!("{tensor}.tile([{corner}], [{extents}]).load(){item}"))
            .exemplified()
    }

    /// The window of one element of a tensor at coordinates, read as a scalar: `x.load([i, j])`, `load(x, i, j)`.
    pub(crate) fn one_element(
        &self,
        (param, tensor): (u32, &str),
        (vals, texts): (&[Val], &[Option<String>]),
    ) -> Option<String> {
        let rank = self.params[param as usize].kind.rank() as usize;
        let at = match (vals, texts) {
            ([Val::Array(parts) | Val::Tuple(parts)], [Some(text)])
                if parts.len() == rank && parts.iter().all(|part| self.is_number(part)) =>
            {
                let whole = text.strip_prefix(['[', '('])?.strip_suffix([']', ')'])?;
                whole.trim_end_matches(',').to_owned()
            }
            (vals, texts) if vals.len() == rank && vals.iter().all(|val| self.is_number(val)) => {
                texts.iter().cloned().collect::<Option<Vec<String>>>()?.join(", ")
            }
            (_, _) => return None,
        };
        let ones = vec!["1"; rank].join(", ");
        Some(format!("{tensor}.tile([{at}], [{ones}]).load().item()"))
    }

    /// The message about a load that other languages have with these arguments: of an element of a tensor, or of a window with a mask.
    pub(crate) fn read_otherwise(&self, given: &Given<'_>) -> Option<Diagnostic> {
        if given.signature.name != "load" || !given.family.is_empty() {
            return None;
        }
        if let Val::View(view) = &given.of {
            let window = given.on.as_ref()?;
            let (mask, other) = match &given.vals[..] {
                [mask] => (mask, None),
                [mask, other] => (mask, Some(other)),
                _ => return None,
            };
            let mask = mask.value()?;
            if self.cells.known(self.num(mask)) != Some(Dtype::Bool) {
                return None;
            }
            let texts: Vec<String> = given.args.iter().map(Expr::text).collect::<Option<_>>()?;
            let zero = other.is_none_or(|other| {
                matches!(other, Val::Const(Const::Int(0), _))
                    || matches!(other, Val::Const(Const::Float(value), _) if *value == 0.0)
            });
            let load = format!("{window}.load()");
            let diagnostic = self.without_meaning(given);
            if zero && self.is_bound_of(mask, view) {
                return Some(diagnostic.why(OUTSIDE).help(load));
            }
            let dtype = self.params[view.param as usize].kind.dtype();
            let zero = || self.whole_number("0", Num::Known(dtype));
            let other = texts.get(1).cloned().unwrap_or_else(zero);
            let chosen = format!("select({}, {load}, {other})", texts[0]);
            let diagnostic = diagnostic.why(CHOSEN).help(chosen);
            let fits =
                matches!(self.ty(mask), Type::Tile(_, shape) if shape.len() == view.shape.len());
            return Some(if fits { diagnostic } else { diagnostic.exemplified() });
        }
        if !matches!(given.of, Val::Unit) {
            return None;
        }
        let (tensor, rest) = given.vals.split_first()?;
        let param = tensor.tensor()?;
        let texts: Vec<Option<String>> = given.args[1..].iter().map(Expr::text).collect();
        let help = self.one_element((param, &given.args[0].operand_text()?), (rest, &texts))?;
        let actual = format!("a tensor and {}", counted(rest.len(), "other argument"));
        Some(
            Code::ArgumentCount
                .at(given.loc, "`load` takes 1 argument")
                .compare("", "`load(at)`, of an address", actual)
                .why(ELEMENT)
                .help(help),
        )
    }

    /// [`Builder::count_refused`] without what the call means otherwise.
    fn without_meaning(&self, given: &Given<'_>) -> Diagnostic {
        let mut diagnostic = self.count_refused(given);
        diagnostic.notes.clear();
        diagnostic
    }

    /// The message about `x.max(axis, true)`: torch keeps the axis by it, and Triton gives the positions as well. Which of the two is
    /// meant depends on what the result is bound to: see `own_code`.
    pub(crate) fn with_indices(&self, given: &Given<'_>) -> Option<Diagnostic> {
        let name = given.signature.name;
        if !matches!(name, "max" | "min") || !matches!(given.of, Val::Value(_)) {
            return None;
        }
        let [axis, keeps] = given.args else { return None };
        if keeps.text()? != "true" {
            return None;
        }
        let (x, axis) = (given.on.as_ref()?, axis.text()?);
        let mut diagnostic = self
            .count_refused(given)
            .why(format!("`expand({axis})` keeps the axis, with extent 1; `arg{name}({axis})` gives the positions"))
            .help(format!("{x}.{name}({axis}).expand({axis})"));
        diagnostic.example = Some(format!("({x}.{name}({axis}), {x}.arg{name}({axis}))"));
        Some(diagnostic)
    }
}
