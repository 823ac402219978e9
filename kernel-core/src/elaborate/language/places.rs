//! Names, fields and elements: their values, and assignments to them.

use std::rc::Rc;

use super::{
    scope::Binding,
    value::{Num, Place, StructVal, Ty, Val},
};
use crate::{
    diag::{Code, Diagnostic},
    elaborate::{Builder, Env},
    ir::{Const, Dtype, Type},
    loc::Loc,
    syntax::{Expr, ExprKind, Ident, Path, UnOp},
};

impl Builder<'_> {
    /// A name or path as a value.
    pub(crate) fn path(&mut self, path: &Path, env: Env) -> Val {
        let joined = self.scopes.joined(env, path);
        let path = joined.as_ref().unwrap_or(path);
        match path.segments.as_slice() {
            [only] => match self.scopes.lookup(env, &only.name).cloned() {
                Some(Binding::Var(var)) => self.scopes.vars[var.0 as usize].val.clone(),
                Some(Binding::Const(item, home)) => {
                    let val = self.plain_expr(&item.value, home);
                    let ty = self.resolve(&item.ty, home);
                    self.coerce(val, &ty, path.loc)
                }
                Some(Binding::Type(Ty::Const(value, num))) => Val::Const(value, num),
                Some(Binding::Type(Ty::Infer)) => self.open_parameter(&only.name, path.loc),
                Some(Binding::Struct(def, home)) if def.fields.is_empty() => {
                    Val::Struct(Rc::new(StructVal {
                        def,
                        scope: home,
                        generics: Vec::new(),
                        fields: Vec::new(),
                    }))
                }
                Some(Binding::Use(real)) => {
                    let name = real.last().cloned().unwrap_or_default();
                    Self::language_value(&name)
                        .unwrap_or_else(|| self.unknown(&only.name, path.loc, env))
                }
                Some(Binding::Refused | Binding::Awaited) => Val::Error,
                Some(_) => {
                    self.error(Code::Kind, path.loc, format!("`{}` is not a value", only.name))
                }
                None => match Self::language_value(&only.name) {
                    Some(val) => val,
                    None => self.unknown(&only.name, path.loc, env),
                },
            },
            [.., ty, name] => self.associated(ty, name, env, path.loc),
            [] => Val::Error,
        }
    }

    /// A generic parameter that neither the arguments nor the call settle.
    pub(crate) fn open_parameter(&mut self, name: &str, loc: Loc) -> Val {
        if self.problems.reports() > 0 {
            // Its value was refused where it was given.
            return Val::Error;
        }
        self.report(
            Code::NotConstant
                .at(loc, format!("the compiler cannot infer `{name}` here"))
                .why("the arguments of the call do not mention it")
                .help("f::<f32>(..)"),
        )
    }

    /// Values of the language that stand for themselves: target names.
    fn language_value(name: &str) -> Option<Val> {
        super::targets::target_named(name).map(Val::Target)
    }

    /// `T::BYTES`, `f32::MAX`, `Name::CONST`
    fn associated(
        &mut self,
        ty: &crate::syntax::Segment,
        name: &crate::syntax::Segment,
        env: Env,
        loc: Loc,
    ) -> Val {
        let type_expr = crate::syntax::TypeExpr {
            kind: crate::syntax::TypeKind::Path(Path { segments: vec![ty.clone()], loc: ty.loc }),
            loc: ty.loc,
        };
        match self.resolve(&type_expr, env) {
            Ty::Scalar(num) => {
                let dtype = self.cells.settled(num);
                match dtype_constant(dtype, &name.name) {
                    Some((value, of)) => Val::Const(value, Num::Known(of)),
                    None if crate::elaborate::signatures::is_tile_method(&name.name) => {
                        self.method_as_path(&name.name, loc)
                    }
                    None => {
                        let known = CONSTANTS.iter().copied();
                        let known = known.filter(|known| dtype_constant(dtype, known).is_some());
                        let diagnostic = Code::UnknownName.at(
                            name.loc,
                            format!("`{}` has no constant `{}`", dtype.name(), name.name),
                        );
                        self.report(match crate::diag::nearest(&name.name, known) {
                            Some(near) => diagnostic.help(near),
                            None if dtype == Dtype::Ue8m0 => diagnostic.help("ue8m0::from_bits(127)"),
                            None => diagnostic.why("element types have BITS, BYTES, ZERO, MIN and MAX, floats also INFINITY, NEG_INFINITY, NAN and EPSILON"),
                        })
                    }
                }
            }
            Ty::Struct(def, home, generics) => {
                let Some((item, outer, params, pattern)) = self.find_const(&def, &name.name) else {
                    let known = self.const_names(&def);
                    let headline = format!("`{}` has no constant `{}`", def.name.name, name.name);
                    let known = known.iter().map(String::as_str);
                    return self.no_such_name(
                        Code::UnknownName,
                        (&name.name, name.loc),
                        headline,
                        known,
                    );
                };
                let scope =
                    self.impl_scope(outer, &params, &pattern, &Ty::Struct(def, home, generics));
                let val = self.plain_expr(&item.value, scope);
                let ty = self.resolve(&item.ty, scope);
                self.coerce(val, &ty, loc)
            }
            Ty::Infer => match self.scopes.lookup_type(env, &ty.name) {
                Some(Binding::Type(_)) => self.open_parameter(&ty.name, ty.loc),
                // A tile or an address, whose element type is left open.
                _ if super::types::is_own_type(&ty.name) => self.error(
                    Code::UnknownName,
                    name.loc,
                    format!("`{}` has no constant `{}`", ty.name, name.name),
                ),
                // `resolve` said what is wrong.
                _ => Val::Error,
            },
            other => {
                let what = self.type_name(&other);
                self.error(
                    Code::UnknownName,
                    name.loc,
                    format!("`{what}` has no constant `{}`", name.name),
                )
            }
        }
    }

    /// Where an expression is stored, if it is a place.
    pub(crate) fn place(&mut self, expr: &Expr, env: Env) -> Option<Place> {
        match &expr.kind {
            ExprKind::Path(path) => {
                let [only] = path.segments.as_slice() else { return None };
                let Some(Binding::Var(var)) = self.scopes.lookup(env, &only.name) else {
                    return None;
                };
                Some(self.followed(Place { var: *var, path: Vec::new() }))
            }
            ExprKind::Unary(UnOp::Deref, inner) => self.place(inner, env),
            ExprKind::Field(base, name) => {
                let mut place = self.place(base, env)?;
                let index = field_index(&self.read(&place), &name.name)?;
                place.path.push(index);
                Some(self.followed(place))
            }
            ExprKind::Index(base, index) => {
                let mut place = self.place(base, env)?;
                let whole = self.read(&place);
                let (Val::Array(parts) | Val::List(parts)) = &whole else { return None };
                let len = parts.len();
                let index_val = self.plain_expr(index, env);
                let Val::Const(Const::Int(at), num) = index_val else { return None };
                if matches!(whole, Val::Array(_)) && self.cells.unify_index(num).is_none() {
                    return None;
                }
                let at = usize::try_from(at).ok().filter(|at| *at < len)?;
                place.path.push(at);
                Some(self.followed(place))
            }
            _ => None,
        }
    }

    /// A place that holds a reference stands for what it refers to.
    fn followed(&self, place: Place) -> Place {
        let mut val = &self.scopes.vars[place.var.0 as usize].val;
        for (depth, index) in place.path.iter().enumerate() {
            if let Val::Ref(next) = val {
                let mut path = next.path.clone();
                path.extend(&place.path[depth..]);
                return self.followed(Place { var: next.var, path });
            }
            match val.parts().and_then(|parts| parts.get(*index)) {
                Some(part) => val = part,
                None => return place,
            }
        }
        match val {
            Val::Ref(next) => self.followed((**next).clone()),
            _ => place,
        }
    }

    pub(crate) fn assign(&mut self, target: &Expr, val: Val, env: Env) {
        if matches!(val, Val::Never) || self.dead() {
            return;
        }
        match &target.kind {
            ExprKind::Path(path) if path.segments.len() == 1 && path.segments[0].name == "_" => {}
            ExprKind::Unary(UnOp::Deref, pointer) if self.is_pointer(pointer, env) => {
                self.report(
                    Code::NotAFunction.at(target.loc,
                        "an address cannot be assigned to",
                    )
                    .why("an address is a position in global memory, counted in elements, and not a Rust reference")
                    .help(format!(
                        "store({}, {})",
                        pointer.text().as_deref().unwrap_or("p"),
                        self.written(&val).as_deref().unwrap_or("x")
                    )),
                );
            }
            ExprKind::Tuple(parts) | ExprKind::Array(parts) => {
                let val = self.plain(val);
                let vals = match &val {
                    Val::Tuple(vals) | Val::Array(vals) if vals.len() == parts.len() => {
                        vals.to_vec()
                    }
                    Val::Unit if parts.is_empty() => Vec::new(),
                    Val::Error => return,
                    other => {
                        self.report(
                            Code::Kind
                                .at(target.loc, "this assignment needs a tuple or an array")
                                .compare(
                                    "",
                                    format!("{} parts", parts.len()),
                                    self.describe(other),
                                ),
                        );
                        return;
                    }
                };
                for (part, val) in parts.iter().zip(vals) {
                    self.assign(part, val, env);
                }
            }
            _ => match self.place(target, env) {
                Some(place) => self.assign_place(&place, val, target.loc),
                None if self.assigns_element(target, env) => {}
                None => {
                    let base = self.plain_expr(target, env);
                    if !matches!(base, Val::Error | Val::Never) {
                        self.report(
                            Code::Kind.at(target.loc, "this cannot be assigned to")
                                .why("a variable, a field, or an array element at a constant index can be assigned to; write tiles and memory with `store`"),
                        );
                    }
                }
            },
        }
    }

    /// Reports an assignment to an element of what is written as a whole.
    fn assigns_element(&mut self, target: &Expr, env: Env) -> bool {
        let ExprKind::Index(base, _) = &target.kind else { return false };
        let Some(place) = self.place(base, env) else { return false };
        let (headline, why, help) = match self.read(&place) {
            Val::Tensor(param) => (
                "an element of a tensor cannot be assigned to",
                "a tensor is read and written tile by tile",
                format!("{}.store(tile)", self.window_of(param)),
            ),
            Val::Value(value) if self.is_ptr(value) => (
                "an address cannot be assigned to",
                "an address is moved by `+`, in elements",
                "store(p + i, x)".to_owned(),
            ),
            Val::Value(value) => match self.ty(value) {
                Type::Tile(_, shape) if shape.len() == 1 => (
                    "an element of a tile cannot be assigned to",
                    "the elements of a tile belong to threads; choose among them with a mask",
                    format!("t = select(arange(0, {}).eq(i), x, t)", shape[0]),
                ),
                _ => return false,
            },
            _ => return false,
        };
        self.report(Code::NotAFunction.at(target.loc, headline).why(why).help(help));
        true
    }

    /// Whether an expression is a variable that holds an address.
    fn is_pointer(&mut self, expr: &Expr, env: Env) -> bool {
        let Some(place) = self.place(expr, env) else { return false };
        self.read(&place).value().is_some_and(|value| self.is_ptr(value))
    }

    pub(crate) fn assign_place(&mut self, place: &Place, val: Val, loc: Loc) {
        let old = self.read(place);
        let variable = &self.scopes.vars[place.var.0 as usize];
        if !variable.mutable && !matches!(variable.val, Val::Unit) {
            return self.immutable(place, loc);
        }
        let val = if matches!(old, Val::Unit) {
            val
        } else {
            let val = self.plain(val);
            let ty = self.type_of(&old);
            let val = self.coerce(val, &ty, loc);
            self.check_same_shape(&old, val, loc)
        };
        let mut root = self.scopes.vars[place.var.0 as usize].val.clone();
        set_at(&mut root, &place.path, val);
        self.scopes.vars[place.var.0 as usize].val = root;
        self.scopes.held(place.var);
    }

    /// Reports an assignment to a variable that was declared without `mut`.
    fn immutable(&mut self, place: &Place, loc: Loc) {
        let name = self.scopes.name_of(place.var).unwrap_or("this variable").to_owned();
        self.report(
            Code::Immutable.at(loc, format!("`{name}` is not `mut`"))
                .why("only variables declared `mut` can change, and only these are carried from iteration to iteration")
                .help(format!("mut {name} // where it is declared"),
            ),
        );
    }

    /// A variable keeps the shape that it has.
    fn check_same_shape(&mut self, old: &Val, new: Val, loc: Loc) -> Val {
        if let (Val::Value(a), Val::Value(b)) = (old, &new)
            && self.ty(*a).shape() != self.ty(*b).shape()
        {
            let (required, actual) = (self.describe(old), self.describe(&new));
            return self.report(
                Code::ShapeMismatch
                    .at(loc, "a variable keeps its shape")
                    .compare("", required, actual)
                    .help("let y = .."),
            );
        }
        if let (Val::Const(..), Val::Value(b)) = (old, &new)
            && !self.is_scalar(*b)
        {
            return self.report(Code::ShapeMismatch.at(loc, "a variable keeps its shape").compare(
                "",
                "a scalar",
                self.describe(&new),
            ));
        }
        new
    }

    pub(crate) fn field(&mut self, base: &Expr, name: &Ident, env: Env) -> Val {
        let val = self.plain_expr(base, env);
        if let Some(index) = field_index(&val, &name.name) {
            let part = val.parts().and_then(|parts| parts.get(index)).cloned();
            return self.plain(part.unwrap_or(Val::Error));
        }
        if matches!(val, Val::Error | Val::Never) {
            return Val::Error;
        }
        let headline = format!("{} has no field `{}`", self.describe(&val), name.name);
        let diagnostic = Code::NotAFunction.at(name.loc, headline);
        if let Val::Struct(item) = &val
            && let Some(near) = crate::diag::nearest(&name.name, item.def.field_names())
        {
            return self.report(diagnostic.help(near));
        }
        let diagnostic =
            match (self.said_of_field(&val, &name.name), method_advice(&val, &name.name)) {
                (Some(help), _) => diagnostic.help(help),
                (None, Some(advice)) => self.advised_of(diagnostic, &val, &[], advice),
                (None, None) => diagnostic,
            };
        self.report(diagnostic)
    }

    pub(crate) fn struct_literal(
        &mut self,
        path: &Path,
        fields: &[(Ident, Expr)],
        env: Env,
    ) -> Val {
        let type_expr = crate::syntax::TypeExpr {
            kind: crate::syntax::TypeKind::Path(path.clone()),
            loc: path.loc,
        };
        let (def, home, mut generics) = match self.resolve(&type_expr, env) {
            Ty::Struct(def, home, generics) => (def, home, generics),
            other => {
                for (_, value) in fields {
                    self.expr(value, env);
                }
                if matches!(other, Ty::Infer) {
                    return Val::Error;
                }
                return self.error(Code::Kind, path.loc, "this is not a struct");
            }
        };
        let names: Vec<String> = def.generics.iter().map(|g| g.name.name.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut vals = vec![Val::Error; def.fields.len()];
        let mut seen = vec![false; def.fields.len()];
        let mut inferred: Vec<(String, Ty)> = Vec::new();
        for (name, value) in fields {
            let val = self.expr(value, env);
            let Some(index) = def.fields.iter().position(|(field, _)| *field == name.name) else {
                let headline = format!("`{}` has no field `{}`", def.name.name, name.name);
                let at = (&*name.name, name.loc);
                self.no_such_name(Code::NotAFunction, at, headline, def.field_names());
                continue;
            };
            let ty = self.type_of(&val);
            Self::infer_generics(&def.fields[index].1, &ty, &names, &mut inferred);
            vals[index] = val;
            seen[index] = true;
        }
        for (index, (field, _)) in def.fields.iter().enumerate() {
            if !seen[index] {
                self.error(
                    Code::ArgumentCount,
                    path.loc,
                    format!("the field `{field}` of `{}` is missing", def.name.name),
                );
            }
        }
        for (slot, name) in generics.iter_mut().zip(&names) {
            if matches!(slot, Ty::Infer)
                && let Some((_, ty)) = inferred.iter().find(|(n, _)| n == name)
            {
                *slot = ty.clone();
            }
        }
        // The declared types of the fields settle literals: `phase: i32`.
        let scope = self.scopes.child(home);
        for (param, ty) in def.generics.iter().zip(&generics) {
            self.scopes.bind(scope, &param.name.name, Binding::Type(ty.clone()));
        }
        for (index, (_, ty)) in def.fields.iter().enumerate() {
            let want = self.resolve(ty, scope);
            let is_ref = matches!(vals[index], Val::Ref(_));
            if !is_ref {
                let val = std::mem::replace(&mut vals[index], Val::Error);
                vals[index] = self.coerce(val, &want, path.loc);
            }
        }
        let val = Val::Struct(Rc::new(StructVal { def, scope: home, generics, fields: vals }));
        self.bounded(val, path.loc)
    }
}

