//! What methods of scalars, tiles, windows and tensors do; `signatures` has their rows.

use std::rc::Rc;

use super::value::{Class, Num, Part, Ty, Val, ViewVal};
use crate::{
    diag::Code,
    elaborate::{Builder, signatures::Given},
    ir::{Binary, Compare, Const, Dtype, Elem, Evict, TileOp, Type, Unary, WindowOp},
    layouts::{of_elements, pinned},
    loc::Loc,
    syntax::GenericArg,
};

impl Builder<'_> {
    /// `x.exp()` and the like
    pub(crate) fn elementwise(&mut self, op: impl Into<Unary>, given: &Given<'_>) -> Option<Val> {
        self.unary(op.into(), &given.of, given.loc)
    }

    /// `x.min(other)` of scalars
    pub(crate) fn with_other(&mut self, op: Binary, given: &Given<'_>) -> Val {
        self.binary(op, &given.of, given.val(0), given.loc)
    }

    /// `x.lt(other)` and the like
    pub(crate) fn compared(&mut self, op: Compare, given: &Given<'_>) -> Option<Val> {
        self.compare(op, &given.of, given.val(0), given.loc)
    }

    /// `x.to_f32()`
    pub(crate) fn converted(&mut self, dtype: Dtype, given: &Given<'_>) -> Option<Val> {
        self.cast(&given.of, Num::Known(dtype), given.loc)
    }

    /// `x.cast::<T>()`
    pub(crate) fn cast_to(&mut self, given: &Given<'_>) -> Option<Val> {
        let to = self.other_type(given)?;
        self.cast(&given.of, to, given.loc)
    }

    /// The element type that `cast` or `bitcast` names, or an open one.
    pub(crate) fn other_type(&mut self, given: &Given<'_>) -> Option<Num> {
        Some(if let Some(ty) = given.name.args.first().and_then(GenericArg::ty) {
            let ty = self.resolve(ty, given.env);
            if self.is_refused(&ty) {
                return None;
            }
            let Ty::Scalar(num) = ty else {
                let what = self.type_name(&ty);
                let name = given.path();
                return self.refuse(
                    Code::Kind
                        .at(given.loc, format!("`{name}` does not convert to `{what}`"))
                        .compare("", "an element type", format!("`{what}`"))
                        .help(format!(".{name}::<f32>()")),
                );
            };
            num
        } else {
            self.cells.open(Class::Any)
        })
    }

    /// Whether a tile along whose axis something is done has numbers, or a report.
    pub(crate) fn of_numbers(&mut self, given: &Given<'_>) -> Option<()> {
        let (tile, what) = (given.receiver(), format!("`{}`", given.path()));
        let num = self.num(tile);
        if self.refuse_unreckoned(&what, &[&given.of], given.loc) {
            return None;
        }
        if self.is_ptr(tile) {
            let actual = self.describe(&given.of);
            let headline = format!("{what} is not defined on pointers");
            let refused = Code::DtypeRefused.at(given.loc, headline);
            return self.refuse(refused.compare("", "a tile of numbers", actual));
        }
        if self.cells.known(num) == Some(Dtype::Bool) {
            let axis = given.vals.first().and_then(|axis| self.written(axis));
            let axis = axis.unwrap_or_else(|| "0".to_owned());
            let method = match given.signature.name {
                "max" => format!(".reduce({axis}, |a, b| a | b)"),
                "min" => format!(".reduce({axis}, |a, b| a & b)"),
                name => {
                    let rest: Vec<Option<String>> =
                        given.vals.iter().map(|val| self.written(val)).collect();
                    let rest = rest.into_iter().collect::<Option<Vec<String>>>();
                    format!(".cast::<i32>().{name}({})", rest.unwrap_or_default().join(", "))
                }
            };
            let headline = format!("{what} is not defined on `bool`");
            return self.refuse(
                Code::DtypeRefused
                    .at(given.loc, headline)
                    .compare("element type", "numbers", "`bool`")
                    .why("the elements of a mask are `true` and `false`; as integers they are 1 and 0")
                    .help(self.applied(tile, &method)),
            );
        }
        Some(())
    }

    /// `x.t()`
    pub(crate) fn transpose(&mut self, given: &Given<'_>) -> Option<Val> {
        let tile = given.receiver();
        if self.is_point(tile) {
            return self.no_axes("`t` swaps the two axes of a tile", "2", given.loc);
        }
        let &[rows, cols] = self.ty(tile).shape() else {
            let rank = self.ty(tile).shape().len();
            let help = if rank == 1 {
                ".expand(1)".to_owned()
            } else {
                // The last two, as of a batch of matrices.
                let mut order: Vec<usize> = (0..rank).collect();
                order.swap(rank - 1, rank - 2);
                format!(".permute({order:?})")
            };
            let shape = self.ty(tile).shape();
            let matrix = rank > 2 && shape[..rank - 2].iter().all(|extent| *extent == 1);
            let matrix = matrix.then(|| format!(".reshape({:?}).t()", &shape[rank - 2..]));
            let of_matrix = matrix.map(|help| self.applied(tile, &help));
            let mut diagnostic = Code::Axis
                    .at(given.loc, "`t` swaps the two axes of a tile")
                    .compare("rank", "2", rank.to_string())
                    .why(if rank == 1 {
                        "a tile of rank 1 is neither a row nor a column; a new axis makes it one of them"
                    } else {
                        "of more than two axes `permute` says the order"
                    })
                    .help(self.applied(tile, &help));
            // An operand of a product has two axes: see `own_code`.
            diagnostic.example = of_matrix;
            return self.refuse(diagnostic);
        };
        Some(self.reshaped(TileOp::Permute(vec![1, 0]), tile, vec![cols, rows], given.loc))
    }

    /// `x.to_layout(layout)`, `x.assert_layout(layout)`. What is wrong with a pinned layout is wrong where it is written; what
    /// is wrong with an assertion is that it asserts.
    pub(crate) fn in_layout(
        &mut self,
        given: &Given<'_>,
        op: fn(kernel_layout::Form) -> TileOp,
        at: Loc,
    ) -> Option<Val> {
        let tile = given.receiver();
        if self.is_point(tile) && given.signature.name == "to_layout" {
            return self.no_axes("a layout needs a tile with axes", "1 to 5", given.loc);
        }
        let ty = self.ty(tile).clone();
        let elem = match ty.elem() {
            Some(Elem::Ptr(to)) => Elem::Ptr(to),
            Some(Elem::Number(_)) | None => Elem::Number(self.cells.settled(self.num(tile))),
        };
        let tile_ty = Type::Tile(elem, ty.shape().to_vec());
        let form = match elem {
            Elem::Number(dtype) => of_elements(&given.layout(0), dtype.bytes() * 8),
            Elem::Ptr(_) => given.layout(0),
        };
        // Here and not with the other layouts, so that it is reported with whatever else is wrong.
        if let Err(problem) = pinned(&form, given.at(0), &tile_ty, self.warps) {
            return self.refuse(problem.into_diagnostic());
        }
        Some(self.reshaped(op(form), tile, ty.shape().to_vec(), at))
    }

    /// `window.t()`
    pub(crate) fn shared_transpose(&mut self, given: &Given<'_>) -> Option<Val> {
        let window = given.receiver();
        let Type::Shared(ty) = self.ty(window).clone() else { return None };
        if ty.shape.len() != 2 {
            return self.refuse(
                Code::Axis
                    .at(given.loc, "`t` swaps the two axes of a tile")
                    .compare("rank", "2", ty.shape.len())
                    .why("of a ring of buffers, take one first: `bufs[i].t()`"),
            );
        }
        let ty = Type::Shared(ty.swapped());
        Some(Val::Value(self.emit(WindowOp::Transpose, vec![window], ty, given.loc)))
    }

    /// `x.dim(axis)` of a tile or a window
    pub(crate) fn extent_of(&mut self, given: &Given<'_>) -> Val {
        let extent = self.ty(given.receiver()).shape()[given.number(0) as usize];
        Val::i32(extent)
    }

    /// `window.bytes()`
    pub(crate) fn window_bytes(&mut self, given: &Given<'_>) -> Val {
        let window = given.receiver();
        let elements: i128 = self.ty(window).shape().iter().map(|e| i128::from(*e)).product();
        let element_bytes = self.cells.settled(self.num(window)).bytes();
        Val::i32(elements * i128::from(element_bytes))
    }

    /// `map.at(at)`
    pub(crate) fn block_at(&mut self, given: &Given<'_>) -> Option<Val> {
        let (param, corner) = (given.tensor(), given.corner(0));
        let shape = self.params[param as usize].block.clone().unwrap_or_default();
        let places = (0..corner.len()).map(|index| given.args[0].part(index)).collect();
        let mut at: Vec<Val> = corner.into_iter().map(Val::Value).collect();
        if let Val::Slice(slice) = &given.of {
            at = self.corner_in_slice(slice, &at, given.loc)?;
        }
        Some(Val::View(Rc::new(ViewVal {
            param,
            at,
            places,
            shape,
            part: Part::Block,
            evict: Evict::Normal,
            order: None,
            scope: None,
        })))
    }

    /// `a.len()` of an array of Rust
    pub(crate) fn array_len(&mut self, given: &Given<'_>) -> Val {
        let len = given.of.parts().map_or(0, <[Val]>::len);
        let len = Const::Int(i128::try_from(len).expect("an array is short"));
        Val::Const(len, self.cells.open(Class::Index))
    }
}
