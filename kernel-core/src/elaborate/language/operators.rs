//! Operators that a program defines for its own types, and for references to them: `impl Mul for Complex`.

use std::{rc::Rc, sync::Arc};

use super::{
    call::Inlined,
    value::{Num, Place, Ty, Val},
};
use crate::{
    diag::Code,
    elaborate::{Builder, Env, tiles::arith},
    ir::{Binary, Compare, Const, Dtype, Unary},
    loc::Loc,
    syntax::{Expr, ExprKind, Function, Impl, TypeExpr, TypeKind, UnOp},
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

/// An operand of an operator.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    /// Its value, without a reference around it.
    pub(crate) val: &'a Val,
    /// The reference that it is.
    pub(crate) reference: Option<&'a Val>,
    pub(crate) expr: &'a Expr,
}

impl Operand<'_> {
    /// Whether it is a reference, if that is so of the type that an `impl` names for it.
    fn is_ref(&self) -> bool {
        self.reference.is_some() || matches!(self.expr.kind, ExprKind::Ref(..))
    }

    /// What a parameter of this type takes.
    fn passed(&self, ty: &TypeExpr) -> Val {
        let reference = self.reference.filter(|_| matches!(ty.kind, TypeKind::Ref(..)));
        reference.unwrap_or(self.val).clone()
    }
}

