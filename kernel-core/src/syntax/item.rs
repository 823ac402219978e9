//! Items: functions, structs, impls, traits, constants, and the kernels among them.

use std::sync::Arc;

use proc_macro2::TokenStream;
use quote::ToTokens;

use super::{
    BinOp, ConstItem, Expr, ExprKind, Function, GenericKind, GenericParam, Ident, Impl, Item,
    Kernel, Literal, Path, Receiver, Segment, Source, Struct, Trait, TypeExpr, TypeKind, Unit,
    UseItem, expr::Reader,
};
use crate::{
    diag::{Code, Diagnostic, Problems},
    loc::Locations,
};

/// What a kernel can take, in words.
pub(crate) const PARAMETER_TYPES: &str = "a kernel takes tensors (`Tensor<T, R>` read, `TensorMut<T, R>` written), raw pointers (`Ptr<T>`) and scalars, each also as an `Option`, and arrays and structs of these";

/// Reads a `#[kernel(attr)] fn`.
pub fn parse_function(
    attr: TokenStream,
    function: &syn::ItemFn,
    locations: &Locations,
    problems: &mut Problems,
) -> Unit {
    let (tokens, item) = (locations.keep(&attr), locations.keep(function));
    let mut reader = Reader { locations, problems };
    let kernel = reader.kernel(attr, function);
    let source = Some(Source { attr: tokens, item, is_module: false, items: 0 });
    Unit { kernels: vec![kernel], source, ..Unit::default() }
}

/// Reads a `#[kernel] mod`: its functions with `#[kernel(..)]` are the kernels.
pub fn parse_module(module: &syn::ItemMod, locations: &Locations, problems: &mut Problems) -> Unit {
    let mut reader = Reader { locations, problems };
    let mut unit = Unit::default();
    let Some(items) = reader.content(module) else { return unit };
    for item in items {
        if let syn::Item::Fn(function) = item
            && let Some(attr) = function.attrs.iter().find(|attr| is_kernel(attr))
        {
            let tokens = attr.meta.require_list().map(|list| list.tokens.clone());
            let kernel = reader.kernel(tokens.unwrap_or_default(), function);
            unit.kernels.push(kernel);
        } else {
            reader.item(item, &mut unit.items);
        }
    }
    if unit.kernels.is_empty() {
        let loc = reader.loc(&module.ident);
        reader.problems.push(
            Diagnostic::new(Code::Attribute, loc, "a `#[kernel] mod` without a kernel")
                .help("#[kernel(target = sm_80, warps = 4)]\npub fn name() {}"),
        );
    }
    let (attr, item) = (locations.keep(&TokenStream::new()), locations.keep(module));
    unit.source = Some(Source { attr, item, is_module: true, items: unit.items.len() });
    unit
}

/// Reads what stands after `#[device]`: a function, or the items of a module.
pub fn parse_device(item: &syn::Item, locations: &Locations, problems: &mut Problems) -> Vec<Item> {
    let mut reader = Reader { locations, problems };
    let mut items = Vec::new();
    if let syn::Item::Mod(module) = item {
        for item in reader.content(module).unwrap_or_default() {
            reader.item(item, &mut items);
        }
    } else {
        reader.item(item, &mut items);
    }
    items
}

/// The field of an enum, which no program can write.
pub(crate) const NUMBER: &str = "<number>";

const ONLY_NUMBERS: &str = "a variant is a number in a kernel; data beside it is a parameter of a function, or a field of a struct";

/// What is said of a variant with data.
pub(crate) const WITH_DATA: &str = "a variant with data cannot be used in a kernel";