/// What a method or field of another language is called in this one.
pub(crate) fn method_advice(
    val: &Val,
    name: &str,
) -> Option<crate::elaborate::messages::advice::Advice> {
    match val {
        Val::Const(..) | Val::Value(_) => crate::elaborate::messages::advice::of_method(name),
        Val::Tensor(_) => crate::elaborate::messages::advice::of_tensor(name),
        Val::Range(_) => crate::elaborate::messages::advice::of_range(name),
        _ => None,
    }
}

/// The diagnostic with the parts of an advice that are not empty.
pub(crate) fn advised(diagnostic: Diagnostic, (why, help): (&str, &str)) -> Diagnostic {
    let diagnostic = if why.is_empty() { diagnostic } else { diagnostic.why(why) };
    if help.is_empty() { diagnostic } else { diagnostic.help(help) }
}

/// The position of a field in an aggregate.
fn field_index(val: &Val, name: &str) -> Option<usize> {
    match val {
        Val::Struct(item) => item.def.fields.iter().position(|(field, _)| field == name),
        Val::Tuple(parts) => name.parse::<usize>().ok().filter(|index| *index < parts.len()),
        _ => None,
    }
}

fn set_at(root: &mut Val, path: &[usize], val: Val) {
    match path {
        [] => *root = val,
        [index, rest @ ..] => {
            if let Some(mut part) = root.parts().and_then(|parts| parts.get(*index)).cloned() {
                set_at(&mut part, rest, val);
                root.set_part(*index, part);
            }
        }
    }
}