/// What a reference refers to, of a type that is one, and whether it is one.
fn referent(ty: &TypeExpr) -> (&TypeExpr, bool) {
    match &ty.kind {
        TypeKind::Ref(of, _) => (of, true),
        TypeKind::Path(_)
        | TypeKind::Tuple(_)
        | TypeKind::Array(..)
        | TypeKind::Infer
        | TypeKind::Opaque => (ty, false),
    }
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
        [left, right]: [Operand<'_>; 2],
        env: Env,
        loc: Loc,
    ) -> Option<Val> {
        if !matches!(left.val, Val::Struct(_)) && !matches!(right.val, Val::Struct(_)) {
            return None;
        }
        let refs = [left.is_ref(), right.is_ref()];
        let operator = self.operator(of_binary(op)?, left.val, Some(right.val), refs)?;
        let receiver = left.passed(&operator.of.ty);
        let second = match &operator.function.params[..] {
            [(_, ty)] => right.passed(ty),
            _ => right.val.clone(),
        };
        Some(self.operate(operator, receiver, Some((second, right.expr)), env, loc))
    }

    /// `a == b` and `a != b`, if the program defines them for values of these types.
    pub(crate) fn own_comparison(
        &mut self,
        op: Compare,
        [left, right]: [Operand<'_>; 2],
        env: Env,
        loc: Loc,
    ) -> Option<Val> {
        if !matches!(left.val, Val::Struct(_)) && !matches!(right.val, Val::Struct(_)) {
            return None;
        }
        let negated = match op {
            Compare::Eq => false,
            Compare::Ne => {
                let own =
                    self.operator(("PartialEq", "ne"), left.val, Some(right.val), [false, true]);
                if let Some(operator) = own {
                    let second = Some((right.val.clone(), right.expr));
                    return Some(self.operate(operator, left.val.clone(), second, env, loc));
                }
                true
            }
            Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge => return None,
        };
        let equal = self.equal([left.val, right.val], right.expr, env, loc)?;
        if !negated {
            return Some(equal);
        }
        Some(self.unary(Unary::Not, &equal, loc).unwrap_or(Val::Error))
    }

    /// Whether two values are equal: as the program defines it for their types, or else if all their parts are, as `#[derive(PartialEq)]`
    /// has it. rustc has seen that they can be compared.
    fn equal(
        &mut self,
        [left, right]: [&Val; 2],
        second: &Expr,
        env: Env,
        loc: Loc,
    ) -> Option<Val> {
        if matches!(left, Val::Struct(_)) || matches!(right, Val::Struct(_)) {
            let own = self.operator(("PartialEq", "eq"), left, Some(right), [false, true]);
            if let Some(operator) = own {
                let right = Some((right.clone(), second));
                return Some(self.operate(operator, left.clone(), right, env, loc));
            }
        }
        let pairs = match (left, right) {
            (Val::Struct(a), Val::Struct(b)) if Arc::ptr_eq(&a.def, &b.def) => {
                a.fields.iter().zip(&b.fields)
            }
            (Val::Struct(_), _) | (_, Val::Struct(_)) => return None,
            (Val::Tuple(a), Val::Tuple(b)) | (Val::Array(a), Val::Array(b)) => a.iter().zip(&**b),
            (_, _) => return self.compare(Compare::Eq, left, right, loc),
        };
        let mut all = None;
        for (a, b) in pairs {
            let equal = self.equal([a, b], second, env, loc)?;
            all = Some(match all {
                Some(all) => self.binary(Binary::And, &all, &equal, loc),
                None => equal,
            });
        }
        Some(all.unwrap_or(Val::Const(Const::Bool(true), Num::Known(Dtype::Bool))))
    }

    /// Reports an operator that nothing defines for a struct.
    pub(crate) fn no_operator(&mut self, op: Binary, operands: [Operand<'_>; 2], loc: Loc) -> Val {
        let [left, right] = operands.map(|operand| operand.val);
        let refs = operands.iter().all(Operand::is_ref);
        let reference = if refs { "&" } else { "" };
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
            format!("impl std::ops::{name_of} for {reference}{name} {{\n    type Output = {name};\n    fn {method}(self, other: {reference}{name}) -> {name} {{ .. }}\n}}")
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
        let is_ref = matches!(second.kind, ExprKind::Ref(..));
        let operator = self.operator(of_assignment(op)?, left, Some(right), [false, is_ref])?;
        let receiver = Val::Ref(Rc::new(place));
        Some(self.operate(operator, receiver, Some((right.clone(), second)), env, loc))
    }

    /// `-a`, if the program defines it.
    pub(crate) fn own_unary(
        &mut self,
        op: UnOp,
        operand: Operand<'_>,
        env: Env,
        loc: Loc,
    ) -> Option<Val> {
        if !matches!(operand.val, Val::Struct(_)) {
            return None;
        }
        let names = match op {
            UnOp::Neg => ("Neg", "neg"),
            UnOp::Not => ("Not", "not"),
            UnOp::Deref => return None,
        };
        let operator = self.operator(names, operand.val, None, [operand.is_ref(), false])?;
        let receiver = operand.passed(&operator.of.ty);
        Some(self.operate(operator, receiver, None, env, loc))
    }

    /// The `impl` of a trait for a type whose method takes another; `refs` says which of the two are references. If the references fit
    /// none, the types decide alone.
    fn operator(
        &self,
        (name, method): (&str, &str),
        left: &Val,
        right: Option<&Val>,
        refs: [bool; 2],
    ) -> Option<Operator> {
        let mut other = None;
        for (of, scope) in &self.scopes.impls {
            let (of, scope) = (Arc::clone(of), *scope);
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
            if !fits {
                continue;
            }
            let is_ref = |ty: &TypeExpr| {
                let is_self = ty.last().is_some_and(|last| last.name == "Self");
                referent(if is_self { &of.ty } else { ty }).1
            };
            let second = function.params.first().is_some_and(|(_, ty)| is_ref(ty));
            let exact = [is_ref(&of.ty), second] == refs;
            let operator = Operator { function, of, scope };
            if exact {
                return Some(operator);
            }
            other = other.or(Some(operator));
        }
        other
    }

    /// Whether a value is of a type that is written in an `impl`.
    fn is_of(&self, ty: &TypeExpr, of: &Impl, val: &Val, scope: Env) -> bool {
        let Some(last) = referent(ty).0.last() else { return false };
        let last =
            if last.name == "Self" { referent(&of.ty).0.last().unwrap_or(last) } else { last };
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
        let outer = self.impl_scope(scope, &of.generics, referent(&of.ty).0, &this);
        let inlined = Inlined { function: &function, outer, receiver: Some(receiver) };
        match second {
            Some((val, expr)) => {
                self.inline(inlined, &[], (vec![val], std::slice::from_ref(expr)), env, loc)
            }
            None => self.inline(inlined, &[], (Vec::new(), &[]), env, loc),
        }
    }
}
