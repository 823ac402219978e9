//! Calls: functions and methods are inlined where they are called.

use std::{rc::Rc, sync::Arc};

use super::{
    scope::{Binding, Call},
    value::{ClosureVal, Num, Place, Ty, Val},
};
use crate::{
    diag::{Code, Diagnostic, counted},
    elaborate::{
        Builder, Env,
        messages::{unknown::OF_NUMBERS, windows::counted_over},
    },
    ir::{Const, Dtype, Type},
    loc::Loc,
    syntax::{
        ConstItem, Expr, ExprKind, Function, GenericArg, GenericParam, Impl, PatKind, Path,
        Receiver, Segment, Struct, Trait, TypeExpr, TypeKind,
    },
};

/// A method or constant with what is needed to use it: itself, where its `impl` stands, the generics and the type of the `impl`.
type Found<T = Function> = (Arc<T>, Env, Vec<GenericParam>, TypeExpr);

/// What is reported of a call with another number of arguments than are required.
pub(crate) fn other_count(
    loc: Loc,
    headline: String,
    what: &str,
    [required, actual]: [usize; 2],
) -> Diagnostic {
    Code::ArgumentCount.at(loc, headline).compare(what, required, actual)
}

/// A function of the user's that is called.
pub(super) struct Inlined<'f> {
    pub(super) function: &'f Arc<Function>,
    /// Where it stands.
    pub(super) outer: Env,
    /// What a method is called on.
    pub(super) receiver: Option<Val>,
}

/// The traits of the language whose methods are called on their first argument.
const TRAITS: [&str; 6] = ["Scalar", "Number", "Float", "Int", "Bits", "Cast"];