/// The name that an item declares, and who sees it; none for imports, `impl` and macros.
#[expect(clippy::wildcard_enum_match_arm, reason = "other items have no name of their own")]
pub(crate) fn declared_name(item: &syn::Item) -> Option<(&syn::Ident, &syn::Visibility)> {
    match item {
        syn::Item::Fn(item) => Some((&item.sig.ident, &item.vis)),
        syn::Item::Struct(item) => Some((&item.ident, &item.vis)),
        syn::Item::Const(item) => Some((&item.ident, &item.vis)),
        syn::Item::Trait(item) => Some((&item.ident, &item.vis)),
        syn::Item::Enum(item) => Some((&item.ident, &item.vis)),
        syn::Item::Type(item) => Some((&item.ident, &item.vis)),
        syn::Item::Static(item) => Some((&item.ident, &item.vis)),
        syn::Item::Union(item) => Some((&item.ident, &item.vis)),
        syn::Item::Mod(item) => Some((&item.ident, &item.vis)),
        _ => None,
    }
}

/// `#[kernel]`, `#[kiln::kernel]`, with or without arguments.
pub(crate) fn is_kernel(attr: &syn::Attribute) -> bool {
    attr.path().segments.last().is_some_and(|segment| segment.ident == "kernel")
}

fn tokens<T: ToTokens>(part: Option<&T>) -> Option<TokenStream> {
    part.map(ToTokens::to_token_stream)
}

