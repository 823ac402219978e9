//! The kernel itself: generic parameters, arguments, facts, warps.

use super::{
    passed::{Passed, Within},
    reach::children,
    scope::Binding,
    value::{Class, Num, Ty, Val},
};
use crate::{
    diag::{Code, Problems},
    elaborate::{Builder, Built, Env, Instance, Request},
    ir::{Dtype, Fact, ParamKind},
    loc::Loc,
    syntax::{
        self, Block, Expr, ExprKind, Function, GenericArg, GenericKind, InstanceValue, Instances,
        Kernel, Literal, ParamFact, PatKind, Segment, TypeExpr, TypeKind, UnOp, Unit,
    },
};

/// `instances(..)` with one more list.
fn with_list(lists: &[Instances], list: &str) -> String {
    let lists: Vec<String> = lists.iter().map(listed).chain([list.to_owned()]).collect();
    format!("instances({})", lists.join(", "))
}

/// A list as it is written: `N = [64, 128]`, or `(N, T) = [(64, f32)]`.
fn listed(list: &Instances) -> String {
    let row =
        |row: &Vec<InstanceValue>| grouped(row.iter().map(|value| value.text.clone()).collect());
    let rows: Vec<String> = list.rows.iter().map(row).collect();
    let names = grouped(list.names.iter().map(|name| name.name.clone()).collect());
    format!("{names} = [{}]", rows.join(", "))
}

/// One alone, or several in parentheses.
fn grouped(parts: Vec<String>) -> String {
    match <[String; 1]>::try_from(parts) {
        Ok([one]) => one,
        Err(parts) => format!("({})", parts.join(", ")),
    }
}

/// All lists of one and the same name as one, and where the first of them is.
fn merged(lists: &[Instances], of: &Instances) -> Option<(Loc, String)> {
    let [name] = of.names.as_slice() else { return None };
    let same =
        |list: &&Instances| matches!(list.names.as_slice(), [other] if other.name == name.name);
    let mut alike = lists.iter().filter(same);
    let first = alike.next()?;
    let mut list = first.clone();
    for row in alike.flat_map(|list| &list.rows) {
        if !list.rows.iter().any(|known| same_row(known, row)) {
            list.rows.push(row.clone());
        }
    }
    Some((first.names[0].loc, listed(&list)))
}

/// `N = 64, T = f32`, in backticks.
fn chosen(list: &Instances, row: &[InstanceValue]) -> String {
    let values = list.names.iter().zip(row);
    let values: Vec<String> =
        values.map(|(name, value)| format!("{} = {}", name.name, value.text.clone())).collect();
    format!("`{}`", values.join(", "))
}

fn entries(count: usize) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