/// The constants of element types.
const CONSTANTS: [&str; 10] =
    ["BITS", "BYTES", "ZERO", "ONE", "MIN", "MAX", "INFINITY", "NEG_INFINITY", "NAN", "EPSILON"];

/// `f32::MAX` and the like: the value and its type.
pub(crate) fn dtype_constant(dtype: Dtype, name: &str) -> Option<(Const, Dtype)> {
    let int = |value: i128| Some((Const::Int(value), Dtype::I32));
    let own = |value: f64| Some((Const::Float(value), dtype));
    match name {
        "BITS" => return int(i128::from(dtype.bytes() * 8)),
        "BYTES" => return int(i128::from(dtype.bytes())),
        _ => {}
    }
    if let Some((lo, hi)) = crate::elaborate::tiles::arith::int_range(dtype) {
        return match name {
            "MIN" => Some((Const::Int(lo), dtype)),
            "MAX" => Some((Const::Int(hi), dtype)),
            "ZERO" => Some((Const::Int(0), dtype)),
            _ => None,
        };
    }
    if dtype == Dtype::Ue8m0 {
        return match name {
            "ONE" => Some((Const::Int(127), dtype)),
            "NAN" => Some((Const::Int(255), dtype)),
            _ => None,
        };
    }
    // Largest finite value, and the distance from 1 to the next value.
    let format = dtype.format()?;
    let (max, epsilon) = (format.max, 2f64.powi(-format.fraction_bits.cast_signed()));
    match name {
        "INFINITY" | "NEG_INFINITY" if dtype.is_float8() => None,
        "MIN" => own(-max),
        "MAX" => own(max),
        "ZERO" => own(0.0),
        "INFINITY" => own(f64::INFINITY),
        "NEG_INFINITY" => own(f64::NEG_INFINITY),
        "NAN" => own(f64::NAN),
        "EPSILON" => own(epsilon),
        _ => None,
    }
}
