//! Types: their meaning, and conversions of values to a type.

use std::rc::Rc;

use super::{
    scope::Binding,
    value::{Class, Num, StructVal, Ty, Val},
};
use crate::{
    diag::Code,
    elaborate::{Builder, Env},
    ir::{Const, Dtype, Elem, ParamKind, Type},
    loc::Loc,
    syntax::{GenericArg, GenericKind, TypeExpr, TypeKind},
};

/// Types of the language that hold one element type.
const CONTAINERS: [&str; 5] = ["Tile", "Ptr", "Shared", "Tmem", "Array"];
/// Other types of the language.
const HANDLES: [&str; 13] = [
    "Tensor",
    "TensorMut",
    "TensorMap",
    "TensorMapMut",
    "View",
    "ViewMut",
    "Layout",
    "Copying",
    "Barrier",
    "Barriers",
    "Partition",
    "PartitionBuilder",
    "NamedBarrier",
];
/// Types of the host that keep their values on a heap.
pub(crate) const HEAP: [&str; 8] =
    ["Vec", "Box", "String", "Rc", "Arc", "HashMap", "BTreeMap", "VecDeque"];
/// Host types that a kernel's author might write.
const HOST: [&str; 7] = ["usize", "isize", "u128", "i128", "char", "str", "String"];

/// Traits that bound the type parameters of kernels, and markers.
const BOUNDS: [&str; 12] = [
    "Scalar", "Number", "Float", "Int", "Bits", "Operand", "Shape", "Cast", "Copy", "Clone", "Fn",
    "FnMut",
];

/// A type of the language that is not a number: a tile, a tensor.
pub(crate) fn is_own_type(name: &str) -> bool {
    CONTAINERS.contains(&name) || HANDLES.contains(&name)
}

/// A type or trait that kernels know by itself, or that is known to have no place in them.
pub(crate) fn is_language_type(name: &str) -> bool {
    let lists: [&[&str]; 6] = [&CONTAINERS, &HANDLES, &HEAP, &HOST, &BOUNDS, &["Option"]];
    Dtype::from_name(name).is_some() || lists.iter().any(|list| list.contains(&name))
}

