//! Operators that a program defines for its own types: `impl Mul for Complex`.

use std::{rc::Rc, sync::Arc};

use super::{
    call::Inlined,
    value::{Place, Ty, Val},
};
use crate::{
    diag::Code,
    elaborate::{Builder, Env, tiles::arith},
    ir::{Binary, Dtype},
    loc::Loc,
    syntax::{Expr, Function, Impl, TypeExpr, UnOp},
};

/// The trait of `std::ops` of an operator and its method, as in `a * b`.
fn of_binary(op: Binary) -> Option<(&'static str, &'static str)> {
    Some(match arith::symbol(op).trim_matches('`') {
        "+" => ("Add", "add"),
        "-" => ("Sub", "sub"),
        "*" => ("Mul", "mul"),
        "/" => ("Div", "div"),
        "%" => ("Rem", "rem"),
        "&" => ("BitAnd", "bitand"),
        "|" => ("BitOr", "bitor"),
        "^" => ("BitXor", "bitxor"),
        "<<" => ("Shl", "shl"),
        ">>" => ("Shr", "shr"),
        _ => return None,
    })
}

/// The same of `a *= b`.
fn of_assignment(op: Binary) -> Option<(&'static str, &'static str)> {
    Some(match of_binary(op)?.1 {
        "add" => ("AddAssign", "add_assign"),
        "sub" => ("SubAssign", "sub_assign"),
        "mul" => ("MulAssign", "mul_assign"),
        "div" => ("DivAssign", "div_assign"),
        "rem" => ("RemAssign", "rem_assign"),
        "bitand" => ("BitAndAssign", "bitand_assign"),
        "bitor" => ("BitOrAssign", "bitor_assign"),
        "bitxor" => ("BitXorAssign", "bitxor_assign"),
        "shl" => ("ShlAssign", "shl_assign"),
        "shr" => ("ShrAssign", "shr_assign"),
        _ => return None,
    })
}

/// An operator as a program defines it.
struct Operator {
    function: Arc<Function>,
    of: Arc<Impl>,
    scope: Env,
}

impl Builder<'_> {
    /// `a + b`, if the program defines it for values of these types.
    pub(crate) fn own_binary(
        &mut self,
        op: Binary,
        [left, right]: [&Val; 2],
        second: &Expr,
        env: Env,
        loc: Loc,
    ) -> Option<Val> {
        if !matches!(left, Val::Struct(_)) && !matches!(right, Val::Struct(_)) {
            return None;
        }
        let operator = self.operator(of_binary(op)?, left, Some(right))?;
        Some(self.operate(operator, left.clone(), Some((right.clone(), second)), env, loc))
    }

    /// Reports an operator that nothing defines for a struct.
    pub(crate) fn no_operator(&mut self, op: Binary, [left, right]: [&Val; 2], loc: Loc) -> Val {
        let symbol = arith::symbol(op);
        let (Val::Struct(item), other) =
            (if matches!(left, Val::Struct(_)) { (left, right) } else { (right, left) })
        else {
            return Val::Error;
        };
        let name = &item.def.name.name;
        let actual = format!("{} and {}", self.describe(left), self.describe(right));
        let diagnostic = Code::Kind
            .at(loc, format!("{symbol} is not defined on a `{name}`"))
            .compare("", "numbers, tiles, or types with the operator", actual);
        let both = matches!(other, Val::Struct(_));
        let help = of_binary(op).filter(|_| both).map(|(name_of, method)| {
            format!("impl std::ops::{name_of} for {name} {{\n    type Output = {name};\n    fn {method}(self, other: {name}) -> {name} {{ .. }}\n}}")
        });
        self.report(diagnostic.help_if(help))
    }

    /// `a += b`, if the program defines it; the place is that of `a`.
    pub(crate) fn own_assignment(
        &mut self,
        op: Binary,
        (place, left): (Place, &Val),
        (right, second): (&Val, &Expr),
        env: Env,
        loc: Loc,
    ) -> Option<Val> {
        if !matches!(left, Val::Struct(_)) {
            return None;
        }
        let operator = self.operator(of_assignment(op)?, left, Some(right))?;
        let receiver = Val::Ref(Rc::new(place));
        Some(self.operate(operator, receiver, Some((right.clone(), second)), env, loc))
    }

    /// `-a`, if the program defines it.
    pub(crate) fn own_unary(&mut self, op: UnOp, val: &Val, env: Env, loc: Loc) -> Option<Val> {
        if !matches!(val, Val::Struct(_)) {
            return None;
        }
        let names = match op {
            UnOp::Neg => ("Neg", "neg"),
            UnOp::Not => ("Not", "not"),
            UnOp::Deref => return None,
        };
        let operator = self.operator(names, val, None)?;
        Some(self.operate(operator, val.clone(), None, env, loc))
    }

    /// The `impl` of a trait for a type whose method takes another.
    fn operator(
        &mut self,
        (name, method): (&str, &str),
        left: &Val,
        right: Option<&Val>,
    ) -> Option<Operator> {
        let impls: Vec<_> = self.scopes.impls.clone();
        for (of, scope) in impls {
            if of.of_trait.as_deref() != Some(name) || !self.is_of(&of.ty, &of, left, scope) {
                continue;
            }
            let named = of.functions.iter().find(|function| function.name.name == method);
            let Some(function) = named.cloned() else { continue };
            let fits = match (right, &function.params[..]) {
                (Some(right), [(_, ty)]) => self.is_of(ty, &of, right, scope),
                (None, []) => true,
                _ => false,
            };
            if fits {
                return Some(Operator { function, of, scope });
            }
        }
        None
    }

    /// Whether a value is of a type that is written in an `impl`.
    fn is_of(&self, ty: &TypeExpr, of: &Impl, val: &Val, scope: Env) -> bool {
        let Some(last) = ty.last() else { return false };
        let last = if last.name == "Self" { of.ty.last().unwrap_or(last) } else { last };
        if let Ty::Struct(def, ..) = self.type_of(val) {
            let found = self.scopes.lookup_type(scope, &last.name);
            return matches!(found, Some(super::scope::Binding::Struct(other, _)) if Arc::ptr_eq(other, &def));
        }
        let is_dtype = |name: &str, num| match Dtype::from_name(name) {
            Some(dtype) => match self.cells.known(num) {
                Some(known) => known == dtype,
                None => self.cells.is_float(num) == dtype.is_float(),
            },
            // A parameter of the `impl` stands for any type.
            None => of.generics.iter().any(|param| param.name.name == name),
        };
        let ty = self.type_of(val);
        if let Ty::Scalar(num) = ty {
            return is_dtype(&last.name, num);
        }
        let Ty::Tile(num) = ty else { return false };
        let of = last.args.first().and_then(|arg| Some(&arg.ty()?.last()?.name));
        last.name == "Tile" && of.is_none_or(|name| is_dtype(name, num))
    }

    fn operate(
        &mut self,
        Operator { function, of, scope }: Operator,
        receiver: Val,
        second: Option<(Val, &Expr)>,
        env: Env,
        loc: Loc,
    ) -> Val {
        let this = self.type_of(&self.plain(receiver.clone()));
        let outer = self.impl_scope(scope, &of.generics, &of.ty, &this);
        let inlined = Inlined { function: &function, outer, receiver: Some(receiver) };
        match second {
            Some((val, expr)) => {
                self.inline(inlined, &[], (vec![val], std::slice::from_ref(expr)), env, loc)
            }
            None => self.inline(inlined, &[], (Vec::new(), &[]), env, loc),
        }
    }
}