/// All combinations of a kernel's instance lists, in the order in which they are written: the last list varies fastest.
///
/// Problems: a name that is not a generic parameter or is given twice, a parameter without values, an empty list, a type
/// that breaks a bound.
pub fn instance_rows(unit: &Unit, kernel: &Kernel, problems: &mut Problems) -> Vec<Instance> {
    let generics = &kernel.function.generics;
    let mut given: Vec<&str> = Vec::new();
    for list in &kernel.attr.instances {
        for name in &list.names {
            if given.contains(&name.name.as_str()) {
                let mut diagnostic = Code::Instances
                    .at(name.loc, format!("`{}` has two lists of values", name.name))
                    .why("each parameter has one list, and all combinations are compiled");
                if let Some((first, merged)) = merged(&kernel.attr.instances, list) {
                    diagnostic = diagnostic.place(first, "the first one").help(merged);
                }
                problems.push(diagnostic);
            } else if !generics.iter().any(|param| param.name.name == name.name) {
                let near =
                    crate::diag::nearest(&name.name, generics.iter().map(|p| p.name.name.as_str()));
                let mut diagnostic = Code::Instances.at(
                    name.loc,
                    format!("`{}` is not a generic parameter of `{}`", name.name, kernel.name()),
                );
                if let Some(near) = near {
                    diagnostic = diagnostic.help(near);
                    // The list is there, under a slip of its name.
                    given.push(near);
                }
                problems.push(diagnostic);
            }
            given.push(&name.name);
        }
        for (at, row) in list.rows.iter().enumerate() {
            let Some(first) = list.rows[..at].iter().find(|other| same_row(other, row)) else {
                continue;
            };
            problems.push(
                Code::Instances
                    .at(row[0].loc, format!("the instance {} is listed twice", chosen(list, row)))
                    .place(first[0].loc, "the first one")
                    .why("an instance is chosen by its values, so each one is compiled once"),
            );
        }
    }
    for param in generics {
        if !given.contains(&param.name.name.as_str()) {
            let example = match param.kind {
                GenericKind::Type(_) => "[f16, f32]",
                GenericKind::Const(_) => "[64, 128]",
            };
            problems.push(
                Code::Instances.at(param.name.loc,
                    format!("the generic parameter `{}` has no values", param.name.name),
                )
                .why("a kernel is compiled ahead of time, once for each listed instance of its generic parameters")
                .help(with_list(&kernel.attr.instances, &format!("{} = {example}", param.name.name))),
            );
        }
    }
    // After a problem, parameters without a list are open: the body is still looked at.
    let mut rows = vec![Instance::default()];
    let lists = super::bounds::fitting(unit, kernel, problems);
    for (index, list) in lists.iter().enumerate() {
        let earlier = lists[..index].iter().flat_map(|list| &list.names);
        let mut earlier = earlier.map(|name| name.name.as_str());
        if list.rows.is_empty() || earlier.any(|name| list.names.iter().any(|n| n.name == name)) {
            continue;
        }
        let mut next = Vec::with_capacity(rows.len() * list.rows.len());
        for row in &rows {
            for values in &list.rows {
                let mut row = row.clone();
                row.values
                    .extend(list.names.iter().map(|n| n.name.clone()).zip(values.iter().cloned()));
                next.push(row);
            }
        }
        rows = next;
    }
    // In the order of the function's generic parameters, so that hosts and compiler agree.
    for row in &mut rows {
        row.values.sort_by_key(|(name, _)| generics.iter().position(|p| p.name.name == *name));
    }
    rows
}

/// Whether two rows of an instance list are the same choice.
fn same_row(a: &[InstanceValue], b: &[InstanceValue]) -> bool {
    a.iter().zip(b).all(|(a, b)| match (&a.arg, &b.arg) {
        (GenericArg::Const(a), GenericArg::Const(b)) if integer(a).is_some() => {
            integer(a) == integer(b)
        }
        _ => a.text == b.text,
    })
}

/// The value of an integer literal, however it is spelt.
fn integer(expr: &Expr) -> Option<i128> {
    if let ExprKind::Unary(UnOp::Neg, inner) = &expr.kind {
        return integer(inner).map(|value| -value);
    }
    if let ExprKind::Lit(Literal::Int(value, _)) = &expr.kind { Some(*value) } else { None }
}

