//! What a launch passes for a parameter: a tensor, a pointer or a scalar, or an array or a struct of these, which are as many parameters
//! of the entry. `xs: [Tensor<f32, 2>; 2]` is the tensors `xs[0]` and `xs[1]`.

use std::{rc::Rc, sync::Arc};

use super::{
    scope::Binding,
    value::{Class, OptionalVal, StructVal, Ty, Val},
};
use crate::{
    diag::{Code, Problems},
    elaborate::{Builder, Env, Request, memory::blocks},
    ir::{Elem, Fact, MapOptions, Param, ParamKind, SourceOp, Type},
    loc::Loc,
    syntax::{Expr, Kernel, MOST_NESTED, ParamFact, Struct, TypeExpr, TypeKind, Unit},
};

/// The most parameters of a kernel that may be absent: each doubles what is compiled.
const MOST_OPTIONAL: usize = 4;

/// All choices of arguments that are absent, by their names; the first one is none of them.
///
/// Problem: more of them than a kernel may have.
pub fn absences(unit: &Unit, kernel: &Kernel, problems: &mut Problems) -> Vec<Vec<String>> {
    let optional = kernel.optional(unit);
    if optional.len() > MOST_OPTIONAL {
        let (_, loc) = optional[MOST_OPTIONAL];
        problems.push(
            Code::Parameter
                .at(loc, format!("a kernel with {} optional parameters", optional.len()))
                .compare("optional parameters", format!("at most {MOST_OPTIONAL}"), optional.len())
                .why(format!(
                    "the compiler makes code for each choice of arguments that are absent: for {} choices at most",
                    1 << MOST_OPTIONAL
                )),
        );
        return vec![Vec::new()];
    }
    let choice = |bits: usize| {
        let absent = optional.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
        absent.map(|(_, (name, _))| name.clone()).collect()
    };
    let choices = (0..1 << optional.len()).map(choice);
    // What is in something that is absent is absent with it, and no choice of its own.
    choices
        .filter(|absent: &Vec<String>| !absent.iter().any(|name| is_within(name, absent)))
        .collect()
}

/// Whether something is a field or an element of one of others: `layer.bias` of `layer`.
fn is_within(name: &str, others: &[String]) -> bool {
    others.iter().any(|other| {
        name.strip_prefix(other.as_str()).is_some_and(|rest| rest.starts_with(['.', '[']))
    })
}

/// Whether a part of what is passed is there in every launch that passes it.
fn is_there(val: &Val) -> bool {
    match val.parts() {
        Some(parts) => parts.iter().any(is_there),
        None => !matches!(val, Val::Optional(_)),
    }
}

/// The most elements of an array that is passed.
const MOST_ELEMENTS: usize = 256;

/// The most bytes of the parameters of an entry, with those of tensor maps but not what aligns them (PTX ISA, "Kernel Function
/// Parameters": 4352 bytes with every driver).
const MOST_BYTES: u32 = 4096;

/// A parameter, an element of an array or a field of a struct.
pub(crate) struct Passed<'a> {
    /// What messages and errors of launches call it: `layers[1].bias`.
    pub(crate) name: String,
    pub(crate) ty: &'a TypeExpr,
    /// What attributes state.
    pub(crate) facts: &'a [ParamFact],
    pub(crate) loc: Loc,
    pub(crate) within: Within,
    /// It is a part of something that is absent.
    pub(crate) absent: bool,
}

/// What something that is passed is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Within {
    /// Of nothing: it is a parameter.
    Kernel,
    /// Of a struct, in this many others.
    Struct(usize),
    /// Of an array, in this many structs.
    Array(usize),
}

impl Within {
    /// How many structs enclose it.
    fn structs(self) -> usize {
        match self {
            Within::Kernel => 0,
            Within::Struct(depth) | Within::Array(depth) => depth,
        }
    }
}