impl Builder<'_> {
    /// `f(a, b)`
    pub(crate) fn call_expr(&mut self, callee: &Expr, args: &[Expr], env: Env, loc: Loc) -> Val {
        let ExprKind::Path(path) = &callee.kind else {
            let val = self.plain_expr(callee, env);
            return self.call_value(&val, args, env, callee.loc);
        };
        if let Some(only) = path.only()
            && !matches!(
                self.scopes.lookup(env, &only.name),
                Some(Binding::Function(..) | Binding::Var(_))
            )
            && let Some(reported) = self.atomic_of_element(&only.name, args, env, loc)
        {
            return reported;
        }
        let joined = self.scopes.joined(env, path);
        let path = joined.as_ref().unwrap_or(path);
        match path.segments.as_slice() {
            [only] => match self.scopes.lookup(env, &only.name).cloned() {
                Some(Binding::Function(function, home)) => {
                    let vals = self.args(args, env);
                    let inlined = Inlined { function: &function, outer: home, receiver: None };
                    self.inline(inlined, &only.args, (vals, args), env, loc)
                }
                Some(Binding::Var(var)) => {
                    let val = self.scopes.vars[var.0 as usize].val.clone();
                    let val = self.plain(val);
                    if crate::elaborate::is_builtin(&only.name)
                        && !matches!(val, Val::Closure(_) | Val::Error | Val::Never)
                    {
                        return self.hidden_function(&only.name, &val, path.loc);
                    }
                    self.call_value(&val, args, env, path.loc)
                }
                Some(Binding::Struct(def, _)) => self.error(
                    Code::NotAFunction,
                    path.loc,
                    format!("`{}` is made with `{} {{ .. }}`", def.name.name, def.name.name),
                ),
                Some(Binding::Use(real)) => {
                    let name = real.last().cloned().unwrap_or_default();
                    let parent = real.len().checked_sub(2).map(|at| real[at].clone());
                    self.builtin_call(parent.as_deref(), &name, only, args, env, loc)
                }
                Some(Binding::Refused | Binding::Awaited) => {
                    self.args(args, env);
                    Val::Error
                }
                Some(Binding::Nowhere) => {
                    let vals = self.args(args, env);
                    let places = [path.loc, loc];
                    let val = if self.tells_all() {
                        self.unknown_function(&only.name, (args, &vals), places, env)
                    } else {
                        // What it would be of these arguments is not certain; that there is none is.
                        self.nowhere(&only.name, path.loc, env)
                    };
                    self.scopes.doubt.arises();
                    val
                }
                Some(Binding::Const(..) | Binding::Type(_) | Binding::Trait(..)) => self.error(
                    Code::NotAFunction,
                    path.loc,
                    format!("`{}` is not a function", only.name),
                ),
                None => self.builtin_call(None, &only.name, only, args, env, loc),
            },
            [.., parent, name] => {
                let bound = self.scopes.lookup_type(env, &parent.name);
                let own = matches!(bound, None | Some(Binding::Use(_) | Binding::Nowhere));
                if let [of, rest @ ..] = args
                    && own
                    && TRAITS.contains(&&*parent.name)
                    && name.name != "of"
                {
                    return self.method(of, name, rest, env, loc);
                }
                let parent_known = bound.is_some() || Dtype::from_name(&parent.name).is_some();
                if parent_known && !matches!(bound, Some(Binding::Use(_))) {
                    return self.associated_call(parent, name, args, env, loc);
                }
                if parent.name.starts_with(char::is_uppercase) {
                    // `Vec::new()`: it is the type that is unknown.
                    self.args(args, env);
                    return self.unknown(&parent.name, parent.loc, env);
                }
                match self.of_module(&parent.name, name, args, env, loc) {
                    Some(reported) => reported,
                    None => self.builtin_call(Some(&parent.name), &name.name, name, args, env, loc),
                }
            }
            [] => Val::Error,
        }
    }

    pub(crate) fn args(&mut self, args: &[Expr], env: Env) -> Vec<Val> {
        args.iter().map(|arg| self.expr(arg, env)).collect()
    }

    fn call_value(&mut self, val: &Val, args: &[Expr], env: Env, loc: Loc) -> Val {
        let Val::Closure(closure) = val else {
            if val.is_absent() {
                self.args(args, env);
                return Val::Error;
            }
            let what = self.describe(val);
            return self.error(Code::NotAFunction, loc, format!("{what} cannot be called"));
        };
        let vals = self.args(args, env);
        let (required, actual) = (closure.params.len(), vals.len());
        if actual != required {
            let headline = format!("this closure takes {}", counted(required, "argument"));
            return self.report(other_count(loc, headline, "arguments", [required, actual]));
        }
        self.call_closure(closure, vals, loc)
    }

    /// Reports a call of a variable that has the name of a function of the language.
    fn hidden_function(&mut self, name: &str, val: &Val, loc: Loc) -> Val {
        let what = self.describe(val);
        self.report(
            Code::NotAFunction
                .at(loc, format!("{what} cannot be called"))
                .why(format!(
                    "a variable called `{name}` hides the function `{name}` of the language"
                ))
                .help(format!("kiln::prelude::{name}")),
        )
    }

    /// Runs a closure's body in the scope that it was written in.
    pub(crate) fn call_closure(
        &mut self,
        closure: &Rc<ClosureVal>,
        vals: Vec<Val>,
        loc: Loc,
    ) -> Val {
        let (required, actual) = (vals.len(), closure.params.len());
        if actual != required {
            let headline =
                format!("a closure with {} is required here", counted(required, "parameter"));
            let diagnostic = other_count(loc, headline, "parameters", [required, actual]);
            let grouped = regrouped(closure, &vals);
            let names = ["a", "b", "c", "d"][..required.min(4)].join(", ");
            let help = grouped.unwrap_or_else(|| format!("|{names}| .."));
            return self.report(diagnostic.help(help));
        }
        if self.calls.len() > 64 {
            return self.nested_too_deeply(loc);
        }
        let scope = self.scopes.child(closure.scope);
        for (pat, val) in closure.params.iter().zip(vals) {
            self.bind_pattern(pat, val, scope);
        }
        self.expr(&closure.body, scope)
    }

    fn nested_too_deeply(&mut self, loc: Loc) -> Val {
        self.report(
            Code::Recursion
                .at(loc, "calls are nested too deeply")
                .compare("depth", "at most 64", "more")
                .why("functions are inlined into the kernel, each into the one that calls it"),
        )
    }

    /// What tells one instance of a function from another, so that only a call of the same one is recursion.
    fn instance_of(
        &self,
        scope: Env,
        generics: &[&str],
        receiver: Option<&Val>,
        vals: &[Val],
    ) -> Vec<String> {
        let mut parts = Vec::new();
        for name in generics.iter().copied().chain(["Self"]) {
            if let Some(Binding::Type(ty)) = self.scopes.lookup_type(scope, name) {
                parts.push(self.spelled(ty));
            }
        }
        for val in receiver.into_iter().chain(vals) {
            for leaf in self.plain(val.clone()).leaves() {
                if let Val::Closure(closure) = leaf {
                    parts.push(format!("{:?}", closure.body.loc));
                }
            }
        }
        parts
    }

    /// A type with what its generic parameters stand for.
    fn spelled(&self, ty: &Ty) -> String {
        let Ty::Struct(def, _, generics) = ty else { return self.type_name(ty) };
        let generics: Vec<_> = generics.iter().map(|ty| self.spelled(ty)).collect();
        format!("{}<{}>", def.name.name, generics.join(", "))
    }

    /// Inlines a function.
    pub(super) fn inline(
        &mut self,
        Inlined { function, outer, receiver }: Inlined<'_>,
        generic_args: &[GenericArg],
        (vals, args): (Vec<Val>, &[Expr]),
        env: Env,
        loc: Loc,
    ) -> Val {
        let name = &function.name.name;
        let Some(body) = &function.body else {
            return self.error(Code::NotAFunction, loc, format!("`{name}` has no body here"));
        };
        let (required, actual) = (function.params.len(), vals.len());
        if actual != required {
            let headline = format!("`{name}` takes {}", counted(required, "argument"));
            let diagnostic = other_count(loc, headline, "arguments", [required, actual]);
            return self.report(diagnostic.place(function.name.loc, "defined here"));
        }
        if self.calls.len() > 64 {
            return self.nested_too_deeply(loc);
        }
        let scope = self.scopes.child(outer);
        let names: Vec<&str> = function.generics.iter().map(|g| g.name.name.as_str()).collect();
        let mut inferred = Vec::new();
        for ((_, ty), val) in function.params.iter().zip(&vals) {
            let actual = self.type_of(val);
            Self::infer_generics(ty, &actual, &names, &mut inferred);
            self.infer_lengths(ty, val, &names, &mut inferred);
        }
        self.bind_generics(&function.generics, generic_args, &inferred, env, scope, loc);
        let instance = self.instance_of(scope, &names, receiver.as_ref(), &vals);
        let open = |call: &Call| Arc::ptr_eq(&call.function, function) && call.instance == instance;
        if self.calls.iter().any(open) {
            return self.report(
                Code::Recursion.at(loc, format!("`{name}` calls itself"))
                    .why("functions are inlined into the kernel, because tiles live in registers and a call stack cannot save registers; a loop repeats a step")
                    .help("let mut result = first;\nfor i in 0..n { result = step(result, i); }")
                    .exemplified(),
            );
        }
        receiver.iter().chain(&vals).for_each(|val| self.unmark(val));
        let vars_before = self.scopes.vars.len();
        self.calls.push(Call { function: function.clone(), instance, loc, vars: vars_before });
        if let Some(receiver) = receiver {
            self.scopes.declare(scope, "self", true, receiver);
        }
        for (index, ((pat, ty), val)) in function.params.iter().zip(vals).enumerate() {
            let want = self.resolve(ty, scope);
            let is_ref = matches!(ty.kind, TypeKind::Ref(..));
            let at = args.get(index).map_or(loc, |arg| arg.loc);
            if let Some(kind) = self.other_kind(ty, &want, &val, scope) {
                self.calls.pop();
                return self.report(
                    Code::Kind
                        .at(at, format!("`{name}` takes a `{kind}` here"))
                        .compare("", format!("a `{kind}`"), self.describe(&val))
                        .place(ty.loc, "declared here"),
                );
            }
            let val = if is_ref {
                val
            } else {
                let plain = self.plain(val);
                self.coerce(plain, &want, at)
            };
            self.bind_pattern(pat, val, scope);
        }
        let result = if super::reach::returns_early(body) {
            self.returning(body, scope)
        } else {
            let inner = self.scopes.child(scope);
            self.block_in(body, inner)
        };
        let result = match &function.result {
            Some(ty) => {
                let want = self.resolve(ty, scope);
                // A reference as a result was refused where it is declared.
                let result = self.plain(result);
                self.coerce(result, &want, loc)
            }
            None if matches!(result, Val::Never | Val::Error) => result,
            None => Val::Unit,
        };
        self.calls.pop();
        self.unmark(&result);
        result
    }

    /// The kind of values that a type stands for, whatever their elements, if a value is of another.
    fn other_kind(&self, ty: &TypeExpr, want: &Ty, val: &Val, scope: Env) -> Option<&'static str> {
        let only = ty.path()?.only()?;
        let named = self.scopes.lookup_type(scope, &only.name);
        if !matches!(named, None | Some(Binding::Use(_))) {
            return None;
        }
        let (kind, fits) = match (only.name.as_str(), self.type_of(val)) {
            (_, Ty::Infer) => return None,
            ("Tile", actual) => ("Tile", matches!(actual, Ty::Tile(_) | Ty::TilePtr(_))),
            ("Shared", actual) => ("Shared", matches!(actual, Ty::Shared(_))),
            // If the element is known, the help for a tile of rank 0 converts it to a scalar.
            ("Ptr", actual) if matches!(want, Ty::Infer) => ("Ptr", matches!(actual, Ty::Ptr(_))),
            _ => return None,
        };
        (!fits).then_some(kind)
    }

    /// `T::f(..)`; `T` is a struct, a number type, a generic parameter, or a trait of the language: `Float::max(a, b)`.
    fn associated_call(
        &mut self,
        ty: &Segment,
        name: &Segment,
        args: &[Expr],
        env: Env,
        loc: Loc,
    ) -> Val {
        let of = self.segment_type(ty, env);
        if let Ty::Scalar(num) = of {
            let vals = self.args(args, env);
            return self.number_function((num, &ty.name), name, (&vals, args), loc);
        }
        if matches!(of, Ty::Infer) {
            self.args(args, env);
            return match self.scopes.lookup_type(env, &ty.name) {
                Some(Binding::Type(_)) => self.open_parameter(&ty.name, ty.loc),
                // `resolve` said what is wrong.
                Some(_) => Val::Error,
                None => self.unknown(&ty.name, ty.loc, env),
            };
        }
        let headline = format!("`{}` has no function `{}`", self.type_name(&of), name.name);
        let Ty::Struct(def, home, generics) = of else {
            return self.error(Code::NotAFunction, name.loc, headline);
        };
        let Some(found) = self.find_function(&def, &name.name) else {
            let known = self.method_names(&def);
            let (at, known) = ((&*name.name, name.loc), known.iter().map(String::as_str));
            return self.no_such_name(Code::UnknownName, at, headline, known);
        };
        let mut vals = self.args(args, env);
        let receiver = (found.0.receiver.is_some() && !vals.is_empty()).then(|| vals.remove(0));
        let rest = if receiver.is_some() { &args[1..] } else { args };
        let generics = self.impl_generics(&found, &def, generics, receiver.as_ref(), &vals);
        let this = Ty::Struct(def, home, generics);
        let (function, outer, params, pattern) = found;
        let scope = self.impl_scope(outer, &params, &pattern, &this);
        let inlined = Inlined { function: &function, outer: scope, receiver };
        self.inline(inlined, &name.args, (vals, rest), env, loc)
    }

    /// The type that one segment names.
    pub(crate) fn segment_type(&mut self, segment: &Segment, env: Env) -> Ty {
        let path = Path { segments: vec![segment.clone()], loc: segment.loc };
        self.resolve(&TypeExpr::of(path), env)
    }

    /// `f16::of(value)`, `e4m3::from_f32(value)`, `e2m1x2::from_bits(byte)`
    fn number_function(
        &mut self,
        (num, of): (Num, &str),
        name: &Segment,
        (vals, args): (&[Val], &[Expr]),
        loc: Loc,
    ) -> Val {
        let dtype = self.cells.settled(num);
        let (converts, from_bits) = match name.name.as_str() {
            "of" | "from_f32" | "from_f64" | "from" => (true, false),
            "from_bits" => (false, dtype.is_opaque() || dtype.is_float()),
            _ => (false, false),
        };
        if !converts && !from_bits {
            let headline = format!("`{}` has no function `{}`", dtype.name(), name.name);
            let constant = match name.name.as_str() {
                "default" | "zero" | "zeroed" => Some("ZERO"),
                "one" => Some("ONE"),
                "min_value" | "lowest" => Some("MIN"),
                "max_value" => Some("MAX"),
                "infinity" | "inf" => Some("INFINITY"),
                "neg_infinity" => Some("NEG_INFINITY"),
                "nan" => Some("NAN"),
                "epsilon" => Some("EPSILON"),
                _ => None,
            };
            if let Some(method) = self.method_of_number(&name.name, (vals, args), &headline, loc) {
                return method;
            }
            let Some(constant) = constant.filter(|_| args.is_empty()) else {
                return self.report(Code::UnknownName.at(name.loc, headline).why(OF_NUMBERS));
            };
            return self.report(
                Code::UnknownName
                    .at(loc, headline)
                    .why("the numbers that a type has are constants: `ZERO`, `ONE`, `MIN`, `MAX`, of floats also `INFINITY`, `NEG_INFINITY`, `NAN` and `EPSILON`")
                    .help(format!("{of}::{constant}")),
            );
        }
        let [val] = vals else {
            let headline = format!("`{}` takes 1 argument", name.name);
            return self.report(other_count(loc, headline, "arguments", [1, vals.len()]));
        };
        if converts {
            return self.cast(val, num, loc).unwrap_or(Val::Error);
        }
        if !(dtype.is_opaque() && matches!(val, Val::Const(..))) {
            let word = match dtype.bytes() {
                1 => Dtype::U8,
                2 => Dtype::U16,
                4 => Dtype::U32,
                _ => Dtype::U64,
            };
            if val.is_absent() {
                return Val::Error;
            }
            let bits = self.num_of(val);
            let fits = bits.is_some_and(|bits| {
                let own = self.cells.known(bits).is_none_or(|dtype| dtype == word);
                own && self.cells.unify(bits, Num::Known(word)).is_ok()
            });
            if !fits {
                let (name, written) = (dtype.name(), args[0].operand_text());
                let number =
                    bits.is_some_and(|bits| self.cells.known(bits).is_some_and(Dtype::is_int));
                let help = written.filter(|_| number).map(|it| format!("{it}.cast::<{word}>()"));
                return self.report(
                    Code::DtypeMismatch
                        .at(args[0].loc, format!("`{name}::from_bits` takes the bits as `{word}`"))
                        .compare("", format!("`{word}`"), self.describe(val))
                        .help_if(help),
                );
            }
            return self.bitcast(val, num, loc).unwrap_or(Val::Error);
        }
        let mut actual = self.describe(val);
        if let Val::Const(Const::Int(bits), _) = val {
            if (0..=0xff).contains(bits) {
                return Val::Const(Const::Int(*bits), num);
            }
            actual = bits.to_string();
        }
        let name = dtype.name();
        let one = if dtype == Dtype::Ue8m0 { 127 } else { 0x22 };
        self.report(
            Code::Kind
                .at(args[0].loc, format!("`{name}::from_bits` takes a constant byte"))
                .compare("", "a constant from 0 to 255", actual)
                .why("the number is the byte itself")
                .help(format!("{name}::from_bits({one})")),
        )
    }

    /// Reports `tl::load(p)` and `tl.load(p)`, if there is no such module or variable.
    fn of_module(
        &mut self,
        module: &str,
        name: &Segment,
        args: &[Expr],
        env: Env,
        loc: Loc,
    ) -> Option<Val> {
        if !crate::elaborate::messages::advice::MODULES.contains(&module)
            || self.scopes.lookup(env, module).is_some()
        {
            return None;
        }
        let vals = self.args(args, env);
        let called = &name.name;
        let written: Option<Vec<String>> = args.iter().map(Expr::text).collect();
        let diagnostic = Code::UnknownName.at(loc, format!("nothing is called `{module}` here"));
        let diagnostic = diagnostic.why(crate::elaborate::messages::advice::NO_MODULE);
        let method = crate::elaborate::signatures::is_tile_method(called);
        Some(match written {
            Some(written) if crate::elaborate::is_builtin(called) => {
                self.report(diagnostic.help(format!("{called}({})", written.join(", "))))
            }
            Some(written) if method && !args.is_empty() => {
                let first = args[0].operand_text().unwrap_or_default();
                let rest = written[1..].join(", ");
                self.report(diagnostic.help(format!("{first}.{called}({rest})")))
            }
            _ if crate::elaborate::is_builtin(called) || method => self.report(diagnostic),
            _ => self.unknown_function(called, (args, &vals), [loc, loc], env),
        })
    }

    /// `x.f(a, b)`
    pub(crate) fn method(
        &mut self,
        receiver: &Expr,
        name: &Segment,
        args: &[Expr],
        env: Env,
        loc: Loc,
    ) -> Val {
        if let Some(module) = receiver.name()
            && let Some(reported) = self.of_module(module, name, args, env, loc)
        {
            return reported;
        }
        if let ("to" | "astype" | "as_type" | "cast" | "type" | "to_dtype", [ty]) =
            (name.name.as_str(), args)
            && let Some(ty) = ty.name().filter(|ty| Dtype::from_name(ty).is_some())
            && self.scopes.lookup(env, ty).is_none()
        {
            let val = self.plain_expr(receiver, env);
            if val.is_absent() {
                return Val::Error;
            }
            let help = receiver.operand_text().unwrap_or_default() + &format!(".cast::<{ty}>()");
            return self.report(
                Code::Kind
                    .at(loc, format!("`{ty}` is a type, where a value is required"))
                    .why("a conversion takes the type between `::<` and `>`")
                    .help(help),
            );
        }
        if let ("to" | "astype" | "as_type" | "type" | "to_dtype", [GenericArg::Type(ty)], []) =
            (name.name.as_str(), &name.args[..], args)
            && let val = self.plain_expr(receiver, env)
            && matches!(self.ty_of(&val), Some(Type::Tile(..) | Type::Scalar(_)))
            && let Some(text) = receiver.operand_text()
        {
            // The type is the author's own.
            let headline = format!("{} has no method `{}`", self.describe(&val), name.name);
            let help = format!("{text}.cast::<{}>()", ty.text());
            return self.report(Code::NotAFunction.at(loc, headline).help(help));
        }
        if let Some(reported) = self.iterated((receiver, name, args), env, loc) {
            return reported;
        }
        // `xs.iter().enumerate()` is about `xs`.
        let receiver = match counted_over(receiver, name) {
            Some(of) if matches!(self.plain_expr(of, env), Val::Array(_) | Val::List(_)) => of,
            _ => receiver,
        };
        let place = self.place(receiver, env);
        let val = match &place {
            Some(place) => self.read(place),
            None => self.plain_expr(receiver, env),
        };
        if matches!(val, Val::Range(_)) && name.name == "clone" && args.is_empty() {
            return val;
        }
        if let Some(reported) = self.state_in_scan(&val, (receiver, name, args), loc) {
            return reported;
        }
        if let Some(reported) = self.not_of_memory(&val, (receiver, name, args), env, loc) {
            return reported;
        }
        if let Some(reported) = self.foreign_method(&val, (receiver, name, args), env, loc) {
            return reported;
        }
        if let Val::Struct(item) = &val
            && let Some(found) = self.find_function(&item.def, &name.name)
        {
            let (function, outer, params, pattern) = found;
            let this = self.type_of(&val);
            let scope = self.impl_scope(outer, &params, &pattern, &this);
            let receiver_val = match (function.receiver, place) {
                (Some(Receiver::Value), _) => val.clone(),
                (Some(Receiver::Shared | Receiver::Mutable), Some(place)) => {
                    Val::Ref(Rc::new(place))
                }
                (Some(Receiver::Shared | Receiver::Mutable), None) => {
                    let hidden = self.scopes.declare(env, "", true, val.clone());
                    Val::Ref(Rc::new(Place { var: hidden, path: Vec::new() }))
                }
                (None, _) => {
                    return self.error(
                        Code::NotAFunction,
                        name.loc,
                        format!(
                            "`{}` is called as `{}::{}(..)`",
                            name.name, item.def.name.name, name.name
                        ),
                    );
                }
            };
            let vals = self.args(args, env);
            let receiver = Some(receiver_val);
            let inlined = Inlined { function: &function, outer: scope, receiver };
            return self.inline(inlined, &name.args, (vals, args), env, loc);
        }
        self.builtin_method((receiver, val), name, args, env, loc)
    }

    /// The generics of the struct in `Acc::new(v)`, if `given` leaves them open: what the arguments say, as of a
    /// function's own.
    fn impl_generics(
        &mut self,
        (function, outer, params, pattern): &Found,
        def: &Arc<Struct>,
        mut given: Vec<Ty>,
        receiver: Option<&Val>,
        vals: &[Val],
    ) -> Vec<Ty> {
        let fill = |given: &mut Vec<Ty>, from: &[Ty]| {
            for (slot, ty) in given.iter_mut().zip(from) {
                if matches!(slot, Ty::Infer) {
                    slot.clone_from(ty);
                }
            }
        };
        let names: Vec<&str> = params.iter().map(|param| param.name.name.as_str()).collect();
        let mut inferred = Vec::new();
        let own =
            |ty: &TypeExpr| ty.path().and_then(Path::only).is_some_and(|only| only.name == "Self");
        let typed = function.params.iter().zip(vals).map(|((_, ty), val)| (Some(ty), val));
        for (ty, val) in receiver.map(|val| (None, val)).into_iter().chain(typed) {
            let actual = self.type_of(val);
            match (ty, &actual) {
                (Some(ty), actual) if !own(ty) => {
                    Self::infer_generics(ty, actual, &names, &mut inferred);
                }
                (_, Ty::Struct(other, _, generics)) if Arc::ptr_eq(other, def) => {
                    fill(&mut given, generics);
                }
                _ => {}
            }
        }
        if given.iter().any(|ty| matches!(ty, Ty::Infer)) {
            let scope = self.scopes.child(*outer);
            self.bind_inferred(scope, &names, &inferred);
            if let Ty::Struct(_, _, generics) = self.resolve(pattern, scope) {
                fill(&mut given, &generics);
            }
        }
        given
    }

    /// The scope of an `impl`: its generics bound from the type, and `Self`. What the type leaves open stays so.
    pub(crate) fn impl_scope(
        &mut self,
        outer: Env,
        params: &[GenericParam],
        pattern: &TypeExpr,
        this: &Ty,
    ) -> Env {
        let scope = self.scopes.child(outer);
        let names: Vec<&str> = params.iter().map(|g| g.name.name.as_str()).collect();
        let mut inferred = Vec::new();
        if let (Some(last), Ty::Struct(_, _, generics)) = (pattern.last(), this) {
            for (arg, ty) in last.args.iter().zip(generics) {
                if let GenericArg::Type(arg) = arg {
                    Self::infer_generics(arg, ty, &names, &mut inferred);
                }
            }
        }
        self.bind_inferred(scope, &names, &inferred);
        // `Self { .. }` and `Self::f()` find the struct with these generics.
        self.scopes.bind(scope, "Self", Binding::Type(this.clone()));
        scope
    }

    /// Binds generics to what was inferred; those that nothing settles stay open.
    fn bind_inferred(&mut self, scope: Env, names: &[&str], inferred: &[(String, Ty)]) {
        for name in names {
            let found = inferred.iter().find(|(inferred, _)| inferred == name);
            let ty = found.map_or(Ty::Infer, |(_, ty)| ty.clone());
            self.scopes.bind(scope, name, Binding::Type(ty));
        }
    }

    fn impls_of(&self, def: &Arc<Struct>) -> Vec<(Arc<Impl>, Env)> {
        self.scopes
            .impls
            .iter()
            .filter(|(item, scope)| {
                item.ty.last().is_some_and(|last| {
                    matches!(self.scopes.lookup_type(*scope, &last.name), Some(Binding::Struct(other, _)) if Arc::ptr_eq(other, def))
                })
            })
            .cloned()
            .collect()
    }

    /// A member of a type's own, or else the default that a trait which it implements has.
    fn find_member<T>(
        &self,
        def: &Arc<Struct>,
        own: impl Fn(&Impl) -> &[Arc<T>],
        defaults: impl Fn(&Trait) -> &[Arc<T>],
        meant: impl Fn(&T) -> bool,
    ) -> Option<Found<T>> {
        let impls = self.impls_of(def);
        let of_trait = |item: &Impl, scope| {
            let found = self.scopes.lookup_type(scope, item.of_trait.as_deref()?)?;
            if let Binding::Trait(found) = found { Some(defaults(found)) } else { None }
        };
        let find = |members: &[Arc<T>], (item, scope): &(Arc<Impl>, Env)| {
            let found = members.iter().find(|member| meant(member))?;
            Some((found.clone(), *scope, item.generics.clone(), item.ty.clone()))
        };
        let found = impls.iter().find_map(|one| find(own(&one.0), one));
        found.or_else(|| impls.iter().find_map(|one| find(of_trait(&one.0, one.1)?, one)))
    }

    fn find_function(&self, def: &Arc<Struct>, name: &str) -> Option<Found> {
        let meant = |function: &Function| function.name.name == name && function.body.is_some();
        self.find_member(def, |item| &item.functions, |item| &item.functions, meant)
    }

    pub(crate) fn find_const(&self, def: &Arc<Struct>, name: &str) -> Option<Found<ConstItem>> {
        let meant = |constant: &ConstItem| constant.name.name == name;
        self.find_member(def, |item| &item.consts, |item| &item.consts, meant)
    }

    pub(crate) fn const_names(&self, def: &Arc<Struct>) -> Vec<String> {
        self.impls_of(def)
            .iter()
            .flat_map(|(item, _)| item.consts.iter().map(|c| c.name.name.clone()))
            .collect()
    }

    pub(crate) fn method_names(&self, def: &Arc<Struct>) -> Vec<String> {
        self.impls_of(def)
            .iter()
            .flat_map(|(item, _)| item.functions.iter().map(|f| f.name.name.clone()))
            .collect()
    }
}

/// A closure whose parameters are those of tuples one after the other, with the tuples.
fn regrouped(closure: &ClosureVal, vals: &[Val]) -> Option<String> {
    let mut names = closure.params.iter().map(|pat| {
        let PatKind::Ident { name, mutable: false } = &pat.kind else { return None };
        Some(name.as_str())
    });
    let mut tuples = Vec::new();
    for val in vals {
        let Val::Tuple(parts) = val else { return None };
        let part: Option<Vec<&str>> = parts.iter().map(|_| names.next().flatten()).collect();
        tuples.push(format!("({})", part?.join(", ")));
    }
    let rest = names.next().is_some();
    let body = closure.body.text().filter(|_| !rest)?;
    Some(format!("|{}| {body}", tuples.join(", ")))
}