impl Builder<'_> {
    pub(crate) fn kernel(&mut self, request: &Request<'_>, root: Env) -> Option<Built> {
        let function = &request.kernel.function;
        let scope = self.scopes.child(root);
        self.bind_instance(function, request.instance, root, scope);
        self.warps = self.kernel_warps(request, scope);
        if let Some(cluster) = &request.kernel.attr.cluster {
            self.cluster = self.cluster_shape(cluster, scope);
        }
        if function.receiver.is_some() {
            // Refused already.
            self.scopes.declare(scope, "self", true, Val::Error);
        }
        let mut declared = Vec::new();
        for (index, (pat, ty)) in function.params.iter().enumerate() {
            let facts = request.kernel.facts.get(index).map_or(&[][..], Vec::as_slice);
            let PatKind::Ident { name, mutable } = &pat.kind else {
                self.bind_pattern(pat, Val::Error, scope);
                continue;
            };
            let passed = Passed {
                name: name.clone(),
                ty,
                facts,
                loc: pat.loc,
                within: Within::Kernel,
                absent: false,
            };
            let val = self.passed(&passed, request, scope, &mut declared).unwrap_or(Val::Error);
            self.scopes.declare(scope, name, *mutable, val);
        }
        if let Some(body) = &function.body {
            let inner = self.scopes.child(scope);
            self.block_in(body, inner);
        }
        let aligned = self.aligned_facts(&declared);
        let kernel = self.finish(function.name.name.clone(), declared)?;
        let written = std::mem::take(&mut self.written);
        Some(Built { kernel, aligned, written })
    }

    fn kernel_warps(&mut self, request: &Request<'_>, scope: Env) -> u32 {
        let Some(expr) = &request.kernel.attr.warps else { return 4 };
        let val = self.expr(expr, scope);
        let Some(warps) = self.const_int(&val, "the number of warps", expr.loc) else { return 4 };
        match u32::try_from(warps) {
            Ok(warps) if warps.is_power_of_two() && warps <= 32 => warps,
            _ => {
                let legal = |warps: i128| (1..=32).contains(&warps) && warps.count_ones() == 1;
                // Threads are what other languages count.
                let threads = (warps % 32 == 0 && legal(warps / 32)).then_some(warps / 32);
                let parts = request.kernel.function.body.as_ref().is_some_and(has_partitions);
                let near = u32::try_from(warps).ok().filter(|&warps| warps > 0).map(|warps| {
                    let up = warps.checked_next_power_of_two().unwrap_or(32);
                    i128::from(if parts { up / 2 } else { up }.min(32))
                });
                let diagnostic = Code::Warps
                    .at(expr.loc, format!("the kernel's own code cannot run on {warps} warps"))
                    .compare("warps", "1, 2, 4, 8, 16 or 32", warps);
                let diagnostic = if let Some(of) = threads {
                    diagnostic.why(format!("{warps} threads are {of} warps"))
                } else if warps > 32 {
                    diagnostic.why("a block has at most 1024 threads, which are 32 warps")
                } else {
                    diagnostic
                        .why("layouts spread the elements of a tile over a power of two of warps")
                };
                let diagnostic = if parts && threads.is_none() {
                    diagnostic.why("these warps run the kernel's own code; those of each `partition(..)` come on top of them")
                } else {
                    diagnostic
                };
                self.report(diagnostic.help_if(threads.or(near).map(|warps| warps.to_string())));
                4
            }
        }
    }

    fn bind_instance(&mut self, function: &Function, instance: &Instance, root: Env, scope: Env) {
        for param in &function.generics {
            let Some((_, value)) =
                instance.values.iter().find(|(name, _)| *name == param.name.name)
            else {
                // Refused already.
                self.tainted = true;
                self.scopes.bind(scope, &param.name.name, Binding::Type(Ty::Infer));
                continue;
            };
            let ty = self.generic_value(&param.kind, &value.arg, value.loc, root);
            self.scopes.bind(scope, &param.name.name, Binding::Type(ty));
        }
    }

    /// What a generic argument stands for, checked against its parameter.
    pub(crate) fn generic_value(
        &mut self,
        kind: &GenericKind,
        arg: &GenericArg,
        loc: Loc,
        scope: Env,
    ) -> Ty {
        match (kind, arg) {
            (GenericKind::Type(_), GenericArg::Type(ty)) => self.resolve(ty, scope),
            (GenericKind::Type(_), GenericArg::Const(_)) => {
                self.error(Code::Instances, loc, "a type is required here, not a constant");
                Ty::Infer
            }
            (GenericKind::Const(ty), arg) => {
                let val = match arg {
                    GenericArg::Const(expr) => self.expr(expr, scope),
                    GenericArg::Type(TypeExpr { kind: TypeKind::Path(path), .. }) => {
                        self.path(path, scope)
                    }
                    GenericArg::Type(other) => self.error(
                        Code::Instances,
                        other.loc,
                        "a constant is required here, not a type",
                    ),
                };
                let want = self.type_of_constant(ty, scope);
                let val = self.coerce(val, &want, loc);
                if let Val::Const(value, num) = val {
                    return Ty::Const(value, num);
                }
                if !matches!(val, Val::Error) {
                    self.report(
                        Code::NotConstant
                            .at(loc, "a const generic must be known at compile time")
                            .compare("", "a constant", self.describe(&val)),
                    );
                }
                Ty::Infer
            }
        }
    }

    /// The type of a constant: `usize`, which no value has, is that of the length of an array.
    pub(crate) fn type_of_constant(&mut self, ty: &TypeExpr, scope: Env) -> Ty {
        match ty.path().and_then(syntax::Path::only) {
            Some(only) if only.name == "usize" => Ty::Scalar(self.cells.open(Class::Index)),
            Some(_) | None => self.resolve(ty, scope),
        }
    }

    pub(crate) fn param_kind(&mut self, ty: &TypeExpr, scope: Env) -> Option<ParamKind> {
        let refuse = |builder: &mut Self, headline: &str, help: &str| {
            builder.refuse(
                Code::Parameter
                    .at(ty.loc, headline.to_owned())
                    .why(syntax::PARAMETER_TYPES)
                    .help(help.to_owned()),
            )
        };
        if let TypeKind::Infer = &ty.kind {
            // Only what was refused already has no type.
            return None;
        }
        let TypeKind::Path(path) = &ty.kind else {
            return self.refuse(syntax::refused_parameter(&ty.text(), ty.loc));
        };
        let last = path.segments.last()?;
        match last.name.as_str() {
            name @ ("Tensor" | "TensorMut" | "TensorMap" | "TensorMapMut") => {
                let [GenericArg::Type(elem), rank] = last.args.as_slice() else {
                    return self.without_rank(ty, last);
                };
                let addresses = matches!(name, "Tensor" | "TensorMut")
                    && elem.last().is_some_and(|last| last.name == "Ptr");
                let dtype = if addresses {
                    self.points_to(ty, scope)?;
                    Dtype::U64
                } else {
                    self.param_dtype(elem, scope)?
                };
                let kind = GenericKind::Const(TypeExpr { kind: TypeKind::Infer, loc: ty.loc });
                let rank = self.generic_value(&kind, rank, ty.loc, scope);
                if matches!(rank, Ty::Infer) {
                    return None;
                }
                let Ty::Const(crate::ir::Const::Int(rank), _) = rank else {
                    return refuse(
                        self,
                        &format!("the rank of a `{name}` is an integer"),
                        &format!("{name}<f32, 1>"),
                    );
                };
                match u32::try_from(rank) {
                    Ok(rank) if (1..=5).contains(&rank) => {
                        let mutable = matches!(name, "TensorMut" | "TensorMapMut");
                        Some(ParamKind::Tensor { dtype, rank, mutable })
                    }
                    _ => self.refuse(
                        Code::Axis
                            .at(ty.loc, format!("a tensor cannot have {rank} axes"))
                            .compare("rank", "1 to 5", rank),
                    ),
                }
            }
            "Ptr" => {
                let [GenericArg::Type(elem)] = last.args.as_slice() else {
                    return refuse(self, "`Ptr` takes an element type", "Ptr<f32>");
                };
                Some(ParamKind::Pointer(self.param_dtype(elem, scope)?))
            }
            "Option" => {
                refuse(self, "this `Option` cannot be passed to a kernel", "Option<Tensor<f32, 1>>")
            }
            name if super::types::HEAP.contains(&name)
                || syntax::is_foreign_tensor(name)
                    && self.scopes.lookup_type(scope, name).is_none() =>
            {
                self.refuse(syntax::refused_parameter(&ty.text(), ty.loc))
            }
            name => {
                if self.is_elsewhere(path, name, scope) {
                    return self.foreign_struct(ty, name);
                }
                let of = self.resolve(ty, scope);
                if let Ty::Struct(def, ..) = &of
                    && !def.is_enum()
                {
                    return self.foreign_struct(ty, name);
                }
                let known = if let Ty::Scalar(num) = of { self.cells.known(num) } else { None };
                if known.is_some() || self.is_refused(&of) {
                    return known.map(ParamKind::Scalar);
                }
                if let Ty::Struct(def, ..) = &of
                    && def.is_enum()
                {
                    return self.refuse(
                        Code::Parameter
                            .at(ty.loc, "an enum cannot be passed to a kernel")
                            .compare("", "a number", format!("`{name}`"))
                            .why("the host passes a number, or chooses an instance by a const generic; the kernel makes a variant of it")
                            .help("i32"),
                    );
                }
                if matches!(of, Ty::Scalar(_)) {
                    return refuse(self, "this type cannot be passed to a kernel", "i32");
                }
                self.refuse(syntax::refused_parameter(&ty.text(), ty.loc))
            }
        }
    }

    /// Reports a tensor without its element type or its rank.
    fn without_rank<T>(&mut self, ty: &TypeExpr, of: &Segment) -> Option<T> {
        let elem = of.args.iter().find_map(GenericArg::ty);
        let elem = elem.map_or_else(|| "f32".to_owned(), TypeExpr::text);
        let [vector, matrix] = [1, 2].map(|rank| format!("{}<{elem}, {rank}>", of.name));
        let required = format!("`{vector}` of a vector, `{matrix}` of a matrix");
        self.refuse(
            Code::Parameter
                .at(ty.loc, format!("`{}` takes an element type and a rank", of.name))
                .compare("", required, format!("`{}`", ty.text()))
                .why("the rank is the number of axes: how many coordinates a window has is known at compile time")
                .help(vector),
        )
    }

    /// What the elements of a tensor point to, if they are addresses.
    pub(crate) fn points_to(&mut self, tensor: &TypeExpr, scope: Env) -> Option<Dtype> {
        let elem = tensor.last()?.args.first()?.ty()?;
        let of =
            elem.last().filter(|last| last.name == "Ptr")?.args.first().and_then(GenericArg::ty);
        let Some(of) = of else {
            return self.refuse(
                Code::Parameter.at(elem.loc, "`Ptr` takes an element type").help("Ptr<f32>"),
            );
        };
        self.param_dtype(of, scope)
    }

    /// Whether a type is a struct of the host or of another module: the kernel's own have names of one word.
    fn is_elsewhere(&self, path: &syntax::Path, name: &str, scope: Env) -> bool {
        if super::types::is_language_type(name) {
            return false;
        }
        let unknown = |binding: Option<&Binding>| {
            binding.is_none_or(|binding| matches!(binding, Binding::Nowhere))
        };
        let of_host = self.scopes.host.get(name) == Some(&"a struct");
        path.only().is_none() || of_host && unknown(self.scopes.lookup_type(scope, name))
    }

    fn param_dtype(&mut self, ty: &TypeExpr, scope: Env) -> Option<Dtype> {
        let of = self.resolve(ty, scope);
        if let Ty::Scalar(Num::Known(dtype)) = of {
            return Some(dtype);
        }
        if !self.is_refused(&of) {
            self.error(Code::Parameter, ty.loc, "an element type is a numeric type or `bool`");
        }
        None
    }

    /// Whether a type is one that [`Builder::resolve`] does not know, and has reported.
    pub(crate) fn is_refused(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Infer) && self.problems.reports() > 0
    }

    pub(crate) fn param_fact(
        &mut self,
        param: u32,
        fact: &ParamFact,
        loc: Loc,
        scope: Env,
        out: &mut Vec<Fact>,
    ) {
        let kind = self.params[param as usize].kind.clone();
        let refuse = |builder: &mut Self, loc: Loc, headline: String, help: &str| {
            builder.report(Code::FactAttribute.at(loc, headline).help(help.to_owned()));
        };
        match fact {
            ParamFact::MultipleOf(expr) => {
                let val = self.expr(expr, scope);
                let Some(of) = self.const_int(&val, "a divisor", expr.loc) else { return };
                let valid = i64::try_from(of).ok().filter(|of| *of > 0);
                let Some(of) = valid else {
                    refuse(
                        self,
                        expr.loc,
                        format!("{of} is not a divisor"),
                        "#[multiple_of(16)] n: i32",
                    );
                    return;
                };
                match kind {
                    ParamKind::Scalar(dtype) if dtype.is_int() => {
                        out.push(Fact::ScalarMultiple { param, of });
                    }
                    ParamKind::Pointer(_) if of <= 256 && of.count_ones() == 1 => {
                        let bytes = u32::try_from(of).expect("at most 256");
                        out.push(Fact::PointerAligned { param, bytes });
                    }
                    ParamKind::Pointer(_) => refuse(
                        self,
                        expr.loc,
                        "the alignment of a pointer is a power of two, at most 256 bytes"
                            .to_owned(),
                        "#[multiple_of(16)] p: Ptr<f32>",
                    ),
                    ParamKind::Scalar(_) | ParamKind::Tensor { .. } => refuse(
                        self,
                        loc,
                        format!(
                            "`multiple_of` says nothing about a `{}`",
                            crate::elaborate::messages::words::describe_param(&kind)
                        ),
                        "#[multiple_of(16)] n: i32",
                    ),
                }
            }
            ParamFact::Block(extents, options, loc) => {
                self.map_block(param, (extents, options), *loc, scope, out);
            }
            ParamFact::Stride(strides, loc) => {
                let ParamKind::Tensor { rank, .. } = kind else {
                    refuse(
                        self,
                        *loc,
                        format!(
                            "a `{}` has no strides",
                            crate::elaborate::messages::words::describe_param(&kind)
                        ),
                        "#[stride(_, 1)] x: Tensor<f32, 2>",
                    );
                    return;
                };
                if strides.len() != rank as usize {
                    self.report(
                        Code::FactAttribute
                            .at(*loc, "`stride` needs one entry for each axis")
                            .compare("", entries(rank as usize), entries(strides.len()))
                            .help(format!(
                                "#[stride({}1)]",
                                "_, ".repeat(rank.saturating_sub(1) as usize)
                            )),
                    );
                    return;
                }
                for (axis, stride) in (0u32..).zip(strides) {
                    let Some(expr) = stride else { continue };
                    let val = self.expr(expr, scope);
                    let Some(value) = self.const_int(&val, "a stride", expr.loc) else { continue };
                    match i64::try_from(value).ok().filter(|value| *value >= 0) {
                        Some(value) => out.push(Fact::StrideEquals { param, axis, value }),
                        None => refuse(self, expr.loc, format!("{value} is not a stride"), "1"),
                    }
                }
            }
        }
    }

    /// What the aligned variant assumes: tensors contiguous along the last axis, or another one of which that is declared, 16-byte
    /// aligned, with every row a multiple of 16 bytes; pointers 16-byte aligned.
    fn aligned_facts(&self, declared: &[Fact]) -> Vec<Fact> {
        let mut out = Vec::new();
        for (param, data) in (0u32..).zip(&self.params).filter(|(_, data)| !data.absent) {
            match &data.kind {
                ParamKind::Tensor { dtype, rank, .. } => {
                    let of = i64::from(dtype.fewest_in(16));
                    let unit = |axis: &u32| {
                        declared.contains(&Fact::StrideEquals { param, axis: *axis, value: 1 })
                    };
                    let inner = (0..*rank).rev().find(unit).unwrap_or(rank - 1);
                    out.push(Fact::PointerAligned { param, bytes: 16 });
                    out.push(Fact::StrideEquals { param, axis: inner, value: 1 });
                    if of > 1 {
                        out.push(Fact::DimMultiple { param, axis: inner, of });
                        let others = (0..*rank).filter(|axis| *axis != inner);
                        out.extend(others.map(|axis| Fact::StrideMultiple { param, axis, of }));
                    }
                }
                ParamKind::Pointer(_) => out.push(Fact::PointerAligned { param, bytes: 16 }),
                ParamKind::Scalar(_) => {}
            }
        }
        // An axis whose stride is pinned to something other than 1 cannot be contiguous.
        let pinned = |fact: &Fact| {
            let Fact::StrideEquals { param, axis, value } = fact else { return false };
            declared.iter().any(|other| {
                matches!(other, Fact::StrideEquals { param: p, axis: a, value: v } if p == param && a == axis && v != value)
            })
        };
        if out.iter().any(pinned) {
            return Vec::new();
        }
        out.retain(|fact| !declared.contains(fact));
        out
    }
}

/// Whether warps are given different work in a block.
fn has_partitions(block: &Block) -> bool {
    fn within(expr: &Expr) -> bool {
        let mut found = expr.name() == Some("warp_specialize");
        children(expr, &mut |child| found = found || within(child));
        found
    }
    block.exprs().any(within)
}
