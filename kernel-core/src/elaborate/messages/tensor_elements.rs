//! Elements of tensors by index, `x[i]` and `y[i] = v`, as the windows that they are.

use super::own_code::VALUE;
use crate::{
    elaborate::{
        Builder, Env,
        language::{
            elements::as_usize,
            value::{Num, Val},
        },
    },
    ir::{ParamKind, Type},
    syntax::{Expr, ExprKind},
};

/// Where the elements are that an index names.
enum At {
    /// One element: the window of it.
    One(String),
    /// Elements at a tile of offsets: the offsets, and their number.
    Offsets(String, u32),
}

impl Builder<'_> {
    /// Whether an expression is an element of a tensor.
    pub(crate) fn is_element_of_tensor(&mut self, expr: &Expr, env: Env) -> bool {
        self.indexed_tensor(expr, env).is_some()
    }

    /// The tensor of `x[i]`, and of `x[i][j]`, which Rust's types have no place for.
    pub(crate) fn indexed_tensor(&mut self, expr: &Expr, env: Env) -> Option<Val> {
        let ExprKind::Index(base, _) = &expr.kind else { return None };
        let root = root(base);
        let known = root.name().is_some_and(|name| self.scopes.value_named(env, name).is_some());
        let val = if known { self.plain_expr(root, env) } else { return None };
        matches!(val, Val::Tensor(_)).then_some(val)
    }

    /// How an element of a tensor is read.
    pub(crate) fn element_of_tensor(
        &mut self,
        tensor: &Val,
        index: (&Expr, &Expr),
        env: Env,
    ) -> Option<String> {
        let ParamKind::Tensor { dtype, .. } = self.params[tensor.tensor()? as usize].kind else {
            return None;
        };
        Some(match self.indexed_at(tensor, index, env)? {
            At::One(window) => format!("{window}.load().item()"),
            At::Offsets(at, _) => {
                let (of, zero) = (root(index.0).text()?, self.whole_number("0", Num::Known(dtype)));
                format!(
                    "load_masked({of}.ptr() + {at}.cast::<i64>() * {of}.stride(0), {at}.lt({of}.dim(0)), {zero})"
                )
            }
        })
    }

    /// How an element of a tensor is written, with [`VALUE`] for the value.
    pub(crate) fn stored_at(
        &mut self,
        tensor: &Val,
        index: (&Expr, &Expr),
        stored: &Val,
        env: Env,
    ) -> Option<String> {
        let ParamKind::Tensor { dtype, rank, .. } = self.params[tensor.tensor()? as usize].kind
        else {
            return None;
        };
        let mut value = VALUE.to_owned();
        let extents = if stored.is_absent() {
            // It was reported, with a help that is a number or a tile as the place of it is.
            None
        } else {
            let num = self.num_of(stored)?;
            if self.cells.unify(num, Num::Known(dtype)).is_err() {
                value = format!("{VALUE}.cast::<{}>()", dtype.name());
            }
            match self.ty_of(stored) {
                Some(Type::Tile(_, shape)) => Some(shape.clone()),
                Some(Type::Scalar(_)) => None,
                None if matches!(stored, Val::Const(..)) => None,
                Some(Type::Shared(_) | Type::Barrier(_) | Type::TensorMemory(_) | Type::Error)
                | None => return None,
            }
        };
        let point = stored.value().is_some_and(|value| self.is_point(value));
        let tile_of = |shape: &[u32]| match &extents {
            Some(own) => (own == shape).then(|| value.clone()),
            None if point && shape == [1] => Some(format!("{value}.expand(0)")),
            None if point => Some(format!("{value}.broadcast({shape:?})")),
            None => Some(format!("full({shape:?}, {value})")),
        };
        Some(match self.indexed_at(tensor, index, env)? {
            At::One(window) => {
                format!("{window}.store({})", tile_of(&vec![1; rank as usize])?)
            }
            At::Offsets(at, count) => {
                let of = root(index.0).text()?;
                let value = if stored.is_absent() { value } else { tile_of(&[count])? };
                format!(
                    "store_masked({of}.ptr() + {at}.cast::<i64>() * {of}.stride(0), {at}.lt({of}.dim(0)), {value})"
                )
            }
        })
    }

    fn indexed_at(&mut self, tensor: &Val, (base, index): (&Expr, &Expr), env: Env) -> Option<At> {
        let ParamKind::Tensor { rank, .. } = self.params[tensor.tensor()? as usize].kind else {
            return None;
        };
        let of = root(base).text()?;
        let mut parts = Vec::new();
        indices(base, &mut parts);
        of_one(index, &mut parts);
        if parts.len() != rank as usize {
            return None;
        }
        let mut starts = Vec::new();
        for part in parts {
            let part: &Expr = as_usize(part).unwrap_or(part);
            let at = self.plain_expr(part, env);
            if self.cells.is_float(self.num_of(&at)?) {
                return None;
            }
            if let Some(Type::Tile(_, shape)) = self.ty_of(&at)
                && let ([count], true) = (&shape[..], rank == 1)
            {
                return Some(At::Offsets(part.operand_text()?, *count));
            }
            if !self.is_const_or_scalar(&at) {
                return None;
            }
            starts.push(part.text()?);
        }
        let ones = vec!["1"; rank as usize].join(", ");
        Some(At::One(format!("{of}.tile([{}], [{ones}])", starts.join(", "))))
    }
}

/// What an index of an index is of.
fn root(base: &Expr) -> &Expr {
    if let ExprKind::Index(of, _) = &base.kind { root(of) } else { base }
}

/// The indices before the last, in order.
fn indices<'e>(base: &'e Expr, out: &mut Vec<&'e Expr>) {
    if let ExprKind::Index(of, index) = &base.kind {
        indices(of, out);
        of_one(index, out);
    }
}

/// The indices that one pair of brackets has.
fn of_one<'e>(index: &'e Expr, out: &mut Vec<&'e Expr>) {
    if let ExprKind::Array(parts) | ExprKind::Tuple(parts) = &index.kind {
        out.extend(parts);
    } else {
        out.push(index);
    }
}