impl Reader<'_> {
    /// The items of a module, which is refused if they are in another file.
    fn content<'m>(&mut self, module: &'m syn::ItemMod) -> Option<&'m [syn::Item]> {
        if module.content.is_none() {
            let why = "the attribute sees only the tokens between the braces";
            self.refuse_at(module, "a module in another file", why, "mod name { .. }");
        }
        module.content.as_ref().map(|(_, items)| &items[..])
    }

    fn kernel(&mut self, attr: TokenStream, item: &syn::ItemFn) -> Kernel {
        let attr = self.kernel_attr(attr);
        let mut signature = item.sig.clone();
        let (vis, whole) = (&item.vis, &item.sig);
        let head = super::written(&quote::quote!(#vis #whole));
        self.refuse_parts(&signature);
        let mut facts = Vec::new();
        for input in &mut signature.inputs {
            match input {
                syn::FnArg::Typed(typed) => {
                    let list = self.param_facts(&typed.attrs, &typed.ty);
                    facts.push(list);
                    if !matches!(&*typed.pat, syn::Pat::Ident(_)) {
                        self.refuse_part(
                            &typed.pat,
                            "a parameter of a kernel that is a pattern",
                            "parameters are the fields of the kernel's `Args`, so each has a name",
                            "x: Tensor<f32, 1>",
                        );
                        continue;
                    }
                    self.param_type(&mut typed.ty);
                }
                syn::FnArg::Receiver(receiver) => {
                    self.refuse_part(
                        receiver,
                        "a kernel that takes `self`",
                        "a kernel is not a method; pass tensors and scalars",
                        "",
                    );
                }
            }
        }
        if let Some(grid) = attr.grid {
            self.axes_of_grid(grid, &signature);
        }
        // Nothing more is reported about a result that was refused.
        signature.output = syn::ReturnType::Default;
        let function = Arc::new(self.function(&signature, Some(&item.block)));
        Kernel { attr, function, facts, head }
    }

    fn refuse_part(&mut self, part: &dyn ToTokens, headline: &str, why: &str, help: &str) {
        let loc = self.loc(&part.to_token_stream());
        let diagnostic = Code::Signature.at(loc, headline).advised(why, help);
        // A whole signature does not go where a part of it stands.
        let whole = help.starts_with("fn ");
        self.problems.push(if whole { diagnostic.exemplified() } else { diagnostic });
    }

    /// Refuses what a function of Rust may have before its parameters and after them, and a kernel not.
    fn refuse_parts(&mut self, signature: &syn::Signature) {
        let output = match &signature.output {
            syn::ReturnType::Type(_, ty) if !matches!(&**ty, syn::Type::Tuple(tuple) if tuple.elems.is_empty()) => {
                Some(ty.to_token_stream())
            }
            syn::ReturnType::Type(..) | syn::ReturnType::Default => None,
        };
        let unsafety = if let syn::Safety::Unsafe(token) = &signature.safety {
            tokens(Some(token))
        } else {
            None
        };
        let generics = &signature.generics;
        let result = with_result(signature).unwrap_or_default();
        let rows = [
            (
                output,
                "a kernel that returns a value",
                "a launch returns before its blocks have run; write results to tensors",
                &*result,
            ),
            (
                tokens(signature.asyncness.as_ref()),
                "a kernel that is `async`",
                "every launch is asynchronous: the host waits on the stream",
                "",
            ),
            (
                unsafety,
                "a kernel that is `unsafe`",
                "the body decides whether a launch is safe: with raw pointers it is `unsafe`, and the type says so",
                "",
            ),
            (
                tokens(signature.constness.as_ref()),
                "a kernel that is `const`",
                "a kernel runs on a device, not while the crate is compiled",
                "",
            ),
            (
                tokens(signature.abi.as_ref()),
                "a kernel with an ABI",
                "the launch passes the arguments as the driver requires",
                "",
            ),
            (
                tokens(signature.variadic.as_ref()),
                "a kernel with any number of arguments",
                "each argument is a field of the kernel's `Args`",
                "",
            ),
            (
                tokens(generics.where_clause.as_ref()),
                "a kernel with a `where` clause",
                "`instances(..)` lists the values of generic parameters; write bounds at the parameters",
                "<T: Float>",
            ),
        ];
        for (part, headline, why, help) in rows {
            if let Some(part) = part {
                self.refuse_part(&part, headline, why, help);
            }
        }
        for lifetime in generics.lifetimes() {
            let why = "the launch borrows the tensors, and the kernel's parameters do not";
            self.refuse_part(lifetime, "a kernel with a lifetime", why, "");
        }
    }

    /// Refuses types that are not even paths. They are replaced by `_`, so that nothing else is reported about them.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other type gets the plainest help")]
    fn param_type(&mut self, ty: &mut syn::Type) {
        if super::of_option(ty).is_some()
            && let syn::Type::Path(path) = ty
            && let Some(last) = path.path.segments.last_mut()
            && let syn::PathArguments::AngleBracketed(args) = &mut last.arguments
            && let Some(syn::GenericArgument::Type(of)) = args.args.first_mut()
        {
            return self.param_type(of);
        }
        if let syn::Type::Array(array) = ty {
            return self.param_type(&mut array.elem);
        }
        match &*ty {
            syn::Type::Path(_) if super::passed::is_heap(ty) => {}
            syn::Type::Path(_) | syn::Type::Paren(_) | syn::Type::Group(_) => return,
            syn::Type::Reference(reference) => {
                if let syn::Type::Path(path) = &*reference.elem
                    && let of = super::written(path)
                    && !OF_HOSTS.iter().any(|name| of.split(['<', ' ']).next() == Some(name))
                {
                    let scalar = crate::ir::Dtype::from_name(&of).is_some();
                    let help = match (reference.mutability.is_some(), of.strip_prefix("Tensor<")) {
                        (true, _) if scalar => format!("TensorMut<{of}, 1>"),
                        (true, Some(rest)) => format!("TensorMut<{rest}"),
                        (_, _) => of,
                    };
                    return self.by_reference(ty, &help);
                }
            }
            _ => {}
        }
        let loc = self.loc(ty);
        self.problems.push(super::passed::refused(&super::written(ty), loc));
        *ty = syn::parse_quote!(_);
    }

    /// Refuses a reference to what is passed by itself.
    fn by_reference(&mut self, ty: &mut syn::Type, help: &str) {
        let loc = self.loc(ty);
        self.problems.push(
            Code::Parameter
                .at(loc, "a reference cannot be passed to a kernel")
                .compare("", format!("`{help}`"), format!("`{}`", super::written(ty)))
                .why("the host borrows tensors in `Args`; a kernel takes handles of them, which are free to copy, and numbers")
                .help(help.to_owned()),
        );
        *ty = syn::parse_quote!(_);
    }

    fn structure(&mut self, item: &syn::ItemStruct) -> Item {
        let (mut fields, mut facts) = (Vec::new(), Vec::new());
        for (index, field) in item.fields.iter().enumerate() {
            let name =
                field.ident.as_ref().map_or(index.to_string(), |ident| self.ident(ident).name);
            fields.push((name, self.ty(&field.ty, 0)));
            let stated: Vec<syn::Attribute> =
                field.attrs.iter().filter(|attr| super::attr::is_fact(attr)).cloned().collect();
            facts.push(self.param_facts(&stated, &field.ty));
        }
        Item::Struct(Arc::new(Struct {
            name: self.ident(&item.ident),
            generics: self.generics(&item.generics),
            fields,
            facts,
        }))
    }

    /// An enum without data: a struct with a number, and a constant for each variant.
    fn enumeration(&mut self, item: &syn::ItemEnum, items: &mut Vec<Item>) {
        let name = self.ident(&item.ident);
        if let Some(first) = item.generics.params.first() {
            self.refuse_at(first, "a parameter of an enum", ONLY_NUMBERS, "");
        }
        let loc = name.loc;
        let of_kernel = |text: &str| {
            let segment = Segment { name: text.to_owned(), args: Vec::new(), loc };
            Path { segments: vec![segment], loc }
        };
        let ty = |text: &str| TypeExpr { kind: TypeKind::Path(of_kernel(text)), loc };
        let mut consts = Vec::new();
        let mut next = Expr { kind: ExprKind::Lit(Literal::Int(0, None)), loc };
        for variant in &item.variants {
            if !matches!(variant.fields, syn::Fields::Unit) {
                let loc = self.loc(&variant.fields);
                let name = &variant.ident;
                let fields = super::written(&variant.fields);
                let space = if matches!(variant.fields, syn::Fields::Named(_)) { " " } else { "" };
                let written = format!("{name}{space}{fields}");
                self.problems.push(
                    Code::Unsupported
                        .at(loc, WITH_DATA)
                        .compare("", format!("`{name}`"), format!("`{written}`"))
                        .why(ONLY_NUMBERS),
                );
            }
            let number = match &variant.discriminant {
                Some((_, value)) => self.expr(value, 0),
                None => next,
            };
            let one = Expr { kind: ExprKind::Lit(Literal::Int(1, None)), loc };
            let sum = ExprKind::Binary(
                BinOp::Arith(crate::ir::Binary::Add),
                Box::new(number.clone()),
                Box::new(one),
            );
            next = Expr { kind: sum, loc };
            let written = if variant.discriminant.is_some() { number.loc } else { loc };
            let fields = vec![(Ident { name: NUMBER.to_owned(), loc: written }, number)];
            let of = Path { loc: written, ..of_kernel(&name.name) };
            let kind = ExprKind::Struct(of, fields);
            let value = Expr { kind, loc: written };
            let of_variant = self.ident(&variant.ident);
            consts.push(Arc::new(ConstItem { name: of_variant, ty: ty(&name.name), value }));
        }
        let fields = vec![(NUMBER.to_owned(), ty("i32"))];
        items.push(Item::Impl(Arc::new(Impl {
            generics: Vec::new(),
            of_trait: None,
            ty: ty(&name.name),
            functions: Vec::new(),
            consts,
        })));
        items.push(Item::Struct(Arc::new(Struct {
            name,
            generics: Vec::new(),
            fields,
            facts: Vec::new(),
        })));
    }

    fn declared(&mut self, item: &syn::ItemTrait) -> Item {
        let mut out =
            Trait { name: self.ident(&item.ident), functions: Vec::new(), consts: Vec::new() };
        for member in &item.items {
            if let syn::TraitItem::Fn(function) = member {
                out.functions.push(Arc::new(self.helper(&function.sig, function.default.as_ref())));
            } else if let syn::TraitItem::Const(constant) = member {
                if let Some((_, value)) = &constant.default {
                    out.consts.push(self.constant(&constant.ident, &constant.ty, value));
                }
            } else {
                let why = "traits have methods and constants";
                self.refuse_at(member, "this item of a trait", why, "");
            }
        }
        Item::Trait(Arc::new(out))
    }

    fn constant(&mut self, name: &syn::Ident, ty: &syn::Type, value: &syn::Expr) -> Arc<ConstItem> {
        let (name, ty) = (self.ident(name), self.ty(ty, 0));
        Arc::new(ConstItem { name, ty, value: self.expr(value, 0) })
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what is outside the subset is refused")]
    pub(super) fn item(&mut self, item: &syn::Item, items: &mut Vec<Item>) {
        match item {
            syn::Item::Fn(function) => {
                items.push(Item::Function(Arc::new(
                    self.helper(&function.sig, Some(&function.block)),
                )));
            }
            syn::Item::Struct(item) => items.push(self.structure(item)),
            syn::Item::Enum(item) => self.enumeration(item, items),
            syn::Item::Const(item) => {
                items.push(Item::Const(self.constant(&item.ident, &item.ty, &item.expr)));
            }
            syn::Item::Impl(item) => self.impl_block(item, items),
            syn::Item::Trait(item) => items.push(self.declared(item)),
            syn::Item::Use(item) => {
                let loc = self.loc(&item.tree);
                use_names(&item.tree, &mut Vec::new(), &mut |path, name, leaf| {
                    let own = match &path[..] {
                        [root, second, ..] => root == "kiln" && !is_library(second),
                        [_] | [] => false,
                    };
                    let called = path.last().cloned().unwrap_or_default();
                    let renamed = own && !["*", "_", &called].contains(&name.as_str());
                    if renamed {
                        self.problems.push(
                            Diagnostic::new(
                                Code::UnknownName,
                                self.loc(leaf),
                                format!("`{name}` is another name for `{called}` of the language"),
                            )
                            .why("kernels know items of the language by their own names")
                            .help(format!("use {};", path.join("::"))),
                        );
                        items.push(Item::Refused(name));
                    } else {
                        items.push(Item::Use(UseItem { path, name, loc }));
                    }
                });
            }
            other => {
                let why = "besides kernels there can be functions, structs, enums, traits, impls, constants and `use`";
                let help = if let syn::Item::Static(item) = other {
                    let ty = super::written(&item.ty);
                    match &*item.ty {
                        // A static array is the shared memory of CUDA.
                        syn::Type::Array(array)
                            if matches!(&*item.expr, syn::Expr::Repeat(_))
                                && crate::ir::Dtype::from_name(&super::written(&array.elem))
                                    .is_some() =>
                        {
                            format!(
                                "let {} = shared::<{}>([{}]);",
                                item.ident.to_string().to_lowercase(),
                                super::written(&array.elem),
                                super::written(&array.len)
                            )
                        }
                        _ => {
                            format!("const {}: {ty} = {};", item.ident, super::written(&item.expr))
                        }
                    }
                } else {
                    String::new()
                };
                self.refuse_at(other, "this item", why, &help);
                // Its uses are not reported as well.
                items.extend(
                    declared_name(other).map(|(name, _)| Item::Refused(self.ident(name).name)),
                );
            }
        }
    }

    fn impl_block(&mut self, item: &syn::ItemImpl, items: &mut Vec<Item>) {
        let mut out = Impl {
            generics: self.generics(&item.generics),
            of_trait: item
                .trait_
                .as_ref()
                .and_then(|(path, _)| path.segments.last())
                .map(|segment| segment.ident.to_string()),
            ty: self.ty(&item.self_ty, 0),
            functions: Vec::new(),
            consts: Vec::new(),
        };
        let types: Vec<_> = item.items.iter().filter_map(associated).collect();
        for member in &item.items {
            if let syn::ImplItem::Fn(function) = member {
                let mut signature = function.sig.clone();
                // `Self::Output` of the traits of operators.
                if let syn::ReturnType::Type(_, ty) = &mut signature.output
                    && let Some(named) = of_self(ty)
                    && let Some((_, of)) = types.iter().find(|(name, _)| **name == named)
                {
                    **ty = (*of).clone();
                }
                out.functions.push(Arc::new(self.helper(&signature, Some(&function.block))));
            } else if associated(member).is_some() && item.trait_.is_some() {
                // Read above.
            } else if let syn::ImplItem::Const(constant) = member {
                out.consts.push(self.constant(&constant.ident, &constant.ty, &constant.expr));
            } else {
                let why = "an `impl` has functions and constants";
                self.refuse_at(member, "this item of an `impl`", why, "");
            }
        }
        items.push(Item::Impl(Arc::new(out)));
    }

    fn generics(&mut self, generics: &syn::Generics) -> Vec<GenericParam> {
        let mut out = Vec::new();
        for param in &generics.params {
            match param {
                syn::GenericParam::Type(param) => {
                    let bounds = param
                        .bounds
                        .iter()
                        .filter_map(|bound| {
                            let syn::TypeParamBound::Trait(bound) = bound else { return None };
                            bound.path.segments.last().map(|s| s.ident.to_string())
                        })
                        .collect();
                    out.push(GenericParam {
                        name: self.ident(&param.ident),
                        kind: GenericKind::Type(bounds),
                    });
                }
                syn::GenericParam::Const(param) => out.push(GenericParam {
                    name: self.ident(&param.ident),
                    kind: GenericKind::Const(self.ty(&param.ty, 0)),
                }),
                syn::GenericParam::Lifetime(_) => {}
            }
        }
        out
    }

    /// A function that kernels call.
    fn helper(&mut self, signature: &syn::Signature, body: Option<&syn::Block>) -> Function {
        if let Some(token) = &signature.asyncness {
            let why = "calls are inlined into the kernel, where nothing can be awaited";
            self.refuse_at(token, "an `async` function", why, "");
        }
        if let syn::Safety::Unsafe(token) = &signature.safety {
            let why = "a kernel has no `unsafe` blocks in which to call it: the launch is unsafe";
            self.refuse_at(token, "an `unsafe` function", why, "");
        }
        if let Some(abi) = &signature.abi {
            let why = "calls are inlined into the kernel, so there are no calling conventions";
            self.refuse_at(abi, "a function with an ABI", why, "");
        }
        self.function(signature, body)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "any other `self` is refused")]
    fn function(&mut self, signature: &syn::Signature, body: Option<&syn::Block>) -> Function {
        let mut receiver = None;
        let mut params = Vec::new();
        for input in &signature.inputs {
            match input {
                syn::FnArg::Receiver(item) => {
                    receiver = Some(match &item.kind {
                        syn::ReceiverKind::Value => Receiver::Value,
                        syn::ReceiverKind::Reference(_, _, None) => Receiver::Shared,
                        syn::ReceiverKind::Reference(_, _, Some(_)) => Receiver::Mutable,
                        _ => {
                            self.refuse_at(item, "a typed `self`", "", "&self");
                            Receiver::Value
                        }
                    });
                }
                syn::FnArg::Typed(typed) => {
                    params.push((self.pat(&typed.pat), self.ty(&typed.ty, 0)));
                }
            }
        }
        let result = match &signature.output {
            syn::ReturnType::Default => None,
            syn::ReturnType::Type(_, ty) => {
                let written = ty;
                let ty = self.ty(ty, 0);
                self.reference_as_result(&ty, written, signature);
                (!matches!(&ty.kind, TypeKind::Tuple(parts) if parts.is_empty())).then_some(ty)
            }
        };
        Function {
            name: self.ident(&signature.ident),
            generics: self.generics(&signature.generics),
            receiver,
            params,
            result,
            body: body.map(|block| self.block(block, 0)),
        }
    }
}

impl Reader<'_> {
    /// Refuses references in the result of a function; `written` is the whole result as it stands.
    fn reference_as_result(
        &mut self,
        ty: &TypeExpr,
        written: &syn::Type,
        signature: &syn::Signature,
    ) {
        match &ty.kind {
            TypeKind::Ref(_, mutable) => {
                let plain = if let syn::Type::Reference(reference) = written {
                    super::written(&reference.elem)
                } else {
                    "T".to_owned()
                };
                let help = if *mutable && plain == "Self" {
                    // Without a result, the calls stand one after the other.
                    format!("fn {}(&mut self)", signature.ident)
                } else {
                    format!("-> {plain}")
                };
                self.refuse(
                    ty.loc,
                    "a reference as a result",
                    "a result is a value; pass what a function changes with `&mut`",
                    &help,
                );
            }
            TypeKind::Tuple(parts) => {
                for part in parts {
                    self.reference_as_result(part, written, signature);
                }
            }
            TypeKind::Array(elem, _) => self.reference_as_result(elem, written, signature),
            TypeKind::Path(_) | TypeKind::Infer | TypeKind::Opaque => {}
        }
    }
}

