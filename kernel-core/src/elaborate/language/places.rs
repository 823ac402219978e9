//! Names, fields and elements: their values, and assignments to them.

use std::rc::Rc;

use super::{
    elements::{A_WINDOW, as_usize},
    scope::Binding,
    value::{Num, Place, StructVal, Ty, Val},
};
use crate::{
    diag::Code,
    elaborate::{
        Builder, Env,
        messages::{
            advice::{self, Advice},
            forms::AsWritten,
            iterators::chosen_element,
            own_code::VALUE,
        },
    },
    ir::{Const, Dtype, Type},
    loc::Loc,
    syntax::{Expr, ExprKind, Ident, Path, TypeExpr, UnOp, matching::OfOption},
};

impl Builder<'_> {
    /// A name or path as a value.
    pub(crate) fn path(&mut self, path: &Path, env: Env) -> Val {
        let joined = self.scopes.joined(env, path);
        let path = joined.as_ref().unwrap_or(path);
        if let [_, _, ..] = path.segments[..]
            && let Some(val) = self.constant_of_rust(path, env)
        {
            return val;
        }
        match path.segments.as_slice() {
            [only] => match self.scopes.lookup(env, &only.name).cloned() {
                Some(Binding::Var(var)) if self.scopes.spoiled.contains(&var) => Val::Error,
                Some(Binding::Var(var)) => self.scopes.vars[var.0 as usize].val.clone(),
                Some(Binding::Const(item, home)) => {
                    let before = self.problems.reports();
                    let ty = self.type_of_constant(&item.ty, home);
                    if self.problems.reports() > before {
                        return Val::Error;
                    }
                    self.defining.push(item.name.name.clone());
                    let val = self.plain_expr(&item.value, home);
                    self.defining.pop();
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
                    if let Some(val) = self.constant_of_rust(path, env) {
                        return val;
                    }
                    let name = real.last().cloned().unwrap_or_default();
                    Self::language_value(&name)
                        .unwrap_or_else(|| self.unknown(&only.name, path.loc, env))
                }
                Some(Binding::Refused | Binding::Awaited) => Val::Error,
                Some(Binding::Nowhere) => {
                    let val = if self.tells_all() {
                        self.unknown(&only.name, path.loc, env)
                    } else {
                        self.nowhere(&only.name, path.loc, env)
                    };
                    self.scopes.doubt.arises();
                    val
                }
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
        let of = self.segment_type(ty, env);
        let headline = |of: &str| format!("`{of}` has no constant `{}`", name.name);
        if let Ty::Scalar(num) = of {
            let dtype = self.cells.settled(num);
            if let Some((value, of)) = dtype_constant(dtype, &name.name) {
                return Val::Const(value, Num::Known(of));
            }
            if crate::elaborate::signatures::is_tile_method(&name.name) {
                return self.method_as_path(&name.name, loc);
            }
            let known = CONSTANTS.iter().copied();
            let known = known.filter(|known| dtype_constant(dtype, known).is_some());
            let diagnostic = Code::UnknownName.at(name.loc, headline(dtype.name()));
            return self.report(match crate::diag::nearest(&name.name, known) {
                Some(near) => diagnostic.help(near),
                None if dtype == Dtype::Ue8m0 => diagnostic.help("ue8m0::from_bits(127)"),
                None => diagnostic.why("element types have BITS, BYTES, ZERO, MIN and MAX, floats also INFINITY, NEG_INFINITY, NAN and EPSILON"),
            });
        }
        if matches!(of, Ty::Infer) {
            return match self.scopes.lookup_type(env, &ty.name) {
                Some(Binding::Type(_)) => self.open_parameter(&ty.name, ty.loc),
                // A tile or an address, whose element type is left open.
                _ if super::types::is_own_type(&ty.name) => {
                    self.error(Code::UnknownName, name.loc, headline(&ty.name))
                }
                // `resolve` said what is wrong.
                _ => Val::Error,
            };
        }
        let of_type = self.type_name(&of);
        let Ty::Struct(def, home, generics) = of else {
            return self.error(Code::UnknownName, name.loc, headline(&of_type));
        };
        let headline = if def.is_enum() {
            format!("`{of_type}` has no variant `{}`", name.name)
        } else {
            headline(&of_type)
        };
        let Some((item, outer, params, pattern)) = self.find_const(&def, &name.name) else {
            let known = self.const_names(&def);
            let names = known.iter().map(String::as_str);
            if def.is_enum() && crate::diag::nearest(&name.name, names.clone()).is_none() {
                let listed: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                let why = format!("it has {}", listed.join(", "));
                return self.report(Code::UnknownName.at(name.loc, headline).why(why));
            }
            return self.no_such_name(Code::UnknownName, (&name.name, name.loc), headline, names);
        };
        let scope = self.impl_scope(outer, &params, &pattern, &Ty::Struct(def, home, generics));
        let val = self.plain_expr(&item.value, scope);
        let ty = self.resolve(&item.ty, scope);
        self.coerce(val, &ty, loc)
    }

    /// Where an expression is stored, if it is a place.
    pub(crate) fn place(&mut self, expr: &Expr, env: Env) -> Option<Place> {
        if let ExprKind::Unary(UnOp::Deref, inner) = &expr.kind {
            return self.place(inner, env);
        }
        if let ExprKind::Path(path) = &expr.kind {
            let binding = self.scopes.lookup(env, &path.only()?.name);
            let Some(Binding::Var(var)) = binding else { return None };
            return Some(self.followed(Place { var: *var, path: Vec::new() }));
        }
        let (ExprKind::Field(base, _) | ExprKind::Index(base, _)) = &expr.kind else { return None };
        let mut place = self.place(base, env)?;
        let whole = self.read(&place);
        if let ExprKind::Field(_, name) = &expr.kind {
            place.path.push(field_index(&whole, &name.name)?);
        } else if let ExprKind::Index(_, index) = &expr.kind {
            let (Val::Array(parts) | Val::List(parts)) = &whole else { return None };
            let of = as_usize(index).filter(|_| matches!(whole, Val::Array(_)));
            let Val::Const(Const::Int(at), num) = self.plain_expr(of.unwrap_or(index), env) else {
                return None;
            };
            if of.is_none()
                && matches!(whole, Val::Array(_))
                && self.cells.unify_index(num).is_none()
            {
                return None;
            }
            place.path.push(usize::try_from(at).ok().filter(|at| *at < parts.len())?);
        }
        Some(self.followed(place))
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
        if let Val::Ref(next) = val { self.followed((**next).clone()) } else { place }
    }

    pub(crate) fn assign(&mut self, target: &Expr, (val, val_loc): (Val, Loc), env: Env) {
        if matches!(val, Val::Never) || self.dead() {
            return;
        }
        if target.name() == Some("_") {
            return;
        }
        if let ExprKind::Unary(UnOp::Deref, pointer) = &target.kind
            && self.is_pointer(pointer, env)
        {
            self.report(
                Code::NotAFunction.at(target.loc, "an address cannot be assigned to")
                    .why("an address is a position in global memory, counted in elements, and not a Rust reference")
                    .help(format!(
                        "store({}, {})",
                        pointer.text().as_deref().unwrap_or("p"),
                        self.written(&val).as_deref().unwrap_or("x")
                    )),
            );
        } else if let ExprKind::Tuple(parts) | ExprKind::Array(parts) = &target.kind {
            let vals = self.taken_apart(val, parts.len(), ("assignment", target.loc));
            for (part, val) in parts.iter().zip(vals.unwrap_or_default()) {
                self.assign(part, (val, val_loc), env);
            }
        } else if let Some(place) = self.place(target, env) {
            self.assign_place(&place, (val, val_loc), target.loc);
        } else if !self.assigns_element(target, &val, env) {
            let assigned = self.plain_expr(target, env);
            if assigned.is_absent() {
                return;
            }
            let diagnostic = Code::Kind.at(target.loc, "this cannot be assigned to")
                .why("a variable, a field, or an array element at a constant index can be assigned to; write tiles and memory with `store`");
            let window = target.operand_text().filter(|_| matches!(assigned, Val::View(_)));
            let stored = self.written(&val).unwrap_or_else(|| "value".to_owned());
            let help = window.map(|window| format!("{window}.store({stored})"));
            let of_array = matches!(&target.kind, ExprKind::Index(..)) && help.is_none();
            let diagnostic = diagnostic.help_if(help);
            self.report(if of_array {
                diagnostic
                    .help("for i in unroll(0..4) { parts[i as usize] = value; }")
                    .exemplified()
            } else {
                diagnostic
            });
        }
    }

    /// Reports an assignment to an element of what is written as a whole.
    pub(crate) fn assigns_element(&mut self, target: &Expr, stored: &Val, env: Env) -> bool {
        let ExprKind::Index(base, index) = &target.kind else { return false };
        let tensor = self.indexed_tensor(target, env);
        let val = match (tensor, self.place(base, env)) {
            (Some(tensor), _) => tensor,
            (None, Some(place)) => self.read(&place),
            (None, None) => return false,
        };
        if let Val::Array(parts) | Val::List(parts) = &val {
            let (length, at) = (parts.len(), self.plain_expr(index, env));
            if at.is_absent() {
                return true;
            }
            if matches!(at, Val::Const(..)) {
                return false;
            }
            let as_index = if matches!(val, Val::Array(_)) { " as usize" } else { "" };
            let of = base.operand_text().unwrap_or_else(|| "parts".to_owned());
            self.report(
                Code::NotConstant
                    .at(index.loc, "the index of an element that is assigned to must be known at compile time")
                    .compare("", "a constant", self.describe(&at))
                    .why("the elements of an array are in registers, which have no addresses; an unrolled loop has constants for indices")
                    .help(format!("for i in unroll(0..{length}) {{ {of}[i{as_index}] = ..; }}"))
                    .exemplified(),
            );
            return true;
        }
        let (headline, why, help) = if let Some(param) = val.tensor() {
            let own = self.stored_at(&val, (base, index), stored, env);
            (
                "an element of a tensor cannot be assigned to",
                "a tensor is read and written tile by tile; one element is a tile of extent 1",
                own.unwrap_or_else(|| format!("{}.store(tile)", self.window_of(param))),
            )
        } else if let Some(Type::Shared(shared)) = self.ty_of(&val)
            && shared.shape.len() == 1
        {
            let of_shared = shared.shape.clone();
            let index = self.plain_expr(index, env);
            let is_tile = |val: &Val| matches!(self.ty_of(val), Some(Type::Tile(..)));
            let shared = base.operand_text().unwrap_or_else(|| "s".to_owned());
            let written = |val: &Val, or: &str| self.written(val).unwrap_or_else(|| or.to_owned());
            let dtype = self.cells.settled(self.num_of(&val).unwrap_or(Num::Known(Dtype::F32)));
            let scalar = self.is_const_or_scalar(stored);
            let value = if scalar && !is_tile(&index) {
                self.full_of(&of_shared, stored, dtype)
            } else {
                written(stored, "value")
            };
            let help = if is_tile(&index) {
                format!("{shared}.scatter({}, {value})", written(&index, "indices"))
            } else {
                format!("{shared}.store({value})")
            };
            let diagnostic = Code::SharedUse
                .at(target.loc, "an element of shared memory cannot be assigned to")
                .why("shared memory is written as a tile, or at a tile of indices: a layout spreads the elements over the threads")
                .help(help);
            self.report(diagnostic);
            return true;
        } else if val.value().is_some_and(|value| self.is_ptr(value)) {
            (
                "an address cannot be assigned to",
                "an address is moved by `+`, in elements",
                "store(p + i, x)".to_owned(),
            )
        } else if let Some(Type::Tile(_, shape)) = self.ty_of(&val)
            && shape.len() == 1
        {
            (
                "an element of a tile cannot be assigned to",
                "the elements of a tile belong to threads; choose among them with a mask",
                chosen_element((base, index), shape[0], VALUE)
                    .unwrap_or_else(|| format!("t = select(arange(0, {}).eq(i), x, t)", shape[0])),
            )
        } else {
            return false;
        };
        let diagnostic = Code::NotAFunction.at(target.loc, headline).why(why).help(help);
        let of_tensor = val.tensor().and_then(|_| target.text());
        self.report(match of_tensor {
            Some(text) => diagnostic.compare("", A_WINDOW, format!("`{text}`")),
            None => diagnostic,
        });
        true
    }

    /// Whether an expression is a variable that holds an address.
    fn is_pointer(&mut self, expr: &Expr, env: Env) -> bool {
        let Some(place) = self.place(expr, env) else { return false };
        self.read(&place).value().is_some_and(|value| self.is_ptr(value))
    }

    fn assign_place(&mut self, place: &Place, (val, val_loc): (Val, Loc), loc: Loc) {
        if self.changes_from_elements(place, loc) {
            return;
        }
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
            let val = self.coerce(val, &ty, val_loc);
            let val = self.check_same_shape(&old, val, val_loc);
            if matches!(val, Val::Error) {
                // What the variable holds from here on is not known.
                self.scopes.spoiled.insert(place.var);
            }
            val
        };
        let mut root = self.scopes.vars[place.var.0 as usize].val.clone();
        set_at(&mut root, &place.path, val);
        self.scopes.vars[place.var.0 as usize].val = root;
        self.scopes.held(place.var);
    }

    /// Reports an assignment to a variable that was declared without `mut`.
    fn immutable(&mut self, place: &Place, loc: Loc) {
        let name = self.scopes.name_of(place.var).unwrap_or("this variable").to_owned();
        let declared = self.scopes.vars[place.var.0 as usize].declared;
        let at = declared.unwrap_or(loc);
        // It is said once.
        self.scopes.vars[place.var.0 as usize].mutable = true;
        self.report(
            Code::Immutable.at(at, format!("`{name}` is not `mut`"))
                .place_if(declared.map(|_| loc), "changed here")
                .why("only variables declared `mut` can change, and only these are carried from iteration to iteration")
                .help(format!("mut {name}")),
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
                    .why("branches and loops carry a variable in the same registers, whichever way they go")
                    .help("let y = ..")
                    .exemplified(),
            );
        }
        new
    }

    pub(crate) fn field(&mut self, base: &Expr, name: &Ident, env: Env, loc: Loc) -> Val {
        if let Some(reported) = self.index_of_grid(base, name, env, loc) {
            return reported;
        }
        let val = self.expr(base, env);
        let reference = matches!(val, Val::Ref(_));
        let val = self.plain(val);
        if let Some(of) = OfOption::named(&name.name) {
            let asked = self.of_option(of, &val, name.loc);
            if reference && of == OfOption::Inside {
                // What a pattern finds behind a reference is a reference.
                let var = self.scopes.declare(env, "", false, asked);
                return Val::Ref(Rc::new(Place { var, path: Vec::new() }));
            }
            return asked;
        }
        if let Some(index) = field_index(&val, &name.name) {
            let part = val.parts().and_then(|parts| parts.get(index)).cloned();
            return self.plain(part.unwrap_or(Val::Error));
        }
        if let Val::Range(range) = &val
            && let Some(end) = range.end_named(&name.name)
        {
            return end.clone();
        }
        if val.is_absent() {
            return Val::Error;
        }
        let headline = format!("{} has no field `{}`", self.describe(&val), name.name);
        let diagnostic = Code::NotAFunction.at(name.loc, headline);
        let written =
            AsWritten { of: base.operand_text(), args: Vec::new(), ends: [None, None], loc };
        if let Val::Struct(item) = &val
            && let Some(near) = crate::diag::nearest(&name.name, item.def.field_names())
        {
            return self.report(diagnostic.help(near));
        }
        let diagnostic =
            match (self.said_of_field(&val, &name.name), method_advice(&val, &name.name)) {
                (Some(help), _) => written.instead(diagnostic, &help),
                (None, Some(advice)) => self.advised_of(diagnostic, &val, (&written, &[]), advice),
                (None, None) => diagnostic,
            };
        self.report(diagnostic)
    }

    /// What a pattern asks of an optional parameter.
    fn of_option(&mut self, of: OfOption, val: &Val, loc: Loc) -> Val {
        if let Val::Optional(optional) = val {
            return match (of, &optional.of) {
                (OfOption::IsSome, of) => truth(of.is_some()),
                (OfOption::IsNone, of) => truth(of.is_none()),
                (OfOption::Inside, Some(inside)) => inside.clone(),
                // rustc refuses patterns that leave `None` out.
                (OfOption::Inside, None) => {
                    let headline = "no pattern takes this parameter if it is absent";
                    self.report(Code::Unsupported.at(loc, headline).help("None => {}"))
                }
            };
        }
        if val.is_absent() {
            return Val::Error;
        }
        let headline = "`Some` and `None` are patterns of parameters that may be absent";
        let diagnostic = Code::Unsupported
            .at(loc, headline)
            .compare("", "a parameter of a type `Option<..>`", self.describe(val))
            .why("all other values are there: a mask or a `bool` says whether they count");
        self.report(diagnostic)
    }

    pub(crate) fn struct_literal(
        &mut self,
        path: &Path,
        fields: &[(Ident, Expr)],
        env: Env,
    ) -> Val {
        let of = self.resolve(&TypeExpr::of(path.clone()), env);
        // A type that nothing settles was reported, or is one of the language without its element type.
        let explained = self.problems.reports() > 0 || self.awaits;
        let is_known = !matches!(of, Ty::Infer) || !explained;
        let Ty::Struct(def, home, mut generics) = of else {
            for (_, value) in fields {
                self.expr(value, env);
            }
            if is_known {
                self.error(Code::Kind, path.loc, "this is not a struct");
            }
            return Val::Error;
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
pub(crate) fn method_advice(val: &Val, name: &str) -> Option<Advice> {
    if matches!(val, Val::Const(..) | Val::Value(_)) {
        advice::of_method(name)
    } else if val.tensor().is_some() {
        advice::of_tensor(name)
    } else if matches!(val, Val::Range(_)) {
        advice::of_range(name)
    } else if matches!(val, Val::Str(_)) {
        Some(("kernels compute with numbers and masks: the device has no strings", ""))
    } else {
        None
    }
}

/// A truth value that is known at compile time.
pub(crate) fn truth(value: bool) -> Val {
    Val::Const(Const::Bool(value), Num::Known(Dtype::Bool))
}

/// The position of a field in an aggregate.
fn field_index(val: &Val, name: &str) -> Option<usize> {
    if let Val::Struct(item) = val {
        return item.def.fields.iter().position(|(field, _)| field == name);
    }
    let Val::Tuple(parts) = val else { return None };
    name.parse::<usize>().ok().filter(|index| *index < parts.len())
}

fn set_at(root: &mut Val, path: &[usize], val: Val) {
    match path {
        [] => *root = val,
        [index, rest @ ..] => {
            if let Some(part) = root.parts_mut().and_then(|parts| parts.get_mut(*index)) {
                set_at(part, rest, val);
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