impl Builder<'_> {
    /// What a written type is.
    pub(crate) fn resolve(&mut self, ty: &TypeExpr, scope: Env) -> Ty {
        match &ty.kind {
            TypeKind::Infer | TypeKind::Opaque => Ty::Infer,
            TypeKind::Tuple(parts) if parts.is_empty() => Ty::Unit,
            TypeKind::Tuple(parts) => {
                Ty::Tuple(parts.iter().map(|p| self.resolve(p, scope)).collect())
            }
            TypeKind::Array(elem, _) => Ty::Array(Box::new(self.resolve(elem, scope))),
            TypeKind::Ref(inner, _) => self.resolve(inner, scope),
            TypeKind::Path(path) => {
                let joined = self.scopes.joined(scope, path);
                let path = joined.as_ref().unwrap_or(path);
                let Some(last) = path.segments.last() else { return Ty::Infer };
                if path.segments.len() == 1
                    && let Some(binding) = self.scopes.lookup_type(scope, &last.name).cloned()
                {
                    return self.bound_type(&binding, &last.args, ty.loc, scope);
                }
                if let Some(dtype) = Dtype::from_name(&last.name) {
                    return Ty::Scalar(Num::Known(dtype));
                }
                if path.segments.len() == 1
                    && let Some(binding) = self.scopes.lookup(scope, &last.name).cloned()
                    && !matches!(binding, Binding::Nowhere)
                {
                    return self.bound_type(&binding, &last.args, ty.loc, scope);
                }
                // `Self::Output`: an associated type, refused where it was declared.
                if path.segments.len() > 1
                    && self.problems.reports() > 0
                    && self.scopes.lookup_type(scope, &path.segments[0].name).is_some()
                {
                    return Ty::Infer;
                }
                self.language_type(&last.name, &last.args, ty.loc, last.loc, scope)
            }
        }
    }

    fn bound_type(&mut self, binding: &Binding, args: &[GenericArg], loc: Loc, scope: Env) -> Ty {
        match binding {
            Binding::Type(ty) => ty.clone(),
            Binding::Struct(def, home) => {
                let mut generics = Vec::new();
                for (index, param) in def.generics.iter().enumerate() {
                    generics.push(match args.get(index) {
                        Some(arg) => self.generic_value(&param.kind, arg, loc, scope),
                        None => Ty::Infer,
                    });
                }
                Ty::Struct(def.clone(), *home, generics)
            }
            Binding::Use(path) => {
                let name = path.last().cloned().unwrap_or_default();
                match Dtype::from_name(&name) {
                    Some(dtype) => Ty::Scalar(Num::Known(dtype)),
                    None => self.language_type(&name, args, loc, loc, scope),
                }
            }
            Binding::Trait(item) => {
                self.report(
                    Code::Kind
                        .at(
                            loc,
                            format!("`{}` is a trait, where a type is required", item.name.name),
                        )
                        .help("value.method(..)"),
                );
                Ty::Infer
            }
            Binding::Refused | Binding::Awaited | Binding::Nowhere => Ty::Infer,
            Binding::Const(..) | Binding::Var(_) | Binding::Function(..) => {
                self.error(Code::Kind, loc, "a type is required here, not a value");
                Ty::Infer
            }
        }
    }

    fn language_type(
        &mut self,
        name: &str,
        args: &[GenericArg],
        loc: Loc,
        name_loc: Loc,
        scope: Env,
    ) -> Ty {
        if CONTAINERS.contains(&name) {
            let elem = match args.first() {
                Some(GenericArg::Type(elem)) => self.resolve(elem, scope),
                _ => Ty::Infer,
            };
            return match (name, elem) {
                ("Array", elem) => Ty::Array(Box::new(elem)),
                ("Tile", Ty::Ptr(num)) => Ty::TilePtr(num),
                ("Tile", Ty::Scalar(num)) => Ty::Tile(num),
                ("Ptr", Ty::Scalar(num)) => Ty::Ptr(num),
                ("Shared", Ty::Scalar(num)) => Ty::Shared(num),
                ("Tmem", Ty::Scalar(num)) => Ty::TensorMemory(num),
                _ => Ty::Infer,
            };
        }
        if matches!(name, "Tensor" | "TensorMut" | "TensorMap" | "TensorMapMut") {
            let elem = args.first().and_then(GenericArg::ty).map(|elem| self.resolve(elem, scope));
            return if let Some(Ty::Scalar(num)) = elem { Ty::Tensor(num) } else { Ty::Infer };
        }
        if matches!(name, "Barrier" | "Barriers") {
            return Ty::Barrier { ring: name == "Barriers" };
        }
        if HANDLES.contains(&name) {
            return Ty::Other;
        }
        if name == "Option"
            && let [GenericArg::Type(of)] = args
        {
            let of = self.resolve(of, scope);
            let is_passed = match &of {
                Ty::Scalar(_) | Ty::Tensor(_) | Ty::Ptr(_) | Ty::Array(_) | Ty::Infer => true,
                Ty::Struct(def, ..) => !def.is_enum(),
                Ty::Unit
                | Ty::Tile(_)
                | Ty::TilePtr(_)
                | Ty::Shared(_)
                | Ty::TensorMemory(_)
                | Ty::Barrier { .. }
                | Ty::Option(_)
                | Ty::Tuple(_)
                | Ty::Const(..)
                | Ty::Other => false,
            };
            if is_passed {
                return Ty::Option(Box::new(of));
            }
        }
        let mut diagnostic =
            Code::UnknownName.at(name_loc, format!("`{name}` is not a type that kernels know"));
        if let Some(what) = self.scopes.host.get(name) {
            diagnostic = diagnostic.why(format!("the file has {what} of this name, for the host: kernels see what is in their own `#[kernel] mod` or in a `#[device] mod`"));
            if *what == "a struct" || *what == "an enum" {
                let word = what.trim_start_matches("a ").trim_start_matches("an ");
                diagnostic = diagnostic
                    .help(format!("#[device]\nmod types {{ pub {word} {name} {{ .. }} }}"));
            }
        } else if matches!(name, "char" | "str" | "String") {
            diagnostic =
                diagnostic.why("kernels compute with numbers and masks: the device has no strings");
        } else if HOST.contains(&name) {
            let (why, other) = match name {
                "u128" => ("the widest integers of the device have 64 bits", "u64"),
                "i128" => ("the widest integers of the device have 64 bits", "i64"),
                _ => (
                    "indices, extents and integer const generics are `i32` in kernels; offsets that may exceed it are `i64`",
                    "i32",
                ),
            };
            diagnostic = diagnostic
                .compare("", format!("`{other}`"), format!("`{name}`"))
                .why(why)
                .help(other);
        } else if HEAP.contains(&name) {
            diagnostic = diagnostic
                .why("the device has no heap; arrays have a length known at compile time")
                .help("array(4, |i| ..)");
        } else if let Some((why, help)) = crate::elaborate::messages::advice::of_type(name) {
            diagnostic = diagnostic.advised(why, help);
        } else {
            let known = Dtype::ALL
                .iter()
                .map(|dtype| dtype.name())
                .chain(CONTAINERS)
                .chain(HANDLES)
                .chain(self.scopes.names(scope));
            diagnostic = match crate::diag::nearest(name, known) {
                Some(near) => diagnostic.help(near.to_owned()),
                None => diagnostic.why("kernels know the types of the language by their own names, and the structs of their own `#[kernel] mod`"),
            };
        }
        let _ = loc;
        self.report(diagnostic);
        Ty::Infer
    }

    /// The type of a value, as far as it can be said.
    pub(crate) fn type_of(&self, val: &Val) -> Ty {
        match val {
            Val::Unit => Ty::Unit,
            Val::Const(_, num) => Ty::Scalar(*num),
            Val::Value(value) => {
                let num = self.num(*value);
                match self.ty(*value) {
                    Type::Scalar(Elem::Number(_)) if self.is_point(*value) => Ty::Tile(num),
                    Type::Scalar(Elem::Ptr(_)) if self.is_point(*value) => Ty::TilePtr(num),
                    Type::Scalar(Elem::Number(_)) => Ty::Scalar(num),
                    Type::Scalar(Elem::Ptr(_)) => Ty::Ptr(num),
                    Type::Tile(Elem::Number(_), _) => Ty::Tile(num),
                    Type::Tile(Elem::Ptr(_), _) => Ty::TilePtr(num),
                    Type::Shared(_) => Ty::Shared(num),
                    Type::TensorMemory(_) => Ty::TensorMemory(num),
                    Type::Barrier(barrier) => Ty::Barrier { ring: barrier.ring },
                    Type::Error => Ty::Infer,
                }
            }
            Val::Tuple(parts) => Ty::Tuple(parts.iter().map(|p| self.type_of(p)).collect()),
            Val::Array(parts) | Val::List(parts) => {
                Ty::Array(Box::new(parts.first().map_or(Ty::Infer, |p| self.type_of(p))))
            }
            Val::Struct(item) => Ty::Struct(item.def.clone(), item.scope, item.generics.clone()),
            Val::Ref(place) => self.type_of(&self.read(place)),
            Val::Tensor(param) => self.type_of_tensor(*param),
            Val::Slice(slice) => self.type_of_tensor(slice.param),
            Val::Optional(optional) => {
                let of = optional.of.as_ref().map_or(Ty::Infer, |of| self.type_of(of));
                Ty::Option(Box::new(of))
            }
            Val::Error | Val::Never => Ty::Infer,
            Val::Closure(_)
            | Val::Range(_)
            | Val::View(_)
            | Val::Layout(_)
            | Val::Copying(_)
            | Val::Str(_)
            | Val::Target(_)
            | Val::Partition(_)
            | Val::Named(_) => Ty::Other,
        }
    }

    fn type_of_tensor(&self, param: u32) -> Ty {
        match self.params[param as usize].kind {
            ParamKind::Tensor { dtype, .. } => Ty::Tensor(Num::Known(dtype)),
            ParamKind::Pointer(_) | ParamKind::Scalar(_) => Ty::Infer,
        }
    }

    /// A type in words.
    pub(crate) fn type_name(&self, ty: &Ty) -> String {
        match ty {
            Ty::Infer | Ty::Other => "_".to_owned(),
            Ty::Unit => "()".to_owned(),
            Ty::Scalar(num) => self.cells.name(*num),
            Ty::Tile(num) => format!("Tile<{}>", self.cells.name(*num)),
            Ty::Ptr(num) => format!("Ptr<{}>", self.cells.name(*num)),
            Ty::TilePtr(num) => format!("Tile<Ptr<{}>>", self.cells.name(*num)),
            Ty::Shared(num) => format!("Shared<{}>", self.cells.name(*num)),
            Ty::TensorMemory(num) => format!("Tmem<{}>", self.cells.name(*num)),
            Ty::Barrier { ring: false } => "Barrier".to_owned(),
            Ty::Barrier { ring: true } => "Barriers".to_owned(),
            Ty::Tensor(num) => format!("Tensor<{}, _>", self.cells.name(*num)),
            Ty::Option(of) => format!("Option<{}>", self.type_name(of)),
            Ty::Struct(def, ..) => def.name.name.clone(),
            Ty::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(|p| self.type_name(p)).collect();
                format!("({})", parts.join(", "))
            }
            Ty::Array(elem) => format!("[{}; _]", self.type_name(elem)),
            Ty::Const(value, _) => match value {
                Const::Bool(value) => value.to_string(),
                Const::Int(value) => value.to_string(),
                Const::Float(value) => value.to_string(),
            },
        }
    }

    /// Brings a value to a type: settles open literals, fills in generic arguments of structs.
    pub(crate) fn coerce(&mut self, val: Val, ty: &Ty, loc: Loc) -> Val {
        match (val, ty) {
            (val @ (Val::Error | Val::Never), _) | (val, Ty::Infer | Ty::Other | Ty::Const(..)) => {
                val
            }
            (Val::Struct(item), Ty::Struct(def, _, generics))
                if std::sync::Arc::ptr_eq(&item.def, def) =>
            {
                if item.generics.iter().any(|g| matches!(g, Ty::Infer)) {
                    let merged =
                        item.generics
                            .iter()
                            .zip(generics)
                            .map(|(have, want)| {
                                if matches!(have, Ty::Infer) { want.clone() } else { have.clone() }
                            })
                            .collect();
                    return Val::Struct(Rc::new(StructVal { generics: merged, ..(*item).clone() }));
                }
                Val::Struct(item)
            }
            (Val::Tuple(parts), Ty::Tuple(types)) if parts.len() == types.len() => {
                Val::Tuple(Rc::new(
                    parts
                        .iter()
                        .zip(types)
                        .map(|(part, ty)| self.coerce(part.clone(), ty, loc))
                        .collect(),
                ))
            }
            (mut list @ (Val::Array(_) | Val::List(_)), Ty::Array(elem)) => {
                for part in list.parts_mut().into_iter().flatten() {
                    *part = self.coerce(part.clone(), elem, loc);
                }
                list
            }
            (Val::Optional(optional), Ty::Option(ty)) => {
                if let Some(of) = &optional.of
                    && matches!(self.coerce(of.clone(), ty, loc), Val::Error)
                {
                    return Val::Error;
                }
                Val::Optional(optional)
            }
            (val, ty) => self.coerce_leaf(val, ty, loc).unwrap_or(Val::Error),
        }
    }

    /// [`Builder::coerce`] of what is not an aggregate.
    fn coerce_leaf(&mut self, val: Val, ty: &Ty, loc: Loc) -> Option<Val> {
        let actual = self.type_of(&val);
        let pair = match (&actual, ty) {
            (Ty::Scalar(a), Ty::Scalar(b))
            | (Ty::Tile(a), Ty::Tile(b))
            | (Ty::Ptr(a), Ty::Ptr(b))
            | (Ty::TilePtr(a), Ty::TilePtr(b))
            | (Ty::Shared(a), Ty::Shared(b))
            | (Ty::TensorMemory(a), Ty::TensorMemory(b))
            | (Ty::Tensor(a), Ty::Tensor(b)) => Some((*a, *b)),
            _ => None,
        };
        let Some((a, b)) = pair else {
            if let (Ty::Scalar(_) | Ty::Ptr(_), Val::Value(value)) = (ty, &val) {
                let dtype = if let Ty::Scalar(num) = ty { self.cells.known(*num) } else { None };
                self.wants_scalar_of(dtype, *value, "a scalar is required here", loc)?;
            }
            let mismatch = !matches!(
                (&actual, ty),
                (Ty::Infer | Ty::Other, _)
                    | (Ty::Unit, Ty::Unit)
                    | (Ty::Barrier { ring: true }, Ty::Barrier { ring: true })
                    | (Ty::Barrier { ring: false }, Ty::Barrier { ring: false })
            );
            if mismatch {
                let (required, actual) = (self.type_name(ty), self.describe(&val));
                let headline = "this needs a value of another type";
                let diagnostic = Code::DtypeMismatch.at(loc, headline);
                return self.refuse(diagnostic.compare("", required, actual));
            }
            return Some(val);
        };
        if self.cells.unify(a, b).is_err() {
            let (required, actual) = (self.type_name(ty), self.type_name(&actual));
            let headline = match self.cells.known(b) {
                Some(dtype) => format!("this needs a value of element type `{}`", dtype.name()),
                None => "this needs a value of another element type".to_owned(),
            };
            let diagnostic = Code::DtypeMismatch.at(loc, headline).compare("", required, actual);
            let diagnostic = match (self.cells.known(a), self.cells.known(b)) {
                (None, Some(dtype)) if dtype.is_int() => {
                    diagnostic.why("a float literal does not become an integer by itself")
                }
                (None, Some(dtype)) => self.literal_help(diagnostic, dtype, a),
                (Some(_), Some(dtype)) if dtype != Dtype::Bool && !self.is_address(&val) => self
                    .cast_help(
                        diagnostic.why("nothing converts by itself: `cast` says where numbers are rounded or cut off"),
                        dtype,
                        a,
                    ),
                _ => diagnostic,
            };
            return self.refuse(diagnostic);
        }
        Some(if let Val::Const(value, num) = val {
            self.settle_const(value, num, loc)
        } else {
            val
        })
    }

    /// Whether a value is an address or a window, which have no other element type.
    fn is_address(&self, val: &Val) -> bool {
        val.value().is_some_and(|value| self.is_ptr(value) || self.is_handle(value))
    }

    /// A constant after its type was settled: floats are rounded to it, integers must fit.
    pub(crate) fn settle_const(&mut self, value: Const, num: Num, loc: Loc) -> Val {
        let Some(dtype) = self.cells.known(num) else { return Val::Const(value, num) };
        match value {
            Const::Int(int) if !crate::elaborate::tiles::arith::fits(int, dtype) => {
                self.report(
                    Code::Overflow
                        .at(loc, format!("{int} does not fit `{}`", dtype.name()))
                        .compare("", crate::elaborate::tiles::arith::range_text(dtype), int),
                );
                Val::Error
            }
            Const::Float(float) => Val::Const(
                Const::Float(crate::elaborate::tiles::arith::round_float(float, dtype)),
                Num::Known(dtype),
            ),
            Const::Int(_) | Const::Bool(_) => Val::Const(value, Num::Known(dtype)),
        }
    }

    /// Finds what generic parameters stand for from an argument: `Tile<T>` against a tile, and so on.
    pub(crate) fn infer_generics(
        pattern: &TypeExpr,
        ty: &Ty,
        names: &[&str],
        out: &mut Vec<(String, Ty)>,
    ) {
        match &pattern.kind {
            TypeKind::Ref(inner, _) => Self::infer_generics(inner, ty, names, out),
            TypeKind::Tuple(parts) => {
                if let Ty::Tuple(types) = ty {
                    for (part, ty) in parts.iter().zip(types) {
                        Self::infer_generics(part, ty, names, out);
                    }
                }
            }
            TypeKind::Array(elem, _) => {
                if let Ty::Array(inner) = ty {
                    Self::infer_generics(elem, inner, names, out);
                }
            }
            TypeKind::Infer | TypeKind::Opaque => {}
            TypeKind::Path(path) => {
                let Some(last) = path.segments.last() else { return };
                if path.segments.len() == 1 && names.contains(&last.name.as_str()) {
                    if !matches!(ty, Ty::Infer) && !out.iter().any(|(name, _)| *name == last.name) {
                        out.push((last.name.clone(), ty.clone()));
                    }
                    return;
                }
                let inner = match ty {
                    Ty::Tile(num)
                    | Ty::Shared(num)
                    | Ty::TensorMemory(num)
                    | Ty::Ptr(num)
                    | Ty::Tensor(num) => Ty::Scalar(*num),
                    Ty::TilePtr(num) => Ty::Ptr(*num),
                    Ty::Array(elem) => (**elem).clone(),
                    Ty::Option(of) => (**of).clone(),
                    Ty::Struct(_, _, generics) => {
                        for (arg, ty) in last.args.iter().zip(generics) {
                            match arg {
                                GenericArg::Type(arg) => Self::infer_generics(arg, ty, names, out),
                                GenericArg::Const(_) => {}
                            }
                        }
                        return;
                    }
                    Ty::Infer
                    | Ty::Unit
                    | Ty::Scalar(_)
                    | Ty::Barrier { .. }
                    | Ty::Tuple(_)
                    | Ty::Const(..)
                    | Ty::Other => return,
                };
                if let Some(GenericArg::Type(arg)) = last.args.first() {
                    Self::infer_generics(arg, &inner, names, out);
                }
            }
        }
    }

    /// Finds what generic parameters stand for from the lengths of arrays: `[T; N]` against an array of three elements.
    pub(crate) fn infer_lengths(
        &mut self,
        pattern: &TypeExpr,
        val: &Val,
        names: &[&str],
        out: &mut Vec<(String, Ty)>,
    ) {
        match (&pattern.kind, self.plain(val.clone())) {
            (TypeKind::Ref(inner, _), val) => self.infer_lengths(inner, &val, names, out),
            (TypeKind::Tuple(patterns), Val::Tuple(parts)) => {
                for (pattern, part) in patterns.iter().zip(parts.iter()) {
                    self.infer_lengths(pattern, part, names, out);
                }
            }
            (TypeKind::Array(elem, length), Val::Array(parts) | Val::List(parts)) => {
                if let Some(name) = length.name()
                    && names.contains(&name)
                    && !out.iter().any(|(known, _)| known == name)
                {
                    let count = i128::try_from(parts.len()).expect("an array is short");
                    let index = self.cells.open(Class::Index);
                    out.push((name.to_owned(), Ty::Const(Const::Int(count), index)));
                }
                if let Some(part) = parts.first() {
                    self.infer_lengths(elem, part, names, out);
                }
            }
            (
                TypeKind::Tuple(_)
                | TypeKind::Array(..)
                | TypeKind::Path(_)
                | TypeKind::Infer
                | TypeKind::Opaque,
                _,
            ) => {}
        }
    }

    /// Binds generic parameters in `scope`: what is given, then what was inferred.
    pub(crate) fn bind_generics(
        &mut self,
        params: &[crate::syntax::GenericParam],
        given: &[GenericArg],
        inferred: &[(String, Ty)],
        outer: Env,
        scope: Env,
        loc: Loc,
    ) {
        for (index, param) in params.iter().enumerate() {
            let ty = match given.get(index) {
                Some(GenericArg::Type(TypeExpr { kind: TypeKind::Infer, .. })) | None => inferred
                    .iter()
                    .find(|(name, _)| *name == param.name.name)
                    .map_or(Ty::Infer, |(_, ty)| ty.clone()),
                Some(arg) => self.generic_value(&param.kind, arg, loc, outer),
            };
            if matches!(ty, Ty::Infer) && matches!(param.kind, GenericKind::Const(_)) {
                continue;
            }
            self.scopes.bind(scope, &param.name.name, Binding::Type(ty));
        }
    }
}