/// Whether a name of the crate `kiln` is that of device code, which travels as that of any crate does, and none of the language.
pub(crate) fn is_library(name: &str) -> bool {
    matches!(name, "sched" | "Ring" | "random")
}

/// Calls `each` with the path and the local name of every leaf of a `use`, and the leaf.
fn use_names(
    tree: &syn::UseTree,
    prefix: &mut Vec<String>,
    each: &mut impl FnMut(Vec<String>, String, &syn::UseTree),
) {
    match tree {
        syn::UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            use_names(&path.tree, prefix, each);
            prefix.pop();
        }
        syn::UseTree::Name(name) => {
            let mut path = prefix.clone();
            path.push(name.ident.to_string());
            each(path, name.ident.to_string(), tree);
        }
        syn::UseTree::Rename(rename) => {
            let mut path = prefix.clone();
            path.push(rename.ident.to_string());
            each(path, rename.rename.to_string(), tree);
        }
        syn::UseTree::Glob(_) => each(prefix.clone(), "*".to_owned(), tree),
        syn::UseTree::Group(group) => {
            for item in &group.items {
                use_names(item, prefix, each);
            }
        }
    }
}

/// The name of an associated type, and the type.
fn associated(member: &syn::ImplItem) -> Option<(&syn::Ident, &syn::Type)> {
    if let syn::ImplItem::Type(item) = member { Some((&item.ident, &item.ty)) } else { None }
}