impl Builder<'_> {
    /// The value of what is passed; none if it was reported.
    pub(crate) fn passed(
        &mut self,
        passed: &Passed<'_>,
        request: &Request<'_>,
        env: Env,
        declared: &mut Vec<Fact>,
    ) -> Option<Val> {
        if let TypeKind::Array(elem, length) = &passed.ty.kind {
            return self.passed_array(passed, (elem, length), request, env, declared);
        }
        if let Some(of) = passed.ty.of_option()
            && (matches!(of.kind, TypeKind::Array(..))
                || self.own_struct(of, request.unit, env).is_some())
        {
            return self.passed_optional(passed, of, request, env, declared);
        }
        if let Some((def, home)) = self.own_struct(passed.ty, request.unit, env) {
            return self.passed_struct(passed, (&def, home), request, env, declared);
        }
        self.passed_alone(passed, request, env, declared)
    }

    /// The struct beside the kernel that a type names, and where it is declared.
    fn own_struct(&self, ty: &TypeExpr, unit: &Unit, env: Env) -> Option<(Arc<Struct>, Env)> {
        let def = unit.structure(ty)?;
        let name = &ty.path()?.only()?.name;
        match self.scopes.lookup_type(env, name)? {
            Binding::Struct(found, home) if Arc::ptr_eq(found, def) => Some((found.clone(), *home)),
            Binding::Struct(..)
            | Binding::Type(_)
            | Binding::Use(_)
            | Binding::Trait(_)
            | Binding::Refused
            | Binding::Awaited
            | Binding::Nowhere
            | Binding::Const(..)
            | Binding::Var(_)
            | Binding::Function(..) => None,
        }
    }

    /// An array or a struct that may be absent, and with it all that is in it.
    fn passed_optional(
        &mut self,
        passed: &Passed<'_>,
        of: &TypeExpr,
        request: &Request<'_>,
        env: Env,
        declared: &mut Vec<Fact>,
    ) -> Option<Val> {
        let name = passed.name.clone();
        let absent = passed.absent || request.absent.contains(&name);
        let (facts, loc, within) = (passed.facts, passed.loc, passed.within);
        let part = Passed { name: name.clone(), ty: of, facts, loc, within, absent };
        let val = self.passed(&part, request, env, declared)?;
        if absent {
            return Some(Val::Optional(Rc::new(OptionalVal { name, of: None })));
        }
        if !is_there(&val) {
            let headline = if let Val::Struct(of) = &val {
                format!("an `Option` of `{}`, of which every field may be absent", of.def.name.name)
            } else {
                "an `Option` of an array without elements".to_owned()
            };
            let plain = of.path().and_then(|path| path.only()).filter(|only| only.args.is_empty());
            return self.refuse(
                Code::Parameter
                    .at(passed.ty.loc, headline)
                    .compare("", "one argument at least that is there with it", "none")
                    .why("the launch chooses code by which arguments are absent: these may be, with it and without it")
                    .help_if(plain.map(|only| only.name.clone())),
            );
        }
        Some(Val::Optional(Rc::new(OptionalVal { name, of: Some(val) })))
    }

    fn passed_array(
        &mut self,
        passed: &Passed<'_>,
        (elem, length): (&TypeExpr, &Expr),
        request: &Request<'_>,
        env: Env,
        declared: &mut Vec<Fact>,
    ) -> Option<Val> {
        if elem.of_option().is_some() {
            return self.refuse(
                Code::Parameter
                    .at(elem.loc, "the elements of an array cannot be absent")
                    .why("the compiler makes code for each choice of arguments that are absent; an array that has fewer elements is another instance")
                    .help("[Tensor<f32, 1>; N]")
                    .exemplified(),
            );
        }
        let count = self.passed_length(length, env)?;
        let mut parts = Vec::new();
        for index in 0..count {
            if !self.step(passed.loc) {
                return None;
            }
            let within = Within::Array(passed.within.structs());
            let name = format!("{}[{index}]", passed.name);
            let (facts, loc, absent) = (passed.facts, passed.loc, passed.absent);
            let part = Passed { name, ty: elem, facts, loc, within, absent };
            // What is wrong with one is wrong with all of them.
            parts.push(self.passed(&part, request, env, declared)?);
        }
        Some(Val::Array(Rc::new(parts)))
    }

    /// The length of an array that is passed.
    fn passed_length(&mut self, length: &Expr, env: Env) -> Option<usize> {
        let val = self.expr(length, env);
        let count = self.const_int(&val, "the length of an array", length.loc)?;
        if let Val::Const(_, num) = val
            && let index = self.cells.open(Class::Index)
            && self.cells.unify(num, index).is_err()
        {
            let actual = self.cells.name(num);
            let help = length.name().map(|name| format!("const {name}: usize"));
            return self.refuse(
                Code::DtypeMismatch
                    .at(length.loc, "the length of an array is a `usize`")
                    .compare("", "usize", actual)
                    .why("that is the type of lengths in Rust, for the host's array too; elsewhere in the kernel it is `N as i32`")
                    .help_if(help)
                    .exemplified(),
            );
        }
        match usize::try_from(count) {
            Ok(count) if count <= MOST_ELEMENTS => Some(count),
            Ok(_) | Err(_) => self.refuse(
                Code::Parameter
                    .at(length.loc, "an array of this length cannot be passed to a kernel")
                    .compare("elements", format!("0 to {MOST_ELEMENTS}"), count)
                    .why("each element is a parameter of its own"),
            ),
        }
    }

    fn passed_struct(
        &mut self,
        passed: &Passed<'_>,
        (def, home): (&Arc<Struct>, Env),
        request: &Request<'_>,
        env: Env,
        declared: &mut Vec<Fact>,
    ) -> Option<Val> {
        let depth = passed.within.structs();
        if depth >= MOST_NESTED {
            let headline = format!("`{}` is nested too deep to be passed", def.name.name);
            return self.refuse(Code::Parameter.at(passed.ty.loc, headline).compare(
                "structs in structs",
                format!("at most {MOST_NESTED}"),
                depth + 1,
            ));
        }
        if let Some((field, ty)) = request.unit.recursion(def) {
            return self.refuse(
                Code::Parameter
                    .at(ty.loc, format!("`{}` contains itself", def.name.name))
                    .compare("", "fields of other types", format!("`{field}`, in which there is a `{}`", def.name.name))
                    .why("a launch passes a struct field by field, so the number of fields is fixed at compile time")
                    .help(format!("[{}; 4] // as a parameter of the kernel", def.name.name))
                    .exemplified(),
            );
        }
        if !passed.facts.is_empty() {
            let headline = format!("`{}` is a struct: facts are stated on its fields", passed.name);
            let field = def.field_names().next().unwrap_or("x");
            return self.refuse(
                Code::FactAttribute
                    .at(passed.loc, headline)
                    .help(format!("#[stride(_, 1)] {field}: Tensor<f32, 2>"))
                    .exemplified(),
            );
        }
        let Ty::Struct(_, _, generics) = self.resolve(passed.ty, env) else { return None };
        let scope = self.scopes.child(home);
        for (param, ty) in def.generics.iter().zip(&generics) {
            self.scopes.bind(scope, &param.name.name, Binding::Type(ty.clone()));
        }
        let mut fields = Vec::new();
        for (index, (field, ty)) in def.fields.iter().enumerate() {
            let within = match passed.within {
                Within::Kernel | Within::Struct(_) => Within::Struct(depth + 1),
                Within::Array(_) => Within::Array(depth + 1),
            };
            let part = Passed {
                name: format!("{}.{field}", passed.name),
                ty,
                facts: def.facts.get(index).map_or(&[][..], Vec::as_slice),
                loc: ty.loc,
                within,
                absent: passed.absent,
            };
            if ty.of_option().is_some() && matches!(within, Within::Array(_)) {
                let headline =
                    format!("`{field}` cannot be absent in an array of `{}`", def.name.name);
                return self.refuse(
                    Code::Parameter
                        .at(ty.loc, headline)
                        .place(passed.loc, "the array")
                        .why("the compiler makes code for each choice of arguments that are absent, and would for each element"),
                );
            }
            fields.push(self.passed(&part, request, scope, declared)?);
        }
        let (def, scope) = (def.clone(), home);
        Some(Val::Struct(Rc::new(StructVal { def, scope, generics, fields })))
    }

    /// A tensor, a pointer or a scalar, which may be absent.
    fn passed_alone(
        &mut self,
        passed: &Passed<'_>,
        request: &Request<'_>,
        env: Env,
        declared: &mut Vec<Fact>,
    ) -> Option<Val> {
        let of = passed.ty.of_option().unwrap_or(passed.ty);
        let kind = self.param_kind(of, env)?;
        let param = u32::try_from(self.params.len()).expect("bounded by the bytes of the entry");
        let name = passed.name.clone();
        let absent = passed.absent || request.absent.contains(&name);
        if !absent && !self.fits_entry(&kind, blocks::is_map(of), passed.loc) {
            return None;
        }
        let points_to = match kind {
            ParamKind::Tensor { .. } => self.points_to(of, env),
            ParamKind::Pointer(_) | ParamKind::Scalar(_) => None,
        };
        self.params.push(Param {
            name: name.clone(),
            points_to,
            kind: kind.clone(),
            block: None,
            map: MapOptions::default(),
            absent,
            loc: passed.loc,
        });
        // Fields of structs name the generic parameters of these.
        let ty = (passed.within.structs() == 0).then_some(passed.ty);
        self.type_params.add_param(ty);
        if absent {
            // What attributes say of it is looked at where it is there.
            return Some(Val::Optional(Rc::new(OptionalVal { name, of: None })));
        }
        let val = match kind {
            ParamKind::Tensor { .. } => Val::Tensor(param),
            ParamKind::Pointer(dtype) => Val::Value(self.emit(
                SourceOp::ParamPtr(param),
                Vec::new(),
                Type::Scalar(Elem::Ptr(dtype)),
                passed.loc,
            )),
            ParamKind::Scalar(dtype) => Val::Value(self.emit(
                SourceOp::ParamScalar(param),
                Vec::new(),
                Type::scalar(dtype),
                passed.loc,
            )),
        };
        if let Val::Value(value) = &val {
            self.mark_of_param(param, *value);
        }
        let before = self.problems.reports();
        for fact in passed.facts {
            self.param_fact(param, fact, passed.loc, env, declared);
        }
        if blocks::is_map(of) {
            if self.problems.reports() == before {
                self.map_param(param, of, passed.facts, declared);
            }
            if self.problems.reports() > before {
                // What is done with it would be reported once more.
                return None;
            }
        } else {
            self.plain_param(param, of);
        }
        if passed.ty.of_option().is_some() {
            return Some(Val::Optional(Rc::new(OptionalVal { name, of: Some(val) })));
        }
        Some(val)
    }

    /// Reports a struct whose fields a launch does not know.
    pub(crate) fn foreign_struct<T>(&mut self, ty: &TypeExpr, name: &str) -> Option<T> {
        self.refuse(
            Code::Parameter
                .at(ty.loc, format!("`{name}` is not declared beside the kernel"))
                .why("a launch passes a struct field by field, and a `#[kernel] mod` knows the structs that stand in it")
                .help(format!("#[kernel]\nmod kernels {{\n    pub struct {name} {{ .. }}\n}}"))
                .exemplified(),
        )
    }

    /// Whether the entry takes one more parameter, or a report at the first that it does not.
    fn fits_entry(&mut self, kind: &ParamKind, map: bool, loc: Loc) -> bool {
        let bytes = |kind: &ParamKind, map: bool| match kind {
            ParamKind::Tensor { rank, .. } => 8 + 12 * rank + if map { 128 } else { 0 },
            ParamKind::Pointer(_) | ParamKind::Scalar(_) => 8,
        };
        let there = self.params.iter().filter(|param| !param.absent);
        let before: u32 = there.map(|param| bytes(&param.kind, param.block.is_some())).sum();
        let with = before + bytes(kind, map);
        if (before..with).contains(&MOST_BYTES) {
            self.report(
                Code::Parameter
                    .at(loc, "the parameters do not fit an entry")
                    .compare("bytes", format!("at most {MOST_BYTES}"), with)
                    .why("a tensor is an address of 8 bytes and 12 bytes an axis, and a tensor map 128 bytes more"),
            );
        }
        with <= MOST_BYTES
    }
}