/// `Output` of `Self::Output`.
fn of_self(ty: &syn::Type) -> Option<syn::Ident> {
    let syn::Type::Path(path) = ty else { return None };
    let segments: Vec<_> = path.path.segments.iter().collect();
    let [own, name] = &segments[..] else { return None };
    (path.qself.is_none() && own.ident == "Self").then(|| name.ident.clone())
}

/// The signature of a kernel that writes its result to a tensor instead of returning it, if that is a number or a tile of a known type.
fn with_result(signature: &syn::Signature) -> Option<String> {
    let syn::ReturnType::Type(_, ty) = &signature.output else { return None };
    let text = super::written(ty);
    let elem = text.strip_prefix("Tile<").and_then(|rest| rest.strip_suffix('>')).unwrap_or(&text);
    crate::ir::Dtype::from_name(elem)?;
    let tensor: syn::Type = syn::parse_str(&format!("TensorMut<{elem}, 1>")).ok()?;
    let mut without = signature.clone();
    without.output = syn::ReturnType::Default;
    without.inputs.push(syn::parse_quote!(out: #tensor));
    let text = super::written(&without);
    (text.len() <= LONGEST_SIGNATURE).then_some(text)
}

/// Types of the host for which a tensor stands.
const OF_HOSTS: [&str; 7] = ["str", "String", "Vec", "Box", "Rc", "Arc", "Option"];

/// Characters of a signature that a help repeats.
const LONGEST_SIGNATURE: usize = 100;
